"""Sparse and dense tensors of PyTorch on the CPU; skipped where it is not installed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_block

import blockspan as bs

torch = pytest.importorskip("torch")


def csr(S: sp.csr_array, index: str = "int64"):
    return torch.sparse_csr_tensor(
        torch.from_numpy(S.indptr.astype(index)),
        torch.from_numpy(S.indices.astype(index)),
        torch.from_numpy(S.data),
        S.shape,
    )


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_tensors_in_and_out(scalar, index):
    S = sp.random_array((40, 30), density=0.2, format="csr", rng=1).astype(scalar)
    S.data = random_block(S.data.shape, scalar)
    T, X = csr(S, index), torch.from_numpy(random_block((30, 3), scalar))
    A = bs.matrix(T)
    Y = A @ X
    assert isinstance(Y, torch.Tensor)
    near = {"rtol": 100 * np.finfo(scalar).eps, "atol": 1e-6}
    np.testing.assert_allclose(Y.numpy(), S @ X.numpy(), **near)
    out = torch.empty_like(Y)
    assert bs.spmm(A, X, out=out) is out and torch.equal(out, Y)
    T.values().mul_(2)  # the same memory, of S too
    np.testing.assert_allclose((A @ X).numpy(), 2 * Y.numpy(), **near)
    Z = torch.from_numpy(random_block((3, 40), scalar)).mH
    np.testing.assert_allclose((A.H @ Z).numpy(), S.conj().T @ Z.resolve_conj().numpy(), **near)


def test_what_is_refused():
    T = csr(sp.csr_array(np.eye(3)))
    A = bs.matrix(T)
    with pytest.raises(ValueError, match="detach"):
        bs.matrix(csr(sp.csr_array(np.eye(3))).requires_grad_())
    with pytest.raises(ValueError, match="float32"):
        A @ torch.ones((3, 2))


def test_solvers_take_tensors():
    A = bs.generate("laplace5:20x20")
    x, info = bs.cg(A, torch.ones((400, 2), dtype=torch.float64))
    assert info == 0 and isinstance(x, np.ndarray)
