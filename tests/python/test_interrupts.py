"""Ctrl-C and time limits end what has no iterations: setups, generators and dense solves."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import blockspan as bs


def seconds_after_interrupt(work: Callable[[], Any], after: float) -> tuple[float, Any]:
    """CPU seconds from a SIGINT to the KeyboardInterrupt, and what that has in `partial`."""
    begin = [np.nan]

    def interrupt() -> None:
        begin[0] = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            work()
            pytest.fail("it was over before the signal came")
    finally:
        timer.cancel()
    return time.process_time() - begin[0], getattr(caught.value, "partial", None)


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Shells start jobs in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_dense_solve():
    A = bs.generate("laplace5:55x55")
    solve = lambda: bs.lobpcg(A, k=4, largest=False, path="dense")  # noqa: E731
    seconds, partial = seconds_after_interrupt(solve, 0.3)
    assert seconds < 1 and partial.status is bs.Status.stopped_by_monitor


def test_dense_solve_of_a_slow_function():
    def slow(X: Any) -> Any:
        time.sleep(0.02)
        return X * np.arange(1.0, 5001.0)[:, None]

    solve = lambda: bs.lobpcg(slow, n=5000, k=4, largest=False, path="dense")  # noqa: E731
    assert seconds_after_interrupt(solve, 0.2)[0] < 1


@pytest.mark.parametrize(
    "work",
    [
        lambda: [bs.precond.multigrid(bs.generate("laplace7:50")) for _ in range(99)],
        lambda: bs.lobpcg(bs.generate("laplace7:64"), k=4, largest=False, M="multigrid"),
        lambda: [bs.generate("rmat:18:16") for _ in range(99)],
        lambda: [bs.Plan(bs.generate("laplace7:40"), 64, tune=True) for _ in range(99)],
    ],
    ids=["setup", "setup in a solve", "generator", "measurements of kernels"],
)
def test_setups(work):
    assert seconds_after_interrupt(work, 0.2)[0] < 1


def test_time_limit_of_a_dense_solve():
    A = bs.generate("laplace5:55x55")
    begin = time.process_time()
    with pytest.warns(bs.NotConvergedWarning, match="time_limit"):
        result = bs.lobpcg(A, k=4, largest=False, path="dense", time_limit=0.2)
    assert result.path == "dense" and np.isnan(result.eigenvalues).all()
    assert time.process_time() - begin < 1.5


def test_time_limit_that_a_dense_solve_would_pass():
    """It is predicted to take seconds, and is not begun: what the iteration has reached comes back."""
    A = bs.generate("elasticity:9")
    with pytest.warns(bs.NotConvergedWarning, match="time_limit"):
        result = bs.lobpcg(A, k=4, largest=False, time_limit=1e-3, M="jacobi")
    assert result.path == "iterative" and np.isfinite(result.eigenvalues).all()


def test_a_function_is_iterated_where_a_dense_solve_would_read_all_of_it():
    n = 2000

    def function(X: Any) -> Any:
        return X * np.linspace(1, 50, n)[:, None]

    result = bs.lobpcg(function, n=n, k=4, largest=False)
    assert result.status.ok and result.path == "iterative"
    inverse = lambda X: X / np.linspace(1, 50, n)[:, None]  # noqa: E731
    assert bs.lobpcg(function, n=n, k=4, largest=False, M=inverse).path == "iterative"
