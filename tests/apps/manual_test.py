"""A program's manual page and completion against its --help: manual_test.py PROGRAM PAGE COMPLETION"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

program, page, completion = (Path(argument).resolve() for argument in sys.argv[1:])
said = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
names = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", said)
assert len(names) > 5, said

# Every option is a head in the page, and nothing else is; hyphens are such as can be copied and searched.
text = page.read_text("utf-8")
heads = re.findall(r"\\fB(?:\\-h\\fR, \\fB)?((?:\\-){2}[\w\\-]+)\\fR", text)
assert [head.replace("\\-", "-") for head in heads] == names, (heads, names)
for section in (
    "NAME",
    "SYNOPSIS",
    "DESCRIPTION",
    "OPTIONS",
    "GENERATOR SPECS",
    "EXIT STATUS",
    "SEE ALSO",
):
    assert f"\n.SH {section}\n" in text, section
assert "Default: auto." in text and "laplace7:NXxNYxNZ" in text
if shutil.which("groff"):
    shown = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", page], check=True, capture_output=True
    )
    assert not shown.stderr, shown.stderr


def completed(folder, *words):
    """What bash offers for the last word of a command line."""
    function = "_" + program.name.replace("-", "_")
    script = (
        f'source "$1"; shift; COMP_WORDS=({program.name} "$@"); COMP_CWORD=$#; {function}; '
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return subprocess.run(
        ["bash", "-c", script, "bash", completion, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()


with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "K.mtx").touch()
    for start in ("--", "--re", "--pr"):
        assert completed(folder, start) == [name for name in names if name.startswith(start)], start
    assert completed(folder, "--backend", "s") == ["serial"]
    assert completed(folder, "K.mtx", "--partition", "r") == ["rcm"]
    assert completed(folder, "K") == ["K.mtx"] and completed(folder, "--report", "K") == ["K.mtx"]
