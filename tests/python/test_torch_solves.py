"""Gradients of solutions and eigenpairs, against finite differences and dense references."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS, random_block

import blockspan as bs

torch = pytest.importorskip("torch")
import blockspan.torch as bt  # noqa: E402

DOUBLES = [scalar for scalar in SCALARS if scalar in ("float64", "complex128")]


class Family:
    """Hermitian matrices A(p) of one pattern: couplings p of a path of n nodes and its closing
    edge, and a diagonal that keeps them definite, and their eigenvalues apart."""

    def __init__(self, n: int, scalar: str) -> None:
        self.n = n
        self.rows = torch.arange(n)
        self.next = (self.rows + 1) % n
        pattern = sp.csr_array(self.dense(torch.ones(n, dtype=torch.float64)).numpy())
        self.places = np.repeat(np.arange(n), np.diff(pattern.indptr)), pattern.indices
        self.A = bt.matrix(pattern.astype(scalar))
        self.p = torch.from_numpy(random_block((n,), scalar, 5)).requires_grad_()

    def dense(self, p):
        D = torch.zeros((self.n, self.n), dtype=p.dtype)
        D = D.index_put((self.rows, self.next), p)
        D = D + D.mH
        return D + torch.diag(torch.arange(5, 5 + self.n) + 0.3 * torch.cos(self.rows)).to(p.dtype)

    def values(self, p):
        return self.dense(p)[self.places]


@pytest.mark.parametrize("scalar", DOUBLES)
@pytest.mark.parametrize("k", [None, 3])
def test_gradients_of_solutions(scalar, k):
    family = Family(9, scalar)
    B = torch.from_numpy(random_block((9,) if k is None else (9, k), scalar, 2)).requires_grad_()

    def solve(p, B):
        return bt.cg(family.A, B, values=family.values(p), rtol=1e-14)

    X = solve(family.p, B)
    assert torch.allclose(family.dense(family.p) @ X, B, rtol=0, atol=1e-12)
    assert torch.autograd.gradcheck(solve, (family.p, B))
    assert torch.autograd.gradgradcheck(solve, (family.p, B))


@pytest.mark.parametrize("scalar", DOUBLES)
def test_gradients_of_solutions_by_constant_and_trained_values(scalar):
    family = Family(9, scalar)
    values = family.values(family.p).detach()
    offsets, indices, _ = family.A._base._source
    B = torch.from_numpy(random_block((9, 2), scalar, 2)).requires_grad_()
    G = torch.from_numpy(random_block((9, 2), scalar, 3))
    parts = torch.from_numpy(offsets), torch.from_numpy(indices)
    constant = bt.matrix((*parts, values, (9, 9)))
    trained = bt.matrix((*parts, values.clone().requires_grad_(), (9, 9)))
    (of_b,) = torch.autograd.grad(bt.cg(constant, B, rtol=1e-13), B, G)
    X = bt.cg(trained, B, rtol=1e-13, M="jacobi")
    of_b_too, of_values = torch.autograd.grad(X, (B, trained.values), G)
    Z = torch.linalg.solve(family.dense(family.p.detach()), G)
    assert torch.allclose(of_b, Z, rtol=0, atol=1e-12)
    assert torch.allclose(of_b_too, Z, rtol=0, atol=1e-12)
    assert torch.allclose(of_values, -(Z @ X.mH)[family.places], rtol=0, atol=1e-12)


@pytest.mark.parametrize("scalar", DOUBLES)
@pytest.mark.parametrize("path", ["dense", "iterative"])
def test_gradients_of_eigenpairs(scalar, path):
    """Of what does not depend on the factors of the vectors: w, and |V|^2 and V V^H weighted."""
    family = Family(40 if path == "iterative" else 9, scalar)
    weights = torch.from_numpy(random_block((family.n, 3), "float64", 7))
    other = torch.from_numpy(random_block((family.n, family.n), scalar, 8))

    def loss(w, V):
        projector = (V * torch.arange(1, 4)) @ V.mH
        return (
            torch.dot(w, torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64))
            + torch.sum(weights * torch.abs(V) ** 2)
            + torch.sum(torch.real(other * projector))
        )

    w, V = bt.eigsh(family.A, 3, values=family.values(family.p), path=path, tol=1e-13)
    (ours,) = torch.autograd.grad(loss(w, V), family.p)
    all_w, all_V = torch.linalg.eigh(family.dense(family.p))
    (wanted,) = torch.autograd.grad(loss(all_w[:3], all_V[:, :3]), family.p)
    assert torch.allclose(w, all_w[:3], rtol=0, atol=1e-12)
    assert torch.allclose(ours, wanted, rtol=0, atol=1e-8 * float(wanted.abs().max()))


def test_equal_eigenvalues_have_gradients_and_their_vectors_none():
    S = sp.csr_array(np.diag([1.0, 1.0, 2.0, 3.0]))
    values = torch.from_numpy(S.data).requires_grad_()
    A = bt.matrix((torch.from_numpy(S.indptr), torch.from_numpy(S.indices), values, S.shape))
    w, V = bt.eigsh(A, 2)
    w.sum().backward(retain_graph=True)
    assert torch.allclose(values.grad, torch.tensor([1.0, 1.0, 0.0, 0.0], dtype=torch.float64))
    with pytest.raises(bs.Error, match="which is rounding for values of"):
        (V**2)[0, 0].backward()


def test_what_is_refused_and_warned_of():
    A = bt.matrix(sp.csr_array(np.diag(np.geomspace(1, 1e6, 200))))
    b = torch.ones(200, dtype=torch.float64, requires_grad=True)
    for function in (bt.cg, bt.eigsh):
        with pytest.raises(bs.Error, match="not a view"):
            function(A.T, b)
    with pytest.warns(bs.NotConvergedWarning):
        x = bt.cg(A, b, maxiter=3)
    with pytest.warns(bs.NotConvergedWarning):
        x.sum().backward()
