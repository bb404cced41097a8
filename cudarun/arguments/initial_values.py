"""The contents of a buffer before the launch, as parsed: plain frozen data, as `values`."""

from __future__ import annotations

import re
from enum import Enum

from cudarun.arguments.scalars import UntypedNumber
from cudarun.base.records import dataclass

_PLAIN_PATH = re.compile(r"[\w./~+-]+")


class FileOrder(Enum):
    """The order in which the elements of a ``.npy`` file are read."""

    PLAIN = ""  # c order; an array in Fortran order is refused
    C = "corder"  # c order; an array in Fortran order is reordered
    STORED = "asis"  # the bytes as stored, whatever their order and type


@dataclass(frozen=True, slots=True)
class Constant:
    """One number for all elements, ``3.5``; ``zeros`` and ``ones`` are 0 and 1."""

    number: UntypedNumber

    def __str__(self) -> str:
        return {"0": "zeros", "1": "ones"}.get(self.number.text, self.number.text)


@dataclass(frozen=True, slots=True)
class Generated:
    """Numbers that follow from a word: ``iota``, ``rand(-1,1)``, ``eye``."""

    # ``iota``: the sequence start, start + step, …; ``rand``: uniform random numbers in [low,
    # high), ``randint`` integers; ``randn``: normal ones with mean 0 and deviation 1; ``eye``: an
    # identity matrix, 1 where the last two indices are equal, else 0.
    word: str
    # The numbers in parentheses, with `DEFAULT_NUMBERS` for those that are missing.
    numbers: tuple[UntypedNumber, ...] = ()

    @property
    def is_random(self) -> bool:
        """True for random numbers, which follow from a seed, too."""
        return self.word.startswith("rand")

    def __str__(self) -> str:
        has_defaults = self.numbers == DEFAULT_NUMBERS.get(self.word, ())
        return self.word if has_defaults else f"{self.word}({','.join(map(str, self.numbers))})"


_UNIT = (UntypedNumber("0"), UntypedNumber("1"))
DEFAULT_NUMBERS = {"iota": _UNIT, "rand": _UNIT}
"""The numbers in parentheses of a word, where they can be missing."""


@dataclass(frozen=True, slots=True)
class FileInitial:
    """The contents of a file, ``@raw.bin`` or ``@x.npy``."""

    path: str
    order: FileOrder = FileOrder.PLAIN
    cast: bool = False  # convert the elements to the buffer's type, ``cast(@x.npy)``
    name: str | None = None  # the name in texts of a file whose path means nothing to the user

    def __str__(self) -> str:
        path = self.name or self.path
        if not _PLAIN_PATH.fullmatch(path):  # in quotation marks, as the grammar has it
            path = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
        text = f"{self.order.value}(@{path})" if self.order.value else f"@{path}"
        return f"cast({text})" if self.cast else text
