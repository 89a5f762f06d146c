"""What a plan saw in a matrix, what it runs at which width, and what it costs to hold a transpose.

The matrix is a spec of blockspan.generate, or the path of a Matrix Market file.
"""

import pathlib
import sys
import time

import numpy as np

import blockspan as bs


def milliseconds(product) -> float:
    product()
    begin = time.perf_counter()
    for _ in range(5):
        product()
    return (time.perf_counter() - begin) * 200


def main(name: str = "laplace7:24") -> dict[int, str]:
    A = bs.read_matrix_market(name) if pathlib.Path(name).exists() else bs.generate(name)
    plan = bs.Plan(A, columns=32)
    print(f"{A}\n{plan.explain(32)}\n")
    for columns in (1, 8, 32):
        X = np.ones((A.shape[1], columns), A.dtype)
        time_of = milliseconds(lambda X=X: bs.spmm(A, X, plan=plan))
        print(f"{columns:3} columns: {plan.kernel(columns)}, {time_of:.3g} ms")
    before = milliseconds(lambda: bs.spmm(A, X, plan=plan, op="t"))
    plan.hold_transpose()
    after = milliseconds(lambda: bs.spmm(A, X, plan=plan, op="t"))
    print(f"transposed, {columns} columns: {before:.3g} ms, stored {after:.3g} ms")
    return {columns: plan.kernel(columns) for columns in (1, 8, 32)}


if __name__ == "__main__":
    main(*sys.argv[1:])
