"""The parser of ``-d/--device``, which runs before any driver call.

``0`` · ``0,2`` · ``all`` · a GPU UUID or its start · a PCI bus id · ``cpu`` · ``cpu:1`` ·
``cpu:all``
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

DriverName = Literal["cuda", "cpu"]

ALL = "all"
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?", re.IGNORECASE)
_UUID = re.compile(r"(?:GPU-|MIG-)?[0-9a-f][0-9a-f-]+", re.IGNORECASE)
_FORMS = "an index, 'all', a GPU UUID, a PCI bus id, 'cpu', 'cpu:N' or 'cpu:all'"


@dataclass(frozen=True, slots=True)
class Selector:
    """An item of the list: all devices of a driver, or the one that ``by`` and ``value`` name."""

    driver: DriverName
    by: Literal["index", "uuid", "pci", "all"]
    value: str

    def __str__(self) -> str:
        if self.driver == "cuda":
            return self.value
        return "cpu" if self.value == "0" else f"cpu:{self.value}"


def parse_devices(text: str) -> tuple[Selector, ...]:
    """Parse a comma-separated device list; a device named twice counts once.

    Raises:
        RequestError: An item has none of the forms.
    """
    return tuple(dict.fromkeys(_selector(item.strip()) for item in text.split(",")))


def by_index(selectors: Sequence[Selector]) -> tuple[int, ...] | None:
    """Return the GPUs' indices, each once; ``None`` if one is named otherwise."""
    if any(selector.driver != "cuda" or selector.by != "index" for selector in selectors):
        return None
    return tuple(dict.fromkeys(int(selector.value) for selector in selectors))


def _selector(item: str) -> Selector:
    if item == ALL:
        return Selector("cuda", "all", ALL)
    if item.isdecimal():
        return Selector("cuda", "index", str(int(item)))
    if item == "cpu":
        return Selector("cpu", "index", "0")
    if item.startswith("cpu:"):
        ordinal = item.removeprefix("cpu:")
        if ordinal == ALL:
            return Selector("cpu", "all", ALL)
        if ordinal.isdecimal():
            return Selector("cpu", "index", str(int(ordinal)))
    if _PCI.fullmatch(item):
        return Selector("cuda", "pci", item)
    if _UUID.fullmatch(item):
        return Selector("cuda", "uuid", item)
    raise RequestError(f"'{item}' is not a device", hint=f"use {_FORMS}", option="--device")
