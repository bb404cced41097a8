"""Patterns of the addresses of a whole warp, which make its accesses fast.

The lanes of each half of the warp access memory in a row, or one address. Then the first lanes of
both halves tell whether all accesses are aligned and in bounds, and vectors access memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector, constant

HALF = WIDTH // 2


class HalfPlaces(NamedTuple):
    """The checked accesses of both halves of a warp."""

    host: str  # the host address that the offsets are relative to
    first: tuple[str, str]  # the offsets of the first lanes


def is_zero(code: CodeBuilder, values: LaneVector) -> str:
    """Return whether the values of all lanes are 0."""
    kind, name = values.element, f"@llvm.vector.reduce.or.v{values.count}{values.element}"
    code.module.declare(f"declare {kind} {name}({values.type})")
    bits = code.scalar(f"call {kind} {name}({values.typed})")
    return code.scalar(f"icmp eq {kind} {bits}, 0")


class AddressPattern:
    """The code that finds and checks the pattern of an access."""

    def __init__(self, code: CodeBuilder, address: LaneVector, step: int) -> None:
        self._code = code
        self._address = address  # the address of each lane, of 32 or 64 bits; all are active
        self._step = step  # bytes of the access of a lane
        firsts = code.shuffle(address, [lane // HALF * HALF for lane in range(WIDTH)])
        # 0 if the lanes of each half access one address
        self.apart = code.binary("sub", address, firsts)

    def is_row(self) -> str:
        """Return whether the lanes of each half follow one another."""
        steps = np.arange(WIDTH) % HALF * self._step
        listed = constant(steps.astype(f"u{self._address.bits // 8}"))
        return is_zero(self._code, self._code.binary("xor", self.apart, listed))

    def first(self, base: str) -> tuple[str, str]:
        """Return the offsets of the first lanes of both halves from a base."""
        code, found = self._code, []
        for lane in (0, HALF):
            start = code.scalar(f"extractelement {self._address.typed}, i32 {lane}")
            if self._address.bits < 64:
                start = code.scalar(f"zext {self._address.element} {start} to i64")
            found.append(code.scalar(f"sub i64 {start}, {base}"))
        return found[0], found[1]

    def is_valid(self, first: tuple[str, str], count: str) -> str:
        """Return whether accesses are aligned, and their first ones at valid offsets."""
        code = self._code
        inside = [code.scalar(f"icmp ult i64 {offset}, {count}") for offset in first]
        valid = code.scalar(f"and i1 {inside[0]}, {inside[1]}")
        if self._step == 1:
            return valid
        both = code.scalar(f"or i64 {first[0]}, {first[1]}")
        low = code.scalar(f"and i64 {both}, {self._step - 1}")
        return code.scalar(f"and i1 {valid}, {code.scalar(f'icmp eq i64 {low}, 0')}")
