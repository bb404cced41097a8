"""The state of the threads of a stopped launch: where they are, their registers and memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cudarun.emulator.code import RegisterUse, Role, Site
from cudarun.emulator.debugging.lane_access import LaneAccess
from cudarun.emulator.debugging.writes import MemoryRange
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.numerics.arrays import Array, DType
from cudarun.emulator.numerics.types import Type, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.code import BlockCode, FunctionCode
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Frame
    from cudarun.emulator.machine.lanes import Indices, Lanes
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.machine.schedules.schedule import Path


class LaneGroup(NamedTuple):
    """Lanes of a batch in one state."""

    lanes: Lanes
    state: str  # ``runs``, or what they wait for
    path: Path  # the path on which they continue; empty if they have exited
    site: Site | None  # their next instruction, or the one that they wait at
    notes: tuple[str, ...] = ()  # what an ``mbarrier`` object that they wait for lacks


class ThreadStates:
    """The threads of a batch that has stopped.

    Args:
        batch: The batch.
        site: The next instruction of its active lanes.
        types: The types of the registers of functions that are known so far.
    """

    def __init__(
        self, batch: Batch, site: Site | None, types: dict[str, dict[int, Type]] | None = None
    ) -> None:
        self.batch = batch
        self._types = {} if types is None else types
        self.launch = batch.launch
        self._site = site

    # --- which threads ---------------------------------------------------------------------------

    def lane(self, number: int) -> int | None:
        """Return the lane of a thread by its number in the grid; ``None`` in another batch."""
        lane = number - self.batch.first_block * self.launch.block_threads
        return lane if 0 <= lane < self.batch.blocks * self.launch.block_threads else None

    def number(self, lane: int) -> int:
        """Return the number of a lane's thread in the grid."""
        return self.batch.threads.number(lane)

    indices = staticmethod(lane_sets.indices)

    @property
    def active(self) -> Indices:
        """The active lanes; none between two turns."""
        active = self.batch.active
        return np.empty(0, np.intp) if active is None else lane_sets.indices(active.lanes)

    def is_active(self, number: int) -> bool:
        """Return whether a thread, by its number in the grid, is in an active lane."""
        lane, active = self.lane(number), self.batch.active
        return lane is not None and active is not None and lane_sets.contains(active.lanes, lane)

    def groups(self) -> Iterator[LaneGroup]:
        """Yield all lanes by their states."""
        batch = self.batch
        # The lanes whose last test of an object failed, and what it lacks.
        every = [each.incomplete() for waits in batch.failed_waits.values() for each in waits]
        waits = [(left.lanes, tuple(left.outstanding())) for left in every if len(left.lanes)]
        if batch.active is not None:
            yield self._running(batch.active.lanes, batch.active.path, self._site, waits)
        for path, parts in batch.waiting.items():
            site = first_site(batch.launch.locate(path[-1])[1])
            yield self._running(lane_sets.union(parts), path, site, waits)
        for arrival in batch.barriers.arrivals:
            if arrival.path is not None:
                what = "a warp barrier" if arrival.barrier is None else f"barrier {arrival.barrier}"
                yield LaneGroup(arrival.lanes, f"waits at {what}", arrival.path, arrival.site)
        for path, lanes, site in batch.clusters.waiting:
            yield LaneGroup(lanes, "waits at the barrier of its cluster", path, site)
        for path, lanes in batch.synchronizing.items():
            _, block = batch.launch.locate(path[-1])
            whose = "member mask" if block.sync_warps == 1 else "warpgroup"
            what = f"waits for the other threads of its {whose}"
            yield LaneGroup(lanes, what, path, first_site(block))
        count = batch.blocks * self.launch.block_threads
        exited = np.flatnonzero(~batch.alive[:count])
        if len(exited):
            yield LaneGroup(exited, "exited", (), None)

    def _running(
        self,
        lanes: Lanes,
        path: Path,
        site: Site | None,
        waits: Sequence[tuple[Array, tuple[str, ...]]],
    ) -> LaneGroup:
        for waiting, outstanding in waits:
            if np.isin(lane_sets.indices(lanes), waiting).all():
                return LaneGroup(lanes, "waits for an mbarrier", path, site, outstanding)
        return LaneGroup(lanes, "runs", path, site)

    def group_of(self, lane: int) -> LaneGroup:
        """Return the group of a lane."""
        return next(each for each in self.groups() if lane_sets.contains(each.lanes, lane))

    def calls(self, lane: int) -> list[tuple[FunctionCode, Site | None]]:
        """Return the functions that a lane is in, the innermost first, and where."""
        group = self.group_of(lane)
        found: list[tuple[FunctionCode, Site | None]] = []
        for number in reversed(group.path):
            function, block = self.launch.locate(number)
            found.append((function, block.terminator.site if found else group.site))
        return found

    # --- registers -------------------------------------------------------------------------------

    def frame(self, lane: int, level: int) -> Frame:
        """Return the registers of a call; level 0 is the innermost one."""
        path = self.group_of(lane).path
        depth = len(path) - 1 - level
        return self.batch.frame(depth, self.launch.locate(path[depth])[0])

    def registers(self, frame: Frame) -> dict[str, Type]:
        """Return the types of the registers of a function, special ones included."""
        roles = (Role.REGISTER, Role.CONSTANT, Role.SPECIAL)
        types = self._types_in(frame.function)
        return {
            slot.name: types.get(number, slot.type)
            for number, slot in enumerate(frame.function.slots)
            if slot.role in roles
        }

    def access(self, frame: Frame, lanes: Indices) -> LaneAccess:
        """Return the registers of a call, and the memory, of some lanes."""
        return LaneAccess(self.batch, frame, lanes, self.register)

    def register(self, frame: Frame, name: str, lanes: Indices) -> Array:
        """Return a register of some lanes, by its name in the PTX.

        Raises:
            KeyError: The function has no such register.
        """
        numbers = {slot.name: number for number, slot in enumerate(frame.function.slots)}
        number = numbers.get(name)
        if number is None:
            return lane_sets.values(self.batch.threads.special(name), lanes)
        values = self._stored(frame, number, lanes)
        used = self._types_in(frame.function).get(number)
        return values if used is None else values.view(used.dtype)

    def _types_in(self, function: FunctionCode) -> dict[int, Type]:
        if function.name not in self._types:
            self._types[function.name] = _types(function)
        return self._types[function.name]

    def _stored(self, frame: Frame, number: int, lanes: Indices) -> Array:
        found = lane_sets.values(frame.registers[number], lanes)
        active = self.batch.active
        if active is None or active.in_place or active.frame is not frame:
            return found
        if active.loaded >> number & 1:
            compacted = frame.compacted[number]
            members = lane_sets.indices(active.members)
            positions = np.searchsorted(members, lanes).clip(max=len(members) - 1)
            here = (members[positions] == lanes) & np.isin(lanes, lane_sets.indices(active.lanes))
            found = found.copy()
            found[here] = compacted[positions[here]]
        return found

    # --- memory ----------------------------------------------------------------------------------

    def bytes_at(self, where: MemoryRange) -> Array:
        """Return the bytes of a range, which later execution changes.

        Raises:
            ValueError: Not all bytes are in memory.
        """
        if where.space == "global":
            return global_bytes(self.launch, where.start, where.size)
        section = self.batch.section(where.space)
        start = where.start if where.space == "param" else where.offset(self.batch, 0)
        if where.start < 0 or where.start + where.size > section.size:
            raise ValueError(f"no {where.size} bytes of {where.space} memory at {where.start:#x}")
        if not 0 <= start <= len(section.bytes) - where.size:
            raise ValueError("its block is not running")
        return section.bytes[start : start + where.size]


