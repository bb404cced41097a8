"""The file of golden results: a head with the names and digests of the cases, then their words."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.golden.sampling import (
    anisotropy,
    filters,
    footprints,
    formats,
    gradients,
    packed,
    places,
    surfaces,
)
from tests.golden.sampling.case import Array, Case

RECORDED = Path(__file__).parents[1] / "sampling-h200.xz"
_DIGITS = 12
SUBJECTS = {
    "filters": filters,
    "places": places,
    "gradients": gradients,
    "surfaces": surfaces,
    "formats": formats,
    "packed": packed,
    "anisotropy": anisotropy,
    "footprints": footprints,
}


def cases(subject: str) -> list[Case]:
    """All cases of a subject, the same wherever this runs."""
    return list(SUBJECTS[subject].cases())


def digest(case: Case) -> str:
    """A digest of all inputs of a case."""
    return hashlib.sha256(case.words()).hexdigest()[:_DIGITS]


def write(path: Path, device: str, wanted: Sequence[Case], results: Mapping[str, Array]) -> int:
    """Write the results of cases; how many bytes the file has."""
    heads = [[case.name, digest(case), *results[case.name].shape] for case in wanted]
    data = [json.dumps({"device": device, "cases": heads}).encode(), b"\n"]
    for case in wanted:  # all first bytes of the words, all second ones, …: that packs better
        words = np.ascontiguousarray(results[case.name])
        data.append(words.view(np.uint8).reshape(-1, 4).T.tobytes())
    packed = lzma.compress(b"".join(data), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path = RECORDED) -> dict[str, tuple[str, Array]]:
    """The digest of the inputs and the words of every recorded case, by its name."""
    head, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    found, at = {}, 0
    for name, inputs, rows, columns in json.loads(head)["cases"]:
        size = 4 * rows * columns
        parts = np.frombuffer(data, np.uint8, size, at).reshape(4, -1)
        words = np.ascontiguousarray(parts.T).view(np.uint32).reshape(rows, columns)
        found[name] = (inputs, words)
        at += size
    return found


def differing(recorded: Array, found: Array) -> int:
    """How many threads of a case have other words."""
    if recorded.shape != found.shape:
        return max(len(recorded), len(found))
    return int((recorded != found).any(axis=1).sum())


def chosen(subject: str, recorded: Mapping[str, tuple[str, Array]]) -> Iterator[Case]:
    """The cases of a subject that are recorded.

    Raises:
        ValueError: The inputs have changed since then.
    """
    for case in cases(subject):
        if case.name in recorded:
            if recorded[case.name][0] != digest(case):
                raise ValueError(f"{case.name}: recorded with other inputs; record again")
            yield case
