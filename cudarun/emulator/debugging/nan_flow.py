"""The flow of NaNs: the instructions that produce them of other numbers, and where they go.

Each register and each element of memory with a NaN has an origin, which instructions pass on from
their first operand that has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import ParameterUse, RegisterUse
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.spaces import Section
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import Type, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.code import Operation, Site, Use
    from cudarun.emulator.debugging.writes import MemoryRange
    from cudarun.emulator.machine.access import Access
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Frame
    from cudarun.emulator.machine.spaces import Footprint

_LANE = 32  # bits of the lane in an origin; above it is the number of the birth, plus one
_BF16_INFINITY = 0x7F80
_WARP = 32

_Address = tuple[str, int, int]  # the space, the first block of the batch, the byte


@dataclass(frozen=True, slots=True)
class NanBirth:
    """The execution of an instruction that produced NaNs, or NaNs that the kernel found."""

    position: int
    site: Site
    threads: dict[int, int]  # the numbers in the grid of those whose results are NaNs, by lane
    operands: tuple[tuple[str, Array], ...]  # and result: names, and values by the lanes
    # What had the NaNs before: ``memory``, ``an argument`` or ``earlier instructions``; empty if
    # the instruction produced them.
    source: str = ""


class NanFlow(Detector):
    """Follows NaNs through statements that are executed one by one."""

    def __init__(self) -> None:
        self.births: list[NanBirth] = []
        self._registers: dict[tuple[Frame, int], Array] = {}
        self._memory: dict[_Address, int] = {}
        self._passed: dict[Batch, Array] = {}  # with the last argument or result of a call
        self._parts: list[tuple[Access, Sequence[Footprint]]] = []
        self._carried: Array = np.empty(0)
        self._is_nan: Array = np.empty(0)
        self._values: list[tuple[str, Array]] = []

    # --- statements ------------------------------------------------------------------------------

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        self._parts.append((access, parts))

    def before(self, frame: Frame, operation: Operation, sources: Sequence[Array]) -> None:
        """Note the operands of an operation, which its result may replace."""
        self._parts = []
        active = frame.batch.active
        assert active is not None
        lanes, positions = lane_sets.indices(active.lanes), active.positions
        self._carried = np.zeros(len(lanes), dtype=np.int64)
        self._is_nan = np.zeros(len(lanes), dtype=np.bool_)
        self._values = []
        for use, array in zip(operation.sources, sources, strict=True):
            values = array[positions]
            self._values.append((_name(frame, use), values.copy()))
            if isinstance(use, RegisterUse | ParameterUse):
                nans = _nans(use.type, values)
                self._is_nan = np.logical_or(self._is_nan, nans)
                origins = self._origins(frame, use, lanes)
                carries = (self._carried == 0) & (nans | (use.type.kind is TypeKind.BITS))
                self._carried = np.where(carries, origins, self._carried)

    def after(
        self, frame: Frame, operation: Operation, results: Sequence[Array], position: int
    ) -> NanBirth | None:
        """Follow an operation that has been executed.

        Returns:
            The birth of NaNs, if it has produced some of other numbers.
        """
        active = frame.batch.active
        assert active is not None
        lanes = lane_sets.indices(active.lanes)
        born = None
        for number, (use, array) in enumerate(zip(operation.destinations, results, strict=True)):
            if not isinstance(use, RegisterUse | ParameterUse):
                continue
            values = array[active.positions]
            nans = _nans(use.type, values)
            moved = use.type.kind is TypeKind.BITS and self._carried != 0
            origins = np.where(nans | moved, self._carried, 0)
            if self._parts and nans.any():
                self._load(origins, nans, number, active)
            missing = nans & (origins == 0)
            if missing.any() and isinstance(operation.action, WarpAction):
                missing = self._take_of_warp(origins, missing, active)
            if missing.any():
                result = (_name(frame, use), values.copy())
                born = self._born(frame, operation, position, lanes, missing, result)
                origins[missing] = (len(self.births) << _LANE) + lanes[missing]
            self._set(frame, use, lanes, origins)
        self._store(frame, operation, active)
        return None if born is None or born.source else born

    def _take_of_warp(self, origins: Array, missing: Array, active: Active) -> Array:
        """Take origins from other lanes of the warp; return which lanes still have none."""
        warps = active.batch.threads.slot_of[lane_sets.indices(active.lanes)] // _WARP
        for position in np.flatnonzero(missing):
            others = self._carried[(warps == warps[position]) & (self._carried != 0)]
            if len(others):
                origins[position] = others[0]
        left: Array = missing & (origins == 0)
        return left

    def _born(
        self,
        frame: Frame,
        operation: Operation,
        position: int,
        lanes: Array,
        missing: Array,
        result: tuple[str, Array],
    ) -> NanBirth:
        """Add NaNs without a known origin."""
        source = ""
        if self._parts:
            source = "memory"
        elif self._is_nan[missing].all():
            source = "earlier instructions"
        elif not any(isinstance(each, RegisterUse) for each in operation.sources):
            source = "an argument"
        threads = {int(lane): frame.batch.threads.number(int(lane)) for lane in lanes[missing]}
        values = tuple((name, each[missing]) for name, each in (*self._values, result))
        birth = NanBirth(position, operation.site, threads, values, source)
        self.births.append(birth)
        return birth

    # --- origins ---------------------------------------------------------------------------------

    def of_register(self, frame: Frame, name: str, lane: int) -> tuple[NanBirth, int] | None:
        """Return the birth of the NaN in a register, and its lane; ``None`` if it is not known."""
        for number, slot in enumerate(frame.function.slots):
            if slot.name == name and (origins := self._registers.get((frame, number))) is not None:
                return self._birth(int(origins[lane]))
        return None

    def of_memory(self, batch: Batch | None, where: MemoryRange) -> tuple[NanBirth, int] | None:
        """Return the birth of the NaN in an element of memory, and its lane."""
        block, start = -1, where.start
        if where.space != "global":
            assert batch is not None
            block, start = batch.first_block, where.offset(batch, 0)
        return self._birth(self._memory.get((where.space, block, start), 0))

    def _birth(self, origin: int) -> tuple[NanBirth, int] | None:
        if not origin:
            return None
        return self.births[(origin >> _LANE) - 1], origin & ((1 << _LANE) - 1)

    def _origins(self, frame: Frame, use: RegisterUse | ParameterUse, lanes: Array) -> Array:
        known = self._registers.get((frame, use.slot))
        if known is not None and known[lanes].any():
            return known[lanes]
        if isinstance(use, ParameterUse) and frame.batch in self._passed:
            return self._passed[frame.batch][lanes]
        return np.zeros(len(lanes), dtype=np.int64)

    def _set(self, frame: Frame, use: RegisterUse | ParameterUse, lanes: Array, own: Array) -> None:
        key = frame, use.slot
        if key not in self._registers:
            if not own.any():
                return
            self._registers[key] = np.zeros(frame.batch.lanes, dtype=np.int64)
        self._registers[key][lanes] = own
        if isinstance(use, ParameterUse):
            self._passed[frame.batch] = self._registers[key].copy()

    # --- memory ----------------------------------------------------------------------------------

    def _load(self, origins: Array, nans: Array, number: int, active: Active) -> None:
        """Take the origins of loaded NaNs from memory."""
        for access, parts in self._parts:
            for position, address in _addresses(active, parts, number * access.dtype.itemsize):
                if access.reads and nans[position] and address in self._memory:
                    origins[position] = self._memory[address]

    def _store(self, frame: Frame, operation: Operation, active: Active) -> None:
        """Note the origins of stored NaNs."""
        stores = [(access, parts) for access, parts in self._parts if access.writes]
        if not stores or not self._carried.any():
            return
        lanes = lane_sets.indices(active.lanes)
        values = [each for each in operation.sources[1:] if isinstance(each, RegisterUse)]
        for number, use in enumerate(values):
            origins = self._origins(frame, use, lanes)
            for access, parts in stores:
                for position, address in _addresses(active, parts, number * access.dtype.itemsize):
                    if origins[position]:
                        self._memory[address] = int(origins[position])


def _addresses(
    active: Active, parts: Sequence[Footprint], more: int
) -> Iterator[tuple[int, _Address]]:
    """Yield the positions of lanes, and the addresses that they access."""
    for part in parts:
        of_block = isinstance(part.region, Section)
        block = active.batch.first_block if of_block else -1
        base = (0 if of_block else part.region.base) + more
        positions = range(len(part.offsets)) if part.positions is None else part.positions
        for position, offset in zip(positions, part.offsets.tolist(), strict=True):
            yield int(position), (part.space, block, base + offset)


def _nans(used: Type, values: Array) -> Array:
    """Return which values of a type are NaNs, or have one among their elements."""
    found: Array = np.zeros(len(values), dtype=np.bool_)
    if used.kind is TypeKind.FLOAT and values.dtype.kind == "f":
        found = np.isnan(values)
    elif used.kind is TypeKind.FLOAT and used.name.startswith("bf16"):
        found = (values & np.uint16(0x7FFF)) > _BF16_INFINITY
    return np.asarray(found.any(axis=1)) if found.ndim > 1 else found


def _name(frame: Frame, use: Use) -> str:
    """Return the name of an operand; of a constant an empty one."""
    if isinstance(use, RegisterUse | ParameterUse):
        return frame.function.slots[use.slot].name
    return ""
