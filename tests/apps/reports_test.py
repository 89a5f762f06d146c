"""apps/reports.md against reports: reports_test.py PAGE FOLDER_OF_PROGRAMS"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

page, apps = Path(sys.argv[1]), Path(sys.argv[2])
RUNS = [
    ("blockspan-eig", "elasticity:4", "--mass", "elasticity-mass:4", "--pairs", "3", "--certify"),
    ("blockspan-solve", "laplace5:20x20", "--columns", "3", "--preconditioner", "multigrid"),
    ("blockspan-spmm", "laplace5:20x20", "--columns", "4"),
]
SHARED = {
    "blockspan-eig": ("In all reports", "In those of blockspan-eig and blockspan-solve"),
    "blockspan-solve": ("In all reports", "In those of blockspan-eig and blockspan-solve"),
    "blockspan-spmm": ("In all reports",),
}


def stated():
    """The fields in the first column of the tables, by section."""
    sections = {}
    for part in page.read_text("utf-8").split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        cells = re.findall(r"(?m)^\| (`.*?) \|", text)
        sections[title] = [field for cell in cells for field in re.findall(r"`(.*?)`", cell)]
    return sections


def fields(value, name=""):
    """All fields of a report by their paths; those of the first entry stand for a list."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value, name = value[0], name + "[]"
    if not isinstance(value, dict):
        return {name}
    return {path for key in value for path in fields(value[key], f"{name}.{key}" if name else key)}


def covers(field, path):
    """`a.*` covers all below `a`, and `a` itself where it does not apply."""
    if field.endswith(".*"):
        group = field[:-2].removesuffix("[]")
        return path == group or path.startswith((group + ".", group + "[]."))
    return path == field


sections = stated()
for program, *arguments in RUNS:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        command = [apps / program / program, *arguments, "--quiet", "--report", file]
        subprocess.run(command, check=True)
        report = json.loads(file.read_text("utf-8"))
    assert report["schema"].startswith(program + "/")
    said = [field for title in (*SHARED[program], program) for field in sections[title]]
    there = fields(report)
    for path in there:
        assert any(
            covers(field, path) for field in said
        ), f"{page} does not have {path} of {program}"
    for field in said:
        assert any(covers(field, path) for path in there), f"{program} writes no {field}"
