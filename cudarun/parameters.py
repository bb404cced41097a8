"""A kernel's parameters, as reported by the driver, a PTX text or a cubin."""

from __future__ import annotations

from cudarun.records import dataclass


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
    """One kernel parameter in the device-side layout.

    Attributes:
        index: The position in the parameter list, from 0.
        offset: The offset in the parameter buffer, in bytes.
        size: The size in bytes.
        alignment: The alignment in bytes, if the image has it.
        type: The C++ type from the demangled name or debug information (``"float*"``), else the
            PTX type (``"f32"``), if the image has any.
        name: The parameter's name, if the image has a meaningful one.
        members: The members of a struct, if the image has debug information.
        count: The elements of an array, which only a struct contains.
    """

    index: int
    offset: int
    size: int
    alignment: int | None = None
    type: str | None = None
    name: str | None = None
    members: tuple[ParameterMember, ...] = ()
    count: int = 1

    @property
    def label(self) -> str:
        """The displayed name: the parameter's own, or ``p0``, ``p1``, …."""
        return self.name or f"p{self.index}"
