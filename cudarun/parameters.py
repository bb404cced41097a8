"""A kernel's parameter list, whoever told it: the driver, a PTX text or a cubin."""

from __future__ import annotations

from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """One kernel parameter in the device-side layout.

    Attributes:
        index: Position in the parameter list, from 0.
        offset: Bytes from the start of the parameter buffer.
        size: Bytes.
        alignment: Bytes, where the image tells it.
        type: C++ type from the demangled name (``"float*"``), else the PTX type (``"f32"``), where
            the image tells either.
        name: The parameter's own name, where the image has one that means something.
    """

    index: int
    offset: int
    size: int
    alignment: int | None = None
    type: str | None = None
    name: str | None = None

    @property
    def label(self) -> str:
        """The name it goes by: its own, or ``p0``, ``p1``, …."""
        return self.name or f"p{self.index}"
