"""The threads of lanes: blocks, warps and special registers (PTX manual chapter 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS, Extent
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TYPES

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.launch import Launch

Coordinates = tuple[int, int, int]

WARP = 32
WARPGROUP = 4 * WARP
"""Threads of four warps that follow each other, the first one's rank a multiple of four."""

_LEAST_LANES = 32  # arrays of one item are values that all lanes share


class Threads:
    """The threads of a batch: lane ``i`` is thread ``i % threads`` of block ``i // threads``."""

    def __init__(self, launch: Launch, blocks: int) -> None:
        self.launch = launch
        self.threads = launch.block_threads
        self.lanes = max(blocks * self.threads, _LEAST_LANES)  # the maximum number of lanes
        self.warps = -(-self.threads // WARP)
        self.room = -(-self.lanes // self.threads)
        self._special: dict[str, Array] = {}
        self._numbers = np.zeros(self.room, dtype=np.int64)  # in the grid, of the blocks

    @cached_property
    def block_of(self) -> Array:
        """The block of each lane, within the batch."""
        return np.arange(self.lanes, dtype=np.intp) // self.threads

    @cached_property
    def cluster_of(self) -> Array:
        """The cluster of each lane, within the batch."""
        return self.block_of // self.launch.cluster_blocks

    @cached_property
    def _thread(self) -> Array:
        return np.arange(self.lanes, dtype=np.intp) % self.threads

    @cached_property
    def slot_of(self) -> Array:
        """The index of each lane when warps are padded to 32 lanes."""
        return self.block_of * (self.warps * WARP) + self._thread

    @property
    def places(self) -> tuple[Array, Array, Array]:
        """The block, the warp, and the number in its warp of each lane."""
        return self.block_of, self.slot_of // WARP, self._thread % WARP

    def place(self, first: int, blocks: int, place: int = 0) -> None:
        """Assign the lanes of blocks of the batch to blocks of the grid from ``first`` on."""
        places = slice(place, place + blocks)
        self._numbers[places] = np.arange(first, first + blocks, dtype=np.int64)
        lanes = slice(places.start * self.threads, places.stop * self.threads)
        for name, array in self._special.items():
            if SPECIAL_REGISTERS[name].extent is Extent.BLOCK:
                (values,) = block_registers(self.launch, [name], first, blocks).T
                array[lanes] = values.repeat(self.threads)

    # --- special registers -----------------------------------------------------------------------

    def special(self, name: str) -> Array:
        """Return a special register: a value per lane, or a single one."""
        if name not in self._special:
            self._special[name] = self._make(name)
        return self._special[name]

    def _make(self, name: str) -> Array:
        register = SPECIAL_REGISTERS[name]
        if register.extent is Extent.BLOCK:
            coordinates, ranks = block_coordinates(self.launch, self._numbers)
            values = per_block(self.launch, name, coordinates, ranks, self._numbers)
            return values.repeat(self.threads)[: self.lanes]
        if register.extent is Extent.LANE:
            return self._per_lane(name)
        value = self.launch.constants.get(name, 0)
        return np.array([value], dtype=TYPES[register.type].dtype)

    def _per_lane(self, name: str) -> Array:
        x, y, _ = self.launch.config.block
        thread = self._thread
        lane = (thread % WARP).astype(np.uint32)
        one = np.uint32(1)
        below = (one << lane) - one
        table: dict[str, Callable[[], Array]] = {
            "%tid.x": lambda: thread % x,
            "%tid.y": lambda: thread // x % y,
            "%tid.z": lambda: thread // (x * y),
            "%laneid": lambda: lane,
            "%warpid": lambda: thread // WARP,
            "%lanemask_eq": lambda: one << lane,
            "%lanemask_lt": lambda: below,
            "%lanemask_le": lambda: below | (one << lane),
            "%lanemask_gt": lambda: ~(below | (one << lane)),
            "%lanemask_ge": lambda: ~below,
        }
        return table[name]().astype(np.uint32)

    def number(self, lane: int) -> int:
        """Return the index of a lane's thread in the grid, block by block."""
        place, thread = divmod(lane, self.threads)
        return int(self._numbers[place]) * self.threads + thread

    def coordinates(self, lane: int) -> tuple[Coordinates, Coordinates]:
        """Return the block and the thread of a lane."""
        return place_of_thread(self.launch, self.number(lane))

    # --- warps -----------------------------------------------------------------------------------

    def whole_warps(self, active: Active, together: int = 1) -> bool:
        """Return whether the active lanes are known to be all live lanes of their warps.

        Or of groups of several warps ``together``.
        """
        members = active.members
        if not isinstance(members, slice):
            return False
        unit = WARP * together
        if self.threads % unit:
            unit = self.threads
        return bool(members.start % unit == 0 and members.stop % unit == 0)

    def warp_bits(self, lanes: Lanes) -> Array:
        """Return per warp of the batch the mask of its lanes that are among these."""
        present = np.zeros(self.room * self.warps * WARP, dtype=np.bool_)
        present[self.slot_of[lanes]] = True
        return np.packbits(present.reshape(-1, WARP), axis=1, bitorder="little").view("<u4")[:, 0]

    def complete(
        self, lanes: Lanes, masks: Array, alive: Array, together: int = 1
    ) -> npt.NDArray[np.bool_]:
        """Return for each lane whether all live lanes of its member mask are among these.

        With several warps ``together``, whether all of them are, regardless of masks.
        """
        here = self.warp_bits(lanes)
        living = self.warp_bits(np.flatnonzero(alive))
        warp = self.slot_of[lanes] // WARP
        if together > 1:
            every = np.arange(len(living))
            group = every // self.warps * self.warps + every % self.warps // together
            missing = np.bincount(group, weights=living & ~here, minlength=len(living))
            whole: npt.NDArray[np.bool_] = missing[group[warp]] == 0
            return whole
        ready: npt.NDArray[np.bool_] = (masks & living[warp] & ~here[warp]) == 0
        return ready


def block_registers(launch: Launch, names: Sequence[str], first: int, blocks: int) -> Array:
    """Return special registers with a value per block: a row for each block from ``first`` on."""
    number = np.arange(first, first + blocks, dtype=np.int64)
    coordinates, ranks = block_coordinates(launch, number)
    columns = [per_block(launch, name, coordinates, ranks, number) for name in names]
    return np.array(columns).T if columns else np.zeros((blocks, 0), dtype=np.uint32)


def per_block(launch: Launch, name: str, coordinates: Array, ranks: Array, numbers: Array) -> Array:
    """Return a special register of blocks.

    Args:
        coordinates: The coordinates of the blocks in the grid.
        ranks: Their coordinates in their clusters.
        numbers: Their numbers in the grid.
    """
    register, _, axis = name[1:].partition(".")
    cluster = np.array(launch.cluster)
    column = "xyz".find(axis)
    values: Array
    match register:
        case "ctaid":
            values = coordinates[:, column]
        case "cluster_ctaid":
            values = ranks[:, column]
        case "clusterid":
            values = (coordinates // cluster)[:, column]
        case "cluster_ctarank":
            values = ranks @ np.array([1, cluster[0], cluster[0] * cluster[1]])
        case _:  # smid
            values = numbers % launch.device.multiprocessors
    return values.astype(np.uint32)


def place_of_thread(launch: Launch, number: int) -> tuple[Coordinates, Coordinates]:
    """Return the block and the thread with a linear index in the grid, block by block."""
    x, y, _ = launch.config.block
    block, thread = divmod(number, launch.block_threads)
    (place,), _ = block_coordinates(launch, np.array([block]))
    return (
        (int(place[0]), int(place[1]), int(place[2])),
        (thread % x, thread // x % y, thread // (x * y)),
    )


def block_coordinates(launch: Launch, number: Array) -> tuple[Array, Array]:
    """Return coordinates of blocks in grid and cluster; a cluster's blocks are consecutive."""
    cluster, size = launch.cluster, launch.cluster_blocks
    if size == 1:
        return _unravel(number, launch.config.grid), np.zeros((len(number), 3), dtype=np.int64)
    x, y, z = launch.config.grid
    clusters = x // cluster[0], y // cluster[1], z // cluster[2]
    outer, inner = _unravel(number // size, clusters), _unravel(number % size, cluster)
    return outer * np.array(cluster) + inner, inner


def _unravel(number: Array, shape: Coordinates) -> Array:
    return np.array(np.unravel_index(number, shape, order="F")).T
