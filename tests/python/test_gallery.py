"""The programs of apps/gallery run, and what they compute is right."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import scipy.linalg as la

import blockspan as bs

GALLERY = pathlib.Path(__file__).parents[2] / "apps" / "gallery"


def main_of(name: str):
    return runpy.run_path(str(GALLERY / f"{name}.py"))["main"]


def dense(A: bs.Matrix) -> np.ndarray:
    return A @ np.eye(A.shape[0])


def test_vibration_modes():
    modes = main_of("vibration_modes")(5)
    K, M = (dense(bs.generate(f"{name}:5")) for name in ("elasticity", "elasticity-mass"))
    np.testing.assert_allclose(modes.eigenvalues, la.eigh(K, M, eigvals_only=True)[:8], rtol=1e-9)


def test_own_operator():
    n = 8
    pairs = main_of("own_operator")(n)
    x = np.arange(1, n + 1) / (n + 1)
    line = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    with_well = np.linalg.eigvalsh(line + np.diag((x - 0.5) ** 2 * (n + 1) / 4))
    free = np.linalg.eigvalsh(line)
    sums = with_well[:, None, None] + free[:, None] + free
    np.testing.assert_allclose(pairs.eigenvalues, np.sort(sums.ravel())[:5], rtol=1e-9)
