"""Whether what a solver claims about A X = B is so. Residuals are recomputed in extended precision
(where the machine has it), each with a bound for the rounding of the judge itself."""

import numpy as np

SUCCESS = ("converged", "zero_rhs")


class Residuals:
    """Of every column: ||b - A x|| / ||b|| (or ||A x||, where b = 0), and how far from it what was
    computed may be by rounding: here, and in double precision. Any order of summation has these
    bounds: Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 3.1 and 3.6."""

    def __init__(self, A, B, X):
        complex_numbers = any(map(np.iscomplexobj, (A, B, X)))
        wide = np.clongdouble if complex_numbers else np.longdouble
        largest = np.max(np.abs(B), axis=0, initial=0)
        scale = np.where(largest > 0, np.ldexp(np.longdouble(1), -np.frexp(largest)[1]), 1)
        A, B, X = A.astype(wide), B.astype(wide) * scale, X.astype(wide) * scale
        norms = length(B)
        norms[norms == 0] = 1
        residuals = length(B - A @ X) / norms
        sizes = length(abs(A) @ np.abs(X) + np.abs(B)) / norms
        terms = np.diff(A.indptr).max(initial=0) + 4

        def rounding(dtype):
            unit = np.finfo(dtype).eps / 2
            return gamma(terms, unit) * sizes + 2 * gamma(A.shape[0] + 4, unit) * residuals

        self.relative = residuals.astype(float)
        self.slack = rounding(np.longdouble).astype(float)
        self.slack_of_doubles = rounding(np.double).astype(float)


def length(columns):
    return np.sqrt(np.sum(columns.real**2 + columns.imag**2, axis=0))


def gamma(n, unit):
    return n * unit / (1 - n * unit)


def contradictions(B, X, columns, residuals, tolerance):
    """What is wrong in the report on columns, in words."""
    if len(columns) != B.shape[1]:
        return [f"{len(columns)} columns reported of {B.shape[1]}"]
    found = []
    for j, column in enumerate(columns):
        status, zero, residual = column["status"], not B[:, j].any(), residuals.relative[j]
        if zero != (status == "zero_rhs") or (zero and X[:, j].any()):
            found.append(f"column {j + 1}: {status}, right-hand side {'is' if zero else 'not'} "
                         f"zero, residual {residual}")
        # written so that NaN is no success
        if status in SUCCESS and not residual - residuals.slack[j] <= tolerance:
            found.append(f"column {j + 1}: {status}, but its residual is {residual}")
        said, allowed = column["true_residual"], residuals.slack[j] + residuals.slack_of_doubles[j]
        if said is not None and not abs(said - residual) <= allowed:
            found.append(f"column {j + 1}: residual {said} reported, but it is {residual}")
    return found


def judge(A, B, X, status, report, tolerance):
    """What the program's exit status, report and solution are worth; X and report are None where it
    wrote none. `verdict`: "solved" whole; "not solved", and it says so; "FALSE"; "no answer"."""
    if report is None or X is None or X.shape != B.shape:
        return {"exit_status": status, "verdict": "no answer"}
    with np.errstate(all="ignore"):  # NaN and overflow are what a solver may have returned
        residuals = Residuals(A, B, X)
    statuses = [column["status"] for column in report["columns"]]
    solved = all(status in SUCCESS for status in statuses)
    found = contradictions(B, X, report["columns"], residuals, tolerance)
    if report["converged"] != solved or status != (0 if solved else 1):
        found.append(f"exit status {status}, converged is {report['converged']}")
    worst = np.max(residuals.relative[B.any(axis=0)], initial=0.0)
    entry = {"exit_status": status,
             "statuses": {s: statuses.count(s) for s in sorted(set(statuses))},
             "residual": float(worst) if np.isfinite(worst) else None}
    if found:
        return dict(entry, contradictions=found, verdict="FALSE")
    return dict(entry, verdict="solved" if solved else "not solved")
