"""Where no preconditioner is named the rule of the programs takes one, and says which and why."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import grid_eigenvalues

import blockspan as bs

GRID = 230
AT_ONCE = "multigrid took over before the first iteration: "
TOOK_OVER = re.compile(r"multigrid took over after (\d+) iterations? with (jacobi|chebyshev)")


def grid() -> bs.Matrix:
    return bs.generate(f"laplace5:{GRID}x{GRID}")


def zeros(columns: int | None = None) -> np.ndarray:
    """A start, of which the graph does not say how many iterations it leaves."""
    return np.zeros(GRID**2 if columns is None else (GRID**2, columns))


def switched_after(result) -> int:
    found = [TOOK_OVER.search(note) for note in result.notes]
    assert any(found), result.notes
    return int(next(match for match in found if match)[1])


def test_systems_change_over_to_multigrid():
    A = grid()
    B = np.c_[np.ones(GRID**2), np.arange(GRID**2) % 7]
    steps = []
    result = bs.cg(A, B, zeros(2), callback=lambda now: steps.append(now.iteration))
    assert result.info == 0
    residuals = np.linalg.norm(A @ result.x - B, axis=0) / np.linalg.norm(B, axis=0)
    np.testing.assert_allclose(result.residuals, residuals, rtol=1e-3)
    assert result.preconditioner.startswith("multigrid of ")
    assert 0 < switched_after(result) < result.iterations
    jacobi = bs.cg(A, B, M="jacobi")
    assert jacobi.preconditioner == "jacobi" and not jacobi.notes
    assert 2 * result.iterations < jacobi.iterations
    # one course: the callback and the history count on
    assert steps == list(range(1, result.iterations + 1))
    assert [line.iteration for line in result.history] == steps
    assert result.columns[0].iterations == result.iterations
    assert result.counters["operator_applications"] >= result.iterations
    assert 0 < result.seconds["setup"] < result.seconds["total"]
    again = bs.cg(A, B, zeros(2))
    assert again.notes == result.notes and np.array_equal(again.x, result.x)


def test_systems_of_the_plane_begin_with_multigrid():
    A = grid()
    B = np.c_[np.ones(GRID**2), np.arange(GRID**2) % 7]
    steps = []
    result = bs.cg(A, B, callback=lambda now: steps.append(now.iteration))
    assert result.info == 0 and steps == list(range(1, result.iterations + 1))
    assert result.notes[-1].startswith(AT_ONCE), result.notes
    named = bs.cg(A, B, M="multigrid")
    assert abs(result.iterations - named.iterations) <= 1 and result.seconds["setup"] > 0
    assert result.preconditioner.startswith("multigrid of ")
    residuals = np.linalg.norm(A @ result.x - B, axis=0) / np.linalg.norm(B, axis=0)
    assert residuals.max() <= 1.01e-8
    for easier in ({"atol": 1e3}, {"rtol": 1e-1}):
        assert not any(AT_ONCE in note for note in bs.cg(A, B, **easier).notes)


@pytest.mark.parametrize("with_mass", [False, True])
def test_eigenpairs_of_the_plane_begin_with_multigrid(with_mass):
    A = grid()
    mass = 2 * sp.eye_array(A.shape[0], format="csr") if with_mass else None
    result = bs.lobpcg(A, k=3, B=mass, largest=False)
    scale = 2 if with_mass else 1
    np.testing.assert_allclose(scale * result.eigenvalues, grid_eigenvalues(GRID, 3), rtol=1e-8)
    assert result.notes[-1].startswith(AT_ONCE), result.notes
    assert result.preconditioner.startswith("multigrid of ") and result.iterations < 40
    assert "multigrid" in str(result)
    same = bs.eigsh(A, 3, mass)
    assert same.notes == result.notes and np.array_equal(same.eigenvalues, result.eigenvalues)


@pytest.mark.parametrize("with_mass", [False, True])
def test_eigenpairs_change_over_to_multigrid(with_mass):
    along = (1, 0.01, 0.0001)
    A = bs.generate("aniso7:20:" + ",".join(map(str, along)))
    mass = 2 * sp.eye_array(A.shape[0], format="csr") if with_mass else None
    axis = 2 - 2 * np.cos(np.arange(1, 21) * np.pi / 21)
    exact = np.sort([x + along[1] * y + along[2] * z for x in axis for y in axis for z in axis])
    steps = []
    result = bs.lobpcg(A, k=3, B=mass, largest=False, callback=lambda x: steps.append(x.iteration))
    scale = 2 if with_mass else 1
    np.testing.assert_allclose(scale * result.eigenvalues, exact[:3], rtol=1e-6)
    assert result.preconditioner.startswith("multigrid of ")
    assert 0 < switched_after(result) < result.iterations
    assert steps == sorted(set(steps)) and steps[-1] == result.iterations
    assert [line.iteration for line in result.history] == list(range(result.iterations + 1))
    assert "multigrid" in str(result)
    same = bs.eigsh(A, 3, mass)
    assert same.notes == result.notes and np.array_equal(same.eigenvalues, result.eigenvalues)


@pytest.mark.parametrize(("spec", "name"), [("laplace7:20", "chebyshev"), ("p1-mass:20", "jacobi")])
def test_easy_problems_keep_what_they_began_with(spec, name):
    A = bs.generate(spec)
    result = bs.cg(A, np.ones(A.shape[0]))
    assert result.preconditioner.startswith(name) and not result.notes and result.info == 0


def test_whoever_names_one_gets_it():
    A, b = grid(), np.ones(GRID**2)
    for M, name in ((None, "none"), ("jacobi", "jacobi"), (bs.precond.jacobi(A), "jacobi")):
        system = bs.cg(A, b, M=M, rtol=1e-1)
        assert (system.preconditioner, system.notes) == (name, [])
    with pytest.warns(bs.NotConvergedWarning):
        pairs = bs.lobpcg(A, k=2, largest=False, M="jacobi", maxiter=20)
    assert pairs.preconditioner == "jacobi" and not pairs.notes


@pytest.mark.parametrize("kind", ["function", "dense"])
def test_without_entries_there_is_none(kind):
    S = bs.generate("laplace5:20x20").tocsr()
    A = (lambda X: S @ X) if kind == "function" else S.toarray()
    assert bs.cg(A, np.ones(400)).preconditioner == "none"
    assert bs.lobpcg(A, k=2, n=400, largest=False).preconditioner == "none"


def test_upper_end_and_checkpoints_keep_one(tmp_path):
    A = bs.generate("laplace5:40x40")
    mass = sp.eye_array(1600, format="csr")
    assert bs.lobpcg(A, k=2, largest=True, path="iterative").preconditioner == "none"
    assert bs.eigsh(A, 2, which="LA").preconditioner == "none"
    assert bs.lobpcg(A, k=2, B=mass, largest=True, path="iterative").preconditioner == "jacobi"
    kept = bs.lobpcg(A, k=2, largest=False, path="iterative", checkpoint=tmp_path / "state")
    assert kept.preconditioner == "jacobi" and not kept.notes


def test_limits_and_callbacks_end_the_whole():
    A, b = grid(), np.ones(GRID**2)
    whole = bs.cg(A, b, zeros())
    stop = switched_after(whole) + 2
    with pytest.warns(bs.NotConvergedWarning):
        short = bs.cg(A, b, zeros(), maxiter=stop)
    assert short.iterations == stop and short.status == "max_iterations"
    for at in (1, switched_after(whole), stop):
        stopped = bs.cg(A, b, zeros(), callback=lambda now, at=at: now.iteration < at)
        assert stopped.status == "stopped_by_monitor" and stopped.iterations == at
        assert bool(stopped.notes) == (at == stop)

    def fails(now):
        if now.iteration == stop:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        bs.cg(A, b, zeros(), callback=fails)
    assert caught.value.partial.iterations == stop


def test_views_and_types(scalar):
    S = grid().tocsr().astype(scalar)
    A = bs.matrix(S).T
    assert A.shape == S.shape
    tol = 1e-8 if np.finfo(scalar).eps < 1e-10 else 1e-4
    result = bs.cg(A, np.ones(GRID**2, dtype=scalar), rtol=tol)
    assert result.info == 0 and result.preconditioner.startswith("multigrid of ")
    mixed = bs.cg(S.astype("float64").real, np.ones(GRID**2, dtype=scalar), dtype=scalar, rtol=tol)
    assert mixed.info == 0


def test_an_indefinite_matrix_is_told():
    n = 2000
    S = sp.diags_array([np.r_[-3.0, np.full(n - 1, 2.5)]], offsets=[0]) - sp.diags_array(
        [np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]
    )
    with pytest.warns(bs.NotConvergedWarning):
        result = bs.cg(sp.csr_array(S), np.ones(n))
    assert result.status == "negative_curvature"


def test_a_cycle_that_lost_its_definiteness_is_made_anew():
    A = bs.generate("jump7:40x40x40:1e8")
    result = bs.cg(A, np.ones(64000))
    assert result.info == 0, (result.status, result.notes)
