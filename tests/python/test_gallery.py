"""The programs of apps/gallery run, and what they compute is right."""

from __future__ import annotations

import json
import os
import pathlib
import runpy
import shlex
import subprocess

import numpy as np
import pytest
import scipy.io
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


needs_factors = pytest.mark.skipif(
    "direct" not in bs.show_config()["components"], reason="this build is without factors"
)


@pytest.fixture
def program():
    """blockspan-eig of a build of this tree, or of BLOCKSPAN_APPS_DIR: it does the same."""
    folder = os.environ.get("BLOCKSPAN_APPS_DIR", GALLERY.parents[1] / "build" / "host" / "apps")
    name = "blockspan-eig"
    paths = [pathlib.Path(folder) / name, pathlib.Path(folder) / name / name]

    def run(command, where, values):
        found = [path for path in paths if path.is_file()]
        if not found:
            return  # the package's tests need no program
        words = [str(found[0]), *shlex.split(command)[1:], "--quiet", "--report", "report.json"]
        done = subprocess.run(words, cwd=where, capture_output=True, text=True)
        if "needs the component direct" in done.stderr:
            return
        assert done.returncode == 0, done.stderr
        report = json.loads((where / "report.json").read_text("utf-8"))
        assert report["exact"]["proof"] == "proved"
        np.testing.assert_allclose(report["eigenvalues"], values, rtol=1e-9, atol=1e-12)

    return run


@needs_factors
def test_building_modes(tmp_path, capsys, program):
    modes = main_of("building_modes")(str(tmp_path), 30)
    K, M = (scipy.io.mmread(tmp_path / f"{name}.mtx").toarray() for name in "KM")
    f = np.sqrt(la.eigvalsh(K, M)) / (2 * np.pi)
    np.testing.assert_allclose(
        np.sqrt(modes.eigenvalues) / (2 * np.pi), f[(f > 1) & (f < 5)], rtol=1e-10
    )
    assert modes.proof == "proved" and len(modes.eigenvalues) > 10
    program(capsys.readouterr().out.splitlines()[-1], tmp_path, modes.eigenvalues)


@needs_factors
def test_lattice_states(tmp_path, capsys, program):
    states = main_of("lattice_states")(str(tmp_path), 18, 5)
    w = np.linalg.eigvalsh(scipy.io.mmread(tmp_path / "H.mtx").toarray())
    np.testing.assert_allclose(states.eigenvalues, w[abs(w) < 0.95], atol=1e-12)
    assert states.proof == "proved" and len(states.eigenvalues) == 5
    program(capsys.readouterr().out.splitlines()[-1], tmp_path, states.eigenvalues)


@needs_factors
@pytest.mark.parametrize(("springs", "load"), [(0.0, np.pi**2), (1e6, 2e3)])
def test_buckling_load(tmp_path, capsys, program, springs, load):
    loads = main_of("buckling_load")(str(tmp_path), 80, springs)
    # pinned, on springs k: (m pi)^2 + k / (m pi)^2, in waves m
    waves = (np.arange(1, 40) * np.pi) ** 2
    np.testing.assert_allclose(loads.eigenvalues, np.sort(waves + springs / waves)[:3], rtol=1e-4)
    assert loads.eigenvalues[0] == pytest.approx(load, rel=0.01) and loads.proof == "proved"
    program(capsys.readouterr().out.splitlines()[-1], tmp_path, loads.eigenvalues)


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
