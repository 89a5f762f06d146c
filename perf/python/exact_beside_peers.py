#!/usr/bin/env python3
"""The study `exact`: pairs near a shift and all of an interval, beside SciPy and SLEPc.

perf/python/exact_beside_peers.py --slepc PROGRAM --out FILE.json records a run; --page FILE.json
prints its page (perf/results/python/exact.md). PROGRAM is perf/peers/slepc_exact.c, compiled:
  cc -O2 perf/peers/slepc_exact.c $(pkg-config --cflags --libs slepc petsc) -o slepc_exact
One thread; CPU seconds of the work with its factorizations, medians of three runs, each a process of
its own, peers by turns; the same tolerance, 1e-11. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any

import beside_peers
import numpy as np
import scipy.sparse.linalg as sl

import blockspan as bs

TOLERANCE = 1e-11
# name, matrix, shift and pairs, or the ends of an interval
CASES = (
    ("7-point 30^3 at 1, 10 pairs", "laplace7:30", (1.0, 10)),
    ("7-point 30^3 at 1, 40 pairs", "laplace7:30", (1.0, 40)),
    ("elasticity 16^3 at 0, 10 pairs", "elasticity:16", (0.0, 10)),
    ("elasticity 16^3 at 0, 40 pairs", "elasticity:16", (0.0, 40)),
    ("elasticity 16^3 at 0, 120 pairs", "elasticity:16", (0.0, 120)),
    ("5-point 300 x 301 at 0.5, 10 pairs", "laplace5:300x301", (0.5, 10)),
    ("5-point 300 x 301 at 0.5, 40 pairs", "laplace5:300x301", (0.5, 40)),
    ("elasticity 12^3, all below 0.05", "elasticity:12", (-0.01, 0.05, "all")),
    ("7-point 20 x 21 x 22, all of (3, 3.2)", "laplace7:20x21x22", (3.0, 3.2, "all")),
)
CONTENDERS = ("blockspan", "blockspan without counts", "SLEPc", "SciPy")


def by_blockspan(A: Any, task: Any, prove: bool) -> Any:
    if len(task) == 3:
        return bs.eigs_in(A, *task[:2], tol=TOLERANCE).eigenvalues
    return bs.eigsh(A, task[1], sigma=task[0], tol=TOLERANCE, prove=prove).eigenvalues


def one(case: int, contender: str, slepc: str) -> dict[str, Any] | None:
    """None where it does not apply."""
    _, spec, task = CASES[case]
    A = bs.generate(spec).tocsr()
    if contender == "SLEPc":
        with tempfile.NamedTemporaryFile() as file:
            np.array([A.shape[0], A.nnz], np.int64).tofile(file)
            for part in (A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data):
                part.tofile(file)
            file.flush()
            words = (
                ["interval", *map(str, task[:2])] if len(task) == 3 else ["near", *map(str, task)]
            )
            done = subprocess.run(
                [slepc, file.name, str(TOLERANCE), *words],
                capture_output=True,
                text=True,
                check=True,
            )
        found = json.loads(done.stdout.splitlines()[-1])
        values = np.sort(found["values"])
        return {"cpu": found["cpu"], "values": list(_wanted(values, task))}
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if contender == "SciPy":
            if len(task) == 3:
                return None  # it has no such call
            values = sl.eigsh(A.tocsc(), task[1], sigma=task[0], tol=TOLERANCE)[0]
        elif contender == "blockspan" or len(task) == 2:
            values = by_blockspan(A, task, contender == "blockspan")
        else:
            return None  # an interval is counted
    cpu = time.process_time() - begin
    return {"cpu": cpu, "values": list(map(float, _wanted(np.sort(values), task)))}


def _wanted(values: Any, task: Any) -> Any:
    """SLEPc may give more than were asked for."""
    if len(task) == 3:
        return values
    return np.sort(values[np.argsort(abs(values - task[0]), kind="stable")[: task[1]]])


def run(case: int, contender: str, slepc: str) -> dict[str, Any] | None:
    if contender == "SLEPc" and not slepc:
        return None
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, __file__, "--one", str(case), contender, "--slepc", slepc],
        env=os.environ | threads,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(f"{CASES[case][0]}, {contender}: {done.stderr.splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measure(case: int, slepc: str, repeats: int) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {}
    differs: dict[str, float] = {}
    truth: Any = None
    for _ in range(repeats):
        for contender in CONTENDERS:
            found = run(case, contender, slepc)
            if found is None:
                continue
            seconds.setdefault(contender, []).append(round(found["cpu"], 3))
            values = np.array(found["values"])
            truth = values if truth is None else truth
            same = len(values) == len(truth)
            differ = float(abs(values - truth).max()) if same else float("inf")
            differs[contender] = max(differ, differs.get(contender, 0.0))
    return {"title": CASES[case][0], "pairs": len(truth), "cpu": seconds, "differs": differs}


def page(record: dict[str, Any]) -> str:
    lines = [
        "# Exact pairs beside SciPy and SLEPc",
        "",
        "Made by `perf/python/exact_beside_peers.py --page` from `exact.json`; do not edit. CPU seconds of one thread with",
        "all factorizations, medians of three runs by turns on a machine that others use; in brackets over Blockspan with its",
        f"counts. Tolerance {TOLERANCE:.0e}; SLEPc: Krylov-Schur or slicing with MUMPS, SciPy: ARPACK with SuperLU. Intervals",
        f"are counted by both. {record['machine']}; the module by {record['built']}. "
        + ", ".join(f"{name} {version}" for name, version in record["versions"].items())
        + ".",
        "",
        "| problem | pairs | " + " | ".join(CONTENDERS) + " | largest difference |",
        "|---" * (len(CONTENDERS) + 3) + "|",
    ]
    for case in record["cases"]:
        ours = statistics.median(case["cpu"]["blockspan"])
        cells = []
        for contender in CONTENDERS:
            runs = case["cpu"].get(contender)
            middle = statistics.median(runs) if runs else 0
            cells.append(f"{middle:.2f} ({middle / ours:.2f})" if runs else "-")
        who, worst = max(case["differs"].items(), key=lambda item: item[1])
        said = f"{worst:.0e}" + (f", {who}: a copy is missing" if worst > 1e-9 else "")
        lines.append(f"| {case['title']} | {case['pairs']} | {' | '.join(cells)} | {said} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("--repeats", type=int, default=3)
    given.add_argument("--slepc", default="", metavar="PROGRAM")
    given.add_argument("--built", default="-O3", help="how the module was compiled")
    given.add_argument("--out", type=pathlib.Path, metavar="FILE.json")
    given.add_argument("--page", type=pathlib.Path, metavar="FILE.json")
    given.add_argument("--one", nargs=2, metavar=("CASE", "CONTENDER"))
    options = given.parse_args()
    if options.one:
        print(json.dumps(one(int(options.one[0]), options.one[1], options.slepc)))
        return
    if options.page:
        print(page(json.loads(options.page.read_text())), end="")
        return
    names = ("Python", "numpy", "scipy")
    versions = {k: v for k, v in beside_peers.versions().items() if k in names}
    record: dict[str, Any] = {"commit": beside_peers.commit(), "machine": beside_peers.machine()}
    record["versions"] = versions | ({"SLEPc": "3.18.2"} if options.slepc else {})
    record["built"] = options.built
    record["cases"] = []
    for case in range(len(CASES)):
        record["cases"].append(measure(case, options.slepc, options.repeats))
        if options.out:
            options.out.write_text(json.dumps(record) + "\n")
    print(page(record))


if __name__ == "__main__":
    main()
