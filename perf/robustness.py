#!/usr/bin/env python3
"""Eigenpairs of real problems from several random starts, judged by reference values.

usage: perf/robustness.py --app build/host/apps/blockspan-eig/blockspan-eig [--out RESULTS.json]
       [--matrices FOLDER] [--rows 5300] [--seeds 1,2,3] [--backend auto] [--commit HASH]
       [-- OPTION ...]

Solves every problem of FOLDER/eigenvalues.json (default: BLOCKSPAN_MATRIX_DIR) with fewer rows, to
1e-8, and keeps of every run its status, iterations, largest residual as the app recomputed it, and
largest difference from the reference values. OPTIONs go to the app. A run passes if the app says
that it converged and these confirm it; a run that claims success and is contradicted is FALSE. Exit
status 1 if any run did not pass.
"""
import argparse
import datetime
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


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--app", required=True)
    parser.add_argument("--matrices", default=os.environ.get("BLOCKSPAN_MATRIX_DIR"))
    parser.add_argument("--rows", type=int, default=5300)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--commit", default="")
    parser.add_argument("--out")
    parser.add_argument("options", nargs="*", help="for the app, after --")
    found = parser.parse_args()
    if not found.matrices:
        parser.error("no folder of matrices: give --matrices or set BLOCKSPAN_MATRIX_DIR")
    return found


def run(args, problem, seed):
    """The app's exit status and report, None where it wrote none."""
    path = lambda name: os.path.join(args.matrices, name + ".mtx.gz")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [args.app, path(problem["matrix"]), "--pairs", str(len(problem["eigenvalues"])),
                   "--which", problem["which"], "--seed", str(seed), "--backend", args.backend,
                   "--tolerance", str(TOLERANCE), "--report", report, "--quiet"]
        if problem["mass"]:
            command += ["--mass", path(problem["mass"])]
        command += OPERATORS[problem["problem"][:3]] + args.options
        status = subprocess.run(command, capture_output=True).returncode
        if not os.path.exists(report) or os.path.getsize(report) == 0:
            return status, None
        with open(report) as file:
            return status, json.load(file)


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


def judge(problem, seed, status, report):
    entry = {"problem": problem["problem"], "which": problem["which"], "rows": problem["rows"],
             "seed": seed, "exit_status": status}
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
        problems = [p for p in json.load(file)
                    if p["rows"] < args.rows and p["problem"][:3] in OPERATORS]
    runs, environment = [], {}
    for problem in problems:
        for seed in map(int, args.seeds.split(",")):
            status, report = run(args, problem, seed)
            runs.append(judge(problem, seed, status, report))
            if report:
                environment = {key: report[key] for key in ("versions", "backend", "device")}
            if runs[-1]["verdict"] != "passed":
                print("{problem} {which}, seed {seed}: {verdict}".format(**runs[-1]))
    passed = sum(entry["verdict"] == "passed" for entry in runs)
    print(f"{passed} of {len(runs)} runs passed, "
          f"{sum(entry['verdict'] == 'FALSE' for entry in runs)} claimed success falsely, "
          f"{sum(entry.get('path') == 'iterative' for entry in runs)} were iterative")
    if args.out:
        results = dict({"schema": "blockspan-robustness/1", "commit": args.commit,
                        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
                        "options": args.options, "tolerance": TOLERANCE}, **environment, runs=runs)
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    return 0 if passed == len(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
