#!/usr/bin/env python3
"""Eigenpairs of real problems from several random starts, judged by reference values.

usage: perf/robustness.py --app build/host/apps/blockspan-eig/blockspan-eig [--out RESULTS.json]
       [--matrices FOLDER] [--rows 5300] [--large] [--seeds 1,2,3] [--backend auto]
       [--commit HASH] [-- OPTION ...]

Solves every problem of FOLDER/eigenvalues.json (default: BLOCKSPAN_MATRIX_DIR) with fewer rows, to
1e-8, and keeps of every run its status, iterations, largest residual as the app recomputed it, and
largest difference from the reference values. OPTIONs go to the app. A run passes if the app says
that it converged and these confirm it; a run that claims success and is contradicted is FALSE. Exit
status 1 if any run did not pass.

--large: the problems with that number of rows, and grids and graphs of 100,000 vertices and more; for
their smallest pairs once with each preconditioner of PRECONDITIONERS. References of the latter are
closed formulas, or a second solve (SECOND), with another polynomial, start and block and to 1e-10.
"""
import argparse
import datetime
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

TOLERANCE = 1e-8
# Kinds of problems that the command line has words for.
OPERATORS = {"std": [], "gen": [], "lap": ["--operator", "laplacian"],
             "adj": ["--operator", "adjacency"]}
PRECONDITIONERS = ["jacobi", "chebyshev:8"]
SECOND = ["--preconditioner", "chebyshev:16", "--block", "32", "--tolerance", "1e-10"]
SECOND_SEED = 101
PAIRS = 10


def smallest_sums(axes):
    """The smallest sums of one number of each axis."""
    return sorted(sum(numbers) for numbers in
                  itertools.product(*(sorted(axis)[:PAIRS] for axis in axes)))[:PAIRS]


def line(points):
    """Eigenvalues of the second difference between two walls."""
    return [2 - 2 * math.cos(k * math.pi / (points + 1)) for k in range(1, points + 1)]


def path(points):
    """Eigenvalues of the graph Laplacian of a path."""
    return [2 - 2 * math.cos(k * math.pi / points) for k in range(points)]


def large_problems(folder):
    """Each with its reference: values, or nothing where a second solve has to give them. The zeros
    of a Laplacian are as many as its graph has parts: R-MAT graphs leave thousands of vertices
    alone."""
    def problem(kind, matrix, rows, values, norm, words):
        return {"problem": f"{kind}:{matrix}", "matrix": matrix, "which": "smallest", "rows": rows,
                "mass": None, "eigenvalues": values, "attainable_relative_accuracy": None,
                "norm1_A": norm, "reference": words}
    grid, square, cube = 3 * [line(48)], 2 * [path(316)], 3 * [path(47)]
    found = [problem("std", "laplace7:48", 48**3, smallest_sums(grid), 12, "formula"),
             problem("lap", "laplace5:316x316", 316**2, smallest_sums(square), 8, "formula"),
             problem("lap", "laplace5:316x316:permute", 316**2, smallest_sums(square), 8, "formula"),
             problem("lap", "laplace7:47", 47**3, smallest_sums(cube), 12, "formula"),
             problem("lap", "rmat:17:8:symmetric", 2**17, PAIRS * [0.0], None, "formula"),
             problem("lap", "fixed:100000x100000:4:symmetric", 100000, None, None, "second solve")]
    if os.path.exists(os.path.join(folder, "wave.mtx.gz")):
        found.append(problem("lap", "wave", 156317, None, None, "second solve"))
    return found


def parser(description):
    """What all programs of this kind understand."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--app", required=True)
    found.add_argument("--matrices", default=os.environ.get("BLOCKSPAN_MATRIX_DIR"))
    found.add_argument("--large", action="store_true")
    found.add_argument("--backend", default="auto")
    found.add_argument("--commit", default="")
    found.add_argument("--out")
    found.add_argument("options", nargs="*", help="for the app, after --")
    return found


def parse(words):
    found = words.parse_args()
    if not found.matrices:
        words.error("no folder of matrices: give --matrices or set BLOCKSPAN_MATRIX_DIR")
    return found


def arguments():
    words = parser(__doc__.split("\n")[0])
    words.add_argument("--rows", type=int, default=5300)
    words.add_argument("--seeds", default="1,2,3")
    return parse(words)


def source(args, name):
    """What the app calls a matrix: a file of the folder or a generator's spec."""
    return name if ":" in name else os.path.join(args.matrices, name + ".mtx.gz")