def global_bytes(launch: Launch, address: int, size: int) -> Array:
    """Return bytes of global memory, which later execution changes.

    Raises:
        ValueError: Not all bytes are in memory.
    """
    for memory in launch.memories:
        found = memory.find(address)
        if found is not None and address + size <= found.end:
            return found.bytes[address - found.base : address - found.base + size]
    raise ValueError(f"no {size} bytes of memory at {address:#x}")


def first_site(block: BlockCode) -> Site | None:
    """Return the first instruction of a block."""
    return block.operations[0].site if block.operations else block.terminator.site


def shared_types(launch: Launch) -> dict[str, tuple[DType, int]]:
    """Return the types of the elements of shared variables, and their bytes.

    PTX declares bytes; the type is that of most accesses whose addresses come from the variable.
    """
    counts: dict[tuple[str, int], Counter[DType]] = defaultdict(Counter)
    for function in launch.functions.values():
        types = _types(function)
        for operation in function.operations:
            for access in getattr(operation.action, "accesses", ()):
                if access.variable is None or access.variable[0] not in launch.kernel.shared:
                    continue
                found = access.dtype
                for use in operation.destinations or operation.sources[1:]:
                    used = types.get(use.slot) if isinstance(use, RegisterUse) else None
                    if used is not None and used.dtype.itemsize == found.itemsize:
                        found = used.dtype
                counts[access.variable][found] += 1
    return {name: (max(each, key=each.__getitem__), size) for (name, size), each in counts.items()}


def _types(function: FunctionCode) -> dict[int, Type]:
    """Return the types that instructions use registers as, where these are more than bits."""
    counts: dict[int, Counter[Type]] = defaultdict(Counter)
    for block in function.blocks:
        for operation in block.operations:
            for use in (*operation.sources, *operation.destinations):
                if isinstance(use, RegisterUse):
                    counts[use.slot][use.type] += 1
    found = {}
    for slot, types in counts.items():
        declared = function.slots[slot].type
        fitting = [
            (count, used.name, used)
            for used, count in types.items()
            if used.kind is not TypeKind.BITS and used.bits == declared.bits and used.elements == 1
            and used.dtype.itemsize == declared.dtype.itemsize
        ]  # fmt: skip
        if fitting:
            found[slot] = max(fitting)[2]
    return found
