"""The programs of apps/gallery run, and what they compute is right."""

from __future__ import annotations

import pathlib
import runpy

import numpy as np
import pytest
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


def test_load_cases():
    together, apart = main_of("load_cases")(5, 6)
    K, n = dense(bs.generate("elasticity:5")), together.x.shape[0]
    loads = np.eye(n)[:, np.linspace(0, n - 1, 6).astype(int)]
    wanted = np.linalg.solve(K, loads)
    for result in (together, apart):
        assert result.info == 0
        np.testing.assert_allclose(result.x, wanted, rtol=0, atol=1e-7 * np.abs(wanted).max())


def test_explain(capsys):
    kernels = main_of("explain")("laplace7:8")
    assert set(kernels) == {1, 8, 32}
    printed = capsys.readouterr().out
    assert bs.Plan(bs.generate("laplace7:8"), columns=32).explain(32) in printed
    assert all(kernel in printed for kernel in kernels.values())


def test_spectral_clustering():
    pytest.importorskip("sklearn")
    labels, ring = main_of("spectral_clustering")(600)
    assert np.array_equal(labels, ring) or np.array_equal(labels, 1 - ring)


def test_cupy_ranks():
    from cuda_arrays import Cupy

    Cupy()  # skips where there is none
    X = main_of("cupy_ranks")("rmat:8:8", 4).get()
    A = bs.generate("rmat:8:8")
    pattern = (dense(A) != 0) * 1.0
    assert pattern.sum() == A.nnz
    P = pattern / np.maximum(pattern.sum(axis=1, keepdims=True), 1)
    seeds = np.zeros_like(X)
    seeds[np.linspace(0, len(X) - 1, 4).astype(int), np.arange(4)] = 0.15
    np.testing.assert_allclose(X, np.linalg.solve(np.eye(len(X)) - 0.85 * P.T, seeds), atol=1e-9)


@pytest.mark.parametrize("precision", ["float64", "bfloat16"])
def test_graph_network(precision):
    pytest.importorskip("torch")
    config = bs.show_config()
    if precision not in config["scalars"] + config["stored"]:
        pytest.skip(f"this build has no {precision}")
    run = main_of("graph_network")
    losses, right = run(1000, 4, 40, precision)
    assert losses[-1] < losses[0] / 4 and right > 0.9
    assert run(1000, 4, 40, precision)[0] == losses  # the same bits
