"""The pages of the package are true: the reference is that of the sources, the guide runs."""

from __future__ import annotations

import json
import pathlib
import re
import runpy
import warnings

import pytest

import blockspan as bs

ROOT = pathlib.Path(__file__).parents[2]
PYTHON = ROOT / "src" / "python"
OTHERS = ("sklearn", "torch")  # not for all


def test_reference_is_that_of_the_sources():
    made = runpy.run_path(str(PYTHON / "reference.py"))["reference"]()
    assert made == (PYTHON / "reference.md").read_text("utf-8"), (
        "make it anew: python src/python/reference.py"
    )


def test_guide_runs():
    names: dict[str, object] = {}
    missing = []
    for code in re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text("utf-8"), re.S):
        if "eigs_in" in code and "direct" not in bs.show_config()["components"]:
            missing.append("MUMPS")
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(code, "README.md", "exec"), names)
        except ModuleNotFoundError as error:
            assert str(error.name).partition(".")[0] in OTHERS, code
            missing.append(error.name)
    if missing:
        pytest.skip(f"the rest ran, and {', '.join(map(str, missing))} is not here")


def test_links_of_the_guide_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", (PYTHON / "README.md").read_text("utf-8"))
    assert len(links) > 10
    assert [link for link in links if not (PYTHON / link).exists()] == []


@pytest.mark.parametrize(
    ("name", "program"),
    [("exact", "exact_beside_peers"), ("automatic", "automatic_beside_others")],
)
def test_page_of_a_study_is_that_of_the_record(name, program, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "perf" / "python"))
    study = runpy.run_path(str(ROOT / "perf" / "python" / f"{program}.py"))
    folder = ROOT / "perf" / "results" / "python"
    record = json.loads((folder / f"{name}.json").read_text("utf-8"))
    assert study["page"](record) == (folder / f"{name}.md").read_text("utf-8")
    assert [case["title"] for case in record["cases"]] == [case[0] for case in study["CASES"]]


def test_table_beside_peers_is_that_of_the_record():
    peers = runpy.run_path(str(ROOT / "perf" / "python" / "beside_peers.py"))
    record = json.loads((ROOT / "perf" / "results" / "python" / "host.json").read_text("utf-8"))
    page = (PYTHON / "README.md").read_text("utf-8")
    assert peers["table"](record) in page
    for package, version in record["versions"].items():
        assert package == "blockspan" or f"{package} {version}" in " ".join(page.split())
