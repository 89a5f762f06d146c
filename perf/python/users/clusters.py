"""Coordinates of points along a rolled surface: eigenvectors of the graph of their neighbours."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

TITLE = "spectral embedding, ten neighbours of 20,000 points"
GIVEN = {"n_components": 4, "random_state": 0, "drop_first": False}


def problem():
    from sklearn.datasets import make_swiss_roll
    from sklearn.neighbors import kneighbors_graph

    X, _ = make_swiss_roll(20000, noise=0.05, random_state=0)
    near = kneighbors_graph(X, 10)
    return (sp.csr_array(0.5 * (near + near.T)),)


def blockspan(W):
    import blockspan.cluster

    return blockspan.cluster.spectral_embedding(W, **GIVEN)


def scikit_learn(W):
    from sklearn.manifold import spectral_embedding

    return spectral_embedding(W, **GIVEN)


def scikit_learn_with_pyamg(W):
    from sklearn.manifold import spectral_embedding

    return spectral_embedding(W, eigen_solver="amg", **GIVEN)


def error(E, W):
    """The largest residual of the normalized Laplacian."""
    scale = np.sqrt(W.sum(axis=1))[:, None]
    V = E * scale
    V = V / np.linalg.norm(V, axis=0)
    LV = V - W @ (V / scale) / scale
    return np.linalg.norm(LV - V * np.sum(V * LV, axis=0), axis=0).max()


CONTENDERS = (blockspan, scikit_learn, scikit_learn_with_pyamg)
