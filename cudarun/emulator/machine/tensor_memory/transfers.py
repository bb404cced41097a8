"""Loads from tensor memory to registers, and stores (PTX manual 9.7.16.8 and 9.7.16.2.3).

A warp accesses the 32 lanes of tensor memory that belong to its place in the warpgroup, or 16 of
them. The fragments of the manual's figures are those of CUTLASS's layouts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.machine.access import AccessKind, AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.clusters import own_ranks
from cudarun.emulator.machine.tensor_memory.memory import (
    LAUNCH_FAILED,
    TensorAccess,
    cells,
    split_address,
)
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.transfers import GroupControl
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
"""By shape, the registers of one repetition."""
_WARPS = WARPGROUP // WARP


def fragment(shape: str, repetitions: int) -> tuple[Array, Array]:
    """Return row and column of each register of a warp: by lane and register.

    Those of ``16x32bx2`` have the columns of the two halves, each from 0 on.
    """
    lane = np.arange(WARP)[:, None]
    register = np.arange(REGISTERS[shape] * repetitions)[None]
    match shape:
        case "32x32b":
            row, column = lane, register
        case "16x32bx2":
            row, column = lane % 16, register
        case "16x64b":
            row, column = lane // 4 + lane % 2 * 8, 2 * register + lane // 2 % 2
        case "16x128b":
            row, column = lane // 4 + register % 2 * 8, register // 2 * 4 + lane % 4
        case _:  # 16x256b
            row = lane // 4 + register // 2 % 2 * 8
            column = register // 4 * 8 + lane % 4 * 2 + register % 2
    found = np.broadcast_arrays(row, column)
    return found[0], found[1]


class TensorTransfer(WarpAction, MemoryAction):
    """``tcgen05.ld`` and ``tcgen05.st``: a fragment of each warp."""

    waits_for = "warp"

    def __init__(self, words: Words, kind: AccessKind, agent: str) -> None:
        super().__init__(words)
        self.shape = words["shape"]
        self.rows, self.columns = fragment(self.shape, int(words["num"][1:]))
        self.packed = bool(words.get("pack"))  # two columns of 16 bits in a register
        split = words.constants.get("split", 0)
        self.columns = self.columns * (2 if self.packed else 1)
        if self.shape == "16x32bx2":
            self.columns = self.columns + np.arange(WARP)[:, None] // 16 * split
        self.offset = words.offsets[0]
        self.accesses = (TensorAccess(kind).by(agent),)

    def places(self, active: Active, addresses: Array) -> tuple[Active, Array]:
        """Return the cells of all registers, by active lane, and the lane of each."""
        addresses = addresses + np.uint32(self.offset % (1 << 32))
        slots = self.slots(active)
        lanes = slots % WARP
        firsts = np.flatnonzero(np.diff(slots // WARP, prepend=-1))
        if (np.repeat(addresses[firsts], np.diff(firsts, append=len(slots))) != addresses).any():
            what = f"{self.accesses[0].agent}: the threads of a warp have different addresses"
            raise active.fault(LAUNCH_FAILED, what, 0)
        warps = slots // WARP % active.batch.threads.warps % _WARPS
        starts = (0,) if self.shape == "32x32b" else (0, 16)
        for position in firsts.tolist():
            lane, _ = split_address(int(addresses[position]))
            warp = int(warps[position])
            # A lane of the first warp is that of this warp: DeepGEMM loads its results so.
            if lane not in starts and lane - warp * WARP not in starts:
                what = f"warp {warp} of a warpgroup accesses tensor memory from lane {lane} on"
                detail = f"it has lanes {warp * WARP} to {warp * WARP + WARP - 1}"
                raise active.fault(LAUNCH_FAILED, what, position, detail)
        first_row = warps * WARP + (addresses >> np.uint32(16)).astype(np.int64) % WARP
        row = first_row[:, None] + self.rows[lanes]
        column = (addresses & np.uint32(0xFFFF)).astype(np.int64)[:, None] + self.columns[lanes]
        if self.packed:
            row = np.repeat(row, 2, axis=1)
            column = np.stack([column, column + 1], axis=-1).reshape(row.shape)
        some = active.some(np.repeat(np.arange(active.count), row.shape[1]))
        return some, cells(active, row, column, 0, own_ranks(active)[:, None]).reshape(-1)


class LoadTensorMemory(TensorTransfer):
    """``tcgen05.ld``, also with a reduction over the columns of each lane."""

    def __init__(self, words: Words) -> None:
        super().__init__(words, AccessKind.READ, "tcgen05.ld")

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load the cells of each lane to its registers."""
        some, addresses = self.places(active, sources[0])
        values = self.accesses[0].load(some, addresses)[:, 0].reshape(active.count, -1)
        if self.packed:
            halves = values.astype(np.uint16).reshape(active.count, -1, 2)
            values = np.ascontiguousarray(halves).view(np.uint32)[..., 0]
        for register in range(values.shape[1]):
            np.copyto(destinations[register].view(np.uint32), values[:, register])
        if len(destinations) > values.shape[1]:
            self._reduce(values, destinations[-1])

    def _reduce(self, values: Array, result: Array) -> None:
        """Write the least or greatest value of each lane."""
        numbers = np.ascontiguousarray(values).view(result.dtype)
        if self.words.get("abs"):
            numbers = np.abs(numbers)
        least = self.words["op"] == "min"
        if result.dtype.kind != "f":
            np.copyto(result, numbers.min(axis=1) if least else numbers.max(axis=1))
            return
        ufunc = np.fmin if least else np.fmax
        total = ufunc.reduce(numbers, axis=1)
        if self.words.get("nan"):
            total = np.where(np.isnan(numbers).any(axis=1), np.nan, total)
        np.copyto(result, total)
        result.view(np.uint32)[np.isnan(result)] = 0x7FFFFFFF


class StoreTensorMemory(TensorTransfer, AsynchronousAction):
    """``tcgen05.st``."""

    queue = follows = "tcgen05.st"

    def __init__(self, words: Words) -> None:
        super().__init__(words, AccessKind.WRITE, "tcgen05.st")

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Store the registers of each lane to its cells."""
        some, addresses = self.places(active, sources[0])
        values = np.stack([each.view(np.uint32) for each in sources[1:]], axis=-1)
        if self.packed:
            halves = np.ascontiguousarray(values).view(np.uint16)
            values = halves.reshape(active.count, -1).astype(np.uint32)
        yield partial(self.accesses[0].store, some, addresses, values.reshape(-1, 1))


class WaitForTransfers(GroupControl, WarpAction):
    """``tcgen05.wait::ld`` and ``::st``: a wait for the loads or stores of the warp."""

    waits_for = "warp"

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.queue = "tcgen05.ld" if "wait::ld" in words else "tcgen05.st"
