"""A kernel's parameters, as reported by the driver, a PTX text or a cubin."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import LEFT_OUT, dataclass


@dataclass(frozen=True, slots=True)
class ParameterMember:
    """A member of a struct that is passed by value."""

    offset: int  # the offset in the struct, in bytes
    size: int  # the size in bytes; of an array that of all elements
    # The C++ type, of an array that of an element; ``None`` for a bit field.
    type: str | None = None
    name: str | None = None  # the name; ``None`` for a base class and an anonymous union
    count: int = 1  # the elements of an array
    # The members of a struct, of an array those of an element.
    members: tuple[ParameterMember, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel."""

    index: int  # its position, from 0
    offset: int  # the offset in the parameter buffer
    size: int  # its size
    alignment: int | None = None  # its alignment, where the image has it
    type: str | None = None  # its type in C++ or PTX, where the image has it
    name: str | None = None  # its name, where the image has one
    # The members of a struct, if the image has debug information.
    members: tuple[ParameterMember, ...] = field(default=(), metadata=LEFT_OUT)
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
