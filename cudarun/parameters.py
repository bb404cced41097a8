"""A kernel's parameters, as reported by the driver, a PTX text or a cubin."""

from __future__ import annotations

from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter in the device-side layout.

    Attributes:
        index: The position in the parameter list, from 0.
        offset: The offset in the parameter buffer, in bytes.
        size: The size in bytes.
        alignment: The alignment in bytes, if the image has it.
        type: The C++ type from the demangled name (``"float*"``), else the PTX type (``"f32"``),
            if the image has either.
        name: The parameter's name, if the image has a meaningful one.
    """

    index: int
    offset: int
    size: int
    alignment: int | None = None
    type: str | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        """The displayed name: the parameter's own, or ``p0``, ``p1``, …."""
        return self.name or f"p{self.index}"
