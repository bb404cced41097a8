"""Access to the registers and the memory of lanes of a stopped launch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.debugging.writes import MemoryRange
from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.clusters import RANK_OFFSET, rank_of
from cudarun.emulator.machine.spaces import WINDOW_BYTES, WINDOWS

if TYPE_CHECKING:
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Frame
    from cudarun.emulator.machine.lanes import Indices
    from cudarun.emulator.numerics.arrays import Array

_PARAMETER = re.compile(r"_param_(\d+)$")
_STACK_FRAME = "__local_depot"
"""The start of the name of the variable that nvcc declares for the local memory of a function."""


class LaneAccess:
    """The registers and the memory of lanes, in one function."""

    def __init__(
        self,
        batch: Batch,
        frame: Frame,
        members: Indices,
        read_register: Callable[[Frame, str, Indices], Array],
    ) -> None:
        self.batch = batch  # the batch of the lanes
        self.frame = frame  # the registers of the function at their call depth
        self.read_register = read_register  # returns a register of lanes
        self.members = members  # the lanes
        self.lanes = len(members)

    def register(self, name: str) -> Array:
        """Return a register, ``%r1``, of each lane.

        Raises:
            KeyError: The function does not have it.
        """
        return self.read_register(self.frame, name, self.members)

    def symbol(self, name: str) -> tuple[str, Array]:
        """Return the state space of a PTX variable, and its address for each lane.

        Raises:
            KeyError: There is none.
        """
        launch = self.batch.launch
        if name.startswith(_STACK_FRAME):
            return "local", self.batch.stack.base(self.frame.depth)[self.members]
        parameter = _PARAMETER.search(name)
        if parameter and name.startswith(launch.kernel.name):
            offset, _ = launch.kernel.parameters[int(parameter[1])]
            return "param", np.full(self.lanes, offset, np.uint64)
        own = f"{self.frame.function.name}.{name}"  # declared in the function
        name = own if own in launch.kernel.shared else name
        space = "shared" if name in launch.kernel.shared else "global"
        places = np.full(self.lanes, launch.address_of(space, name), np.uint64)
        ranks = self.batch.section("shared").ranks
        return space, places if space == "global" or ranks is None else places + ranks[self.members]

    def read(self, space: str, addresses: Array, size: int) -> tuple[Array, Array]:
        """Return the bytes at an address of each lane, a row for each, and which can be accessed.

        The state space can be ``generic``.
        """
        space = {"generic": "", "shared": "shared::cluster"}.get(space, space)
        access = Access(space, np.dtype(np.uint8), 1, AccessKind.READ, 0)
        active = Active(self.batch, (), self.frame, np.repeat(self.members, size))
        places = addresses.astype(np.uint64)[:, None] + np.arange(size, dtype=np.uint64)
        data, known = access.peek(active, places.reshape(-1))
        is_whole = np.asarray(known.reshape(-1, size).all(axis=1))
        return np.where(is_whole[:, None], data.reshape(-1, size), np.uint8(0)), is_whole

    def range_at(self, space: str, address: int, size: int) -> MemoryRange | None:
        """Return memory of the first lane at an address; ``None`` of parameters and outside."""
        number = self.batch.threads.number(int(self.members[0]))
        block = number // self.batch.launch.block_threads
        for name, owner in (("local", number), ("shared", block)):
            offset = address - (WINDOWS[name] if space == "generic" else 0)
            if space in (name, "generic") and 0 <= offset < WINDOW_BYTES:
                section = self.batch.section(name)
                if section.ranks is not None:
                    owner += rank_of(offset) - owner % self.batch.launch.cluster_blocks
                    offset &= RANK_OFFSET
                start = offset - (section.base - WINDOWS[name])
                return MemoryRange(name, start, size, owner) if start >= 0 else None
        return MemoryRange("global", address, size) if space != "param" else None
