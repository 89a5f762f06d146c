"""Fork, exit, Ctrl-C and threads many times: no failure, no noise, no leak.

BLOCKSPAN_REPETITIONS says how often (default 20; 1,000 have been run, see perf/notes/python.md).
"""

from __future__ import annotations

import os

import pytest
from conftest import quiet

REPETITIONS = int(os.environ.get("BLOCKSPAN_REPETITIONS", "20"))

# repeat(n, once): memory is looked at once everything has been there for some time
START = """
import ctypes, gc, os, signal, sys, threading, time, warnings
import numpy as np, blockspan as bs

warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12: forks beside threads

def memory():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what is free does not count
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

def repeat(times, once):
    for _ in range(10):
        once()
    before = memory(), len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(times):
        once()
    after = memory(), len(os.listdir("/proc/self/fd")), threading.active_count()
    assert after[1:] == before[1:], (before, after)
    assert after[0] - before[0] < 2**20, (before, after)

A = bs.generate("laplace5:40x40")
X = np.ones((1600, 4))
wanted = A @ X
"""

FORKS = """
def child_is_right():
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(A @ X, wanted) and bs.cg(A, X).info == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(A @ X, wanted)
"""

FORKS_BESIDE_THREADS = FORKS + """
done = threading.Event()

def work():
    while not done.is_set():
        assert np.array_equal(A @ X, wanted)

def beside_threads():
    done.clear()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    child_is_right()
    done.set()
    for thread in threads:
        thread.join()
"""

THREADS = """
right = []

# jacobi: where four threads make and free levels, what the allocator keeps varies by more than is looked for
def work():
    mine = bs.matrix((*A._source, A.shape))
    right.append(np.array_equal(A @ X, wanted) and np.array_equal(mine.T @ X, wanted)
                 and bs.cg(mine, X, M="jacobi").info == 0)

def together():
    right.clear()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 4
"""

SOLVES = """
def solves():
    found = bs.cg(A, X)
    assert found.info == 0 and found.notes, found  # changed over to levels, which are gone afterwards
    assert bs.lobpcg(A, k=2, largest=False).status == "converged"
"""

POOLS = """
import multiprocessing

def work(fails):
    if fails:
        bs.cg(A, X, maxiter=1, raise_on_failure=True)
    return np.array_equal(A @ X, wanted)

def pool():
    with multiprocessing.get_context("fork").Pool(2) as workers:
        assert all(workers.map(work, [False] * 4))
        try:
            workers.map(work, [False, True])
        except bs.NotConverged as error:  # it has crossed a pipe
            assert error.result.iterations == 1 and error.result.x.shape == X.shape
        else:
            raise SystemExit("no exception came back")
        M, P, B = workers.map(same, [bs.precond.jacobi(A), bs.Plan(A, 8), A.T])
        assert np.array_equal(M @ X, X / 4) and P.explain(4) and np.array_equal(B @ X, A.T @ X)

def same(x):
    return x
"""

# A signal may come before a solve has begun, and there is no result then: it is sent some time after
# the solver itself was called, which would take seconds.
INTERRUPTED = """
from blockspan import _host

signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
begun = threading.Event()
sent = 0.0

def announce(solver):
    def announced(*arguments, **options):
        begun.set()
        return solver(*arguments, **options)
    return announced

_host.lobpcg, _host.cg = announce(_host.lobpcg), announce(_host.cg)

def interrupt(delay):
    global sent
    begun.wait()
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)
    sent = time.perf_counter()

A = bs.generate("laplace5:200x200")
X = np.random.default_rng(1).random((40000, 4))
iterations = []

def told(progress):
    iterations.append(time.perf_counter())

def solves(operator, callback):
    yield lambda: bs.lobpcg(operator, X, largest=False, path="iterative", tol=1e-15, callback=callback)
    yield lambda: bs.cg(operator, X, rtol=1e-15, method="columns", callback=callback)

def interrupted():
    for operator in (A, lambda X: A @ X):
        for callback in (None, told):
            for solve in solves(operator, callback):
                begun.clear()
                iterations.clear()
                thread = threading.Thread(target=interrupt, args=(0.05,))
                thread.start()
                try:
                    solve()
                except KeyboardInterrupt as stop:
                    part = stop.partial
                else:
                    raise SystemExit("not interrupted")
                thread.join()
                assert part.status == "stopped_by_monitor", part
                assert np.isfinite(part.residuals).all()
                late = [when for when in iterations if when > sent + 0.02]  # looked at every 20 ms
                assert len(late) <= 1, (len(late), late, sent)
"""


@pytest.mark.parametrize(
    ("code", "once", "each"),
    [
        (FORKS, "child_is_right", 1),
        (FORKS_BESIDE_THREADS, "beside_threads", 1),
        (THREADS, "together", 1),
        (SOLVES, "solves", 1),
        (POOLS, "pool", 5),
        (INTERRUPTED, "interrupted", 8),
    ],
    ids=["fork", "fork_beside_threads", "threads", "solves", "pool", "ctrl_c"],
)
def test_repetitions_leave_nothing(code, once, each):
    times = -(-REPETITIONS // each)
    quiet(START + code + f"repeat({times}, {once})\n", timeout=60 + 2 * REPETITIONS)


def test_exits_with_handles_and_threads_are_silent():
    code = (
        START
        + "B = A.T; P = bs.Plan(A); M = bs.precond.chebyshev(A)\n"
        + "A.cycle = [A, P, M]; M @ X; bs.spmm(A, X, plan=P)\n"
        + "work = lambda: [A @ X for _ in range(100000)]\n"
        + "threading.Thread(target=work, daemon=True).start()\n"
        + "time.sleep({})\n"
    )
    for repetition in range(REPETITIONS):
        quiet(code.format(repetition % 7 * 0.002))
