"""SLEPc: EPS with its LOBPCG and the preconditioner that it takes by itself, on the host."""

import peer_slepc


def prepare(problem):
    return peer_slepc.prepare(problem, as_it_comes=True)
