#!/usr/bin/env python3
"""Runs kernels of blockspan-spmm under Nsight Compute (ncu) and writes what it counted.

    perf/peers/profile_ncu.py BLOCKSPAN_SPMM SPEC SCALAR COLUMNS TABLE.json VARIANT ...

TABLE.json: a list of {"id": VARIANT, "metrics": {name: number}}. Exit status 3, and one line that says
why, where there is no ncu or it counts nothing (it needs the right to read the GPU's counters)."""

import csv
import json
import shutil
import subprocess
import sys

REFUSED = 3

# the columns of the published table
METRICS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory throughput %",
    "l1tex__t_sector_hit_rate.pct": "L1 hit rate %",
    "lts__t_sector_hit_rate.pct": "L2 hit rate %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy %",
    "smsp__inst_executed.sum": "instructions",
}

# the functors of Blockspan's products
KERNELS = "regex:SpmmKernel|TeamKernel|ItemKernel"


def parse(text):
    """The metrics of the first launch in ncu's output with --csv --page raw: after other lines a
    heading, a line of units, a line a launch."""
    rows = list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 2:
        return {}
    return {name: float(rows[1][key].replace(",", "")) for key, name in METRICS.items()
            if rows[1].get(key)}


def profile(ncu, program, spec, scalar, columns, variant):
    command = [
        ncu, "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(METRICS), "--kernel-name-base",
        "demangled", "--kernel-name", KERNELS, "--launch-count", "1", program, spec, "--scalar",
        scalar, "--columns", columns, "--algorithm", variant, "--repeat", "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return parse(done.stdout), (done.stdout + done.stderr).strip().splitlines()


def main(program, spec, scalar, columns, table, *variants):
    ncu = shutil.which("ncu")
    if ncu is None:
        return refuse("ncu (Nsight Compute) is not there")
    results = []
    for variant in variants:
        metrics, said = profile(ncu, program, spec, scalar, columns, variant)
        if not metrics:
            return refuse(f"ncu counted nothing for {variant}: {said[-1] if said else 'no words'}")
        results.append({"id": variant, "metrics": metrics})
    with open(table, "w", encoding="utf-8") as file:
        json.dump(results, file)
    return 0


def refuse(words):
    print(words, file=sys.stderr)
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
