"""Golden data in files: one a chapter, compressed; the cases as text, then their results.

A file is self-contained but for the input pools, which ``tests.golden.isa.inputs`` makes anew; a
digest of them is in the file, so that inputs that have changed are not taken for wrong results.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.isa.case import Case, result_bytes
from tests.golden.isa.inputs import LANES, values

Array = npt.NDArray[Any]
Results = Mapping[str, Sequence[Array]]


@dataclass(frozen=True)
class Golden:
    """What a file holds: the device it was recorded on, the cases, and their results."""

    device: str
    cases: list[Case]
    results: Results


def digest(cases: Sequence[Case]) -> str:
    """A digest of all the inputs of these cases."""
    pools = sorted({pair for case in cases for pair in enumerate(case.sources)})
    found = hashlib.sha256()
    for place, pool in pools:
        found.update(f"{place} {pool} ".encode() + values(pool, place).tobytes())
    return found.hexdigest()


def write(path: Path, device: str, cases: Sequence[Case], results: Results) -> int:
    """Write a chapter; how many bytes the file has."""
    head = {"device": device, "inputs": digest(cases), "cases": [asdict(case) for case in cases]}
    data = [json.dumps(head).encode(), b"\n"]
    for case in cases:
        data += [array.tobytes() for array in results[case.name]]
    packed = lzma.compress(b"".join(data), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> Golden:
    """Read a chapter.

    Raises:
        ValueError: The inputs have changed since it was recorded.
    """
    text, _, data = lzma.decompress(path.read_bytes()).partition(b"\n")
    head = json.loads(text)
    cases = [Case(**_tuples(row)) for row in head["cases"]]
    if digest(cases) != head["inputs"]:
        raise ValueError(f"{path}: recorded with other inputs; record again")
    results: dict[str, list[Array]] = {}
    at = 0
    for case in cases:
        results[case.name] = []
        for result in case.results:
            size = result_bytes(result)
            results[case.name].append(np.frombuffer(data, f"u{size}", case.lanes, at))
            at += case.lanes * size
    return Golden(head["device"], cases, results)


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
        if name != "rule"  # of approximations, in files of an earlier version
    }


def differences(golden: Golden, results: Results, most: int = 30) -> Iterator[str]:
    """Where results are not as recorded, in words, for at most so many cases."""
    told = 0
    for case in golden.cases:
        recorded, found = golden.results[case.name], results.get(case.name)
        if found is None:
            told += 1
            yield f"{case.name}: recorded, but not run"
            continue
        for expected, got in zip(recorded, found, strict=True):
            lanes = np.flatnonzero(expected != got)
            if len(lanes):
                told += 1
                yield from _shown(case.name, case.text, case.sources, lanes, expected, got)
        if told >= most:
            yield "... and perhaps more"
            return


def _shown(
    name: str, text: str, sources: tuple[str, ...], lanes: Array, expected: Array, got: Array
) -> Iterator[str]:
    """The first differences of a case in words: what was given, recorded, and found."""
    yield f"{name}: {len(lanes)} of {len(expected)} lanes differ    {text}"
    given = [values(pool, place) for place, pool in enumerate(sources)]
    for lane in lanes[:4]:
        inputs = ", ".join(f"{int(value[lane % LANES]):#x}" for value in given)
        yield (
            f"    lane {lane}: ({inputs}) gave {int(got[lane]):#x}, "
            f"recorded {int(expected[lane]):#x}"
        )
