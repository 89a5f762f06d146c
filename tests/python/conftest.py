"""What the tests share."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import blockspan as bs

SCALARS: list[str] = bs.show_config()["scalars"]


def random_block(shape: tuple[int, ...], dtype: str, seed: int = 1) -> np.ndarray:
    """Numbers in [-1, 1), complex ones with both parts."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        X = X + 1j * rng.uniform(-1, 1, shape)
    return X.astype(dtype)


def grid_eigenvalues(n: int, k: int) -> np.ndarray:
    """The k least eigenvalues of the 5-point Laplacian of n x n points, by the closed formula, in
    extended precision."""
    pi = np.arccos(np.longdouble(-1))
    line = 4 * np.sin(pi * np.arange(1, n + 1) / (2 * (n + 1))) ** 2
    return np.sort((line[:, None] + line[None, :]).ravel())[:k]


def run_python(code: str, *, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs the code in a new interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout
    )


def quiet(code: str, *, timeout: float = 60, repeat: int = 1) -> None:
    """The code ends well, and says nothing."""
    for _ in range(repeat):
        done = run_python(code, timeout=timeout)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture(params=["float32", "float64", "complex64", "complex128"])
def device_scalar(request: pytest.FixtureRequest) -> str:
    if request.param not in bs.show_config("cuda")["scalars"]:
        pytest.skip(f"the module for CUDA was built without {request.param}")
    return str(request.param)


@pytest.fixture(params=SCALARS)
def scalar(request: pytest.FixtureRequest) -> str:
    return str(request.param)
