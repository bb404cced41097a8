"""The sizes and offsets of variables (PTX manual 5.4)."""

from __future__ import annotations

from math import prod

from cudarun.ptx import tree


def size_of(variable: tree.Variable) -> int:
    """Return the bytes of a variable; 0 for an unsized array without initial values."""
    element = tree.TYPE_BYTES[variable.type] * variable.vector
    if variable.dimensions and variable.dimensions[0] is None:
        inner = prod(count or 0 for count in variable.dimensions[1:])
        given = len(variable.initial or ())
        return -(-given // inner) * inner * tree.TYPE_BYTES[variable.type] if inner else 0
    return element * prod(count or 0 for count in variable.dimensions)


def alignment_of(variable: tree.Variable) -> int:
    """Return the alignment in bytes: the type's natural one unless the declaration demands more."""
    natural = tree.TYPE_BYTES[variable.type] * variable.vector
    return max(variable.alignment or natural, 1)


class VariableLayout:
    """Offsets for variables allocated one after the other, from ``size`` on."""

    def __init__(self, size: int = 0) -> None:
        self.size = size

    def place(self, size: int, alignment: int) -> int:
        """Return the offset for the next variable."""
        offset = -(-self.size // alignment) * alignment
        self.size = offset + size
        return offset
