"""What the tests of the suite share: blockspan-perf by its path, JSON files, a folder of their own."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PERF = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PERF))
sys.path.insert(0, str(PERF / "peers"))


class Program:
    path = pathlib.Path()  # set in main


def main():
    """Runs the tests of the calling file: FILE [BLOCKSPAN_PERF] [unittest's arguments]."""
    if len(sys.argv) > 1 and pathlib.Path(sys.argv[1]).is_file():
        Program.path = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)


def run(*arguments):
    """Exit status and all that was said."""
    command = [Program.path, *map(str, arguments), "--python", sys.executable]
    if "compare" in arguments:
        command = command[:-2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def keys(document):
    return [(c["group"], c["matrix"], c["scalar"], c["columns"]) for c in document["cases"]]


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
