"""Pairs near a shift, all of an interval and counts: beside SciPy and LAPACK."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from conftest import SCALARS, grid_eigenvalues

import blockspan as bs
import blockspan.compat.scipy as compat
from blockspan import exact

DOUBLES = [name for name in ("float64", "complex128") if name in SCALARS]
pytestmark = pytest.mark.skipif(
    "direct" not in bs.show_config()["components"] or not DOUBLES,
    reason="this build is without the component direct, or without double precision",
)


def sparse(n: int, dtype: str, seed: int = 1) -> sp.csr_array:
    """Hermitian, of either sign."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((n, n)) < 0.1, rng.standard_normal((n, n)), 0)
    if dtype == "complex128":
        A = A + 1j * np.where(A != 0, rng.standard_normal((n, n)), 0)
    return sp.csr_array((A + A.conj().T + np.diag(rng.standard_normal(n))).astype(dtype))


def definite(n: int, dtype: str, seed: int = 2) -> sp.csr_array:
    B = sparse(n, dtype, seed)
    return sp.csr_array(B @ B.conj().T + sp.eye_array(n))


def require_pairs(A, M, result, *, tol=1e-9):
    """They are pairs, orthonormal in M."""
    w, V = result
    B = sp.eye_array(A.shape[0]) if M is None else M
    np.testing.assert_allclose(A @ V, (B @ V) * w, atol=tol * abs(A).sum(axis=0).max())
    np.testing.assert_allclose(V.conj().T @ (B @ V), np.eye(len(w)), atol=1e-10)


@pytest.mark.parametrize("dtype", DOUBLES)
@pytest.mark.parametrize("with_mass", [False, True])
def test_nearest_a_shift(dtype, with_mass):
    A, M = sparse(80, dtype), definite(80, dtype) if with_mass else None
    truth = la.eigvalsh(A.toarray(), None if M is None else M.toarray())
    for sigma in (truth[30] + 1e-3, 0.0, truth[0] - 1, truth[-1] + 2, truth[50]):
        for k in (1, 6):
            result = bs.eigsh(A, k, M, sigma, "LM")
            wanted = np.sort(truth[np.argsort(abs(truth - sigma))[:k]])
            np.testing.assert_allclose(result.eigenvalues, wanted, atol=1e-10)
            require_pairs(A, M, result)
            assert result.status.ok and result.proof == "proved" and result.path == "exact"
            low, high = result.interval
            assert result.counted == np.sum((low < truth) & (truth < high)) == result.found
            assert all(at.trusted for at in result.counts[-2:])
            peer = sla.eigsh(A.tocsc(), k, M, sigma + 1e-7)[0]
            np.testing.assert_allclose(result.eigenvalues, np.sort(peer), atol=1e-7)


@pytest.mark.parametrize("dtype", DOUBLES)
@pytest.mark.parametrize("mode", ["buckling", "cayley"])
def test_modes_are_those_of_scipy(dtype, mode):
    n = 70
    A, M = definite(n, dtype), sparse(n, dtype) if mode == "buckling" else definite(n, dtype, 5)
    truth = la.eigvalsh(M.toarray(), A.toarray()) ** -1.0
    for sigma in (np.sort(truth[truth > 0])[2] * 1.01, np.sort(truth[truth > 0])[12] * 0.99):
        result = bs.eigsh(A, 4, M, sigma, mode=mode)
        peer = sla.eigsh(A.tocsc(), 4, M, sigma, mode=mode)[0]
        np.testing.assert_allclose(result.eigenvalues, np.sort(peer), rtol=1e-8)
        assert result.proof == "proved"
        np.testing.assert_allclose(
            compat.eigsh(A, 4, M, sigma, mode=mode)[0], np.sort(peer), rtol=1e-8
        )
        low, high = sigma / 2, sigma * 2
        inside = bs.eigs_in(A, low, high, M, mode=mode)
        wanted = np.sort(truth[(low < truth) & (truth < high)])
        np.testing.assert_allclose(inside.eigenvalues, wanted, rtol=1e-9)
        assert int(bs.count(A, low, high, M, mode=mode)) == len(wanted) == inside.counted


