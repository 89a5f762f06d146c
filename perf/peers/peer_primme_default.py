"""PRIMME: primme.eigsh by the method that it chooses itself, with Jacobi, on the host."""

import peer_primme


def prepare(problem):
    return peer_primme.prepare(problem, method=None)
