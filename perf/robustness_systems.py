#!/usr/bin/env python3
"""Linear systems that solvers stumble over, each claim of success judged by SciPy.

usage: perf/robustness_systems.py --app build/host/apps/blockspan-solve/blockspan-solve
       [--out RESULTS.json] [--matrices FOLDER] [--large] [--matrix NAME ...]
       [--methods auto,block,pseudo-block] [--jobs 1] [--backend auto] [--commit HASH]
       [-- OPTION ...]

A system is a matrix (of FOLDER, default: BLOCKSPAN_MATRIX_DIR, or a generator's), a block of
right-hand sides (systems/right_hand_sides.py) and a preconditioner; four a matrix, in turn from
KINDS, WIDTHS and PRECONDITIONERS. Each is solved to 1e-8 by every method, and all residuals are
recomputed from the files (systems/judge.py). OPTIONs go to the app. What is claimed and not so is
FALSE; exit status 1 if that happened once or an answer is missing. A system that is not solved, and
said not to be, is no failure of the run: how many these are is what is recorded.

--large: the matrices of 5,000 rows and more. --matrix: this one only (may be repeated). --methods:
the app's, and scipy, which is scipy.sparse.linalg.cg, one column after the other; its claims are
judged and counted, but fail no run. --jobs: systems solved at a time. Needs NumPy and SciPy.
"""
import concurrent.futures
import functools
import os
import pathlib
import sys
import tempfile
import time
import types

import numpy as np
import scipy
import scipy.io
import scipy.sparse.linalg

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "peers"))
import arrays  # noqa: E402
from robustness import TOLERANCE, environment, parse, parser, record, run_app  # noqa: E402
from systems import matrices, right_hand_sides  # noqa: E402
from systems.judge import judge  # noqa: E402

A_MATRIX = 4  # systems of each
WIDTHS = [1, 8, 2, 32, 4, 16, 8]
PRECONDITIONERS = ["none", "jacobi"]
METHODS = "auto,block,pseudo-block"
SCIPY = "scipy"
MAX_ITERATIONS = 10000  # the app's own default, and SciPy's here


def systems(names):
    """Matrix, kind, number of columns, preconditioner, seed. The periods are such that every kind
    meets every width, and both with and without a preconditioner."""
    for i, name in enumerate(n for n in names for _ in range(A_MATRIX)):
        yield {"matrix": name, "kind": right_hand_sides.KINDS[i % len(right_hand_sides.KINDS)],
               "columns": WIDTHS[i % len(WIDTHS)],
               "preconditioner": PRECONDITIONERS[i // 2 % len(PRECONDITIONERS)], "seed": i}


def arguments():
    words = parser(__doc__.split("\n")[0])
    words.add_argument("--matrix", action="append")
    words.add_argument("--methods", default=METHODS)
    words.add_argument("--jobs", type=int, default=1)
    args = parse(words)
    unknown = set(args.matrix or []) - set(matrices.names(args.large))
    if unknown:
        words.error(f"--matrix {', '.join(sorted(unknown))}: not among those of this run")
    return args


def load_now():
    return round(os.getloadavg()[0], 2)


@functools.lru_cache(8)
def load(name, folder):
    return matrices.load(name, folder)


def solve(args, system, method, folder):
    """The app's exit status, report and solution, of the right-hand sides next to the folder."""
    os.mkdir(folder)
    solution = os.path.join(folder, "solution.mtx")
    status, report = run_app(args, system["matrix"], folder, [
        "--rhs", os.path.join(os.path.dirname(folder), "rhs.mtx"), "--solution", solution,
        "--method", method, "--preconditioner", system["preconditioner"],
        "--tolerance", str(TOLERANCE), "--max-iterations", str(MAX_ITERATIONS)])
    X = np.asarray(scipy.io.mmread(solution)) if os.path.exists(solution) else None
    return status, report, X


def solve_by_scipy(A, B, preconditioner):
    """The same three of scipy.sparse.linalg.cg."""
    problem = types.SimpleNamespace(tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)
    jacobi = None
    if preconditioner == "jacobi":
        jacobi = scipy.sparse.diags(1 / A.diagonal())
    X, columns, steps, start = np.zeros_like(B), [], [], time.perf_counter()
    with np.errstate(all="ignore"):
        for j, b in enumerate(B.T.copy()):
            X[:, j], info = arrays.solve_column(problem, scipy.sparse.linalg, A, b, jacobi,
                                                steps.append)
            success = "converged" if b.any() else "zero_rhs"
            columns.append({"status": success if info == 0 else "max_iterations",
                            "true_residual": None})
    converged = all(column["status"] != "max_iterations" for column in columns)
    report = {"converged": converged, "columns": columns, "method": "cg", "iterations": len(steps),
              "seconds": {"solve": time.perf_counter() - start}}
    return 0 if converged else 1, report, X


def entry(system, method, A, B, answer):
    status, report, X = answer
    found = dict(system, rows=A.shape[0], columns=B.shape[1], method=method)
    if report:
        found.update(ran=report["method"], iterations=report["iterations"],
                     seconds=round(report["seconds"]["solve"], 6))
    found.update(judge(A, B, X, status, report, TOLERANCE))
    return found


def solves(args, system):
    """All of one system, judged; with them what the app says about itself."""
    A, about = load(system["matrix"], args.matrices), {}
    B = right_hand_sides.make(system["kind"], A, system["columns"], system["seed"])
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        right_hand_sides.write(os.path.join(folder, "rhs.mtx"), B)
        for method in args.methods.split(","):
            if method == SCIPY:
                answer = solve_by_scipy(A, B, system["preconditioner"])
            else:
                answer = solve(args, system, method, os.path.join(folder, method))
                about = environment(answer[1]) if answer[1] else about
            runs.append(entry(system, method, A, B, answer))
    return runs, about


def summary(runs):
    """How many solves of each method ended how."""
    found = {}
    for run in runs:
        verdicts = found.setdefault(run["method"], {})
        verdicts[run["verdict"]] = verdicts.get(run["verdict"], 0) + 1
    return found


def tell(run):
    words = "{matrix}, {columns} columns, {kind}, {preconditioner}, {method}: {verdict}"
    print(words.format(**run), run.get("statuses", ""), run.get("residual", ""),
          *run.get("contradictions", []), flush=True)


def main():
    args = arguments()
    chosen = [system for system in systems(matrices.names(args.large))
              if not args.matrix or system["matrix"] in args.matrix]
    machine = {"cores": os.cpu_count(), "jobs": args.jobs, "load_at_begin": load_now()}
    judged_by = {"numpy": np.__version__, "scipy": scipy.__version__,
                 "bits": int(np.finfo(np.longdouble).nmant) + 1}
    runs = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for several, about in pool.map(functools.partial(solves, args), chosen):
            runs += several
            for run in several:
                if run["verdict"] != "solved":
                    tell(run)
            # after each system, so that a run that is ended leaves what it has
            about.update(machine=dict(machine, load_at_end=load_now()), judge=judged_by,
                         summary=summary(runs))
            record(args, "blockspan-robustness-systems/1", about, runs)
    for method, verdicts in summary(runs).items():
        print(f"{method}:", ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    ours = {run["verdict"] for run in runs if run["method"] != SCIPY}
    return 0 if ours <= {"solved", "not solved"} else 1


if __name__ == "__main__":
    sys.exit(main())
