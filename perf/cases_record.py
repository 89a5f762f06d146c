#!/usr/bin/env python3
"""Writes tests/spmm/cases_record.csv: the times of the kernels that plans choose among, from a record
of the study `cases`, with the facts of their matrices (blockspan-perf-spmm-shapes --facts).

    cases_record.py results/h200/cases.json FACTS.csv ../tests/spmm/cases_record.csv
"""
import json
import sys

KERNELS = ["rows", "single_columns", "segments", "segments_sorted", "nonempty_rows",
           "groups", "windows", "shared_tiles", "adaptive", "row_pairs", "clusters",
           "auto/column"]
BYTES = {"f32": 4, "f64": 8, "c128": 16}


def main(record, facts, out):
    with open(facts) as file:  # files by their names, as in the record
        lines = [line.strip().split(",", 1) for line in file]
    known = {name.split("/")[-1].removesuffix(".gz").removesuffix(".mtx"): rest
             for name, rest in lines}
    with open(record) as file:
        cases = json.load(file)["cases"]
    with open(out, "w") as file:
        for case in cases:
            ms = {kernel["id"]: kernel["ms"]["median"] for kernel in case["kernels"] if "ms" in kernel}
            times = " ".join(f"{name}={1e3 * ms[name]:.4g}" for name in KERNELS if name in ms)
            print(case["matrix"], case["columns"], BYTES[case["scalar"]], known[case["matrix"]], times,
                  sep=",", file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
