#!/usr/bin/env python3
"""Five users' programs (users/), each by Blockspan and by the packages people use today.

perf/python/beside_peers.py [PROGRAM ...] --out FILE.json records a run, whose table is that of
src/python/README.md (perf/results/python/host.json; --table FILE.json prints it again). One thread;
CPU seconds of the work itself, setups included, the median of three; each run is a process of its
own, peers by turns. What is not installed is said and left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import pathlib
import platform
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


def measure(name: str, repeats: int) -> dict[str, Any]:
    """What came of each contender, in the order of the runs."""
    runs: dict[str, dict[str, list[float]]] = {
        contender: {"cpu": [], "wall": [], "error": []} for contender in contenders(name)
    }
    for _ in range(repeats):
        for contender in list(runs):
            result = run(name, contender)
            if result is None:
                del runs[contender]
                continue
            for key, value in result.items():
                runs[contender][key].append(float(f"{value:.4g}"))
    return {"title": program(name).TITLE, "runs": runs}


def versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def machine() -> str:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()}, {os.cpu_count()} hyperthreads"
    return platform.machine()


def commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=pathlib.Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def table(record: dict[str, Any]) -> str:
    """As in the page of the package."""
    lines = ["| problem | by | CPU seconds | x | error |", "|---|---|---|---|---|"]
    for case in record["programs"].values():
        title, ours = case["title"], None
        for contender, runs in case["runs"].items():
            seconds = statistics.median(runs["cpu"])
            ours = ours or seconds
            who = contender.replace("scikit_learn", "scikit-learn").replace("_", " ")
            error = max(runs["error"])
            lines.append(
                f"| {title} | {who} | {seconds:.3g} | {seconds / ours:.1f} | {error:.0e} |"
            )
            title = ""
    return "\n".join(lines)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    given.add_argument("programs", nargs="*", default=PROGRAMS)
    given.add_argument("--repeats", type=int, default=3)
    given.add_argument("--out", type=pathlib.Path, metavar="FILE.json")
    given.add_argument("--table", type=pathlib.Path, metavar="FILE.json")
    given.add_argument("--one", nargs=2, metavar=("PROGRAM", "CONTENDER"))
    options = given.parse_args()
    if options.one:
        print(json.dumps(one(*options.one)))
        return
    if options.table:
        print(table(json.loads(options.table.read_text())))
        return
    record: dict[str, Any] = {
        "commit": commit(),
        "machine": machine(),
        "threads": 1,
        "versions": versions(),
    }
    record["programs"] = {}
    for name in options.programs:
        record["programs"][name] = measure(name, options.repeats)
        if options.out:
            options.out.write_text(json.dumps(record) + "\n")
    print(record["versions"], table(record), sep="\n\n")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    main()
