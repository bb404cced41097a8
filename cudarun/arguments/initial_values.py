"""The contents of a buffer before the launch, as parsed: plain frozen data, as `values`."""

from __future__ import annotations

import re
from dataclasses import field
from enum import Enum

from cudarun.arguments.scalars import UntypedNumber
from cudarun.base.records import dataclass


class FileOrder(Enum):
    """The order in which the elements of a ``.npy`` file are read."""

    PLAIN = ""
    """C order; an array in Fortran order is refused."""
    C = "corder"
    """C order; an array in Fortran order is reordered."""
    STORED = "asis"
    """The bytes as stored, whatever their order and type."""

    def apply(self, text: str) -> str:
        """Return the text of a file with this order."""
        return f"{self.value}({text})" if self.value else text


@dataclass(frozen=True, slots=True)
class Constant:
    """One number for all elements, ``3.5``; ``zeros`` and ``ones`` are 0 and 1."""

    number: UntypedNumber

    def __str__(self) -> str:
        return {"0": "zeros", "1": "ones"}.get(self.number.text, self.number.text)


@dataclass(frozen=True, slots=True)
class Iota:
    """The sequence ``start``, ``start + step``, …; ``iota`` alone counts from 0."""

    start: UntypedNumber = field(default=UntypedNumber("0"))
    step: UntypedNumber = field(default=UntypedNumber("1"))

    def __str__(self) -> str:
        return "iota" if self == Iota() else f"iota({self.start},{self.step})"


@dataclass(frozen=True, slots=True)
class Rand:
    """Uniform random numbers in ``[low, high)``."""

    low: UntypedNumber = field(default=UntypedNumber("0"))
    high: UntypedNumber = field(default=UntypedNumber("1"))

    def __str__(self) -> str:
        return "rand" if self == Rand() else f"rand({self.low},{self.high})"


@dataclass(frozen=True, slots=True)
class Randn:
    """Normal random numbers with mean 0 and deviation 1."""

    def __str__(self) -> str:
        return "randn"


@dataclass(frozen=True, slots=True)
class RandInt:
    """Uniform random integers in ``[low, high)``."""

    low: UntypedNumber
    high: UntypedNumber

    def __str__(self) -> str:
        return f"randint({self.low},{self.high})"


@dataclass(frozen=True, slots=True)
class Eye:
    """An identity matrix: 1 where the last two indices are equal, else 0."""

    def __str__(self) -> str:
        return "eye"


@dataclass(frozen=True, slots=True)
class FileInitial:
    """The contents of a file, ``@raw.bin`` or ``@x.npy``.

    Attributes:
        path: The path.
        order: The order of the elements.
        cast: Convert the elements to the buffer's type, ``cast(@x.npy)``.
        name: The name in texts of a file whose path means nothing to the user.
    """

    path: str
    order: FileOrder = FileOrder.PLAIN
    cast: bool = False
    name: str | None = None

    def __str__(self) -> str:
        text = self.order.apply(f"@{quoted_path(self.name or self.path)}")
        return f"cast({text})" if self.cast else text


_PLAIN_PATH = re.compile(r"[\w./~+-]+")


def quoted_path(path: str) -> str:
    """Return a path as the grammar has it: in quotation marks where it needs them."""
    if _PLAIN_PATH.fullmatch(path):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
