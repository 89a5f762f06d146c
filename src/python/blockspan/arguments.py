"""Checks of arguments that are numbers, words or files, with errors in sentences."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np

from blockspan.errors import Error


def integer(where: str, name: str, value: Any, default: int | None = None) -> int:
    """A whole number of 32 bits."""
    if value is None and default is not None:
        return default
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{where}: {name} = {value!r} is no whole number") from None
    if not -(2**31) <= number < 2**31:
        raise Error(f"{where}: {name} = {number} is beyond 32 bits")
    return number


def positive(where: str, name: str, value: Any) -> int:
    number = integer(where, name, value)
    if number < 1:
        raise Error(f"{where}: {name} = {number}; the least is 1")
    return number


def seed_number(where: str, value: Any) -> int:
    """1 for None."""
    try:
        number = 1 if value is None else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 2**63:
        raise Error(f"{where}: seed = {value!r} is no whole number from 0 to 2^63 - 1")
    return number


def real(where: str, name: str, value: Any, default: float) -> float:
    """A real number, or the default for None."""
    try:
        if not isinstance(value, str):
            return default if value is None else float(value)
    except (OverflowError, TypeError):
        pass
    raise Error(f"{where}: {name} = {value!r} is no real number")


def word(where: str, name: str, value: Any, default: str) -> str:
    """One of the words that the module knows, or the default for None."""
    if value is not None and not isinstance(value, str):
        raise Error(f"{where}: {name} = {value!r} is no string")
    return default if value is None else value


def flag(where: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise Error(f"{where}: {name} = {value!r} is neither True nor False")
    return bool(value)


def path_name(where: str, name: str, value: Any) -> str:
    """A file's name; empty for None."""
    try:
        file = "" if value is None else os.fsdecode(value)
        file.encode()  # the module takes UTF-8
    except (TypeError, UnicodeEncodeError):
        raise Error(f"{where}: {name} = {value!r} is no name of a file (in UTF-8)") from None
    if "\0" in file:  # it would end there
        raise Error(f"{where}: {name} = {value!r} is no name of a file: it has a zero byte")
    return file


def float_type(where: str, value: Any) -> np.dtype[Any]:
    """A real or complex type of NumPy, in this machine's byte order."""
    try:
        dtype: np.dtype[Any] = np.dtype(value)
    except TypeError:
        raise Error(f"{where}: dtype={value!r} is no type of NumPy") from None
    if dtype.kind not in "fc":
        raise Error(f"{where}: dtype={value!r} is no floating-point type")
    return dtype.newbyteorder("=")


def require_callable(where: str, name: str, value: Any) -> None:
    if value is not None and not callable(value):
        raise Error(f"{where}: {name} = {value!r} is no function")


def require_unmasked(X: Any) -> None:
    """NumPy would take the numbers under the mask."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise Error("blockspan: an array with masked entries: fill them, X.filled(0) say")


def stream_number(stream: Any) -> int:
    """A stream of the caller as a number: a number, one of torch or CuPy, or ``__cuda_stream__``."""
    if isinstance(stream, int):
        return stream
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise Error(f"blockspan: stream is a {type(stream).__name__}, and no CUDA stream")
