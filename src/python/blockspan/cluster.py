"""Spectral embedding and clustering with the interface of scikit-learn, which must be installed."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import k_means
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_random_state, check_symmetric
from sklearn.utils.validation import validate_data

from blockspan import _host
from blockspan.arrays import Array
from blockspan.eigen import lobpcg
from blockspan.errors import Error
from blockspan.precond import multigrid
from blockspan.status import NotConvergedWarning

__all__ = ["NotConvergedWarning", "SpectralClustering", "spectral_embedding"]


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    random_state: Any = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Array:
    """Coordinates of the nodes of a graph: eigenvectors of least eigenvalue of its Laplacian.

    adjacency: n x n, sparse or dense, symmetric, weights >= 0; its diagonal does not count.
    norm_laplacian: I - D^-1/2 W D^-1/2, and its eigenvectors divided by D^1/2 (von Luxburg 2007,
    doi:10.1007/s11222-007-9033-z); else D - W. drop_first: without the constant one. Returns n x
    n_components, the largest entry of each column positive: equal arguments, equal bits.

    eigen_tol: backward error of the pairs, "auto": 1e-8 (single precision 1e-4). As
    ``sklearn.manifold.spectral_embedding``, whose eigen_solver there is not: LOBPCG with
    multigrid, for small graphs a dense eigensolver. Raises Error for a shape that is not square, for negative weights,
    or more components than nodes; a NotConvergedWarning tells if the goal was missed.

    >>> import numpy as np, blockspan.cluster
    >>> path = np.diag(np.ones(9), 1)
    >>> e = blockspan.cluster.spectral_embedding(path + path.T, n_components=1)[:, 0]
    >>> bool((np.diff(e) > 0).all() or (np.diff(e) < 0).all())
    True
    """
    W = check_array(adjacency, accept_sparse="csr", dtype=[np.float64, np.float32])
    if W.shape[0] != W.shape[1]:
        raise Error(f"blockspan.cluster: the adjacency has the shape {W.shape}, and is no graph")
    W = check_symmetric(W, raise_warning=False)
    if (W.data if sp.issparse(W) else W).min(initial=0) < 0:
        raise Error("blockspan.cluster: the adjacency has negative weights")
    wanted = n_components + int(drop_first)
    if not 1 <= wanted <= W.shape[0]:
        raise Error(f"blockspan.cluster: {wanted} eigenvectors of {W.shape[0]} nodes")
    if W.dtype.name not in _host.configuration()["scalars"]:
        W = W.astype(np.float64)
    L, scale = _laplacian(W, norm_laplacian)
    seed = int(check_random_state(random_state).randint(1, 2**31 - 1))
    tolerance = (1e-8 if W.dtype == np.float64 else 1e-4) if eigen_tol == "auto" else eigen_tol
    pairs = lobpcg(
        L,
        k=wanted,
        largest=False,
        M=_preconditioner(L),
        tol=float(tolerance),
        criterion="backward",  # digits of a zero are never certain
        seed=seed,
    )
    V: Array = pairs.eigenvectors / scale[:, None]
    V *= np.sign(V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])])
    return V[:, int(drop_first) :]


def _preconditioner(L: Any) -> Any:
    """Multigrid, for the smooth vectors of graphs that lie along something (meshes, neighbours in few
    dimensions) are what takes long; elsewhere, and where it finds nothing to put together, both are
    alike."""
    if not sp.issparse(L) or L.nnz == 0:
        return None
    try:
        return multigrid(L)
    except Error:
        return "chebyshev"


def _laplacian(W: Any, normalized: bool) -> tuple[Any, Array]:
    """The Laplacian and the square roots of the degrees (ones where they do not matter)."""
    n = W.shape[0]
    if sp.issparse(W):
        W = sp.csr_array(W, copy=True)
        W.setdiag(0)
        W.eliminate_zeros()
    else:
        W = W.copy()
        np.fill_diagonal(W, 0)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    scale = np.ones(n, W.dtype)
    diagonal = degrees
    if normalized:
        scale = np.sqrt(np.where(degrees > 0, degrees, 1)).astype(W.dtype)
        diagonal = np.where(degrees > 0, 1, 0).astype(W.dtype)
    if sp.issparse(W):
        D = sp.diags_array(1 / scale)
        return sp.csr_array(sp.diags_array(diagonal) - D @ W @ D, dtype=W.dtype), scale
    return np.diag(diagonal) - W / scale[:, None] / scale, scale


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters of points or of the nodes of a graph by k-means in their spectral embedding.

    Parameters as those of ``sklearn.cluster.SpectralClustering``. affinity: "rbf" or another kernel
    of ``pairwise_kernels`` (dense, n x n), "nearest_neighbors" (sparse: for many points),
    "precomputed" (X: n x n weights), "precomputed_nearest_neighbors" (X: sparse distances) or a
    function. assign_labels: "kmeans" or "cluster_qr" (Damle, Minden and Ying 2019,
    doi:10.1093/imaiai/iay008), without parameters or chance. Eigenpairs as in
    :func:`spectral_embedding`.

    Attributes after ``fit``: labels_, affinity_matrix_, n_features_in_.

    >>> import numpy as np, blockspan.cluster
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> labels = blockspan.cluster.SpectralClustering(2, random_state=0).fit_predict(X)
    >>> len(set(labels[:3])), len(set(labels[3:])), bool(labels[0] != labels[3])
    (1, 1, True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = str(self.affinity).startswith("precomputed")
        return tags

    def fit(self, X: Any, y: None = None) -> SpectralClustering:
        """Cluster X: n x features, or n x n if the affinity is precomputed."""
        if not isinstance(self.n_clusters, Integral) or self.n_clusters < 1:
            raise Error(f"blockspan.cluster: n_clusters = {self.n_clusters!r}")
        if self.assign_labels not in ("kmeans", "cluster_qr"):
            raise Error(
                f"blockspan.cluster: assign_labels = {self.assign_labels!r}; there are 'kmeans' and "
                "'cluster_qr'"
            )
        X = validate_data(
            self, X, accept_sparse=["csr", "csc", "coo"], dtype=np.float64, ensure_min_samples=2
        )
        self.affinity_matrix_ = self._affinity_of(X)
        embedding = spectral_embedding(
            self.affinity_matrix_,
            n_components=self.n_components or self.n_clusters,
            random_state=self.random_state,
            eigen_tol=self.eigen_tol,
            drop_first=False,
        )
        if self.assign_labels == "cluster_qr":
            self.labels_: Array = _pivoted_labels(embedding)
        else:
            _, self.labels_, _ = k_means(
                embedding, self.n_clusters, random_state=self.random_state, n_init=self.n_init
            )
        return self

    def fit_predict(self, X: Any, y: None = None) -> Array:
        """The cluster of each point, 0 to n_clusters - 1."""
        return self.fit(X).labels_

    def _affinity_of(self, X: Any) -> Any:
        if self.affinity == "precomputed":
            return X
        if str(self.affinity).endswith("nearest_neighbors"):
            near = NearestNeighbors(n_neighbors=self.n_neighbors, n_jobs=self.n_jobs)
            if self.affinity.startswith("precomputed"):  # of the distances that are given
                near = near.set_params(metric="precomputed").fit(X).kneighbors_graph(X)
            else:
                near = near.fit(X).kneighbors_graph()
            return sp.csr_array(0.5 * (near + near.T))
        options = dict(self.kernel_params or {})
        if not callable(self.affinity):
            options |= {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(X, metric=self.affinity, filter_params=True, **options)


def _pivoted_labels(V: Array) -> Array:
    """Rows that QR with pivoting picks span the clusters; V, rotated to be near ones there."""
    _, _, picked = la.qr(V.T, mode="economic", pivoting=True)
    rotation, _ = la.polar(V[picked[: V.shape[1]]].T)
    labels: Array = np.argmax(np.abs(V @ rotation), axis=1)
    return labels
