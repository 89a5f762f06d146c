"""How the package behaves as a guest: import, forks, another Kokkos, memory, docs, types."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import quiet

import blockspan as bs
from blockspan import _host

STUB = pathlib.Path(bs.__file__).parent / "_host.pyi"

USE = """
import numpy as np, blockspan as bs
A = bs.generate("laplace5:40x40")
X = np.ones((1600, 4))
wanted = A @ X
"""


def test_import_starts_nothing():
    quiet(
        "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'\n"  # it starts threads when loaded
        "import threading, numpy\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "import blockspan\n"
        "assert len(os.listdir('/proc/self/task')) == before\n"
        "import sys; assert not {'scipy', 'torch'} & set(sys.modules)\n"
    )


def test_waiting_threads_soon_sleep():
    code = (
        "import os, blockspan; assert os.environ.get('GOMP_SPINCOUNT') == os.environ.get('ASKED')"
    )
    for asked, told in ({}, "1000"), ({"GOMP_SPINCOUNT": "77", "ASKED": "77"}, "77"):
        names = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
        environment = {k: v for k, v in os.environ.items() if k not in names}
        environment |= {"OMP_DISPLAY_ENV": "verbose", **asked}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        if "GOMP_SPINCOUNT" not in done.stderr:
            pytest.skip("OpenMP is not libgomp here")
        assert f"GOMP_SPINCOUNT = '{told}'" in done.stderr


FORK = USE + """
import multiprocessing
multiprocessing.set_start_method("fork")

def work(i):
    return np.array_equal(A @ X, wanted) and bs.cg(A, X).info == 0

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        assert all(pool.map(work, range(4)))
    assert np.array_equal(A @ X, wanted)
"""


def test_forked_children_compute():
    quiet(FORK, repeat=5)


def test_fork_in_a_callback():
    quiet(
        USE + "import os\n"
        "def fork(progress):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os._exit(0 if np.array_equal(A @ X, wanted) else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    return progress.iteration < 3\n"
        "assert bs.cg(A, X, callback=fork).iterations == 3\n"
    )


def test_a_second_kokkos_in_the_process():
    quiet("""
import importlib.util, pathlib, shutil, tempfile, warnings
import numpy as np, blockspan as bs
from blockspan import _host

bs.threads(2)
A, X, Y = bs.generate("laplace5:40x40"), np.ones((1600, 4)), np.empty((1600, 4))
wanted = A @ X
with tempfile.TemporaryDirectory() as folder:
    copy = pathlib.Path(folder) / pathlib.Path(_host.__file__).name
    shutil.copy(_host.__file__, copy)
    for library in pathlib.Path(_host.__file__).parent.glob("lib*.so"):
        shutil.copy(library, folder)
    spec = importlib.util.spec_from_file_location("second._host", copy)
    second = importlib.util.module_from_spec(spec)
    warnings.simplefilter("ignore")  # its types have the names of ours
    spec.loader.exec_module(second)
second.set_threads(1)
assert second.configuration()["threads"] == 1 and bs.show_config()["threads"] == 2
*parts, shape = second.generate("laplace5:40x40", "float64")
plan = second.matrix(*shape, *parts, *parts[:2], 0).plan(8, "auto", False, "", 0)
plan.multiply("n", 1.0, X, 0.0, Y, 0)
assert np.array_equal(Y, wanted) and np.array_equal(A @ X, wanted)
""")


def test_memory_errors():
    quiet(
        USE + "import resource\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, -1))\n"
        "try:\n"
        "    bs.generate('laplace7:200')\n"
        "except MemoryError as error:\n"
        "    assert 'out of memory: cannot allocate' in str(error), error\n"
        "else:\n"
        "    raise SystemExit('there is memory')\n"
        "assert np.array_equal(A @ X, wanted)\n"
    )


def test_multigrid_short_of_memory():
    """Whichever allocation fails, also one inside of a parallel region."""
    quiet("""
import resource
import numpy as np, blockspan as bs

bs.threads(2)
A, small = bs.generate("laplace7:30"), bs.generate("laplace7:6")
bs.precond.multigrid(small)
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
outcomes = set()
for extra in range(0, 48 << 20, 3 << 19):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, hard))
    try:
        bs.precond.multigrid(A)
        outcomes.add("there is memory")
    except MemoryError:
        outcomes.add("there is none")
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
assert outcomes == {"there is memory", "there is none"}, outcomes
assert bs.cg(small, np.ones(216), M="multigrid").info == 0
""")


@pytest.mark.parametrize("variable", ["OMP_NUM_THREADS", "KOKKOS_NUM_THREADS"])
def test_more_threads_than_there_can_be(variable):
    quiet(
        f"import os; os.environ['{variable}'] = '1000'\n"
        + USE
        + "assert bs.show_config()['threads'] == 512\n"
        "assert wanted.sum() == 640 and bs.cg(A, X, maxiter=500).info == 0\n"
    )
    with pytest.raises(bs.Error, match="1000 threads"):
        bs.threads(1000)


def test_docstrings_have_examples_that_run():
    import doctest

    folder = pathlib.Path(bs.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        name = ".".join(["blockspan", *file.relative_to(folder).with_suffix("").parts])
        try:
            module = importlib.import_module(name.removesuffix(".__init__"))
        except ModuleNotFoundError as error:
            assert str(error.name).partition(".")[0] in ("sklearn", "torch"), name  # not for all
            continue
        assert doctest.testmod(module).failed == 0, name
    for name in bs.__all__:
        item = getattr(bs, name)
        assert item.__doc__, name
        if callable(item) and not isinstance(item, type):
            assert ">>>" in item.__doc__, name


def version_of(package: str) -> str:
    """ "" where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def test_stub_names_what_there_is():
    body = ast.parse(STUB.read_text()).body
    named = {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert named == {name for name in dir(_host) if not name.startswith("_")}


@pytest.mark.skipif(
    not version_of("nanobind").startswith("3.1."), reason="nanobind 3.1, which made it, is not here"
)
def test_stub_is_what_nanobind_makes(tmp_path):
    made = tmp_path / STUB.name
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "blockspan._host", "-o", made]
    subprocess.run(command, check=True)
    assert made.read_text() == STUB.read_text(), f"make it anew: {' '.join(map(str, command))}"


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_types_are_strict():
    root = pathlib.Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_threads_are_fixed_once_it_runs():
    with pytest.raises(bs.Error, match="runs already"):
        bs.threads(bs.show_config()["threads"] + 1)
    with pytest.raises(bs.Error, match="0 threads"):
        bs.threads(0)
    quiet("import blockspan as bs\nbs.threads(1)\nassert bs.show_config()['threads'] == 1")
