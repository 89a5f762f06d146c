"""A graph network of two layers, trained to find the communities of a graph. Needs PyTorch.

Each layer is a product with the adjacency (constant: its transpose is kept for the gradients) and a
dense one. A node sees noisy features and its neighbours; a twentieth of the nodes have labels.
With ``bfloat16`` (or ``float16``) the products are in 16 bits, summed in float32, and the parameters
in float32, as PyTorch's autocast has it.
"""

import sys

import numpy as np
import scipy.sparse as sp
import torch

import blockspan.torch


def communities(nodes: int, groups: int, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """Some 16 edges a node, most of them within its community; scaled by the degrees."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, groups, nodes)
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(groups + 1))
    begin = rng.integers(0, nodes, 8 * nodes)
    within = label[begin]
    inside = order[rng.integers(ends[within], ends[within + 1])]
    end = np.where(rng.uniform(size=len(begin)) < 0.8, inside, rng.integers(0, nodes, len(begin)))
    W = sp.csr_array((np.ones(len(begin)), (begin, end)), (nodes, nodes))
    W = sp.csr_array(W + W.T + sp.eye_array(nodes))
    scale = sp.diags_array(1 / np.sqrt(W.sum(axis=1)))
    return sp.csr_array(scale @ W @ scale), label


class GraphNetwork(torch.nn.Module):
    def __init__(
        self, A: blockspan.torch.Matrix, sizes: tuple[int, int, int], dtype: torch.dtype
    ) -> None:
        super().__init__()
        self.A = A
        self.first = torch.nn.Linear(sizes[0], sizes[1], dtype=dtype)
        self.second = torch.nn.Linear(sizes[1], sizes[2], dtype=dtype)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        dtype = self.A.values.dtype
        with torch.autocast("cpu", dtype, enabled=dtype != self.first.weight.dtype):
            hidden = torch.relu(blockspan.torch.spmm(self.A, self.first(X)))
            return blockspan.torch.spmm(self.A, self.second(hidden)).to(X.dtype)


def main(
    nodes: int = 3000, groups: int = 5, steps: int = 60, precision: str = "float64"
) -> tuple[list[float], float]:
    torch.manual_seed(1)
    W, label = communities(nodes, groups, seed=1)
    target = torch.from_numpy(label)
    features = torch.nn.functional.one_hot(target, groups) + 2 * torch.randn(nodes, groups)
    known = torch.rand(nodes) < 0.05
    dtype: torch.dtype = getattr(torch, precision)
    values = torch.from_numpy(W.data).to(dtype)
    A = blockspan.torch.matrix((W.indptr, W.indices, values, W.shape), columns=16)
    network = GraphNetwork(A, (groups, 16, groups), torch.float32 if dtype.itemsize == 2 else dtype)
    features = features.to(network.first.weight.dtype)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02, weight_decay=1e-3)

    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(features)[known], target[known])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 20 == 0:
            print(f"step {step:3}: loss {losses[-1]:.4f}")
    guesses = network(features).argmax(dim=1)
    right = (guesses == target)[~known].double().mean().item()
    print(f"{W.nnz} entries; {right:.1%} of the nodes without a label are right")
    return losses, right


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
