#!/usr/bin/env python3
"""Makes pages of Markdown, with figures, of what blockspan-perf measured.

    perf/report.py FOLDER [--check]
    perf/report.py RESULTS.json [--out PAGE.md] [--check]

Of a folder, every STUDY.json becomes STUDY.md, and README.md lists them; figures (PNG and SVG) go to
figures/, where matplotlib is there. Without --out the page of a single file goes to stdout, without
figures. --check writes nothing: exit status 1 where a page is not, byte for byte, what the results
give; figures are not compared, since they change with matplotlib."""

import argparse
import pathlib
import sys

from pages import figures, index, study
from pages.results import read


def texts_of(source, out, draw):
    """(path of a page, its text); path None: stdout."""
    if not source.is_dir():
        results = read(source)
        folder = out.parent if out else source.parent
        if draw and out and "plots" in results:
            figures.draw(folder, results)
        return [(out, study.page(results, folder))]
    studies = [(path.stem, read(path)) for path in sorted(source.glob("*.json"))]
    studies = [(stem, results) for stem, results in studies if "cases" in results]
    if not studies:
        sys.exit(f"{source} has no results")
    pages = []
    for stem, results in studies:
        if draw and "plots" in results:
            figures.draw(source, results)
        pages.append((source / f"{stem}.md", study.page(results, source)))
    return [*pages, (source / "README.md", index.page(studies))]


def check(pages, source):
    stale = [path for path, text in pages if not path.exists() or path.read_bytes() != text.encode()]
    for path in stale:
        print(f"{path} is not what {source} gives", file=sys.stderr)
    return 1 if stale else 0


def main():
    parser = argparse.ArgumentParser(description="Pages of what blockspan-perf measured.")
    parser.add_argument("results", type=pathlib.Path, help="a file, or a folder of them")
    parser.add_argument("--out", type=pathlib.Path, help="the page of a file; without it stdout")
    parser.add_argument("--check", action="store_true", help="only compare the pages with the results")
    arguments = parser.parse_args()
    if arguments.out and arguments.results.is_dir():
        parser.error("--out is for a single file; the pages of a folder lie in it")
    if arguments.check and not arguments.out and not arguments.results.is_dir():
        parser.error("--check needs --out PAGE.md")
    pages = texts_of(arguments.results, arguments.out, draw=not arguments.check)
    if arguments.check:
        return check(pages, arguments.results)
    for path, text in pages:
        if path is None:
            sys.stdout.write(text)
        else:
            path.write_bytes(text.encode())
    if figures.pyplot is None and arguments.results.is_dir():
        print("matplotlib is not there: pages without figures", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
