#!/usr/bin/env python3
"""Five users' programs (users/), each by Blockspan and by the packages people use today.

perf/python/beside_peers.py [PROGRAM ...] prints the table of src/python/README.md. One thread; CPU
seconds of the work itself, setups included, the median of three; each run is a process of its own,
peers by turns. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import warnings
from typing import Any

PROGRAMS = ("modes", "clusters", "loads", "features", "operator")
PACKAGES = ("blockspan", "numpy", "scipy", "scikit-learn", "pyamg", "torch")


def program(name: str) -> Any:
    return importlib.import_module(f"users.{name}")


def contenders(name: str) -> dict[str, Any]:
    """Ours first."""
    return {function.__name__: function for function in program(name).CONTENDERS}


def one(name: str, contender: str) -> dict[str, float]:
    given = program(name).problem()
    begin, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = contenders(name)[contender](*given)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - begin
    return {"cpu": cpu, "wall": wall, "error": float(program(name).error(answer, *given))}


def run(name: str, contender: str) -> dict[str, float] | None:
    """In a process of its own; None where it failed, which is said."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, __file__, "--one", name, contender],
        env=os.environ | threads,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(f"{name}, {contender}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(name: str, repeats: int) -> list[tuple[str, float, float]]:
    """Contender, median seconds, largest error."""
    runs: dict[str, list[dict[str, float]]] = {contender: [] for contender in contenders(name)}
    for _ in range(repeats):
        for contender in list(runs):
            result = run(name, contender)
            if result is None:
                del runs[contender]
            else:
                runs[contender].append(result)
    return [
        (contender, statistics.median(r["cpu"] for r in some), max(r["error"] for r in some))
        for contender, some in runs.items()
    ]


def versions() -> str:
    words = []
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            words.append(f"{package} {importlib.metadata.version(package)}")
    return ", ".join([*words, f"Python {sys.version.split()[0]}"])


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("programs", nargs="*", default=PROGRAMS)
    given.add_argument("--repeats", type=int, default=3)
    given.add_argument("--one", nargs=2, metavar=("PROGRAM", "CONTENDER"))
    options = given.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    print(f"{versions()}\n\n| problem | by | CPU seconds | x | error |\n|---|---|---|---|---|")
    for name in options.programs:
        lines = measure(name, options.repeats)
        for contender, seconds, error in lines:
            title = program(name).TITLE if contender == lines[0][0] else ""
            who = contender.replace("scikit_learn", "scikit-learn").replace("_", " ")
            ratio = seconds / lines[0][1]
            print(f"| {title} | {who} | {seconds:.3g} | {ratio:.1f} | {error:.0e} |", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
