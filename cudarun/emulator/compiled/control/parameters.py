"""Variables of parameters as registers: one for each part that instructions access."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from cudarun.emulator.code import (
    BlockCode,
    FunctionCode,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterSlot,
    RegisterUse,
    Role,
)
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.isa.move import copy
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function
from cudarun.emulator.numerics.types import TYPES, Type, TypeKind

Part = tuple[int, int]  # offset and size in bytes

WHOLE = -1  # the offset of a use of a whole variable, in the copy of one to another


class ParameterParts:
    """The parts of the variables of parameters of a function.

    Args:
        code: The function, which gets registers for the parts.
        copies: The variables that are copied to others: these have the same parts.

    Raises:
        Untraceable: The type of an access has no rule.
    """

    def __init__(self, code: FunctionCode, copies: Iterable[tuple[int, int]]) -> None:
        self._code = code
        self._same: dict[int, int] = {}
        for source, target in copies:
            self._same[self._root(source)] = self._root(target)
        accesses: dict[int, set[Part]] = {}
        for operation in code.operations:
            for use in (*operation.sources, *operation.destinations):
                if isinstance(use, ParameterUse) and use.offset != WHOLE:
                    part = use.offset, _size(use.type)
                    accesses.setdefault(self._root(use.slot), set()).add(part)
        self._parts = {root: _disjoint(given) for root, given in accesses.items()}
        self._registers: dict[tuple[int, int], int] = {}

    def _root(self, slot: int) -> int:
        while slot in self._same and self._same[slot] != slot:
            slot = self._same[slot]
        return slot

    def replace(self, block: BlockCode) -> None:
        """Replace the uses of parameters in a block by registers."""
        operations: list[Operation] = []
        for operation in block.operations:
            uses = (*operation.sources, *operation.destinations)
            if not any(isinstance(use, ParameterUse) for use in uses):
                operations.append(operation)
            elif any(isinstance(use, ParameterUse) and use.offset == WHOLE for use in uses):
                operations += self._copies(operation)
            else:
                operations += self._replaced(operation)
        block.operations = operations

    def registers_of(self, variables: set[int]) -> set[int]:
        """Return the registers of the parts of some variables."""
        return {slot for (owner, _), slot in self._registers.items() if owner in variables}

    def _replaced(self, operation: Operation) -> list[Operation]:
        before: list[Operation] = []
        after: list[Operation] = []
        sources, destinations = list(operation.sources), list(operation.destinations)
        for uses, is_source in ((sources, True), (destinations, False)):
            for place, use in enumerate(uses):
                if not isinstance(use, ParameterUse):
                    continue
                end = use.offset + use.type.bytes
                parts = [p for p in self._parts_of(use) if use.offset <= p[0] and sum(p) <= end]
                registers = [self._register(use.slot, part) for part in parts]
                if len(parts) == 1:
                    uses[place] = RegisterUse(registers[0].slot, use.type)
                    continue
                whole = self._new(f"{use.slot}+{use.offset}", _size(use.type))
                uses[place] = RegisterUse(whole.slot, use.type)
                sizes, site = tuple(size for _, size in parts), operation.site
                if is_source:
                    before.append(Lanewise(_joined(sizes), tuple(registers), (whole,), site))
                else:
                    after.append(Lanewise(_split(sizes), (whole,), tuple(registers), site))
        changed = replace(operation, sources=tuple(sources), destinations=tuple(destinations))
        return [*before, changed, *after]

    def _copies(self, operation: Operation) -> list[Operation]:
        (source,), (target,) = operation.sources, operation.destinations
        assert isinstance(source, ParameterUse)
        assert isinstance(target, ParameterUse)
        sizes = [self._code.slots[use.slot].size for use in (source, target)]
        return [
            Lanewise(
                copy,
                (self._register(source.slot, part),),
                (self._register(target.slot, part),),
                operation.site,
            )
            for part in self._parts_of(source)
            if sum(part) <= min(sizes)
        ]

    def _parts_of(self, use: ParameterUse) -> list[Part]:
        return self._parts.get(self._root(use.slot), [])

    def _register(self, slot: int, part: Part) -> RegisterUse:
        """Return the register of a part of a variable."""
        offset, size = part
        if (slot, offset) not in self._registers:
            use = self._new(f"{self._code.slots[slot].name}+{offset}", size)
            self._registers[slot, offset] = use.slot
        return RegisterUse(self._registers[slot, offset], TYPES[f"b{8 * size}"])

    def _new(self, name: str, size: int) -> RegisterUse:
        ptx_type = TYPES[f"b{8 * size}"]
        self._code.slots.append(RegisterSlot(name, ptx_type, Role.REGISTER))
        return RegisterUse(len(self._code.slots) - 1, ptx_type)


def _size(ptx_type: Type) -> int:
    if ptx_type.kind is TypeKind.PREDICATE:
        raise Untraceable("a predicate as a parameter")
    if ptx_type.bits > 64:
        raise Untraceable(f"a parameter of type {ptx_type.name}")
    return ptx_type.bytes


def _disjoint(accesses: Iterable[Part]) -> list[Part]:
    """Return parts of which all accesses consist, aligned to their sizes."""
    given = list(accesses)
    cuts = {edge for offset, size in given for edge in (offset, offset + size)}
    found = []
    for offset, size in sorted(set(given)):
        place, end = offset, offset + size
        while place < end:
            step = size
            while step > 1 and (
                place % step or place + step > end or any(place < c < place + step for c in cuts)
            ):
                step //= 2
            cuts.add(place)
            found.append((place, step))
            place += step
    return sorted(set(found))


@cache
def _joined(sizes: tuple[int, ...]) -> Function:
    """Return the function that joins parts of these sizes, the lowest one first."""

    def joined(*arrays: Array) -> None:
        *parts, d = arrays
        value = parts[0].astype(np.uint64)
        shift = 0
        for part, size in zip(parts[1:], sizes, strict=False):
            shift += 8 * size
            value = value | (part.astype(np.uint64) << np.uint64(shift))
        np.copyto(d, value, casting="unsafe")

    return joined


@cache
def _split(sizes: tuple[int, ...]) -> Function:
    """Return the function that splits a value into parts of these sizes."""

    def split(a: Array, *targets: Array) -> None:
        value = a.astype(np.uint64)
        shift = 0
        for target, size in zip(targets, sizes, strict=True):
            np.copyto(target, value >> np.uint64(shift), casting="unsafe")
            shift += 8 * size

    return split
