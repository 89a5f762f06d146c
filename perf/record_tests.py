#!/usr/bin/env python3
"""Runs Blockspan's test programs and records what ran, as JSON.

    perf/record_tests.py --tests DIR [--commit HASH] [--out FILE] [--jobs N] [--shards S]
                         [--devices D] [--sanitizer REPORT ...]

DIR or folders in it hold the programs blockspan_test_* (that of ranks, which mpirun starts, is left
out). Each runs in S processes, on CUDA devices 0 to D - 1 by turns, N processes at a time. Each writes its
own summary (BLOCKSPAN_TEST_SUMMARY); the record adds commit, date, device and versions. A record that
exists keeps the programs that did not run now, so that it holds the newest run of each. It is written anew
after each program. REPORT: what compute-sanitizer printed, in a file whose name says of which tool and tests. Exit
status 1 if a test failed or was skipped. report.py makes its page.
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

SCHEMA = "blockspan-test-record/2"


def output_of(*command):
    """The command's standard output, or None where it cannot run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def run_shard(program, shard, options):
    """Runs a part of a test program; its summary, or a failed one where it died before writing it."""
    arguments = [f"--gtest_filter={options.filter}"]
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder, "summary.json")
        environment = dict(os.environ, BLOCKSPAN_TEST_SUMMARY=str(summary),
                           GTEST_TOTAL_SHARDS=str(options.shards), GTEST_SHARD_INDEX=str(shard))
        if options.devices:
            environment["CUDA_VISIBLE_DEVICES"] = str(shard % options.devices)
        code = subprocess.run([str(program), "--gtest_brief=1", *arguments], env=environment).returncode
        if summary.exists():
            return dict(json.loads(summary.read_text()), exit_status=code)
    return {"tests": 0, "passed": 0, "failed": 1, "skipped": 0, "matrices_read": 0,
            "kernels_launched": {}, "failures": [f"died with exit status {code}"], "exit_status": code}


def joined(shards):
    """The summary of a program from those of its shards."""
    result = totals(dict(enumerate(shards)))
    return dict(result, failures=[name for one in shards for name in one["failures"]])


def totals(programs):
    return {key: round(sum(p.get(key, 0) for p in programs.values()), 1)
            for key in ("tests", "passed", "failed", "skipped", "seconds")}


def sanitizer_errors(reports, commit):
    """How many errors each compute-sanitizer report ends with, by file name."""
    found = {}
    for report in reports:
        text = pathlib.Path(report).read_text(errors="replace")
        counts = re.findall(r"ERROR SUMMARY: (\d+) error", text)
        found[pathlib.Path(report).stem] = {
            "commit": commit, "errors": int(counts[-1]) if counts else "no summary"}
    return found


def versions_of(kokkos):
    """Versions in what Kokkos says of its configuration."""
    found = {"kokkos": re.search(r"Kokkos Version: (\S+)", kokkos),
             "cuda": re.search(r"CUDA_VERSION\s*=\s*\d+ = version (\S+)", kokkos)}
    return {name: match[1] for name, match in found.items() if match}


def entry(options, result):
    """The line of a program."""
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    keys = ("tests", "passed", "failed", "skipped", "seconds", "failures")
    return {"commit": options.commit, "date": today, **{key: result.get(key, 0) for key in keys}}


def text_of(record):
    """A line for each program and each report."""
    parts = []
    for key, value in record.items():
        if key in ("programs", "compute_sanitizer") and value:
            lines = ",\n".join(f'  "{name}": {json.dumps(one)}' for name, one in value.items())
            parts.append(f' "{key}": {{\n{lines}\n }}')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def describe(options, old, programs, kokkos):
    """The record: what ran now over what the old one holds."""
    newest = {**old.get("programs", {}), **{name: entry(options, r) for name, r in programs.items()}}
    device = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return {
        "schema": SCHEMA,
        "date": max((one["date"] for one in newest.values()), default=""),
        "device": device.splitlines()[0].replace(", ", ", driver ") if device else platform.machine(),
        "versions": {**old.get("versions", {}), **versions_of(kokkos)},
        "compute_sanitizer": {**old.get("compute_sanitizer", {}),
                              **sanitizer_errors(options.sanitizer, options.commit)},
        "programs": dict(sorted(newest.items())),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, required=True)
    parser.add_argument("--commit", default=output_of("git", "rev-parse", "--short", "HEAD"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("test-record.json"))
    parser.add_argument("--sanitizer", nargs="*", default=[])
    parser.add_argument("--filter", default="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--devices", type=int, default=0)
    options = parser.parse_args()

    files = [f for f in sorted(options.tests.glob("**/blockspan_test_*"))
             if f.is_file() and os.access(f, os.X_OK) and f.name != "blockspan_test_ranks"]
    old = json.loads(options.out.read_text()) if options.out.exists() else {}
    programs, shards, kokkos = {}, {f.name: [] for f in files}, ""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(run_shard, f, shard, options): f.name
                   for f in files for shard in range(options.shards)}
        for done in concurrent.futures.as_completed(running):
            name = running[done]
            kokkos = max(kokkos, done.result().pop("kokkos", ""))
            shards[name].append(done.result())
            if len(shards[name]) < options.shards:
                continue
            programs[name] = joined(shards[name])
            options.out.write_text(text_of(describe(options, old, programs, kokkos)))
            print(name, json.dumps(totals({"": programs[name]})), flush=True)
    found = totals(programs)
    print(json.dumps(found))
    return 1 if found["failed"] or found["skipped"] or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
