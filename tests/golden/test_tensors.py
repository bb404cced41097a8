"""Tensor maps, their fields, and copies: what an H200 gave, and what the emulated device gives.

``tensor-*-h200.xz`` and ``bulk-sizes-h200.xz`` were recorded by ``tools/record_tensors.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver
from tests.golden import bulk_sizes, map_fields, tensor_copies, tensor_maps
from tests.golden.tensor_cases import Case, cases

FOLDER = Path(__file__).parent
CASES = {case.name: case for case in cases()}
FAMILIES = sorted({case.form for case in CASES.values()})


@pytest.fixture
def context() -> Iterator[None]:
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    yield
    driver.cuDevicePrimaryCtxRelease(0)


def test_maps(context: None) -> None:
    recorded = tensor_maps.read(FOLDER / "tensor-maps-h200.xz")
    found = [tensor_maps.encoded(driver, case) for case in tensor_maps.cases()]
    assert list(tensor_maps.differences(recorded, found)) == []


def test_fields() -> None:
    recorded = map_fields.read(FOLDER / "tensor-fields-h200.xz")
    assert list(map_fields.differences(recorded, map_fields.run(driver))) == []


@pytest.fixture(scope="module")
def copies() -> dict[str, tensor_copies.Found]:
    return tensor_copies.read(FOLDER / "tensor-copies-h200.xz")


@pytest.mark.parametrize("form", FAMILIES)
def test_copies(copies: dict[str, tensor_copies.Found], form: str) -> None:
    runner = tensor_copies.Runner(driver, [form])
    told: list[str] = []
    for case in CASES.values():
        if case.form == form:
            told += tensor_copies.differences(case, copies[case.name], runner.run(case))
    runner.close()
    assert told == []


def test_bulk_sizes() -> None:
    wanted, recorded = bulk_sizes.cases(), bulk_sizes.read(FOLDER / "bulk-sizes-h200.xz")
    assert list(recorded) == [case.name for case in wanted]
    runner = tensor_copies.Runner(driver, sorted({case.form for case in wanted}))
    found = {case.name: runner.run(case) for case in wanted}
    runner.close()
    assert list(bulk_sizes.differences(recorded, found)) == []


# --- the means -----------------------------------------------------------------------------------


def some(names: list[str]) -> tuple[list[Case], dict[str, tensor_copies.Found]]:
    wanted = [CASES[name] for name in names]
    runner = tensor_copies.Runner(driver, sorted({case.form for case in wanted}))
    found = {case.name: runner.run(case) for case in wanted}
    runner.close()
    return wanted, found


def test_what_is_written_is_read(tmp_path: Path) -> None:
    wanted, found = some(["load2, 3", "store2, 1", "multicast 3"])
    tensor_copies.write(tmp_path / "copies.xz", "a device", found)
    read = tensor_copies.read(tmp_path / "copies.xz")
    for case in wanted:
        assert list(tensor_copies.differences(case, read[case.name], found[case.name])) == []


def test_a_difference_is_told() -> None:
    (case,), found = some(["load2, 3"])
    _, other = some(["load2, 3"])
    other[case.name].shared[0, 17] ^= 1
    (told,) = tensor_copies.differences(case, found[case.name], other[case.name])
    assert told.startswith("load2, 3: 1 bytes of shared memory differ, from 16: recorded ")


def test_written_sizes_are_read_and_differences_told(tmp_path: Path) -> None:
    case = next(case for case in bulk_sizes.cases() if case.name == "copyc 20 expecting 16")
    runner = tensor_copies.Runner(driver, [case.form])
    found = {case.name: runner.run(case)}
    runner.close()
    bulk_sizes.write(tmp_path / "sizes.xz", "a device", found)
    recorded = bulk_sizes.read(tmp_path / "sizes.xz")
    assert list(bulk_sizes.differences(recorded, found)) == []
    found[case.name].shared[1, 1056] ^= 1  # the byte past the copy
    assert list(bulk_sizes.differences(recorded, found)) == [
        f"{case.name}: recorded changed [[1, 1041, 1056, 8]], found [[1, 1041, 1057, 9]]"
    ]


def test_a_difference_of_maps_is_told() -> None:
    recorded = [(1, b"")] * len(tensor_maps.cases())
    found = [*recorded[:-1], (0, bytes(128))]
    (told,) = tensor_maps.differences(recorded, found)
    assert told.endswith("recorded result 1, found 0")


def test_a_difference_of_fields_is_told() -> None:
    counts = {field.kernel: len(map_fields.values(field)) for field in map_fields.fields()}
    maps = len(map_fields.maps())
    recorded = {name: np.zeros((maps, count, 128), np.uint8) for name, count in counts.items()}
    found = {name: array.copy() for name, array in recorded.items()}
    found["rank_global"][1, 2, 8] = 16
    (told,) = map_fields.differences(recorded, found)
    assert told.startswith("rank_global: 1 maps differ; of Tiled(")
