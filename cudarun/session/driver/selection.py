"""The parser of ``-d/--device``, which runs before any driver call.

``0`` · ``0,2`` · ``all`` · a GPU UUID or its start · a PCI bus id · ``cpu`` · ``cpu:1`` ·
``cpu:all`` · ``cpu@rtx5090`` · ``cpu@sm_86:1``
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

if TYPE_CHECKING:
    from cudarun.base.profiles import Profile

DriverName = Literal["cuda", "cpu"]

ALL = "all"
_PCI = re.compile(r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?", re.IGNORECASE)
_UUID = re.compile(r"(?:GPU-|MIG-)?[0-9a-f][0-9a-f-]+", re.IGNORECASE)
_CPU = re.compile(r"cpu(?:@(?P<profile>[^:]*))?(?::(?P<ordinal>all|\d+))?", re.ASCII)
_FORMS = "an index, 'all', a GPU UUID, a PCI bus id, 'cpu', 'cpu:N', 'cpu:all' or 'cpu@GPU'"


@dataclass(frozen=True, slots=True)
class Selector:
    """An item of the list: all devices of a driver, or the one that ``by`` and ``value`` name."""

    driver: DriverName
    by: Literal["index", "uuid", "pci", "all"]
    value: str
    # The GPU that ``cpu`` emulates; empty for that of the environment, or an H200.
    profile: str = ""

    @property
    def process(self) -> tuple[DriverName, str]:
        """The driver and its profile, which all devices of one process have in common."""
        return self.driver, self.profile

    def __str__(self) -> str:
        if self.driver == "cuda":
            return self.value
        name = f"cpu@{self.profile}" if self.profile else "cpu"
        return name if self.value == "0" else f"{name}:{self.value}"


def parse_devices(text: str) -> tuple[Selector, ...]:
    """Parse a comma-separated device list; a device named twice counts once."""
    return tuple(dict.fromkeys(_selector(item.strip()) for item in text.split(",")))


def require_one_process(selectors: Sequence[Selector], option: str | None = None) -> None:
    """Refuse devices that one process cannot serve."""
    if len({each.process for each in selectors}) > 1:
        raise RequestError(
            "one process cannot use GPUs and emulated devices, or several emulated GPUs",
            option=option,
        )


def by_index(selectors: Sequence[Selector]) -> tuple[int, ...] | None:
    """Return the GPUs' indices, each once; ``None`` if one is named otherwise."""
    if any(selector.driver != "cuda" or selector.by != "index" for selector in selectors):
        return None
    return tuple(dict.fromkeys(int(selector.value) for selector in selectors))


def profile_of(name: str, option: str) -> Profile:
    """Return the profile of a GPU or an architecture.

    Args:
        name: Its name, in any case.
        option: The option that names it, for the error.
    """
    from cudarun.base.profiles import profile_named, profiles  # only for `cpu@`

    known, found = profiles(), profile_named(name)
    if found is None:
        from cudarun.arguments.scanner import did_you_mean  # only for an error

        near = did_you_mean(name.lower(), known)
        raise RequestError(
            f"unknown GPU '{name}'{f'; {near}' if near else ''}",
            hint=f"GPUs: {', '.join(known)}",
            option=option,
        )
    return found


def process_profile(requested: str) -> Profile:
    """Return the profile of a process: the requested one, the environment's, or the default one."""
    from cudarun.base.profiles import DEFAULT, PROFILE_VARIABLE  # only for `cpu`

    return profile_of(requested or os.environ.get(PROFILE_VARIABLE) or DEFAULT, PROFILE_VARIABLE)


def _selector(item: str) -> Selector:
    if item == ALL:
        return Selector("cuda", "all", ALL)
    if item.isdecimal():
        return Selector("cuda", "index", str(int(item)))
    if emulated := _CPU.fullmatch(item):
        profile, ordinal = emulated["profile"], emulated["ordinal"] or "0"
        name = "" if profile is None else profile_of(profile, "--device").name
        if ordinal == ALL:
            return Selector("cpu", "all", ALL, name)
        return Selector("cpu", "index", str(int(ordinal)), name)
    if _PCI.fullmatch(item):
        return Selector("cuda", "pci", item)
    if _UUID.fullmatch(item):
        return Selector("cuda", "uuid", item)
    raise RequestError(f"'{item}' is not a device", hint=f"use {_FORMS}", option="--device")
