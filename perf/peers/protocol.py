"""What a peer reads and writes: a problem as raw numbers in a folder, described by request.json.

The folder holds offsets (rows + 1 int32), indices (int32) and values (float64) of a matrix in CSR,
and block (float64, rows x block_columns, row-major): the start of an eigensolver, or right-hand
sides; of structures also coordinates (float64, nodes x 3). request.json has the members of Problem.
The peer adds solution (float64, rows x columns, row-major) and answer.json: seconds (of each solve),
setup_seconds, iterations, eigenvalues (ascending; empty for linear systems), more (version, method,
device)."""

import json
import pathlib
import time

import numpy as np

ENOUGH_SECONDS = 0.5
LONG_SECONDS = 5.0  # long against what a first solve loads and compiles
MOST_SOLVES = 20


class Problem:
    """The problem of a folder, as numpy arrays."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        request = json.loads((self.folder / "request.json").read_text(encoding="utf-8"))
        self.task = request["task"]
        self.rows = request["rows"]
        self.columns = request["columns"]
        self.tolerance = request["tolerance"]
        self.norm_a = request["norm_a"]
        self.max_iterations = request["max_iterations"]
        self.solves = request["solves"]
        self.device = request["device"]
        self.offsets = np.fromfile(self.folder / "offsets", dtype=np.int32)
        self.indices = np.fromfile(self.folder / "indices", dtype=np.int32)
        self.values = np.fromfile(self.folder / "values")
        self.block = np.fromfile(self.folder / "block").reshape(self.rows, request["block_columns"])
        file = self.folder / "coordinates"
        self.coordinates = np.fromfile(file).reshape(-1, 3) if file.exists() else None

    def diagonal(self):
        """Its absolute values, 1 where it is zero or missing: what Jacobi divides by."""
        rows = np.repeat(np.arange(self.rows), np.diff(self.offsets))
        here = rows == self.indices
        diagonal = np.zeros(self.rows)
        diagonal[rows[here]] = np.abs(self.values[here])
        diagonal[diagonal == 0] = 1
        return diagonal

    def start(self):
        """The first columns of the start, one a pair wanted: solvers without guards take these."""
        return np.ascontiguousarray(self.block[:, : self.columns])


class Answer:
    """What solve() of a peer returns."""

    def __init__(self, vectors, iterations, eigenvalues=()):
        self.vectors = vectors  # rows x columns
        self.iterations = iterations
        self.eigenvalues = eigenvalues


def measure(problem, solve, synchronize=lambda: None):
    """Calls solve() once to warm up, then as often as the suite does; the last answer, seconds.
    A first solve that takes long is the only one."""
    start = time.perf_counter()
    answer = solve()
    synchronize()
    first = time.perf_counter() - start
    if first > LONG_SECONDS:
        return answer, [first]
    seconds = []
    while len(seconds) < problem.solves or (
        problem.solves > 1 and len(seconds) < MOST_SOLVES and sum(seconds) < ENOUGH_SECONDS
    ):
        synchronize()
        start = time.perf_counter()
        answer = solve()
        synchronize()
        seconds.append(time.perf_counter() - start)
    return answer, seconds


def write_answer(problem, answer, seconds, setup_seconds, more):
    """Pairs are sorted by eigenvalue first."""
    vectors = np.asarray(answer.vectors, dtype=np.float64).reshape(problem.rows, problem.columns)
    values = np.asarray(answer.eigenvalues, dtype=np.float64)
    if values.size:
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    np.ascontiguousarray(vectors).tofile(problem.folder / "solution")
    document = {
        "seconds": seconds,
        "setup_seconds": setup_seconds,
        "iterations": int(answer.iterations),
        "eigenvalues": [float(value) for value in values],
        "more": more,
    }
    (problem.folder / "answer.json").write_text(json.dumps(document), encoding="utf-8")
