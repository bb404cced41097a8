"""A kernel's parameters, as reported by the driver, a PTX text or a cubin."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import LEFT_OUT, dataclass


@dataclass(frozen=True, slots=True)
class ParameterMember:
    """A member of a struct that is passed by value.

    Attributes:
        offset: The offset in the struct, in bytes.
        size: The size in bytes; of an array that of all elements.
        type: The C++ type, of an array that of an element; ``None`` for a bit field.
        name: The name; ``None`` for a base class and an anonymous union.
        count: The elements of an array.
        members: The members of a struct, of an array those of an element.
    """

    offset: int
    size: int
    type: str | None = None
    name: str | None = None
    count: int = 1
    members: tuple[ParameterMember, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel.

    Attributes:
        index: Its position, from 0.
        offset: The offset in the parameter buffer.
        size: Its size.
        alignment: Its alignment, where the image has it.
        type: Its type in C++ or PTX, where the image has it.
        name: Its name, where the image has one.
        members: The members of a struct, if the image has debug information.
        count: The elements of an array, which only a struct contains.
    """

    index: int
    offset: int
    size: int
    alignment: int | None = None
    type: str | None = None
    name: str | None = None
    members: tuple[ParameterMember, ...] = field(default=(), metadata=LEFT_OUT)
    count: int = field(default=1, metadata=LEFT_OUT)

    @property
    def label(self) -> str:
        """The displayed name: the parameter's own, or ``p0``, ``p1``, …."""
        return self.name or f"p{self.index}"


def parameter_base(architecture: int) -> int:
    """Return the address in the constant bank where ptxas puts the first parameter.

    Alignments are those of addresses; offsets count from there.

    Args:
        architecture: The number of the target, such as 90.
    """
    return 0x380 if architecture >= 100 else 0x210 if architecture >= 90 else 0x160
