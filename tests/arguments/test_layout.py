"""500 random structs lie as the CUDA compiler lays them out (``tools/record_layouts.py``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cudarun.arguments.binding import bind
from cudarun.arguments.dtypes import struct_dtype
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.types import StructType
from cudarun.arguments.values import StructValue
from cudarun.images.parameters import Parameter

FOLDER = Path(__file__).resolve().parents[1] / "data" / "layout"
GOLDEN: list[dict[str, Any]] = json.loads((FOLDER / "layout.json").read_text())


def struct_of(golden: dict[str, Any]) -> StructType:
    value = parse_argument(golden["value"]).value
    assert isinstance(value, StructValue)
    return value.type


def offsets(struct: StructType, prefix: str = "", start: int = 0) -> Iterator[tuple[str, int]]:
    """Every member's path and offset, those of inner structs after the struct they are in."""
    for member, offset in zip(struct.members, struct.layout.offsets, strict=True):
        yield f"{prefix}{member.name}", start + offset
        if isinstance(member.type, StructType):
            yield from offsets(member.type, f"{prefix}{member.name}.", start + offset)


def test_there_are_500_and_they_are_not_trivial() -> None:
    assert len(GOLDEN) == 500
    assert sum(len(golden["offsets"]) for golden in GOLDEN) > 2500
    assert {golden["alignment"] for golden in GOLDEN} == {1, 2, 4, 8, 16}


def test_size_alignment_and_every_offset() -> None:
    for golden in GOLDEN:
        struct = struct_of(golden)
        found = (struct.size, struct.alignment, dict(offsets(struct)))
        assert found == (golden["size"], golden["alignment"], golden["offsets"]), golden["value"]


def test_the_rows_of_the_layout_table() -> None:
    """Of a parameter that does not begin at 0: its members are where its own layout says."""
    for golden in GOLDEN:
        start = 48
        parameter = Parameter(0, start, golden["size"])
        rows = bind([parse_argument(f"s={golden['value']}")], [parameter], kernel="k").rows
        whole, *members = rows
        assert (whole.offset, whole.size, whole.alignment) == (
            start, golden["size"], golden["alignment"]
        )  # fmt: skip
        expected = {f"s.{path}": start + offset for path, offset in golden["offsets"].items()}
        assert {row.name: row.offset for row in members} == expected, golden["value"]


def test_padding_fills_what_is_between() -> None:
    for golden in GOLDEN:
        parameter = Parameter(0, 0, golden["size"])
        rows = bind([parse_argument(f"s={golden['value']}")], [parameter], kernel="k").rows
        end = 0
        for row in rows[1:]:
            if row.name.count(".") == 1:  # a member of the struct itself
                assert row.offset == end + row.padding_before, golden["value"]
                end = row.offset + row.size
        assert 0 <= golden["size"] - end < golden["alignment"]


def test_arrays_of_them_lie_so_too() -> None:
    """The dtype that a buffer of structs has, where no member is an address."""
    for golden in GOLDEN:
        if "null" in golden["value"]:
            continue
        dtype = struct_dtype(struct_of(golden))
        assert dtype.itemsize == golden["size"]
        assert dtype.fields is not None
        for name, (_, offset, *_) in dtype.fields.items():
            assert offset == golden["offsets"][name], golden["value"]