@pytest.mark.parametrize("dtype", DOUBLES)
def test_all_of_an_interval(dtype):
    A = sparse(90, dtype)
    truth = la.eigvalsh(A.toarray())
    for a, b in ((-0.7, 1.3), (-np.inf, 0.1), (0.2, np.inf), (-np.inf, np.inf), (50, 60)):
        result = bs.eigs_in(A, a, b)
        wanted = truth[(a < truth) & (truth < b)]
        np.testing.assert_allclose(result.eigenvalues, wanted, atol=1e-11)
        assert result.proof == "proved" and result.status.ok
        assert result.eigenvectors.shape == (90, len(wanted))
        require_pairs(A, None, result)
        assert bs.count(A, a, b).number == len(wanted)


def test_ends_on_eigenvalues_are_moved():
    A = sp.diags_array(np.arange(30.0)).tocsr()
    result = bs.eigs_in(A, 3, 8)
    np.testing.assert_allclose(result.eigenvalues, np.arange(3, 9), atol=1e-13)
    assert result.interval[0] < 3 and result.interval[1] > 8
    assert "moved outward" in result.notes[0] and "moved outward" in str(result)
    count = bs.count(A, 3, 8)
    assert count.number == 6 and count.low.shift < 3 < 8 < count.high.shift and count.notes


def test_massless_unknowns_have_no_eigenvalue():
    rng = np.random.default_rng(3)
    A = sp.csr_array(np.diag(rng.uniform(1, 5, 40)) + 0.1)
    mass = np.where(np.arange(40) % 4 == 0, 0.0, 2.0)
    M = sp.diags_array(mass).tocsr()
    K, z = A.toarray(), mass == 0
    schur = K[~z][:, ~z] - K[~z][:, z] @ np.linalg.solve(K[z][:, z], K[z][:, ~z])
    truth = la.eigvalsh(schur) / 2
    result = bs.eigsh(A, 5, M, 1.1)
    wanted = np.sort(truth[np.argsort(abs(truth - 1.1))[:5]])
    np.testing.assert_allclose(result.eigenvalues, wanted, rtol=1e-11)
    assert len(bs.eigs_in(A, 0, 100, M).eigenvalues) == 30


def test_ties_are_told():
    A = bs.generate("laplace5:11x11")  # eleven equal values at 4
    result = bs.eigsh(A, 3, sigma=4.0)
    assert result.status.ok and result.proof in ("tied", "proved")
    assert any("equally near" in note for note in result.notes)
    assert bs.count(A, 4 - 1e-6, 4 + 1e-6).number == 11


