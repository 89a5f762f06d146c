#!/usr/bin/env python3
"""Writes reference.md, next to this file, from the signatures and docstrings of the package.

Reads the sources: nothing is imported, so that it needs no build and no other package.
"""

from __future__ import annotations

import ast
import functools
import pathlib
import re
import textwrap

FOLDER = pathlib.Path(__file__).parent
PACKAGE = FOLDER / "blockspan"
SECTIONS = [  # title, module, names in the order of the reader's needs
    ("Matrices and products", "", "matrix Matrix spmm sddmm Plan generate read_matrix_market"),
    ("Solvers", "", "SolverOptions lobpcg eigsh eigs_in count cg"),
    (
        "Results",
        "",
        "EigenResult ExactResult EigenCount CgResult Status Certificate ShiftCount MissingPairs CgColumn "
        "EigenProgress ExactProgress CgProgress EigenIteration CgIteration",
    ),
    ("Errors and warnings", "", "Error NotConverged NotConvergedWarning ConversionWarning"),
    ("The package", "", "threads show_config"),
    (
        "Preconditioners: `blockspan.precond`",
        "precond",
        "jacobi block_jacobi chebyshev multigrid pyamg Preconditioner",
    ),
    ("PyTorch: `blockspan.torch`", "torch", "matrix Matrix spmm sddmm cg eigsh SparseLinear"),
    (
        "Clusters, with the interface of scikit-learn: `blockspan.cluster`",
        "cluster",
        "spectral_embedding SpectralClustering",
    ),
    ("With the signatures of SciPy: `blockspan.compat.scipy`", "compat.scipy", "lobpcg eigsh cg"),
]

CONSTRUCTED = ("Plan", "SparseLinear", "SpectralClustering")  # by their names; others are returned

Definition = ast.FunctionDef | ast.ClassDef
Definitions = dict[str, tuple[Definition, str]]  # and the module that has it


def source_of(module: str) -> str:
    path = PACKAGE / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")


@functools.cache
def definitions(module: str) -> Definitions:
    """Functions and classes of a module, its own and those imported from the package."""
    found: Definitions = {}
    for node in ast.parse(source_of(module)).body:
        if isinstance(node, Definition):
            found[node.name] = node, module
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("blockspan."):
            below = definitions((node.module or "").removeprefix("blockspan."))
            found |= {alias.name: below[alias.name] for alias in node.names if alias.name in below}
    return found


def listed(module: str) -> list[str]:
    """``__all__``, empty where there is none."""
    for node in ast.parse(source_of(module)).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def signature(function: ast.FunctionDef, name: str) -> str:
    """Names and defaults, without types."""
    given = function.args
    plain = given.posonlyargs + given.args
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    words = [
        part.arg + ("" if default is None else f"={ast.unparse(default)}")
        for part, default in zip(plain, defaults, strict=True)
        if part.arg not in ("self", "cls")
    ]
    if given.vararg or given.kwonlyargs:
        words.append("*" + (given.vararg.arg if given.vararg else ""))
    for part, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        words.append(part.arg + ("" if default is None else f"={ast.unparse(default)}"))
    return textwrap.fill(f"{name}({', '.join(words)})", 96, subsequent_indent="    ")


def text(words: str) -> list[str]:
    """A docstring in Markdown: its examples and what is indented as code, its roles as names."""
    words = re.sub(r":(?:func|class|meth|mod):`~?\.?([^`]*)`", r"`\1`", words).replace("``", "`")
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", words):
        if block.startswith(">>>"):
            lines += ["```python", *block.split("\n"), "```"]
        elif block.startswith("Attributes:") or re.match(r"[A-Z]\w+:\n ", block):
            head, *rest = block.split("\n")
            items = re.sub(r"\n\s{5,}", " ", "\n".join(rest))
            lines += [head, ""]
            lines += ["- " + item.strip() for item in items.split("\n")]
        else:
            lines += block.split("\n")
        lines.append("")
    return lines


def fields(node: ast.ClassDef, source: list[str]) -> list[str]:
    """The attributes of a class of data, with the words that stand behind or below them."""
    lines = []
    for item, below in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign):
            said = source[item.lineno - 1].partition("#:")[2].strip()
            kind = ast.unparse(item.annotation).strip("'")
            lines.append(
                f"- `{ast.unparse(item.target)}`: `{kind}`" + (f", {said}" if said else "")
            )
        elif isinstance(item, ast.Assign) and isinstance(below, ast.Expr):
            words = ast.literal_eval(below.value)
            lines.append(f"- `{ast.unparse(item.targets[0])}`: {words}")
    return [*lines, ""] if lines else []


def bodies(node: ast.ClassDef, module: str) -> list[ast.stmt]:
    """Of a class and of those of the package that it extends."""
    there = definitions(module)
    items = list(node.body)
    for base in node.bases:
        found, where = there.get(ast.unparse(base), (None, ""))
        if isinstance(found, ast.ClassDef):
            items += bodies(found, where)
    return items


def entry(name: str, node: Definition, module: str) -> list[str]:
    lines = [f"### {name}", ""]
    words = text(ast.get_docstring(node) or "")
    if isinstance(node, ast.FunctionDef):
        return [*lines, "```python", signature(node, name), "```", "", *words]
    methods = {m.name: m for m in bodies(node, module) if isinstance(m, ast.FunctionDef)}
    if name in CONSTRUCTED:
        lines += ["```python", signature(methods["__init__"], name), "```", ""]
    lines += words + fields(node, source_of(module).split("\n"))
    for method in methods.values():
        words = text(ast.get_docstring(method) or "")
        if method.name[0] == "_" or words == [""]:
            continue
        is_property = any(ast.unparse(d) == "property" for d in method.decorator_list)
        title = method.name if is_property else signature(method, method.name)
        lines += [f"**`{' '.join(title.split())}`**", "", *words]
    return lines


def reference() -> str:
    lines = [
        "# Reference of the Python package",
        "",
        "Made by `reference.py` from the sources; do not edit. A guide: [README.md](README.md).",
        "",
    ]
    said = {name for *_, names in SECTIONS for name in names.split()}
    for title, module, names in SECTIONS:
        there = definitions(module)
        left = set(listed(module)) & set(there) - said
        if left:
            raise SystemExit(f"reference.py: in no section: {', '.join(sorted(left))}")
        lines += [f"## {title}", ""]
        for name in names.split():
            lines += entry(name, *there[name])
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


if __name__ == "__main__":
    (FOLDER / "reference.md").write_text(reference(), "utf-8")
