#!/usr/bin/env python3
"""Has the problem in a folder (see protocol.py) solved by a Python package.

    perf/peers/solve.py PEER FOLDER

PEER is the name of one of the modules peer_PEER.py in this folder. Exit status 3, and one line that
says why, where the package is missing or does not solve such a problem."""

import importlib
import sys
import time

REFUSED = 3


def main(name, folder):
    try:
        import protocol
    except ImportError as error:
        return refuse(f"{error}: the peers need numpy")
    try:
        peer = importlib.import_module("peer_" + name)
    except ImportError as error:
        return refuse(str(error))
    problem = protocol.Problem(folder)
    start = time.perf_counter()
    try:
        solve, more, synchronize = peer.prepare(problem)
    except NotImplementedError as error:
        return refuse(str(error))
    setup_seconds = time.perf_counter() - start
    answer, seconds = protocol.measure(problem, solve, synchronize)
    protocol.write_answer(problem, answer, seconds, setup_seconds, more)
    return 0


def refuse(words):
    print(words, file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
