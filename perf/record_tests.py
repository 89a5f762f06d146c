#!/usr/bin/env python3
"""Runs Blockspan's test programs and records what ran, as JSON, under perf/results/.

    perf/record_tests.py --tests DIR [--commit HASH] [--out FILE] [--jobs N] [--sanitizer REPORT ...]

DIR holds the programs blockspan_test_*, N of which run at a time. Each writes its own summary
(BLOCKSPAN_TEST_SUMMARY); the record adds date, host, device and driver versions. It is written anew
after each program, so that a run cut short leaves what was done, marked incomplete. Exit status 1 if
a test failed or was skipped.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile


def output_of(*command):
    """The command's standard output, or None where it cannot run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def run_program(program, arguments):
    """Runs one test program; its summary, or a failed one where it died before writing it."""
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder, "summary.json")
        environment = dict(os.environ, BLOCKSPAN_TEST_SUMMARY=str(summary))
        code = subprocess.run([str(program), "--gtest_brief=1", *arguments], env=environment).returncode
        if summary.exists():
            return dict(json.loads(summary.read_text()), exit_status=code)
    return {"tests": 0, "passed": 0, "failed": 1, "skipped": 0, "matrices_read": 0,
            "kernels_launched": {}, "failures": [f"died with exit status {code}"], "exit_status": code}


def totals(programs):
    result = {key: sum(p.get(key, 0) for p in programs.values())
              for key in ("tests", "passed", "failed", "skipped")}
    result["seconds"] = round(sum(p.get("seconds", 0) for p in programs.values()), 1)
    result["matrices_read"] = max((p.get("matrices_read", 0) for p in programs.values()), default=0)
    result["kernels_launched"] = {
        backend: sum(p["kernels_launched"].get(backend, 0) for p in programs.values())
        for backend in ("serial", "openmp", "cuda")}
    return result


def sanitizer_lines(reports):
    """The closing line of each compute-sanitizer report, by file name."""
    lines = {}
    for report in reports:
        text = pathlib.Path(report).read_text(errors="replace")
        found = re.findall(r"ERROR SUMMARY: .*", text)
        lines[pathlib.Path(report).stem] = found[-1] if found else "no summary"
    return lines


def describe(options, programs, kokkos, complete):
    """The record of the programs that have run."""
    return {
        "schema": "blockspan-test-record/1",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": options.commit,
        "device": output_of("nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                            "--format=csv,noheader"),
        "processor": platform.processor() or platform.machine(),
        "kokkos": max(kokkos, default=None),
        "complete": complete,
        "totals": totals(programs),
        "compute_sanitizer": sanitizer_lines(options.sanitizer),
        "programs": dict(sorted(programs.items())),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, required=True)
    parser.add_argument("--commit", default=output_of("git", "rev-parse", "HEAD"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("test-record.json"))
    parser.add_argument("--sanitizer", nargs="*", default=[])
    parser.add_argument("--filter", default="*")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()

    files = [f for f in sorted(options.tests.glob("blockspan_test_*"))
             if f.is_file() and os.access(f, os.X_OK)]
    programs, kokkos = {}, set()
    record = {"totals": totals(programs)}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run_program, f, [f"--gtest_filter={options.filter}"]): f.name
                   for f in files}
        for done in concurrent.futures.as_completed(running):
            programs[running[done]] = done.result()
            kokkos.add(done.result().pop("kokkos", ""))
            record = describe(options, programs, kokkos, complete=len(programs) == len(files))
            options.out.write_text(json.dumps(record, indent=1) + "\n")
            print(running[done], json.dumps(totals({"": done.result()})), flush=True)
    print(json.dumps(record["totals"]))
    return 1 if record["totals"]["failed"] or record["totals"]["skipped"] or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
