"""Features of the nodes of a graph, mixed with those of their neighbours ten times."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import blockspan as bs

TITLE = "64 features a node mixed ten times, `rmat:15:16` (0.9 million entries)"
STEPS, KEPT = 10, 0.1


def problem():
    A = bs.generate("rmat:15:16").tocsr()
    A.data[:] = 1
    A = sp.csr_array(A + A.T)
    scale = sp.diags_array(1 / np.sqrt(np.maximum(A.sum(axis=1), 1)))
    return sp.csr_array(scale @ A @ scale), np.random.default_rng(1).standard_normal(
        (A.shape[0], 64)
    )


def blockspan(A, X):
    A, Y = bs.matrix(A, columns=64), X
    for _ in range(STEPS):
        Y = bs.spmm(A, Y, out=KEPT * X, alpha=1 - KEPT, beta=1.0)
    return Y


def scipy(A, X):
    Y = X
    for _ in range(STEPS):
        Y = (1 - KEPT) * (A @ Y) + KEPT * X
    return Y


def torch(A, X):
    import torch

    torch.set_num_threads(1)
    parts = (torch.from_numpy(part) for part in (A.indptr, A.indices, A.data))
    T, X = torch.sparse_csr_tensor(*parts, A.shape), torch.from_numpy(X)
    Y = X
    for _ in range(STEPS):
        Y = torch.addmm(X, T, Y, beta=KEPT, alpha=1 - KEPT)
    return Y.numpy()


def error(Y, A, X):
    """The largest difference from SciPy's."""
    wanted = scipy(A, X)
    return abs(Y - wanted).max() / abs(wanted).max()


CONTENDERS = (blockspan, scipy, torch)
