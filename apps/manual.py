#!/usr/bin/env python3
"""A program's manual page and bash completion, made of what its --help says: manual.py PROGRAM FOLDER"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROGRAMS = ("blockspan-eig", "blockspan-solve", "blockspan-spmm")


class Option(NamedTuple):
    names: list  # ["-h", "--help"]; a positional has its own name
    value: str  # "" for a flag
    choices: list  # words that the value may be; empty: any
    text: str  # with default, range, what it excludes or needs


class Help(NamedTuple):
    name: str
    version: str
    summary: str
    usage: str
    options: list
    positionals: list
    notes: list  # (title, text) of what follows the options


def read_option(head, text):
    """An option from its two columns, as CLI11 prints them: names TYPE:CHECK=DEFAULT Excludes: ..."""
    names, _, rest = head.partition(" ")
    choices = re.search(r"\{(.*?)\}", rest)
    default = re.match(r"[A-Z]+(?::(?:\{.*?\}|[A-Z]+ in \[.*?\]))?=(.*)", rest)
    kind = re.match(r"[A-Z]+", rest)
    limits = re.search(r"in \[(.*?) - (.*?)\]", rest)
    links = re.split(r"\s*(Excludes|Needs): ", rest)
    remarks = [f"One of: {', '.join(choices[1].split(','))}."] if choices else []
    if limits:
        remarks.append(f"From {limits[1]} to {limits[2]}.")
    if default:
        remarks.append(f"Default: {re.split(r' (?:Excludes|Needs):', default[1])[0]}.")
    for word, others in zip(links[1::2], links[2::2]):
        remarks.append(
            ("Not with " if word == "Excludes" else "Only with ") + ", ".join(others.split()) + "."
        )
    value = kind[0] if kind and not rest.startswith(("Excludes:", "Needs:")) else ""
    if value == "REQUIRED":
        value = ""
    return Option(
        names.split(","),
        value,
        choices[1].split(",") if choices else [],
        " ".join([f"{text}.", *remarks]),
    )


def read_options(lines):
    """Text begins in column 30, on the line of the names or, where they are long, on the next one."""
    options = []
    for line, following in zip(lines, [*lines[1:], ""]):
        if re.match(r"  \S", line):
            below = following.startswith(" " * 30)
            options.append(
                read_option(
                    *(
                        (line.strip(), following.strip())
                        if below
                        else (line[:30].strip(), line[30:].strip())
                    )
                )
            )
    return options


def read_help(program):
    def said(option):
        return subprocess.run([program, option], check=True, capture_output=True, text=True).stdout

    name, version = said("--version").split()[:2]
    text = said("--help")
    summary, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    positionals, _, rest = rest.partition("\nOptions:\n")
    options, _, rest = rest.partition("\n\n")
    notes = []
    for part in re.split(r"\n\n+", rest.strip("\n")):
        title, _, body = part.partition(":")
        notes.append((title, body.strip("\n")))
    return Help(
        name,
        version,
        summary.strip(),
        usage,
        read_options(options.splitlines()),
        read_options(positionals.splitlines()),
        notes,
    )


def roff(text):
    """Text of a manual page: hyphens that may be copied, and no line that is taken for a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def manual(said):
    lines = [
        f'.TH {roff(said.name.upper())} 1 "" "Blockspan {said.version}" "Blockspan"',
        ".SH NAME",
        f"{roff(said.name)} \\- {roff(re.split('[,;:] ', said.summary)[0])}",
        ".SH SYNOPSIS",
        f".B {roff(said.name)}",
        roff(said.usage.partition(" ")[2]),
        ".SH DESCRIPTION",
        roff(said.summary),
    ]
    for option in said.positionals:
        lines += [".TP", f"\\fI{roff(option.names[0])}\\fR", roff(option.text)]
    lines.append(".SH OPTIONS")
    for option in said.options:
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
        lines += [
            ".TP",
            names + (f" \\fI{option.value}\\fR" if option.value else ""),
            roff(option.text),
        ]
    for title, body in said.notes:
        lines.append(f".SH {roff(title.upper())}")
        if title == "Exit status":
            lines.append(roff(body.strip()))
        else:  # tables, whose names stand out
            for line in body.splitlines():
                name, _, text = line.strip().partition("  " if "  " in line.strip() else ": ")
                lines += (
                    [".TP", f"\\fB{roff(name)}\\fR", roff(text.strip())]
                    if text
                    else [".PP", roff(line.strip())]
                )
    others = ", ".join(f"\\fB{roff(name)}\\fR(1)" for name in PROGRAMS if name != said.name)
    return "\n".join([*lines, ".SH SEE ALSO", others, ""])


def completion(said):
    """A function for bash: options, the words of those that have a list, files for all others."""
    function = "_" + said.name.replace("-", "_")
    every = " ".join(name for option in said.options for name in option.names)
    cases = [
        f"    {'|'.join(option.names)}) words='{' '.join(option.choices)}' ;;"
        for option in said.options
        if option.choices
    ]
    return "\n".join(
        [
            f"# bash completion of {said.name} {said.version}, made of its --help",
            f"{function}() {{",
            "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
            "  local words=",
            "  case $before in",
            *cases,
            f"    *) [[ $word == -* ]] && words='{every}' ;;",
            "  esac",
            "  if [[ $words ]]; then",
            '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "  else",
            '    COMPREPLY=($(compgen -f -- "$word"))',
            "  fi",
            "}",
            f"complete -o filenames -F {function} {said.name}",
            "",
        ]
    )


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    said = read_help(program)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{said.name}.1").write_text(manual(said), "utf-8")
    (folder / f"{said.name}.bash").write_text(completion(said), "utf-8")


if __name__ == "__main__":
    main()
