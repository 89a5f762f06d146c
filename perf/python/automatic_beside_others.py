#!/usr/bin/env python3
"""The study `automatic`: what the programs choose unasked, beside every choice one could make.

perf/python/automatic_beside_others.py --apps BUILD/apps [--petsc PROGRAM] [--device] --out FILE.json
records a run; --page FILE.json prints its page (perf/results/python/automatic.md, with --device
automatic_device.md). PROGRAM is perf/peers/petsc_cg.c, compiled as it says, for hypre. One thread; seconds
of the processor for setup and solve: their share of the process, by its report. On a device: larger
problems, and the seconds that pass. Right-hand sides are random, to 1e-8; ten pairs. PyAMG:
smoothed aggregation under its conjugate gradients, with OPENBLAS_NUM_THREADS=1 in the environment.
What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import beside_peers
import kinds_of_systems as kinds
import numpy as np
import scipy.io

LIMIT = 20  # seconds of the processor
NAME_OF_DEVICE = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
DEFAULT = "automatic"
CHOICES = (
    "jacobi",
    "block-jacobi",
    "chebyshev:8",
    "multigrid",
    "direct",
)  # none: as jacobi or worse
BLOCKS = "block-jacobi"  # of structures alone; elsewhere it is jacobi
PEERS = ("hypre", "PyAMG")  # one column after the other
# title: a generator's spec, or what makes the matrix
SYSTEMS: dict[str, str | Callable[[], Any]] = {
    "anisotropy 30 degrees, 250^2": lambda: kinds.rotated(250, 30),
    "anisotropy 45 degrees, 250^2": lambda: kinds.rotated(250, 45),
    "checkerboard 7 x 7, 250^2": lambda: kinds.checkerboard(250),
    "streets, 50,000": lambda: kinds.streets(225),
    "plate, 120^2": lambda: kinds.plate(120),
    "elasticity stretched by 20": lambda: kinds.stretched_elasticity(14, 20.0),
    "P1 tetrahedra, 20,000": lambda: kinds.tetrahedra(20000)[0],
    "P1 mass, 20,000": lambda: kinds.tetrahedra(20000)[1],
    "5-point, 300^2": "laplace5:300",
    "7-point, 40^3": "laplace7:40",
    "27-point, 32^3": "laplace27:32",
    "P1, 36^3": "p1:36",
    "elasticity, 18^3": "elasticity:18",
    "jumps of 1e3, 40^3": "jump7:40:1000",
}
COLUMNS = (1, 8)
MANY = 32  # as two groups of 16; no peers
WITH_MANY = (
    "anisotropy 30 degrees, 250^2",
    "streets, 50,000",
    "P1 tetrahedra, 20,000",
    "5-point, 300^2",
    "7-point, 40^3",
    "P1, 36^3",
    "elasticity, 18^3",
)
PAIRS: dict[str, str | Callable[[], Any]] = {
    "P1 tetrahedra, pencil": lambda: kinds.tetrahedra(12000),
    "checkerboard": lambda: kinds.checkerboard(150),
    "anisotropy 30 degrees": lambda: kinds.rotated(150, 30),
    "plate": lambda: kinds.plate(70),
    "streets": lambda: kinds.streets(120),
    "5-point, 200^2": "laplace5:200",
    "7-point, 30^3": "laplace7:30",
    "elasticity, 12^3": "elasticity:12",
}

DEVICE_SYSTEMS: dict[str, str | Callable[[], Any]] = {
    "anisotropy 30 degrees, 500^2": lambda: kinds.rotated(500, 30),
    "checkerboard 7 x 7, 500^2": lambda: kinds.checkerboard(500),
    "streets, 200,000": lambda: kinds.streets(450),
    "plate, 200^2": lambda: kinds.plate(200),
    "5-point, 1000^2": "laplace5:1000",
    "7-point, 100^3": "laplace7:100",
    "27-point, 80^3": "laplace27:80",
    "P1, 60^3": "p1:60",
    "elasticity, 44^3": "elasticity:44",
    "jumps of 1e3, 96^3": "jump7:96:1000",
}
DEVICE_PAIRS = ("streets, 200,000", "7-point, 100^3", "27-point, 80^3", "elasticity, 44^3")


def cases_of(device: bool) -> list[tuple[str, int]]:
    """Titles, and columns of right-hand sides; 0: pairs."""
    systems = DEVICE_SYSTEMS if device else SYSTEMS
    cases = [(title, k) for k in COLUMNS for title in systems]
    cases += [(title, MANY) for title in (systems if device else WITH_MANY)]
    return cases + [(title, 0) for title in (DEVICE_PAIRS if device else PAIRS)]


CASES = cases_of(device=False)


def problem(title: str, columns: int) -> Any:
    if title in DEVICE_SYSTEMS:
        return DEVICE_SYSTEMS[title]
    return (SYSTEMS if columns else PAIRS)[title]


class Case:
    """A problem as the programs read it, for as long as its folder."""

    def __init__(self, title: str, columns: int, folder: pathlib.Path) -> None:
        given = problem(title, columns)
        self.columns, self.matrices = columns, () if isinstance(given, str) else given()
        if not isinstance(self.matrices, tuple):
            self.matrices = (self.matrices,)
        self.arguments = [given] if isinstance(given, str) else []
        for name, A in zip(("A", "M"), self.matrices, strict=False):
            path = str(folder / f"{name}.mtx")
            scipy.io.mmwrite(path, A.tocoo(), symmetry="symmetric")
            self.arguments += ["--mass", path] if name == "M" else [path]
        self.arguments += ["--columns", str(columns)] if columns else ["--pairs", "10"]
        self.block = 3 if "elasticity" in title else 1
        self.program = "blockspan-solve" if columns else "blockspan-eig"
        self.folder = folder
        self.device = title in DEVICE_SYSTEMS

    def run(self, apps: pathlib.Path, choice: str) -> dict[str, Any] | None:
        """Seconds of the process and its report; None where it did not solve."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        words = [str(apps / self.program / self.program), *self.arguments, "--quiet"]
        words += [] if choice == DEFAULT else ["--preconditioner", choice]
        cpu = _cpu([*words, "--report", str(report)])
        if cpu is None or not report.exists():
            return None
        found: dict[str, Any] = json.loads(report.read_text())
        return {"cpu": cpu, **found}

    def seconds(self, apps: pathlib.Path, choice: str) -> Any:
        """Setup and solve, iterations, notes; None where it did not solve."""
        whole = self.run(apps, choice)
        if whole is None or not whole["converged"]:
            return None
        notes = [note for note in whole["notes"] if "took over" in note]
        wall = whole["seconds"]
        seconds = wall["setup"] + wall["solve"]
        if not self.device:
            seconds *= whole["cpu"] / wall["total"]
        return seconds, whole["iterations"], notes


