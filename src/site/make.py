#!/usr/bin/env python3
"""Makes the site: python3 src/site/make.py --out build/site [--programs build/host/apps]

The pages of the site (pages/) and the Markdown pages of the whole repository are copied into one tree,
in the places that they have here, so that their links to each other hold. What else they link to, a
source file or a folder, becomes a page that shows it. Doxygen reads the public headers, Sphinx makes
HTML of everything with warnings as errors, and links.py follows every link between the pages.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import links
import reference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "apps"))
import manual  # noqa: E402

LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".f90": "fortran",
    ".py": "python",
    ".sh": "bash",
    ".json": "json",
    ".txt": "cmake",
    ".cmake": "cmake",
}
PAGES = Path("src/site/pages")
ORPHAN = "---\norphan: true\n---\n"
PICTURES = {".svg", ".png"}
FOLDERS = ("src", "apps", "tests", "perf", "cmake")


def repository_pages():
    """All Markdown pages of the repository, relative to its root; nothing that was made or installed there."""
    yield from (path.relative_to(ROOT) for path in ROOT.glob("*.md"))
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.md"):
            if not path.is_relative_to(ROOT / PAGES):
                yield path.relative_to(ROOT)


def section(page, title):
    """The text below one heading, without it, up to the next heading."""
    text = (ROOT / page).read_text("utf-8")
    found = re.search(rf"^#+ {re.escape(title)}\n", text, re.M)
    if not found:
        sys.exit(f"site: no heading '{title}' in {page}")
    rest, fenced, kept = text[found.end() :].splitlines(), False, []
    for line in rest:
        fenced ^= line.startswith("```")
        if not fenced and re.match("#+ ", line):
            break
        kept.append(line)
    return "\n".join(kept).strip() + "\n"


class Tree:
    """The folder that Sphinx reads."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")

    def copy(self, path):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)

    def source_page(self, path):
        """A page that shows a file of the repository, or lists a folder of it."""
        page = Path("source") / f"{path}.md"
        if (self.folder / page).exists():
            return page
        if (ROOT / path).is_dir():
            self.write(page, "")  # folders may lead back here
            entries = [
                entry.relative_to(ROOT)
                for entry in sorted((ROOT / path).iterdir())
                if entry.is_file()
            ]
            lines = [f"- [{entry.name}]({self.link(page, entry)})" for entry in entries]
        else:
            self.copy(path)
            language = LANGUAGES.get(path.suffix, "text")
            lines = [f"```{{literalinclude}} /{path}", f":language: {language}", "```"]
        self.write(page, "\n".join([ORPHAN + f"# {path}", "", *lines, ""]))
        return page

    def link(self, page, target):
        """What `page` has to say to link to `target`, both relative to the root."""
        if target.suffix in PICTURES or target.suffix == ".json":
            self.copy(target)
        elif target.suffix != ".md":
            readme = target / "README.md"
            target = readme if (ROOT / readme).exists() else self.source_page(target)
        return os.path.relpath(target, page.parent)

    def relinked(self, text, home, page):
        """`text`, whose links are relative to the folder `home`, as part of `page`."""

        def new(found):
            path, anchor = found[2], found[3] or ""
            if re.match(r"[a-z]+:", path):
                return found[0]
            target = Path(os.path.normpath(home / path))
            if target.is_relative_to(PAGES):  # some are made: Sphinx says where one is missing
                return (
                    f"{found[1]}({os.path.relpath(target.relative_to(PAGES), page.parent)}{anchor})"
                )
            if not (ROOT / target).exists():
                sys.exit(f"site: {page} links to {target}, which is not there")
            return f"{found[1]}({self.link(page, target)}{anchor})"

        parts = re.split(r"(^```.*?^```)", text, flags=re.S | re.M)  # code has no links
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r"(\])\(([^)#\s]+)(#[^)]*)?\)", new, parts[i])
        return "".join(parts)

    def page(self, path, text):
        """A page of the site: `{{ FILE: Heading }}` stands for that section of a page of the
        repository, and the files of `literalinclude` come along."""

        def pasted(found):
            source = Path(found[1])
            return self.relinked(section(source, found[2]), source.parent, path)

        text = self.relinked(text, PAGES / path.parent, path)
        text = re.sub(r"^\{\{ (\S+): (.+) \}\}$", pasted, text, flags=re.M)
        for included in re.findall(r"^```\{(?:literalinclude|figure)\} /(\S+)", text, re.M):
            self.copy(Path(included))
        self.write(path, text)


