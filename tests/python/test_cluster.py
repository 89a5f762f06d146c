"""Estimators with scikit-learn's interface; skipped where that is not installed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import blockspan as bs

sklearn = pytest.importorskip("sklearn")
from sklearn.datasets import make_blobs, make_moons  # noqa: E402
from sklearn.metrics import adjusted_rand_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from blockspan.cluster import SpectralClustering, spectral_embedding  # noqa: E402


@parametrize_with_checks([SpectralClustering(n_clusters=3)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def laplacian(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    W = W - np.diag(np.diag(W))
    d = W.sum(axis=1)
    return np.eye(len(W)) - W / np.sqrt(np.outer(d, d)), d


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("n", [30, 400])
def test_embedding_spans_the_least_eigenvectors(kind, n):
    rng = np.random.default_rng(1)
    W = rng.uniform(0.5, 1, (n, n)) * (rng.uniform(size=(n, n)) < 12 / n)
    W += np.diag(np.ones(n - 1), 1)  # connected
    W += W.T
    L, d = laplacian(W)
    values, vectors = np.linalg.eigh(L)
    E = spectral_embedding(kind(W), n_components=3, random_state=0)
    V = E * np.sqrt(d)[:, None]
    np.testing.assert_allclose(L @ V, V * values[1:4], atol=1e-6)
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-7)
    assert np.array_equal(E, spectral_embedding(kind(W), n_components=3, random_state=0))
    whole = spectral_embedding(kind(W), n_components=2, drop_first=False, random_state=0)
    np.testing.assert_allclose(whole[:, 0], whole[0, 0], rtol=1e-5)


def test_long_path():
    """Its smooth vectors take polynomials of the matrix hundreds of iterations."""
    n = 20000
    W = sp.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n))
    found = spectral_embedding(W, n_components=2, norm_laplacian=False, random_state=0)
    angles = np.pi * (np.arange(n)[:, None] + 0.5) * np.arange(1, 3) / n
    wanted = np.cos(angles) / np.linalg.norm(np.cos(angles), axis=0)
    np.testing.assert_allclose(np.abs(np.sum(found * wanted, axis=0)), 1, rtol=1e-6)


def test_combinatorial_laplacian_and_lone_nodes():
    path = np.diag(np.ones(49), 1)
    path += path.T
    E = spectral_embedding(sp.csr_array(path), n_components=1, norm_laplacian=False)[:, 0]
    wanted = np.cos(np.pi * (np.arange(50) + 0.5) / 50) / 5
    np.testing.assert_allclose(np.abs(E), np.abs(wanted), atol=1e-6)
    lone = np.zeros((60, 60))
    lone[:50, :50] = path
    assert np.isfinite(spectral_embedding(lone, n_components=3)).all()


@pytest.mark.parametrize("assign", ["kmeans", "cluster_qr"])
def test_finds_clusters(assign):
    X, wanted = make_blobs(400, centers=4, cluster_std=0.6, random_state=3)
    found = SpectralClustering(
        4, affinity="nearest_neighbors", assign_labels=assign, random_state=0
    ).fit_predict(X)
    assert adjusted_rand_score(wanted, found) > 0.99
    moons, halves = make_moons(300, noise=0.04, random_state=1)
    model = SpectralClustering(2, gamma=30, assign_labels=assign, random_state=0).fit(moons)
    assert adjusted_rand_score(halves, model.labels_) == 1
    given = SpectralClustering(
        2, affinity="precomputed", assign_labels=assign, random_state=0
    ).fit_predict(model.affinity_matrix_)
    assert adjusted_rand_score(halves, given) == 1


def test_agrees_with_scikit_learn():
    X, _ = make_moons(300, noise=0.05, random_state=2)
    theirs = sklearn.cluster.SpectralClustering(
        2, affinity="nearest_neighbors", random_state=0, n_neighbors=12
    ).fit_predict(X)
    ours = SpectralClustering(
        2, affinity="nearest_neighbors", random_state=0, n_neighbors=12
    ).fit_predict(X)
    assert adjusted_rand_score(theirs, ours) > 0.98


def test_what_is_refused():
    with pytest.raises(bs.Error, match=r"\(3, 4\)"):
        spectral_embedding(np.ones((3, 4)))
    with pytest.raises(bs.Error, match="negative"):
        spectral_embedding(-np.ones((30, 30)))
    with pytest.raises(bs.Error, match="9 eigenvectors of 4 nodes"):
        spectral_embedding(np.ones((4, 4)))
    with pytest.raises(bs.Error, match="'discretize'"):
        SpectralClustering(2, assign_labels="discretize").fit(np.ones((5, 1)))
    with pytest.raises(bs.Error, match="n_clusters = 0"):
        SpectralClustering(0).fit(np.ones((5, 1)))