def run_app(args, name, folder, options):
    """The app's exit status and report, None where it wrote none."""
    report = os.path.join(folder, "report.json")
    command = [args.app, source(args, name), "--backend", args.backend, "--report", report,
               "--quiet"] + options + args.options
    status = subprocess.run(command, capture_output=True).returncode
    if not os.path.exists(report) or os.path.getsize(report) == 0:
        return status, None
    with open(report) as file:
        return status, json.load(file)


def environment(report):
    return {key: report[key] for key in ("versions", "backend", "device")}


def record(args, schema, about, runs):
    """Writes the results where --out says."""
    if not args.out:
        return
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    results = dict({"schema": schema, "commit": args.commit, "date": date, "options": args.options,
                    "tolerance": TOLERANCE}, **about, runs=runs)
    with open(args.out, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def run(args, problem, seed, options):
    options = ["--pairs", str(len(problem["eigenvalues"] or range(PAIRS))),
               "--which", problem["which"], "--seed", str(seed)] + options
    if problem["mass"]:
        options += ["--mass", source(args, problem["mass"])]
    options += OPERATORS[problem["problem"][:3]]
    if "--tolerance" not in options + args.options:
        options += ["--tolerance", str(TOLERANCE)]
    with tempfile.TemporaryDirectory() as folder:
        return run_app(args, problem["matrix"], folder, options)


def difference(problem, report):
    """Largest difference from the reference over what is allowed: for one matrix the bound of Weyl
    from the residuals; for a pencil, where they bound it through the smallest eigenvalue of the mass
    only, 1e-3 of the value or its relative residual: enough to find out a missed pair."""
    exact_values = problem["eigenvalues"]
    digits_known = problem["attainable_relative_accuracy"] or [0] * len(exact_values)
    worst = 0.0
    for value, exact, digits, relative in zip(report["eigenvalues"], exact_values, digits_known,
                                              report["relative_residuals"]):
        if value is None:
            return math.inf
        allowed = 50 * (digits or 0) * abs(exact)
        if problem["mass"]:
            allowed += max(1e-3, math.inf if relative is None else relative) * abs(exact)
        else:
            allowed += math.sqrt(len(exact_values)) * TOLERANCE * problem["norm1_A"]
        worst = max(worst, abs(value - exact) / allowed)
    return worst


def complete(args, problem):
    """Fills in what the app's reports have to say: the norm, and values by a second solve."""
    if problem["norm1_A"] and problem["eigenvalues"]:
        return problem
    status, report = run(args, problem, SECOND_SEED, SECOND)
    if status != 0:
        sys.exit(f"{problem['problem']}: no reference, the second solve failed")
    return dict(problem, norm1_A=report["norms"]["A"],
                eigenvalues=problem["eigenvalues"] or report["eigenvalues"])


def judge(problem, seed, status, report):
    entry = {"problem": problem["problem"], "which": problem["which"], "rows": problem["rows"],
             "seed": seed, "exit_status": status}
    if "reference" in problem:
        entry["reference"] = problem["reference"]
    if report is None:
        return dict(entry, verdict="no report")
    residual = max(math.inf if r is None else r for r in report["residuals"])
    entry.update(path=report["path"], iterations=report["iterations"], residual=residual,
                 difference=difference(problem, report),
                 seconds=report["seconds"]["solve"])
    right = residual <= 1.01 * TOLERANCE and entry["difference"] <= 1
    entry["verdict"] = ("passed" if right else "FALSE") if report["converged"] else "not converged"
    return entry


def main():
    args = arguments()
    with open(os.path.join(args.matrices, "eigenvalues.json")) as file:
        problems = [p for p in json.load(file) if (p["rows"] >= args.rows) == args.large
                    and p["problem"][:3] in OPERATORS]
    if args.large:
        problems += large_problems(args.matrices)
    runs, about = [], {}
    for problem in problems:
        several = args.large and problem["which"] == "smallest"
        problem = complete(args, problem)
        for preconditioner, seed in itertools.product(PRECONDITIONERS if several else [None],
                                                      map(int, args.seeds.split(","))):
            options = ["--preconditioner", preconditioner] if preconditioner else []
            status, report = run(args, problem, seed, options)
            runs.append(judge(problem, seed, status, report))
            if preconditioner:
                runs[-1]["preconditioner"] = preconditioner
            if report:
                about = environment(report)
            if runs[-1]["verdict"] != "passed":
                print("{problem} {which}, seed {seed}: {verdict}".format(**runs[-1]),
                      preconditioner or "")
    passed = sum(entry["verdict"] == "passed" for entry in runs)
    print(f"{passed} of {len(runs)} runs passed, "
          f"{sum(entry['verdict'] == 'FALSE' for entry in runs)} claimed success falsely, "
          f"{sum(entry.get('path') == 'iterative' for entry in runs)} were iterative")
    record(args, "blockspan-robustness/1", about, runs)
    return 0 if passed == len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
