"""The page of a record of test programs (record_tests.py)."""

from pages.text import origin, table

SCHEMA = "blockspan-test-record/"


def title(_):
    return "Test programs on a device"


def page(results):
    programs = results["programs"]
    rows = [[f"`{name}`", f"`{one['commit']}`", one["date"][:10],
             *(one[key] for key in ("tests", "passed", "failed", "skipped")), round(one["seconds"]),
             ", ".join(one.get("failures", [])) or "-"] for name, one in programs.items()]
    lines = [
        "# " + title(results), "",
        origin(dict(results, commit=", ".join(dict.fromkeys(
            one["commit"] for one in programs.values())))), "",
        "Made by `perf/report.py` of the record of `perf/record_tests.py`; do not edit. The newest run of"
        " each program.", "",
        *table(["program", "commit", "date", "tests", "passed", "failed", "skipped", "seconds",
                "which failed"], rows)]
    checks = results.get("compute_sanitizer", {})
    if checks:
        lines += ["## compute-sanitizer", "",
                  *table(["tool and tests", "commit", "errors"],
                         [[name, f"`{one['commit']}`", one["errors"]] for name, one in checks.items()])]
    return "\n".join(lines).rstrip("\n") + "\n"
