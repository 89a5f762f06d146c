#!/usr/bin/env python3
"""Writes results as records: case, kernel and figures, one line each, and no sentence twice.

    perf/compact.py RESULTS.json RECORD.json

RESULTS.json comes from blockspan-perf, robustness.py or robustness_systems.py. The record is read by
report.py and by `blockspan-perf compare`, as the results are. It leaves out what neither reads, rounds
to four digits, and names each refusal once (`refusals`, by number). Of the peers of a study it keeps the
kernels that its page names, and of each family the fastest right one; all of them in the study `cases`."""

import json
import math
import pathlib
import re
import sys

from pages.results import SOLVERS, family_of, fastest, median
from pages.values import Missing, candidates, words_of

HEADER = ("schema", "study", "title", "reproduces", "note", "date", "commit", "backend", "device",
          "versions", "clock", "quick", "flush", "fault", "copy_gbytes", "gather_gbytes", "ranks",
          "transport", "devices", "launch_ms", "clocks",
          "table", "plots", "summaries")
LEFT_OUT = {"kernels", "checked_rows", "imbalance", "empty_rows", "gather_bytes", "matrix_columns",
            "mean"}
PARTICULARS = (  # of the case and folders of the machine, in reasons
    (r"'/[^']*/", "'"),
    (r" \(columns: .*", ""), (r"takes [\d.]+ GiB, more than are free", "takes more memory than is free"),
    (r": A (has \d+ x \d+ elements, )?[\d.e+]+ bytes, more than \d+", ": A has too many elements"))
SPREADS = ("min", "max", "mean")  # kept where the table shows them
RUN_LEFT_OUT = {"exit_status": 0, "reference": None}


def rounded(value, digits=4):
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return value


def kernel_line(kernel, refusals, measures):
    line = {"id": kernel["id"]}
    own = kernel["id"].split("/")[0] == "auto" or "solver" in kernel or kernel["id"] in measures
    shown = [key for key in SPREADS if key in measures]
    if kernel["family"] != family_of(kernel["id"]):
        line["family"] = kernel["family"]
    if "iterations" in kernel.get("solver", {}) and "phase" not in measures:
        kernel = dict(kernel, solver={key: value for key, value in kernel["solver"].items()
                                      if key not in ("phases", "product")})
    if "refused" in kernel:
        reason = kernel["refused"]
        for pattern, words in PARTICULARS:
            reason = re.sub(pattern, words, reason)
        if reason not in refusals:
            refusals.append(reason)
        return dict(line, refused=str(refusals.index(reason)))
    if kernel.get("ran", kernel["id"]) != kernel["id"]:
        line["ran"] = kernel["ran"]
    if kernel.get("whole_rows"):
        line["whole_rows"] = True
    if not kernel.get("right", True):
        line["right"] = False
    if "ms" in kernel:
        line["ms"] = {key: rounded(kernel["ms"][key], 4 if key != "spread" else 2)
                      for key in ("median", "spread", *shown) if key in kernel["ms"]}
    for key, digits in (("setup_ms", 3), ("error", 2), ("solver", 4), ("profile", 4),
                        ("unconverged", 4)):
        if key in kernel and (own or key != "error" and (key != "setup_ms" or "setup" in measures)):
            line[key] = rounded(kernel[key], digits)
    return line


def in_order(results):
    """The kernels of a case, the fastest of each family first: rounding makes them equal."""
    def ordered(case):
        kernels = case.get("kernels", [])
        families = list(dict.fromkeys(k["family"] for k in kernels))
        return sorted(kernels, key=lambda k: (families.index(k["family"]), median(k) or math.inf))
    return [dict(case, kernels=ordered(case)) if results["study"] not in SOLVERS and "kernels" in case
            else case for case in results["cases"]]


def named(results, case):
    """The kernels that the study's layout can show."""
    found = []
    for who in words_of(results):
        try:
            some = candidates(case, who)
        except Missing:
            continue
        found += some if len(some) == 1 else [fastest(some)]
    return [kernel["id"] for kernel in found if kernel]


def kept(results, case):
    kernels = case.get("kernels", [])
    if results["study"] in ("cases", *SOLVERS) or case.get("task") == "profile":
        return kernels
    best = {family: fastest([k for k in kernels if k["family"] == family])
            for family in {k["family"] for k in kernels}}
    ids = {"auto", "auto/column", *named(results, case), *(k["id"] for k in best.values() if k)}
    return [k for k in kernels if k["id"] in ids or median(k) is None]


def study_lines(results):
    refusals, cases = [], []
    measures = {word.split(":")[0] for _, word in results["table"]}
    measures |= {word.split(":")[1] for _, word in results["table"] if word.startswith("error:")}
    gather = () if measures & {"gather", "over_gather"} else ("gather_ms",)
    for case in in_order(results):
        members = {key: rounded(value, 5) for key, value in case.items()
                   if key not in LEFT_OUT and key not in gather}
        members.get("multigrid", {}).pop("phases", None)  # those of its kernel `setup`
        if members.get("source") == case["matrix"]:
            del members["source"]
        kernels = [json.dumps(kernel_line(k, refusals, measures), separators=(",", ":"))
                   for k in kept(results, case)]
        text = json.dumps(members, separators=(",", ":"))[:-1]
        cases.append(text + ',"kernels":[\n' + ",\n".join(kernels) + "]}" if kernels else text + "}")
    header = {key: rounded(results[key], 5) for key in HEADER if key in results}
    return dict(header, refusals=refusals), "cases", cases


def run_lines(results):
    runs = []
    for run in results["runs"]:
        line = {key: rounded(value, 3) for key, value in run.items()
                if key not in RUN_LEFT_OUT or value not in (0, None) and key != "reference"}
        runs.append(json.dumps(line, separators=(",", ":")))
    return {key: value for key, value in results.items() if key != "runs"}, "runs", runs


def record(results):
    """The text of the record."""
    header, key, lines = study_lines(results) if "cases" in results else run_lines(results)
    parts = [f' "{name}": {json.dumps(value)}' for name, value in header.items()]
    parts.append(f' "{key}": [\n' + ",\n".join(lines) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = map(pathlib.Path, sys.argv[1:])
    out.write_text(record(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
