"""Patterns of the addresses of a whole warp, which make its accesses fast.

The lanes of each half of the warp access memory in a row, or one address. Then the first lanes of
both halves tell whether all accesses are aligned and in bounds, and vectors access memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cudarun.emulator.compiled.vectors import WIDTH, CodeBuilder, LaneVector, constant

HALF = WIDTH // 2


class HalfPlaces(NamedTuple):
    """The checked accesses of both halves of a warp.

    Attributes:
        host: The host address that the offsets are relative to.
        first: The offsets of the first lanes.
    """

    host: str
    first: tuple[str, str]


class AddressPattern:
    """The code that finds and checks the pattern of an access.

    Args:
        code: Where it goes.
        address: The address of each lane, of 32 or 64 bits.
        mask: The active lanes.
        step: Bytes of the access of a lane.
    """

    def __init__(self, code: CodeBuilder, address: LaneVector, mask: str, step: int) -> None:
        self._code = code
        self._address = address
        self._mask = mask
        self._step = step
        firsts = code.shuffle(address, [lane // HALF * HALF for lane in range(WIDTH)])
        self._apart = code.binary("sub", address, firsts)

    def is_row(self) -> str:
        """Return whether all lanes are active, and those of each half follow one another."""
        steps = np.arange(WIDTH) % HALF * self._step
        listed = constant(steps.astype(f"u{self._address.bits // 8}"))
        return self._is_zero(self._code.binary("xor", self._apart, listed))

    def is_uniform(self) -> str:
        """Return whether all lanes are active, and those of each half access one address."""
        return self._is_zero(self._apart)

    def _is_zero(self, values: LaneVector) -> str:
        code, element = self._code, values.element
        code.module.declare(f"declare {element} @llvm.vector.reduce.or.v32{element}({values.type})")
        bits = code.scalar(f"call {element} @llvm.vector.reduce.or.v32{element}({values.typed})")
        zero = code.scalar(f"icmp eq {element} {bits}, 0")
        whole = code.scalar(f"icmp eq i32 {self._mask}, -1")
        return code.scalar(f"and i1 {zero}, {whole}")

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
