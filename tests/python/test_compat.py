"""blockspan.compat.scipy beside SciPy itself."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import blockspan as bs
import blockspan.compat.scipy as compat


@pytest.mark.parametrize("name", compat.__all__)
def test_signatures_are_scipys(name):
    ours = inspect.signature(getattr(compat, name)).parameters
    theirs = inspect.signature(getattr(sla, name)).parameters
    # an older SciPy may not have the last one yet
    assert [key for key in ours if key in theirs or key != "rng"] == list(theirs)
    for key, parameter in theirs.items():
        assert ours[key].default == parameter.default and ours[key].kind == parameter.kind, key


def grid(n: int) -> sp.csr_array:
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    return sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))


@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg(largest):
    S, X = grid(12), np.random.default_rng(1).standard_normal((144, 3))
    M = sla.LinearOperator(S.shape, sla.splu(S.tocsc()).solve) if not largest else None
    w, V, lambdas, norms = compat.lobpcg(
        S,
        X,
        M=M,
        tol=1e-7,
        maxiter=200,
        largest=largest,
        retLambdaHistory=True,
        retResidualNormsHistory=True,
    )
    wanted, _ = sla.lobpcg(S, X.copy(), M=M, tol=1e-9, maxiter=400, largest=largest)
    np.testing.assert_allclose(w, wanted, rtol=1e-9)
    assert np.linalg.norm(S @ V - V * w, axis=0).max() <= 1e-7 * 1.01
    assert len(lambdas) == len(norms)


def test_lobpcg_warns_after_twenty_iterations():
    S, X = grid(70), np.random.default_rng(1).standard_normal((4900, 2))
    with pytest.warns(bs.NotConvergedWarning, match="max_iterations after 20"):
        compat.lobpcg(S, X, largest=False, tol=1e-9)


@pytest.mark.parametrize("which", ["LM", "SA", "LA", "BE"])
def test_eigsh(which):
    S = grid(12)
    w = compat.eigsh(S, k=4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(
        w, np.sort(sla.eigsh(S, k=4, which=which, return_eigenvectors=False)), rtol=1e-9
    )


def test_eigsh_raises_where_it_does_not_converge():
    with pytest.raises(sla.ArpackNoConvergence) as caught:
        compat.eigsh(grid(70), k=4, which="SA", maxiter=2)
    assert caught.value.eigenvectors.shape[0] == 4900


@pytest.mark.parametrize("which", ["LM", "BE", "SA"])
def test_eigsh_says_what_is_wrong_with_the_mass(which):
    """Of two solves the second is not searched beside vectors that the first has not found."""
    S = grid(6)
    M = sp.diags_array(-np.arange(1.0, 37)).tocsr()
    with pytest.raises(sla.ArpackNoConvergence, match="0 of 4 .*mass matrix has a negative eigen"):
        compat.eigsh(S, k=4, M=M, which=which)
    with pytest.warns(bs.NotConvergedWarning):
        result = bs.eigsh(S, 5, M, which=which)
    assert result.status == bs.Status.mass_not_positive_definite
    assert np.isnan(result.eigenvalues).all() and len(result.pair_status) == 5
    assert result.eigenvectors.shape == (36, 5)


def test_dense_solves_have_histories():
    """SciPy's callers look at the last line."""
    S, X = grid(4), np.random.default_rng(1).standard_normal((16, 2))
    w, V, lambdas, norms = compat.lobpcg(
        S, X, retLambdaHistory=True, retResidualNormsHistory=True
    )
    np.testing.assert_array_equal(lambdas[-1], w)
    np.testing.assert_allclose(norms[-1], np.linalg.norm(S @ V - V * w, axis=0), atol=1e-13)


def test_seeds_are_numbers_of_numpy_too():
    S = grid(70)
    w = [compat.eigsh(S, 2, which="SA", rng=seed)[1] for seed in (7, np.int64(7), 1, None)]
    np.testing.assert_array_equal(w[0], w[1])
    np.testing.assert_array_equal(w[2], w[3])
    assert not np.array_equal(w[0], w[2])


@pytest.mark.parametrize("b", [3.0, None, np.ones((16, 1, 1))])
def test_cg_refuses_what_is_no_block(b):
    with pytest.raises(bs.Error, match=r"cg: b has the shape \(.*\); wanted is n or n x k"):
        compat.cg(grid(4), b)


def test_lobpcg_refuses_what_is_no_start():
    for X in (None, np.ones((16, 1, 1))):
        with pytest.raises(bs.Error, match="X has the shape"):
            compat.lobpcg(grid(4), X)
    with pytest.raises(bs.Error, match="tol = 'small' is no real number"):
        compat.lobpcg(grid(4), np.ones((16, 1)), tol="small")


def test_cg_takes_starts_of_either_shape():
    S, b = grid(12), np.ones(144)
    x = compat.cg(S, b, rtol=1e-10)[0]
    for right in (b, b[:, None]):
        for start in (x, x[:, None], list(x)):
            y, info = compat.cg(S, right, start, rtol=1e-6)
            assert info == 0 and y.shape == right.shape
            np.testing.assert_array_equal(y.ravel(), x)  # nothing was left to do
    with pytest.raises(NotImplementedError, match="x0='Mb'"):
        compat.cg(S, b, "Mb")
    with pytest.raises(bs.Error, match="X0"):
        compat.cg(S, b, np.ones((144, 2)))


def test_cg():
    S, b = grid(12), np.ones(144)
    x, info = compat.cg(S, b, rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(x, sla.cg(S, b, rtol=1e-12)[0], rtol=1e-8)
    assert compat.cg(S, b, maxiter=2)[1] == 2
    with pytest.raises(NotImplementedError):
        compat.cg(S, b, callback=print)


@pytest.mark.parametrize("solver", ["lobpcg", "arpack"])
def test_spectral_embedding_of_scikit_learn_by_another_import(solver, monkeypatch):
    module = pytest.importorskip("sklearn.manifold._spectral_embedding")
    points = np.random.default_rng(1).standard_normal((150, 3))
    affinity = np.exp(-((points[:, None] - points) ** 2).sum(axis=2))
    options = {"n_components": 3, "eigen_solver": solver, "random_state": 1, "eigen_tol": 1e-9}
    wanted = module.spectral_embedding(sp.csr_matrix(affinity), **options)
    monkeypatch.setattr(module, "lobpcg", compat.lobpcg)
    monkeypatch.setattr(module, "eigsh", compat.eigsh)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.NotConvergedWarning)
        found = module.spectral_embedding(sp.csr_matrix(affinity), **options)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
