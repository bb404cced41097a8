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


class AddressPattern:
    """The code that finds and checks the pattern of an access."""

    def __init__(self, code: CodeBuilder, address: LaneVector, step: int) -> None:
        self._code = code
        self._address = address  # the address of each lane, of 32 or 64 bits; all are active
        self._step = step  # bytes of the access of a lane
        firsts = code.shuffle(address, [lane // HALF * HALF for lane in range(WIDTH)])
        self._apart = code.binary("sub", address, firsts)

    def has_step(self, step: int) -> str:
        """Return whether the addresses of the lanes of each half are some bytes apart."""
        code, kind = self._code, self._address.element
        steps = constant((np.arange(WIDTH) % HALF * step).astype(f"u{self._address.bits // 8}"))
        others = code.binary("xor", self._apart, steps)
        function = f"@llvm.vector.reduce.or.v{WIDTH}{kind}"
        code.module.declare(f"declare {kind} {function}({others.type})")
        bits = code.scalar(f"call {kind} {function}({others.typed})")
        return code.scalar(f"icmp eq {kind} {bits}, 0")

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