@pytest.mark.parametrize("make", [lambda A: A.toarray(), lambda A: A.tocsc(), bs.matrix])
def test_what_a_matrix_may_be(make):
    A = sparse(50, "float64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bs.ConversionWarning)  # of other sparse formats
        w = bs.eigsh(make(A), 3, sigma=0.3).eigenvalues
    np.testing.assert_array_equal(w, bs.eigsh(A, 3, sigma=0.3).eigenvalues)
    single = bs.eigsh(A.toarray(), 3, sigma=0.3, dtype=np.float32)
    assert single.eigenvectors.dtype == np.float32 and single.eigenvalues.dtype == np.float64
    np.testing.assert_allclose(single.eigenvalues, w, rtol=1e-12)


def test_the_same_bits_again():
    A, M = sparse(60, "float64"), definite(60, "float64")
    first, again = (bs.eigs_in(A, -0.2, 0.2, M) for _ in range(2))
    assert np.array_equal(first.eigenvectors, again.eigenvectors)
    assert first.counters == again.counters


def test_limits_are_statuses():
    A = bs.generate("laplace7:9x9x9")
    with pytest.warns(bs.NotConvergedWarning, match="blockspan.eigsh: max_iterations"):
        result = bs.eigsh(A, 20, sigma=3.0, maxiter=2)
    assert result.status == "max_iterations" and result.proof == "none"
    with pytest.raises(bs.NotConverged, match="time_limit") as caught:
        bs.eigs_in(A, 3, 4, time_limit=1e-9, raise_on_failure=True)
    assert caught.value.result.counted > 0
    with pytest.raises(sla.ArpackNoConvergence):
        compat.eigsh(A, 20, sigma=3.0, maxiter=2)
    seen: list[bs.ExactProgress] = []
    assert bs.eigs_in(A, 3, 4, callback=seen.append).proof == "proved"
    assert seen[-1].all == bs.count(A, 3, 4).number
    assert [one.steps for one in seen] == list(range(1, len(seen) + 1))
    stopped = bs.eigs_in(A, 3, 4, callback=lambda _: False)
    assert stopped.status is bs.Status.stopped_by_monitor

    def fails(_):
        raise KeyError("mine")

    with pytest.raises(KeyError) as raised:
        bs.eigs_in(A, 3, 4, callback=fails)
    assert raised.value.partial.iterations == 1


def test_no_proof_where_none_is_wanted():
    A = bs.generate("laplace7:9x9x9")
    plain, proved = (bs.eigsh(A, 5, sigma=3.0, prove=prove) for prove in (False, True))
    assert plain.proof == "none" and proved.proof == "proved"
    assert np.array_equal(plain.eigenvalues, proved.eigenvalues)
    assert plain.counters["factorizations"] < proved.counters["factorizations"]
    assert proved.path_reason == "factors of A - s M by MUMPS on the host"
    assert proved.seconds["analysis"] > 0


def test_what_is_singular_or_not_hermitian():
    k, m = np.arange(1.0, 21), np.ones(20)
    k[10] = m[10] = 0
    K, M = (sp.csr_array((d, np.arange(20), np.arange(21)), (20, 20)) for d in (k, m))
    for call in (
        lambda: bs.eigsh(K, 2, M, 3.3),
        lambda: bs.eigs_in(K, 2.5, 4.5, M),
        lambda: bs.count(K, 2.5, 4.5, M),
    ):
        with pytest.warns(bs.NotConvergedWarning, match="unknown 11 "):
            call()
    with pytest.warns(bs.NotConvergedWarning, match="mass_not_positive"):
        bs.eigsh(bs.generate("laplace5:5x5"), 2, sp.diags_array([1.0, -3] * 12 + [1]).tocsr(), 0.3)
    A = sparse(20, "float64").toarray()
    A[3, 4] += 1
    for call in (
        lambda: bs.eigsh(A, 2, sigma=0.1),
        lambda: bs.eigs_in(A, 0, 1),
        lambda: bs.count(A, 0, 1),
    ):
        with pytest.warns(bs.NotConvergedWarning, match="operator_not_hermitian"):
            result = call()
        assert not result.status.ok and "A is" in result.trouble
    mean = bs.eigs_in(A, -9, 9, hermitian_mean=True)
    np.testing.assert_allclose(mean.eigenvalues, la.eigvalsh((A + A.T) / 2), atol=1e-12)


def test_an_uncertain_count_is_no_number():
    with pytest.warns(bs.NotConvergedWarning):
        count = bs.count(np.zeros((3, 3)), 0, 1, np.zeros((3, 3)))
    assert count.number is None and not count.status.ok
    with pytest.raises(bs.Error, match="not counted"):
        int(count)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda A: bs.eigs_in(A, 2, 1), "from 2 to 1 is empty"),
        (lambda A: bs.eigs_in(A, np.nan, 1), "is empty"),
        (lambda A: bs.count(A, 1, 1), "is empty"),
        (lambda A: bs.count(A, "a", 1), "a = 'a' is no real number"),
        (lambda A: bs.eigs_in(A, 0, None), "is empty"),
        (lambda A: bs.eigs_in(A, 0, 1, mode="none"), "mode='none'; there are"),
        (lambda A: bs.eigsh(A, 2, sigma=1, mode="other"), "mode='other'; there are"),
        (lambda A: bs.eigsh(A, 2, mode="cayley"), "needs sigma"),
        (lambda A: bs.eigsh(A, 2, sigma=0, mode="cayley"), "may not be zero"),
        (lambda A: bs.eigsh(A, 2, sigma=1, mode="buckling"), "geometric stiffness"),
        (lambda A: bs.eigs_in(A, -1, 1, A, mode="buckling"), "on one side of zero"),
        (lambda A: bs.eigsh(A, 0, sigma=1), "0 pairs"),
        (lambda A: bs.eigsh(A, 11, sigma=1), "11 pairs of a matrix of 10"),
        (lambda A: bs.eigsh(A, 1, np.eye(9), sigma=1), r"M has the shape \(9, 9\)"),
        (lambda A: bs.eigs_in(A, 0, 1, tol=2), "tolerance is 2"),
        (lambda A: bs.eigs_in(A, 0, 1, time_limit=-1), "time_limit"),
        (lambda A: bs.eigs_in(A, 0, 1, seed=-1), "seed"),
        (lambda A: bs.eigs_in(lambda X: A @ X, 0, 1), "entries of a matrix.*function"),
        (lambda A: bs.eigs_in(np.full((2, 2), np.nan), 0, 1), "NaN|nan"),
    ],
)
def test_wrong_arguments_are_one_sentence(call, words):
    with pytest.raises(bs.Error, match=words) as refused:
        call(sparse(10, "float64"))
    assert "\n" not in str(refused.value) and "incompatible" not in str(refused.value)


