"""Checkpoints whose checksum is right and whose numbers are not: refused in words, or harmless."""

from __future__ import annotations

import os

import pytest
from conftest import quiet

# times: how many words of the file are looked at
FUZZ = """
import os, pathlib, signal, struct, sys, tempfile, warnings, zlib
import numpy as np, blockspan as bs

warnings.simplefilter("ignore")
HOSTILE = [struct.pack("<i", number) for number in (-1, 0, 1, 7, 1000, 2**31 - 1, -2**31)]
HOSTILE += [struct.pack("<f", float("nan")), b"\\x7f\\xf0\\x00\\x00"[::-1]]
A = bs.generate("laplace5:12x12")
B = bs.matrix((A._source[0], A._source[1], np.abs(A._source[2]) + 1.0 * (A._source[2] > 0), A.shape))
OPTIONS = {options}
folder = pathlib.Path(tempfile.mkdtemp())
good, bad = folder / "good", folder / "bad"

def solve(**files):
    return bs.lobpcg(A, largest=False, path="iterative", maxiter=30, time_limit=2.0, **OPTIONS, **files)

bs.lobpcg(A, largest=False, path="iterative", maxiter=6, checkpoint=str(good), **OPTIONS)
whole = good.read_bytes()
HEADING = whole[: whole.index(b"\\n") + 1]
assert HEADING.startswith(b"Blockspan checkpoint ")
body = whole[len(HEADING):-8]
assert zlib.crc32(body) == struct.unpack("<Q", whole[-8:])[0]
assert solve(resume=str(good)).iterations > 6

def attempt(changed):
    bad.write_bytes(HEADING + changed + struct.pack("<Q", zlib.crc32(changed)))
    try:
        solve(resume=str(bad))
    except bs.Error as error:
        assert "checkpoint" in str(error), error
        return True
    except MemoryError:
        return True
    return False

rng = np.random.default_rng({seed})
words = len(body) // 4
head = range(min(words, 400))  # sizes and flags come before the vectors
places = list(head) + [int(i) for i in rng.integers(0, words, 50)]
chosen = rng.permutation(len(places))[:{times}]
refused = 0
for i in chosen:
    at = 4 * places[i]
    number = HOSTILE[rng.integers(len(HOSTILE))]
    refused += attempt(body[:at] + number + body[at + 4:])
for cut in (0, 5, 100, len(body) // 2, len(body) - 1):
    assert attempt(body[:cut])
assert attempt(body + b"1234")
assert refused > 0
for file in (good, bad):
    file.unlink()
folder.rmdir()
"""
CHANGES = int(os.environ.get("BLOCKSPAN_FUZZ", "300"))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "options",
    ['{"k": 3}', '{"k": 6, "block": 4}', '{"k": 3, "B": B, "M": "jacobi"}'],
    ids=["plain", "batches", "mass"],
)
def test_hostile_checkpoints_are_no_crash(options, seed):
    quiet(
        FUZZ.replace("{options}", options)
        .replace("{seed}", str(seed))
        .replace("{times}", str(CHANGES)),
        timeout=60 + CHANGES,
    )
