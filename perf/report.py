#!/usr/bin/env python3
"""Makes pages of Markdown, with figures, of results and of records (compact.py).

    perf/report.py FOLDER [--check]
    perf/report.py RESULTS.json [--out PAGE.md] [--check]

Of a folder, every NAME.json becomes NAME.md, and README.md lists them; figures (SVG, one a study) go to
figures/, where matplotlib is there. Without --out the page of a single file goes to stdout, without
a figure. --check writes nothing: exit status 1 where a page is not, byte for byte, what the results
give; figures are not compared, since they change with matplotlib."""

import argparse
import pathlib
import sys

from pages import charts, claims, figures, index, study, tests
from pages.drawing import pyplot
from pages.results import read

OTHERS = (claims.pairs, claims.systems, tests)  # what is no study: each knows its schema


def maker_of(results):
    return next((one for one in OTHERS if results.get("schema", "").startswith(one.SCHEMA)), None)


def page_of(results, folder, stem):
    maker = maker_of(results)
    return maker.page(results) if maker else study.page(results, folder, stem)


def draw_overview(folder, studies):
    picture = charts.overview(dict(studies)) if pyplot else None
    if picture:
        figures.save(picture, figures.path(folder, "overview"))


def texts_of(source, out, draw):
    """(path of a page, its text); path None: stdout."""
    if not source.is_dir():
        results = read(source)
        folder, stem = (out.parent, out.stem) if out else (source.parent, "")
        if draw and out and "study" in results:
            figures.draw(folder, stem, results)
        return [(out, page_of(results, folder, stem))]
    found = [(path.stem, read(path)) for path in sorted(source.glob("*.json"))]
    studies = [(stem, results) for stem, results in found if "cases" in results]
    others = [(stem, maker_of(results).title(results), results) for stem, results in found
              if maker_of(results)]
    if not studies and not others:
        sys.exit(f"{source} has no results")
    if draw:
        for stem, results in studies:
            figures.draw(source, stem, results)
        draw_overview(source, studies)
    pages = [(source / f"{stem}.md", study.page(results, source, stem)) for stem, results in studies]
    pages += [(source / f"{stem}.md", maker_of(results).page(results)) for stem, _, results in others]
    return [*pages, (source / "README.md", index.page(source, studies, others))]


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
    if pyplot is None and arguments.results.is_dir():
        print("matplotlib is not there: pages without figures", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
