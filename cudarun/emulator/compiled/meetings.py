"""The lanes of a warp that wait for each other at several places, in compiled code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, Role
from cudarun.emulator.compiled.control.warp_code import WarpCode
from cudarun.emulator.compiled.lanes.vectors import WIDTH
from cudarun.emulator.machine.barriers import Party, meet
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.frame import SparseFrame, each
from cudarun.emulator.machine.schedules.schedule import Path
from cudarun.emulator.numerics.arrays import Array

_LANES = np.arange(WIDTH, dtype=np.uint32)


@dataclass(slots=True)
class WarpMeeting:
    """The waiting lanes of a warp, whose registers are in its state."""

    code: WarpCode  # the code of the kernel
    batch: Batch  # the batch with its lanes, of which those that live are known
    frame: SparseFrame  # their registers there
    path_of: Callable[[int], Path]  # returns the path of lanes that run a block
    memory: Array  # the state of the warp
    first: int  # its first lane

    def execute(self) -> bool:
        """Execute instructions for lanes that wait for each other; return whether there were any.

        These lanes can run then.
        """
        have_met = [self._execute(blocks) for blocks in self.code.points.meetings]
        return any(have_met)

    def _execute(self, blocks: list[BlockCode]) -> bool:
        parties = [party for party in map(self._party, blocks) if len(party.lanes)]
        if len(parties) < 2:
            return False
        released = meet(self.batch, parties)
        for party, lanes in zip(parties, released, strict=True):
            self._release(party.block, lanes)
        return any(map(len, released))

    def _party(self, block: BlockCode) -> Party:
        mask = self.memory.view(np.uint32)[self.code.state.parked(block.index) // 4]
        places = np.flatnonzero(mask >> _LANES & 1)
        for saved, values in self._registers(block.reads):
            if values.dtype == np.bool_:
                saved = np.unpackbits(saved, bitorder="little").view(np.bool_)
            values[places + self.first] = saved.view(values.dtype).reshape(_rows(values))[places]
        return Party(self.path_of(block.index), self.frame, block, places + self.first)

    def _release(self, block: BlockCode, lanes: Array) -> None:
        """Let lanes run what follows a block."""
        state, words = self.code.state, self.memory.view(np.uint32)
        places = lanes - self.first
        for saved, values in self._registers(block.writes):
            if values.dtype == np.bool_:
                bits = np.unpackbits(saved, bitorder="little")
                bits[places] = values[lanes]
                saved[:] = np.packbits(bits, bitorder="little")
            else:
                saved.view(values.dtype).reshape(_rows(values))[places] = values[lanes]
        mask = np.bitwise_or.reduce(np.uint32(1) << places.astype(np.uint32))
        (after,) = block.terminator.successors
        words[state.parked(block.index) // 4] &= ~mask
        for offset in (state.pending(after), state.YIELDED):
            words[offset // 4] |= mask

    def _registers(self, slots: int) -> list[tuple[Array, Array]]:
        """Return where some registers are saved, and the batch's."""
        found = []
        for slot in each(slots):
            offset = self.code.place_of(slot)
            if offset is None or self.code.function.slots[slot].role is not Role.REGISTER:
                continue
            values = self.frame.registers[slot]
            size = values[0].nbytes * WIDTH // (8 if values.dtype == np.bool_ else 1)
            found.append((self.memory[offset : offset + size], values))
        return found


def _rows(values: Array) -> tuple[int, ...]:
    return WIDTH, *values.shape[1:]
