"""Five states of a particle in a well: the operator and its preconditioner are functions."""

from __future__ import annotations

import numpy as np
import scipy.fft
import scipy.sparse.linalg as sl

import blockspan as bs

N, PAIRS = 31, 5
TITLE = f"{PAIRS} states in a well, a function of blocks ({N**3:,} points)"
X1 = np.arange(1, N + 1) / (N + 1)
WELL = 2 * ((X1[:, None, None] - 0.5) ** 2 + (X1[:, None] - 0.4) ** 2 + (X1 - 0.45) ** 2)[..., None]
LINE = 4 * np.sin(np.pi * X1 / 2) ** 2
VALUES = (LINE[:, None, None] + LINE[:, None] + LINE)[..., None]


def hamiltonian(X):
    U = X.reshape(N, N, N, -1)
    Y = (6 + WELL) * U
    Y[1:] -= U[:-1]
    Y[:-1] -= U[1:]
    Y[:, 1:] -= U[:, :-1]
    Y[:, :-1] -= U[:, 1:]
    Y[:, :, 1:] -= U[:, :, :-1]
    Y[:, :, :-1] -= U[:, :, 1:]
    return Y.reshape(X.shape)


def inverse(X):
    """Of the Laplacian alone, by sine transforms."""
    U = scipy.fft.dstn(X.reshape(N, N, N, -1), type=1, axes=(0, 1, 2))
    return scipy.fft.idstn(U / VALUES, type=1, axes=(0, 1, 2)).reshape(X.shape)


def problem():
    return ()


def blockspan():
    return bs.lobpcg(hamiltonian, n=N**3, k=PAIRS, largest=False, M=inverse)


def scipy_lobpcg():
    X = np.random.default_rng(1).standard_normal((N**3, PAIRS + 3))
    A, M = (
        sl.LinearOperator((N**3, N**3), f, matmat=f, dtype=float) for f in (hamiltonian, inverse)
    )
    w, V = sl.lobpcg(A, X, M=M, tol=1e-6, maxiter=200, largest=False)
    return w[:PAIRS], V[:, :PAIRS]


def scipy_eigsh():
    A = sl.LinearOperator((N**3, N**3), hamiltonian, matmat=hamiltonian, dtype=float)
    return sl.eigsh(A, PAIRS, which="SA", tol=1e-8)


def error(answer):
    """The largest backward error."""
    w, V = answer
    residuals = np.linalg.norm(hamiltonian(V) - V * w, axis=0) / np.linalg.norm(V, axis=0)
    return residuals.max() / (12 + WELL.max())


CONTENDERS = (blockspan, scipy_lobpcg, scipy_eigsh)
