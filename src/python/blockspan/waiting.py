"""How OpenMP threads wait: libgomp reads the environment for it when it is loaded."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def short_spins() -> Iterator[None]:
    """Inside, a libgomp that is loaded lets waiting threads spin for some 20 microseconds only.

    Longer than threads of a free machine wait for each other, short against what they lose to other
    processes on a busy one. As the caller says where GOMP_SPINCOUNT or OMP_WAIT_POLICY is set. The
    environment is as before afterwards: other libraries and processes keep their own ways.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
