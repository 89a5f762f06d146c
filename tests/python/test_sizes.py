"""What is read in one go stays small: functions below 60 lines, files below 400, words included."""

from __future__ import annotations

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted(
    path
    for folder in ("src/python", "tests/python", "perf", "apps")
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.skipif(not FILES, reason="the sources are not here")
def test_functions_and_files_are_short():
    long = []
    for path in FILES:
        source = path.read_text("utf-8")
        name = str(path.relative_to(ROOT))
        if source.count("\n") >= 400:
            long.append(name)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines >= 60:
                    long.append(f"{name}: {node.name} has {lines} lines")
    assert long == []
