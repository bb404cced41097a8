"""A kernel's parameters, as reported by the driver, a PTX text or a cubin."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import LEFT_OUT, dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel.

    A member of a struct that is passed by value has the same facts: its offset is that in the
    struct, its index 0. The size of an array is that of all elements, its type that of one. Base
    classes and anonymous unions have no name, bit fields no type.
    """

    index: int  # its position, from 0
    offset: int  # the offset in the parameter buffer
    size: int  # its size
    alignment: int | None = None  # its alignment, where the image has it
    type: str | None = None  # its type in C++ or PTX, where the image has it
    name: str | None = None  # its name, where the image has one
    # The members of a struct, if the image has debug information; of an array those of an element.
    members: tuple[Parameter, ...] = field(default=(), metadata=LEFT_OUT)
    # The elements of an array, which only a struct contains.
    count: int = field(default=1, metadata=LEFT_OUT)

    @property
    def label(self) -> str:
        """The displayed name: the parameter's own, or ``p0``, ``p1``, …."""
        return self.name or f"p{self.index}"


def parameter_base(architecture: int) -> int:
    """Return the address in the constant bank where ptxas puts the first parameter.

    Alignments are those of addresses; offsets count from there.
    """
    return 0x380 if architecture >= 100 else 0x210 if architecture >= 90 else 0x160
