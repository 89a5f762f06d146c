"""Input as it comes: right answers, or one clear sentence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS

import blockspan as bs

N = 60
S = sp.csr_array(sp.diags_array([2.5, -1.0, -1.0], offsets=[0, 1, -1], shape=(N, N)))
A = bs.matrix(S)
X = np.random.default_rng(1).standard_normal((N, 3))


def unaligned(block: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"x" + block.tobytes(), offset=1, dtype=block.dtype).reshape(block.shape)


def of_records(block: np.ndarray) -> np.ndarray:
    records = np.zeros(block.shape, dtype=[("flag", "i1"), ("number", block.dtype)])
    records["number"] = block
    return records["number"]


def unaligned_target() -> np.ndarray:
    return np.zeros(X.nbytes + 1, np.uint8)[1:].view(float).reshape(X.shape)


@pytest.mark.parametrize("made", [unaligned, of_records])
def test_blocks_that_no_kernel_reads_as_they_lie(made):
    block = made(X)
    np.testing.assert_array_equal(A @ block, A @ X)
    np.testing.assert_array_equal(A.T @ block[:, 0], A.T @ X[:, 0])
    np.testing.assert_array_equal(bs.cg(A, block).x, bs.cg(A, X).x)
    with pytest.raises(bs.Error, match="aligned"):
        bs.spmm(A, X, out=unaligned_target())


def test_masks_are_not_ignored():
    masked = np.ma.masked_array(X, mask=X > 1)
    for call in (
        lambda: A @ masked,
        lambda: bs.cg(A, masked),
        lambda: bs.lobpcg(A, masked, largest=False),
        lambda: bs.eigsh(np.ma.masked_array(S.toarray(), mask=S.toarray() < 0), 2),
        lambda: bs.precond.jacobi(A) @ masked,
    ):
        with pytest.raises(bs.Error, match="masked"):
            call()
    np.testing.assert_array_equal(A @ np.ma.masked_array(X), A @ X)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_of_numpy_are_arrays():
    values = bs.eigsh(np.asmatrix(S.toarray()), 2).eigenvalues
    np.testing.assert_allclose(values, np.linalg.eigvalsh(S.toarray())[:2])
    assert type(A @ np.asmatrix(X)) is np.ndarray


@pytest.mark.filterwarnings("ignore::blockspan.NotConvergedWarning")
@pytest.mark.parametrize("kind", [int, bool, float, "float32"])
def test_dense_matrices_of_every_type_are_looked_at(kind):
    if kind == "float32" and kind not in SCALARS:
        pytest.skip("this build has no float32")
    dense = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 1]]).astype(kind)
    result = bs.eigsh(dense, 1)
    assert result.status is bs.Status.operator_not_hermitian
    assert "entry (0, 1) is 0, but entry (1, 0) is 1" in result.trouble


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinite")])
def test_starts_that_are_not_finite_are_refused(value, word):
    start = X.copy()
    start[7, 1] = value
    where = r"row 7, column 1 of {} \(both from 0\) is " + word
    for path in ("automatic", "iterative", "dense"):
        with pytest.raises(bs.Error, match=where.format("the start X")):
            bs.lobpcg(A, start, largest=False, path=path)
        with pytest.raises(bs.Error, match=where.format("the constraints")):
            bs.lobpcg(A, Y=start, k=2, largest=False, path=path)
    with pytest.raises(bs.Error, match=where.format("the start X")):
        bs.cg(A, X, start)


def test_an_unsymmetric_problem_is_not_begun():
    """Nothing is multiplied, and what comes back is no answer."""
    calls = []

    def mass(block):
        calls.append(block.shape)
        return block

    unsymmetric = S.copy()
    unsymmetric.data[1] *= 2
    with pytest.warns(bs.NotConvergedWarning, match=r"entry \(0, 1\)"):
        result = bs.lobpcg(unsymmetric, B=mass, k=2, largest=False)
    assert calls == [] and result.iterations == 0 and np.isnan(result.eigenvalues).all()
    assert result.eigenvectors.shape == (N, 2) and np.isnan(result.eigenvectors).all()
    assert "operator_not_hermitian" in str(result) and result._repr_html_()
    with pytest.raises(bs.NotConverged, match="not symmetric"):
        bs.eigsh(unsymmetric, 2, which="BE", raise_on_failure=True)


def test_an_inexact_function_is_told_the_way():
    def inverse(block):
        return bs.cg(A, block, rtol=1e-9).x

    with pytest.warns(bs.NotConvergedWarning, match="path='iterative'"):
        assert bs.lobpcg(inverse, n=N, k=2, largest=True).status == "operator_not_hermitian"
    values = bs.lobpcg(inverse, n=N, k=2, largest=True, path="iterative").eigenvalues
    np.testing.assert_allclose(values, 1 / np.linalg.eigvalsh(S.toarray())[:2])


def test_targets_that_are_none():
    shared = np.lib.stride_tricks.as_strided(np.zeros(N + 2), X.shape, (8, 8))
    with pytest.raises(bs.Error, match="elements of out share memory: strides 1, 1"):
        bs.spmm(A, X, out=shared)
    for out in ([0.0] * N, np.zeros((N, 1)), np.zeros(())):
        with pytest.raises(bs.Error, match="X is a vector, and out is none"):
            bs.spmm(A, X[:, 0], out=out)
    with pytest.raises(bs.Error, match="out is no vector of 178 numbers: list"):
        bs.sddmm(A, X, X, out=[0.0] * 178)
    with pytest.raises(bs.Error, match="k = '3' is no whole number"):
        bs.eigsh(A, "3", which="BE")


def test_empty_lists_are_indices():
    assert bs.matrix(([0, 0], [], [], (1, 4))).nnz == 0
    assert bs.matrix(([0], [], [], (0, 4))).shape == (0, 4)


def test_names_that_are_none():
    with pytest.raises(bs.Error, match="path = None"):
        bs.read_matrix_market(None)
    with pytest.raises(bs.Error, match="rtol = 10+ is no real number"):
        bs.cg(A, X, rtol=10**400)
    with pytest.raises(bs.Error, match="zero byte"):
        bs.read_matrix_market("graph.mtx\0.gz")
    with pytest.raises(bs.Error, match="in UTF-8"):
        bs.read_matrix_market(b"\xe9t\xe9.mtx")
    with pytest.raises(bs.Error, match="resume.*zero byte"):
        bs.lobpcg(A, k=2, largest=False, resume="state\0")
    with pytest.raises(bs.Error, match="spec = None"):
        bs.generate(None)
    for words, why in {
        "chebyshev:0": "M: degree 0 is not between 1 and 100",
        "chebyshev:-1": "M: degree -1 is not between",
        "chebyshev:4:x": "M: ratio 'x' is not a number",
        "block-jacobi:0": "M: block size 0 is not between 2 and 8",
        "jacobi:2": "M: 'jacobi:2' has too many parts",
        "ilu": "M: 'ilu' is not none, jacobi, block-jacobi.*automatic",
        "gauss-seidel": "M = 'gauss-seidel': gauss-seidel is not linked",
    }.items():
        with pytest.raises(bs.Error, match=f"^blockspan: {why}"):
            bs.cg(A, X, M=words)


def test_vectors_and_whole_numbers_for_multigrid():
    grid = bs.generate("laplace5:12x12")
    ones = np.ones(144)
    wanted = bs.precond.multigrid(grid, near_null=ones[:, None]) @ ones
    for near_null in (ones, ones.astype(int), ones.astype("f4"), ones.astype(bool)):
        np.testing.assert_array_equal(
            bs.precond.multigrid(grid, near_null=near_null) @ ones, wanted
        )
    body = bs.generate("elasticity:3")
    nodes = np.indices((body.shape[0] // 3, 1, 1)).reshape(3, -1).T
    assert bs.precond.multigrid(body, coordinates=nodes).shape == body.shape


def test_nothing_to_read_for_a_product_with_a_gradient():
    torch = pytest.importorskip("torch")
    block = torch.from_numpy(X).requires_grad_()
    with pytest.raises(bs.Error, match="no out to read"):
        bs.spmm(A, block, beta=1.0)


def test_values_that_change_before_their_gradient():
    torch = pytest.importorskip("torch")
    import blockspan.torch as bt

    graph = bt.matrix(S.copy())
    block = torch.from_numpy(X.copy()).requires_grad_()
    product = graph @ block
    graph.values.mul_(2)
    with pytest.raises(bs.Error, match="changed in place"):
        product.sum().backward()
    (graph @ block).sum().backward()
    np.testing.assert_allclose(block.grad, 2 * S.T @ np.ones_like(X))


@pytest.mark.filterwarnings("error")
def test_vectors_of_torch_on_the_left():
    torch = pytest.importorskip("torch")
    row = torch.from_numpy(X[:, 0].copy())
    np.testing.assert_allclose(row @ A, X[:, 0] @ S)
    with pytest.raises(bs.Error, match="wanted is n x k, or n"):
        torch.ones(1, 2, N, dtype=torch.float64) @ A
    with pytest.raises(bs.Error, match="60 x 2 bool"):
        A @ torch.ones(N, 2, dtype=torch.bool)


def test_distances_as_scikit_learn_takes_them():
    neighbors = pytest.importorskip("sklearn.neighbors")
    from blockspan.cluster import SpectralClustering

    points = np.random.default_rng(0).standard_normal((60, 2)) + 8 * (np.arange(60) >= 30)[:, None]
    near = neighbors.NearestNeighbors(n_neighbors=10).fit(points)
    model = SpectralClustering(2, affinity="precomputed_nearest_neighbors", random_state=0)
    labels = model.fit_predict(near.kneighbors_graph(mode="distance"))
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1 and labels[0] != labels[-1]