def listed(options):
    """Options as a definition list."""
    return [
        f"{', '.join(f'`{name}`' for name in option.names)} {option.value}\n: {prose(option.text)}\n"
        for option in options
    ]


def prose(text):
    """Plain text as Markdown."""
    return re.sub(r"([\\`*_\[\]<>|{}$])", r"\\\1", text)


def program_pages(tree, folder):
    """What --help of each program says; the links to these pages need them, built or not."""
    for name in manual.PROGRAMS:
        program = folder / name / name if folder else None
        lines = [f"# {name}", ""]
        if program and program.exists():
            said = manual.read_help(program)
            lines += [
                prose(said.summary),
                "",
                f"`{said.usage}`",
                "",
                *listed(said.positionals),
                "## Options",
                "",
                *listed(said.options),
            ]
            for title, body in said.notes:
                lines += [
                    f"## {title}",
                    "",
                    *(["```text", body.rstrip(), "```"] if "  " in body else [prose(body)]),
                    "",
                ]
        else:
            lines.append("This site was made without the programs: ask `--help`.")
        tree.write(Path("reference") / f"{name}.md", "\n".join([*lines, ""]))


def check_commands(pages, folder):
    """Commands on pages have options that the programs know."""
    known, faults = {}, []
    for name in manual.PROGRAMS:
        program = folder / name / name if folder else None
        if program and program.exists():
            options = manual.read_help(program).options
            known[name] = {word for option in options for word in option.names}
    for path in sorted(pages.rglob("*.md")):
        text = path.read_text("utf-8").replace("\\\n", " ")
        for name, rest in re.findall(r"(?m)\b(blockspan-(?:eig|solve|spmm)) ([^`#|;&\n]*)", text):
            for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", rest):
                if name in known and option not in known[name]:
                    faults.append(f"{path.relative_to(pages)}: {name} has no {option}")
        for option in re.findall(r"`(--[a-z][\w-]*)[^`\n]*`", text):
            if (
                known
                and path.parts[-2:-1] == ("pages",)
                and option not in set().union(*known.values())
            ):
                faults.append(f"{path.relative_to(pages)}: no program has {option}")
    if faults:
        sys.exit("site: options that there are not:\n" + "\n".join(faults))


def stage(folder, programs):
    tree = Tree(folder)
    for path in repository_pages():
        text = tree.relinked((ROOT / path).read_text("utf-8"), path.parent, path)
        tree.write(path, ORPHAN + text)  # found by links; the site's own pages are in the menu
    for path in sorted((ROOT / PAGES).rglob("*.md")):
        tree.page(path.relative_to(ROOT / PAGES), path.read_text("utf-8"))
    program_pages(tree, programs)
    for make in (reference.headers, reference.c_header, reference.statuses):
        for path, text in make(ROOT).items():
            tree.write(path, text)


def require_tools():
    missing = [name for name in ("sphinx", "breathe", "myst_parser", "furo") if not find_spec(name)]
    if missing:
        sys.exit(f"site: no {', '.join(missing)} here: pip install -r {HERE / 'requirements.txt'}")
    if not shutil.which("doxygen"):
        sys.exit("site: no doxygen here (Debian: doxygen)")


def run(command, **more):
    if subprocess.run(command, **more).returncode != 0:
        sys.exit(f"site: {command[0]} failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the result: OUT/html")
    parser.add_argument(
        "--programs", type=Path, help="folder of the built programs, for their --help"
    )
    options = parser.parse_args()
    require_tools()
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    stage(out / "pages", options.programs)
    check_commands(out / "pages", options.programs)
    environment = {**os.environ, "BLOCKSPAN_ROOT": str(ROOT), "BLOCKSPAN_SITE": str(out)}
    warnings = out / "doxygen.txt"
    run(["doxygen", HERE / "Doxyfile"], env=environment)
    if warnings.read_text():
        sys.exit("site: doxygen warns:\n" + warnings.read_text())
    reference.name_files_by_path(out / "doxygen" / "xml")
    for folder in ("html", "doctrees"):  # an old table of C++ names slows Sphinx down without end
        shutil.rmtree(out / folder, ignore_errors=True)
    run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-q",
            "-W",
            "--keep-going",
            "-c",
            HERE,
            "-d",
            out / "doctrees",
            out / "pages",
            out / "html",
        ],
        env=environment,
    )
    links.check(out / "html")


if __name__ == "__main__":
    main()
