"""blockspan.torch on a CUDA device: gradients, graphs, torch.compile."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_block
from cuda_arrays import Torch

import blockspan as bs

torch = pytest.importorskip("torch")
on = None


@pytest.fixture(autouse=True, scope="module")
def _device() -> None:
    global on
    on = Torch()


def problem(rows: int = 30, columns: int = 20, scalar: str = "float64"):
    S = sp.random_array((rows, columns), density=0.2, format="csr", rng=1).astype(scalar)
    S.data = random_block(S.data.shape, scalar)
    return S


def tensors(S: sp.csr_array, *, gradient: bool):
    values = on.array(S.data).requires_grad_(gradient)
    return on.array(S.indptr), on.array(S.indices), values, S.shape


@pytest.mark.parametrize("op", ["n", "t", "c", "h"])
def test_gradients(op):
    import blockspan.torch as bt

    S = problem()
    A = bt.matrix(tensors(S, gradient=True))
    X = on.array(random_block((20 if op in "nc" else 30, 3), "float64")).requires_grad_()
    torch.autograd.gradcheck(
        lambda values, X: bt.spmm(A, X, values=values, op=op), (A.values, X), fast_mode=True
    )
    G = on.array(random_block((30, 2), "float64")).requires_grad_()
    H = on.array(random_block((20, 2), "float64")).requires_grad_()
    torch.autograd.gradcheck(lambda G, H: bt.sddmm(A, G, H), (G, H), fast_mode=True)


def test_equals_dense(device_scalar):
    import blockspan.torch as bt

    S = problem(scalar=device_scalar)
    X = on.array(random_block((20, 4), device_scalar)).requires_grad_()
    D = on.array(S.toarray()).requires_grad_()
    A = bt.matrix(tensors(S, gradient=True))
    W = on.array(random_block((30, 4), device_scalar))
    losses = [((M @ X) * W).abs().square().sum() for M in (A, D)]
    of_x, of_values = torch.autograd.grad(losses[0], (X, A.values))
    wanted_x, wanted = torch.autograd.grad(losses[1], (X, D))
    near = {"rtol": 1e3 * np.finfo(device_scalar).eps, "atol": 1e3 * np.finfo(device_scalar).eps}
    np.testing.assert_allclose(on.numpy(of_x), on.numpy(wanted_x), **near)
    rows = np.repeat(np.arange(30), np.diff(S.indptr))
    np.testing.assert_allclose(on.numpy(of_values), on.numpy(wanted)[rows, S.indices], **near)


def test_a_product_of_the_package_has_a_gradient():
    S = problem()
    X = on.array(random_block((20, 4), "float64")).requires_grad_()
    (bs.matrix(on.csr(S)) @ X).sum().backward()
    np.testing.assert_allclose(on.numpy(X.grad), S.T @ np.ones((30, 4)), rtol=1e-12)


def test_ops_are_registered_right():
    import blockspan.torch as bt

    A = bt.matrix(tensors(problem(), gradient=True))
    X = on.array(random_block((20, 3), "float64")).requires_grad_()
    torch.library.opcheck(torch.ops.blockspan.spmm, (X, A.values, A._id, *A.shape, "n"))


def test_compiled():
    import blockspan.torch as bt

    A = bt.matrix(tensors(problem(), gradient=False))
    X = on.array(random_block((20, 3), "float64"))
    compiled = torch.compile(
        lambda X: 2 * bt.spmm(A, X).relu(), fullgraph=True, backend="aot_eager"
    )
    torch.testing.assert_close(compiled(X), 2 * bt.spmm(A, X).relu())


@pytest.mark.parametrize("same_stream", [True, False])
@pytest.mark.parametrize("op", ["n", "t"])
def test_cuda_graphs(same_stream, op):
    """Recorded on the stream of the warm-up, and as PyTorch does by default on another one."""
    S = sp.csr_array(sp.vstack([problem(499, 500), np.ones((1, 500))]))
    A = bs.matrix(on.csr(S))
    X = on.array(random_block((500, 8), "float64"))
    Y = torch.empty_like(X)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            bs.spmm(A, X, out=Y, op=op)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side if same_stream else None):
        Z = torch.cos(X)
        bs.spmm(A, Z, out=Y, op=op)
        Z = Y + 1
    for seed in (3, 4):
        X.copy_(on.array(random_block((500, 8), "float64", seed)))
        graph.replay()
        wanted = (S if op == "n" else S.T) @ np.cos(random_block((500, 8), "float64", seed)) + 1
        np.testing.assert_allclose(on.numpy(Z), wanted, rtol=1e-11, atol=1e-11)


def test_a_graph_of_something_new_is_refused():
    A = bs.matrix(on.csr(problem(40, 40)))
    X = on.array(random_block((40, 8), "float64"))
    with (
        pytest.raises(ValueError, match="CUDA graph is recorded"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        A @ X
    torch.cuda.synchronize()
    np.testing.assert_allclose(on.numpy(A @ X), problem(40, 40) @ on.numpy(X), rtol=1e-12)


def test_training_step_as_a_graph():
    import blockspan.torch as bt

    S = problem(60, 60, "float32")
    A = bt.matrix(tensors(S, gradient=False))
    layer = torch.nn.Linear(8, 8, device="cuda")
    X, goal = (on.array(random_block((60, 8), "float32", seed)) for seed in (1, 2))
    step = torch.cuda.make_graphed_callables(_Step(A, layer, bt.spmm), (X.requires_grad_(),))
    torch.nn.functional.mse_loss(step(X), goal).backward()
    recorded = layer.weight.grad.clone()
    layer.weight.grad = None
    torch.nn.functional.mse_loss(bt.spmm(A, layer(X)), goal).backward()
    torch.testing.assert_close(recorded, layer.weight.grad)


class _Step(torch.nn.Module):
    def __init__(self, A, layer, spmm) -> None:
        super().__init__()
        self.A, self.layer, self.spmm = A, layer, spmm

    def forward(self, X):
        return self.spmm(self.A, self.layer(X))


def test_same_bits_where_deterministic_algorithms_are_asked_for():
    import blockspan.torch as bt

    torch.use_deterministic_algorithms(True)
    try:
        A = bt.matrix(tensors(problem(2000, 1000, "float32"), gradient=True))
        X = on.array(random_block((1000, 16), "float32")).requires_grad_()
        runs = []
        for _ in range(5):
            X.grad = A.values.grad = None
            (A @ X).square().sum().backward()
            runs.append((X.grad.clone(), A.values.grad.clone()))
        assert all(torch.equal(a, b) for run in runs for a, b in zip(run, runs[0], strict=True))
    finally:
        torch.use_deterministic_algorithms(False)


def test_solves_have_gradients():
    import blockspan.torch as bt

    n = 12
    S = sp.csr_array(sp.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)))
    A = bt.matrix(tensors(S, gradient=True))
    B = on.array(random_block((n, 2), "float64")).requires_grad_()
    D = on.array(S.toarray()).requires_grad_()
    W = on.array(random_block((n, 2), "float64", 2))
    of_b, of_values = torch.autograd.grad((bt.cg(A, B, rtol=1e-13) * W).sum(), (B, A.values))
    wanted_b, wanted = torch.autograd.grad((torch.linalg.solve(D, B) * W).sum(), (B, D))
    rows = np.repeat(np.arange(n), np.diff(S.indptr))
    np.testing.assert_allclose(on.numpy(of_b), on.numpy(wanted_b), atol=1e-10)
    np.testing.assert_allclose(on.numpy(of_values), on.numpy(wanted)[rows, S.indices], atol=1e-10)
    w, V = bt.eigsh(A, 2, tol=1e-12)
    assert V.is_cuda and w.is_cuda
    weights = on.array(np.arange(1.0, n + 1))
    (of_values,) = torch.autograd.grad((w.sum() + (V[:, 0] ** 2 * weights).sum()), A.values)
    exact_w, exact_V = torch.linalg.eigh(D)
    (wanted,) = torch.autograd.grad(exact_w[:2].sum() + (exact_V[:, 0] ** 2 * weights).sum(), D)
    got = np.zeros((n, n))
    got[rows, S.indices] = on.numpy(of_values)
    wanted = on.numpy(wanted) * (S.toarray() != 0)
    np.testing.assert_allclose(got + got.T, wanted + wanted.T, atol=1e-6)


def test_layers():
    import blockspan.torch as bt

    torch.manual_seed(1)
    layer = bt.SparseLinear(on.csr(problem(scalar="float32")))
    layer.reset_parameters()
    assert layer.weight.is_cuda and layer.bias.is_cuda
    y = layer(torch.ones(5, 20, device="cuda"))
    y.sum().backward()
    assert y.shape == (5, 30) and layer.weight.grad.is_cuda
