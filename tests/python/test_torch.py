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


def test_tensors_are_read_where_they_are(scalar):
    S = sp.random_array((40, 30), density=0.2, format="csr", rng=1).astype(scalar)
    S.data = random_block(S.data.shape, scalar)
    A = bs.matrix(S)
    big = torch.from_numpy(random_block((70, 40), scalar, 2))
    Z = torch.from_numpy(random_block((80, 12), scalar, 3))
    near = {"rtol": 1000 * np.finfo(scalar).eps, "atol": 1e-5}
    for X in (big[:30, 1:6], big[1:61:2, ::9], big.T[5:35, 3:9], big[:30, :1], big[:30, :0]):
        wanted = S @ X.numpy()
        np.testing.assert_allclose((A @ X).numpy(), wanted, **near)
        out = Z[1::2, ::2][:, : X.shape[1]]
        before = out.clone().numpy()
        assert bs.spmm(A, X, out=out, alpha=2.0, beta=-1.0) is out
        np.testing.assert_allclose(out.numpy(), 2 * wanted - before, **near)
    np.testing.assert_allclose((A @ big[:30, 0]).numpy(), S @ big[:30, 0].numpy(), **near)


def test_wrong_tensors_are_one_error():
    A = bs.matrix(sp.csr_array(np.ones((2, 3))))
    X = torch.ones((3, 2), dtype=torch.float64)
    for call, words in (
        (lambda: A @ X.float(), "float32"),
        (lambda: A @ X.half(), "float16"),
        (lambda: A @ X.bool(), "bool|type"),
        (lambda: A @ torch.ones((3, 2, 2), dtype=torch.float64), r"\(3, 2, 2\)"),
        (lambda: A @ X.T, "2 x 3.*2 x 3"),
        (lambda: bs.spmm(A, X, out=X), "3 x 2"),
        (lambda: bs.spmm(A, X, out=torch.ones(2, 2)), "float32"),
        (lambda: bs.spmm(A, X, out=X[:2].to_sparse()), "out|sparse"),
        (lambda: bs.spmm(A, X, beta=1.0), "beta = 1.0"),
        (lambda: bs.spmm(A, X, out=X[:2].to("meta")), "out|meta"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


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


@pytest.mark.filterwarnings("ignore::blockspan.ConversionWarning")
def test_other_layouts_and_dense_tensors():
    dense = torch.from_numpy(random_block((12, 12), "float64"))
    dense = torch.where(dense > 0.3, dense, 0.0)
    X = torch.ones(12, 2, dtype=torch.float64)
    for S in (
        dense.to_sparse(),
        dense.to_sparse_csc(),
        dense.to_sparse_bsr((2, 3)),
        torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (12, 12), dtype=torch.float64),
    ):
        np.testing.assert_allclose((bs.matrix(S) @ X).numpy(), (S.to_dense() @ X).numpy())
    for S in (
        dense.to_sparse_bsc((2, 3)),
        dense.to_sparse(1),
        dense.expand(2, 12, 12).to_sparse_csr(),
        dense,
    ):
        with pytest.raises(bs.Error, match="blockspan.matrix"):
            bs.matrix(S)
    A = bs.matrix(dense.to_sparse_csr())
    for call in (
        lambda: A @ X.to_sparse(),
        lambda: X.T.to_sparse() @ A,
        lambda: A @ X.to("meta"),
        lambda: bs.spmm(A, X, out=X.numpy()),
        lambda: bs.spmm(A, X, out=X.clone().requires_grad_()),
        lambda: bs.cg(A, X.to_sparse()),
    ):
        with pytest.raises(bs.Error, match="sparse|dense"):
            call()
    spd = dense @ dense.T + 3 * torch.eye(12, dtype=torch.float64)
    inverse = torch.linalg.inv(spd)
    assert bs.cg(spd, X, M=inverse).info == 0
    w = bs.eigsh(spd, 2).eigenvalues
    np.testing.assert_allclose(w, torch.linalg.eigvalsh(spd)[:2].numpy())
