#!/usr/bin/env python3
"""PETSc's conjugate gradients and SLEPc's LOBPCG on the ranks that start this, with Jacobi.

    mpirun -n 2 perf/peers/on_ranks.py laplace7:64 [--columns 8] [--pairs 10] [--tolerance 1e-8]

7-point grids in contiguous slabs, the partition of blockspan-solve and blockspan-eig, whose matrix,
criterion and tolerance these are (--criterion backward for pairs). One line of JSON: seconds of the
second solve, and its iterations. Right-hand sides are solved one after the other."""

import argparse
import json
import sys
import time

import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc


def grid(spec):
    """The matrix of laplace7:N or laplace7:AxBxC, rows in contiguous parts."""
    kind, size = spec.split(":")
    if kind != "laplace7":
        sys.exit(f"{spec}: only laplace7 is known here")
    sides = [int(side) for side in size.split("x")]
    a, b, c = sides if len(sides) == 3 else sides * 3
    rows = a * b * c
    A = PETSc.Mat().createAIJ(((PETSc.DECIDE, rows), (PETSc.DECIDE, rows)), nnz=(7, 7))
    first, last = A.getOwnershipRange()
    i = np.arange(first, last)
    x, y, z = i % a, i // a % b, i // (a * b)
    # from the lowest column to the highest
    columns = np.stack([i - a * b, i - a, i - 1, i, i + 1, i + a, i + a * b], axis=1)
    there = np.stack([z > 0, y > 0, x > 0, x >= 0, x < a - 1, y < b - 1, z < c - 1], axis=1)
    values = np.broadcast_to([-1.0, -1, -1, 6, -1, -1, -1], columns.shape)[there]
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    A.setValuesCSR(offsets.astype(PETSc.IntType), columns[there].astype(PETSc.IntType), values)
    A.assemble()
    return A


def systems(A, columns, tolerance):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setTolerances(rtol=tolerance, atol=0, max_it=10000)
    ksp.setUp()
    x, b = A.createVecs()
    random = PETSc.Random().create()
    random.setSeed(1)
    random.setInterval((-1, 1))
    most = 0
    for _ in range(columns):
        b.setRandom(random)
        x.set(0)
        ksp.solve(b, x)
        most = max(most, ksp.getIterationNumber())
    return most


def pairs(A, count, tolerance):
    eps = SLEPc.EPS().create()
    eps.setOperators(A)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setType(SLEPc.EPS.Type.LOBPCG)
    eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    eps.setDimensions(nev=count)
    eps.setConvergenceTest(SLEPc.EPS.Conv.NORM)  # relative to ||A||
    eps.setTolerances(tol=tolerance, max_it=10000)
    ksp = eps.getST().getKSP()
    ksp.setType("preonly")
    ksp.getPC().setType("jacobi")
    eps.solve()
    if eps.getConverged() < count:
        sys.exit(f"SLEPc: {eps.getConverged()} of {count} pairs")
    return eps.getIterationNumber()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("spec")
    parser.add_argument("--columns", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    options = parser.parse_args()
    A = grid(options.spec)
    what = {"petsc": (systems, options.columns), "slepc": (pairs, options.pairs)}
    for name, (solve, count) in what.items():
        if count == 0:
            continue
        for _ in range(2):  # the first sets up what a second finds
            PETSc.COMM_WORLD.barrier()
            start = time.perf_counter()
            iterations = solve(A, count, options.tolerance)
            seconds = time.perf_counter() - start
        if PETSc.COMM_WORLD.getRank() == 0:
            version = PETSc.Sys.getVersion() if name == "petsc" else SLEPc.Sys.getVersion()
            print(json.dumps({"who": name, "version": ".".join(map(str, version)), "spec": options.spec,
                              "ranks": PETSc.COMM_WORLD.getSize(), "count": count,
                              "iterations": iterations, "seconds": seconds}))


main()