@pytest.mark.parametrize("scale", [None, 2.0])
def test_many_smallest_pairs_of_lobpcg_come_by_factors(scale):
    line = sp.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(30, 30))
    A = sp.csr_array(sp.kronsum(line, line)).astype(DOUBLES[0])
    B = None if scale is None else sp.csr_array(scale * sp.eye_array(900))
    result = bs.lobpcg(A, k=45, B=B, largest=False)
    assert result.path == "exact" and result.path_reason.startswith("45 pairs; factors of ")
    assert result.status.ok and result.preconditioner == "none" and result.iterations > 0
    truth = grid_eigenvalues(30, 45) / (scale or 1)
    np.testing.assert_allclose(result.eigenvalues, truth, rtol=1e-12)
    assert np.all(abs(result.eigenvalues - truth) <= result.error_bounds)
    require_pairs(A, B, result)
    # what they do not serve is iterated, or solved densely
    X = np.ones((900, 45))
    for options in ({"M": None}, {"path": "iterative"}, {"X": X}, {"callback": lambda now: None}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bs.NotConvergedWarning)  # after three iterations
            other = bs.lobpcg(A, **{"k": 45, "B": B, "largest": False, "maxiter": 3, **options})
        assert other.path != "exact", options


def test_factors_are_a_preconditioner_by_a_word():
    A = bs.generate("laplace5:24x24")
    result = bs.cg(A, np.ones(576), M="direct")
    assert result.status == "converged" and result.iterations <= 2
    assert result.preconditioner.startswith("direct")


def test_a_build_without_factors_says_so(monkeypatch):
    """What it can it does without."""

    class Without:
        @staticmethod
        def configuration():
            return {"scalars": ["float64"], "components": []}

    monkeypatch.setattr(exact, "_host", Without)
    A = sparse(40, "float64")
    for call in (lambda: bs.eigs_in(A, 0, 1), lambda: bs.count(A, 0, 1)):
        with pytest.raises(bs.Error, match="without the component direct: install") as refused:
            call()
        assert "\n" not in str(refused.value)
    with pytest.raises(NotImplementedError, match="inside the spectrum.*component direct: install"):
        bs.eigsh(A, 1, sigma=0.1)
    with pytest.raises(NotImplementedError, match="mode='cayley'.*component direct"):
        bs.eigsh(A, 1, sigma=0.1, mode="cayley")
    w = la.eigvalsh(A.toarray())
    np.testing.assert_allclose(bs.eigsh(A, 2, sigma=w[0] - 1).eigenvalues, w[:2], rtol=1e-7)