def _cpu(words: list[str]) -> float | None:
    """Seconds of the processor that a process takes; None where it takes too many."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        words,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT)),
    )
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return None if cpu >= LIMIT else cpu


def by_hypre(A: Any, columns: int, block: int, petsc: str) -> tuple[float, int]:
    with tempfile.NamedTemporaryFile() as file:
        np.array([A.shape[0], A.nnz], np.int64).tofile(file)
        for part in (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data):
            part.tofile(file)
        file.flush()
        words = [petsc, file.name, str(columns), "1e-8", str(block), "-pc_type", "hypre"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if found["residual"] > 1.1e-8:
        raise ArithmeticError(f"a residual of {found['residual']:.1e}")
    return found["setup"] + found["solve"], found["iterations"]


def by_pyamg(A: Any, columns: int) -> tuple[float, int]:
    import pyamg

    B = np.random.default_rng(1).uniform(-1, 1, (A.shape[0], columns))
    A = A.tocsr().copy()
    A.indptr, A.indices = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    begin, steps = time.process_time(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        levels = pyamg.smoothed_aggregation_solver(scipy.sparse.csr_matrix(A))
        for b in B.T.copy():
            seen: list[float] = []
            x = levels.solve(b, tol=1e-8, accel="cg", maxiter=300, residuals=seen)
            steps = max(steps, len(seen) - 1)
            if time.process_time() - begin > LIMIT:
                raise ArithmeticError("too long")
            if np.linalg.norm(b - A @ x) > 2e-8 * np.linalg.norm(b):
                raise ArithmeticError("not solved in 300 steps")
    return time.process_time() - begin, steps


def by_peer(peer: str, case: Case, petsc: str) -> tuple[float, int] | None:
    A = case.matrices[0] if case.matrices else _generated(case.arguments[0])
    try:
        if peer == "hypre":
            return by_hypre(A, case.columns, case.block, petsc) if petsc else None
        return by_pyamg(A, case.columns)
    except (ArithmeticError, ImportError, subprocess.CalledProcessError) as error:
        print(f"{peer}: {error}", file=sys.stderr)
        return None


def _generated(spec: str) -> Any:
    import blockspan

    return blockspan.generate(spec).tocsr()


def measure(title: str, columns: int, given: argparse.Namespace) -> dict[str, Any]:
    """Of each choice the seconds, the least, and iterations; what the default took."""
    seen: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        case = Case(title, columns, pathlib.Path(folder))
        choices = [c for c in CHOICES if c != BLOCKS or "elasticity" in title]
        for _ in range(given.repeats):
            for choice in (DEFAULT, *choices):
                runs = seen.setdefault(choice, [])
                if None not in runs:
                    runs.append(case.seconds(given.apps, choice))
        if columns in COLUMNS and not given.peers_of and not given.device:
            for peer in PEERS:
                found = by_peer(peer, case, given.petsc)
                seen[peer] = [found] if found else []
    runs = {name: _least(runs) for name, runs in seen.items() if runs and None not in runs}
    notes = seen[DEFAULT][0][2] if DEFAULT in runs else []
    return {"title": title, "columns": columns, "runs": runs, "took": " ".join(notes)}


def _least(runs: list[Any]) -> list[Any]:
    return [round(min(run[0] for run in runs), 3), runs[0][1]]


def _best(case: dict[str, Any]) -> float:
    return min((case["runs"][c][0] for c in CHOICES if c in case["runs"]), default=math.inf)


def regret(case: dict[str, Any]) -> float:
    """The default over the best choice; infinite where it did not solve, and another did."""
    best = _best(case)
    return case["runs"].get(DEFAULT, [math.inf])[0] / best if best < math.inf else 1.0


def _counts(case: dict[str, Any]) -> bool:
    """Long enough to be told from the noise of a process."""
    return max(_best(case), case["runs"].get(DEFAULT, [math.inf])[0]) >= 0.1


def _row(case: dict[str, Any], names: tuple[str, ...]) -> str:
    cells = []
    for name in names:
        run = case["runs"].get(name)
        cells.append(f"{run[0]:.2f} ({run[1]})" if run else "-")
    took = case["took"].split(" took over")[0] if case["took"] else ""
    size = f"{case['columns']} columns" if case["columns"] else "10 pairs"
    return f"| {case['title']}, {size} | {' | '.join(cells)} | {took} | {regret(case):.2f} |"


FROM_HOST = (
    "Made by `perf/python/automatic_beside_others.py --page` from `automatic.json`; do not edit. Seconds of the",
    "processor for setup and solve, the less of two runs by turns, one thread of a machine that others use (iterations in",
)
FROM_DEVICE = (
    "Made by `perf/python/automatic_beside_others.py --page` from `automatic_device.json`; do not edit. Seconds for",
    "setup and solve in a fresh process, which loads its kernels as it goes, the less of its runs (iterations in",
)


def page(record: dict[str, Any]) -> str:
    cases = sorted(filter(_counts, record["cases"]), key=regret, reverse=True)
    all_of = [regret(case) for case in cases]
    mean = math.exp(statistics.fmean(map(math.log, all_of)))
    peers_in = () if record.get("device") else PEERS
    names = (DEFAULT, *CHOICES, *peers_in)
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    peers = f"; peers as of {record['peers_of']}" if "peers_of" in record else ""
    lines = [
        "# What is chosen unasked, beside every choice",
        "",
        *(FROM_DEVICE if record.get("device") else FROM_HOST),
        f"brackets); `-`: not solved in {LIMIT} s or 10,000 steps, not tried, or no system. Regret: the default over the best choice; the",
        f"worst first. In the geometric mean it is {mean:.2f}, {all_of[0]:.2f} at most. {record['machine']}. {versions}{peers}.",
        "",
        f"| problem | {' | '.join(names)} | changed over to | regret |",
        "|---" * (len(names) + 3) + "|",
        *(_row(case, names) for case in cases),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("--apps", type=pathlib.Path, help="the folder of the programs")
    given.add_argument("--petsc", default="", metavar="PROGRAM")
    given.add_argument(
        "--peers-of", type=pathlib.Path, metavar="FILE.json", help="a record of before"
    )
    given.add_argument("--device", action="store_true", help="on the programs' device")
    given.add_argument("--commit", default="", help="where there is no repository")
    given.add_argument("--repeats", type=int, default=2)
    given.add_argument("--only", default="", help="titles that have these words")
    given.add_argument("--out", type=pathlib.Path, metavar="FILE.json")
    given.add_argument("--page", type=pathlib.Path, metavar="FILE.json")
    options = given.parse_args()
    if options.page:
        print(page(json.loads(options.page.read_text())), end="")
        return
    versions = beside_peers.versions()
    machine = beside_peers.machine()
    if options.device:
        machine = subprocess.run(NAME_OF_DEVICE, capture_output=True, text=True).stdout.splitlines()[0]
    record: dict[str, Any] = {"commit": options.commit or beside_peers.commit()}
    record["machine"] = machine
    record["device"] = options.device
    record["versions"] = {k: v for k, v in versions.items() if k in ("numpy", "scipy", "pyamg")}
    if options.petsc:
        record["versions"] |= {"PETSc": "3.18.5", "hypre": "2.26.0"}
    known = json.loads(options.peers_of.read_text()) if options.peers_of else {"cases": []}
    if options.peers_of:
        record["versions"], record["peers_of"] = known["versions"], known["commit"]
    peers = {(c["title"], c["columns"]): c["runs"] for c in known["cases"]}
    record["cases"] = []
    for title, columns in cases_of(options.device):
        if options.only not in title:
            continue
        case = measure(title, columns, options)
        before = peers.get((title, columns), {})
        case["runs"] |= {peer: before[peer] for peer in PEERS if peer in before}
        record["cases"].append(case)
        print(_row(case, (DEFAULT, *CHOICES, *PEERS)), flush=True)
        if options.out:
            options.out.write_text(json.dumps(record, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
