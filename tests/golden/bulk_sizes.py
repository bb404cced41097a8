"""Bulk copies, reductions and prefetches of sizes that are not multiples of 16, as golden data.

The manual requires multiples of 16; the cases show what hardware does with other sizes. The file
has, for each case, whether the barrier objects completed with the expected bytes, the extent of the
changed bytes, and the first bytes of each region.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.tensor_cases import Case, contents
from tests.golden.tensor_copies import Found, digest, initial_region

_FORMS = (
    "bulk", "put", "into.add.u32", "into.add.u64", "into.add.noftz.f16", "prefetch", "multic",
    "copyc", "across.add.u32c",
)  # fmt: skip
_SIZES = (0, 1, 4, 8, 12, 15, 17, 20, 24, 28, 31, 33, 40, 47, 63, 100, 1000)
_FEWER = (0, 4, 8, 12, 20, 24, 28, 100)
_KEPT = 160  # bytes of each region


def cases() -> list[Case]:
    """All cases, the same wherever this runs."""
    return list(_cases())


def _cases() -> Iterator[Case]:
    for form in _FORMS:
        blocks = 2 if form.endswith("c") else 1
        to_other = form in ("copyc", "across.add.u32c")
        for size in _SIZES if form in ("bulk", "put") else _FEWER:
            rounded = size // 16 * 16
            both = form == "bulk" and rounded != size
            for expected in (rounded, size) if both else (rounded,):
                yield Case(
                    f"{form} {size} expecting {expected}", form, size=size, expected=expected,
                    place=16, region=2048, memory=2048, at=16, blocks=blocks,
                    mask=3 if form == "multic" else 0, target=blocks - 1,
                    beyond=1024 if to_other else 0,
                )  # fmt: skip


def summary(case: Case, found: Found) -> dict[str, Any]:
    """Return the part of a result that is compared.

    ``changed`` has, for each changed memory, its block (-1: global memory), the first changed byte,
    the byte after the last one, and their number.
    """
    start = initial_region(case)
    changed = [(rank, *_extent(data != start)) for rank, data in enumerate(found.shared)]
    if case.stores:
        changed.append((-1, *_extent(found.memory != contents(case.data, case.memory, 1))))
    return {
        "done": found.done.tolist(),
        "changed": [list(change) for change in changed if change[-1]],
        "shared": [data[:_KEPT].tobytes().hex() for data in found.shared],
        "memory": found.memory[:_KEPT].tobytes().hex(),
    }


def _extent(differs: npt.NDArray[np.bool_]) -> tuple[int, int, int]:
    places = np.flatnonzero(differs)
    return (int(places[0]), int(places[-1]) + 1, len(places)) if len(places) else (0, 0, 0)


def write(path: Path, device: str, results: Mapping[str, Found]) -> int:
    """Write the results of cases; return the size of the file in bytes."""
    kept = [case for case in cases() if case.name in results]
    found = {case.name: summary(case, results[case.name]) for case in kept}
    head = {"device": device, "inputs": digest(kept), "results": found}
    packed = lzma.compress(json.dumps(head).encode(), preset=9)
    path.write_bytes(packed)
    return len(packed)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the recorded results of cases, by their names.

    Raises:
        ValueError: The cases have changed since.
    """
    recorded = json.loads(lzma.decompress(path.read_bytes()))
    kept = [case for case in cases() if case.name in recorded["results"]]
    if recorded["inputs"] != digest(kept):
        raise ValueError(f"{path}: recorded with other inputs; record again")
    return dict(recorded["results"])


def differences(
    recorded: Mapping[str, dict[str, Any]], results: Mapping[str, Found]
) -> Iterator[str]:
    """Describe each case whose result is not as recorded."""
    for case in cases():
        if case.name in recorded and case.name in results:
            left, right = recorded[case.name], summary(case, results[case.name])
            for field, value in left.items():
                if value != right[field]:
                    yield f"{case.name}: recorded {field} {value}, found {right[field]}"
