"""The detector of undefined values: of registers that nothing has written, and of wrong shuffles.

As in Valgrind's memcheck, an undefined value may be copied and computed with; an error is its use
as an address, in a branch, or in a store to global memory. Undefined bits are followed through
registers, and through shared and local memory, by the same functions that move the values.
Compilers copy padding of structs byte by byte, in registers of 16 bits: it may be stored anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    BlockCode,
    FunctionCode,
    Lanewise,
    Operation,
    RegisterUse,
    SinkUse,
    Site,
    Use,
    slots_of,
)
from cudarun.emulator.decode.analysis import fill, unwritten_registers
from cudarun.emulator.detectors.findings import AccessSite, FindingTable, Kind, register_bytes
from cudarun.emulator.detectors.instrumentation import Detector, entries_of
from cudarun.emulator.detectors.sync_errors import all_take_part
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.control import IndexedBranch
from cudarun.emulator.machine.frame import Code, Entry, Frame, SparseFrame
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import WINDOWS_END, Footprint, Piece, Section
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.machine.warps import Shuffle
from cudarun.emulator.numerics.arrays import Array, Mask
from cudarun.emulator.numerics.temporaries import temporaries_of


@dataclass(slots=True)
class Origin:
    """The source of undefined values."""

    kind: Kind  # the kind of findings
    slot: int | None = None  # the register; ``None`` for a shuffle
    # The first read of the register, or the first shuffle from a wrong lane.
    place: AccessSite | None = None
    # Whether the register has padding; ``None`` until an operation takes bytes of it.
    is_padding: bool | None = False


@dataclass(slots=True)
class UndefinedFlow:
    """The registers of a function that undefined values can reach, found before a launch.

    Values are undefined in registers that may be read before they are written, and in the results
    of shuffles, whose source lanes need not take part.
    """

    # By slot, a bit for each of the origins whose values the register may have.
    reach: dict[int, int] = field(default_factory=dict)
    origins: list[Origin] = field(default_factory=list)
    # The number of the origin of each shuffle.
    shuffles: dict[Site, int] = field(default_factory=dict)

    @classmethod
    def of(cls, function: FunctionCode, detect: Collection[str]) -> UndefinedFlow:
        """Return the flow in a function from the origins of some detectors."""
        flow = cls()
        for slot in unwritten_registers(function) if "uninit" in detect else ():
            flow.reach[slot] = 1 << len(flow.origins)
            is_short = function.slots[slot].type.bits == 16
            flow.origins.append(Origin("uninit", slot, is_padding=None if is_short else False))
        operations = function.operations
        for operation in operations if "sync" in detect else ():
            if _is_shuffle(operation):
                flow.shuffles[operation.site] = len(flow.origins)
                flow.origins.append(Origin("sync"))
        in_memory, before = 0, None
        while flow.origins and before != (now := (in_memory, sum(flow.reach.values()))):
            before = now
            for operation in operations:
                found = 0
                for slot in slots_of(operation.sources):
                    found |= flow.reach.get(slot, 0)
                action = operation.action
                if isinstance(action, MemoryStore):
                    in_memory |= found
                if isinstance(action, MemoryAction):
                    found = in_memory if isinstance(action, MemoryLoad) else 0
                elif _is_shuffle(operation) and operation.site in flow.shuffles:
                    found |= 1 << flow.shuffles[operation.site]
                for slot in slots_of(operation.destinations) if found else ():
                    flow.reach[slot] = flow.reach.get(slot, 0) | found
        return flow

    def origins_of(self, use: Use) -> list[Origin]:
        """Return the origins so far of the undefined values that an operand may have."""
        reach = self.reach.get(use.slot, 0) if isinstance(use, RegisterUse) else 0
        return [each for at, each in enumerate(self.origins) if reach >> at & 1 and each.place]


def _is_shuffle(operation: Operation) -> bool:
    return isinstance(operation.action, Shuffle) and bool(operation.action.waits_for)


SOURCE = "shuffle from a lane that does not take part"

# Instructions that move bits: the number of operands, and which of these say where to.
_MOVES: dict[str, tuple[int, tuple[int, ...]]] = {
    "selp": (3, (2,)),
    "shl": (2, (1,)),
    "shr": (2, (1,)),
    "shf": (3, (2,)),
    "prmt": (3, (2,)),
    "bfe": (3, (1, 2)),
    "bfi": (4, (2, 3)),
}
_LARGEST = 64  # bytes of an access, with room
Bits = list[Array]  # undefined bits, of each operand


class _Registers:
    """The undefined bits of the registers of a frame."""

    def __init__(self, frame: Frame, flow: UndefinedFlow) -> None:
        self.frame = frame
        self.flow = flow
        self._bits = SparseFrame(frame.batch, frame.function, frame.depth)
        self.undefined: set[int] = set()  # the slots in which a lane has undefined bits

    @property
    def active(self) -> Active:
        """The active lanes."""
        assert self.frame.batch.active is not None
        return self.frame.batch.active

    @property
    def lanes(self) -> Indices:
        """The active lanes, by index in the batch."""
        return lane_sets.indices(self.active.lanes)

    def read(self, use: Use) -> Array:
        """Return the undefined bits of an operand for the active lanes, in its type."""
        if isinstance(use, RegisterUse) and use.slot in self.undefined:
            return self._bits.register_values(use, self.lanes)
        if isinstance(use, SinkUse):
            return np.zeros(self.active.count, use.type.dtype)
        return np.zeros_like(self.active.read(use))

    def write(self, use: Use, values: Array, lanes: Indices | None = None) -> None:
        """Set the undefined bits of a register, by default for the active lanes."""
        has_bits = _bytes(values).any()
        if not isinstance(use, RegisterUse) or not (has_bits or use.slot in self.undefined):
            return
        self._bits.write_registers(use, self.lanes if lanes is None else lanes, values)
        if has_bits:
            self.undefined.add(use.slot)
        elif not _bytes(self._bits.registers[use.slot]).any():
            self.undefined.remove(use.slot)

    def note_read(self, use: Use, site: Site, bits: Array) -> None:
        """Note the first read of an unwritten register."""
        slot = use.slot if isinstance(use, RegisterUse) else None
        for origin in self.flow.origins if slot is not None else ():
            if origin.slot == slot and origin.place is None and (wrong := _any([bits])).any():
                thread = self.frame.batch.threads.coordinates(int(self.lanes[np.argmax(wrong)]))
                origin.place = AccessSite("load", site, *thread)

    def note_use(self, uses: Sequence[Use], given: Bits, *, takes_bytes: bool) -> None:
        """Note that undefined operands are taken apart into bytes, or else are computed with."""
        for use, bits in zip(uses, given, strict=True):
            for origin in self.flow.origins_of(use) if _bytes(bits).any() else ():
                origin.is_padding = takes_bytes and origin.is_padding is not False


class UndefinedValueDetector(Detector):
    """A detector of undefined values in one launch."""

    def __init__(self, launch: Launch, findings: FindingTable, detect: Collection[str]) -> None:
        self._launch = launch
        self._findings = findings
        self._detect = detect  # the detectors: ``"uninit"`` for registers, ``"sync"`` for shuffles
        self._flows: dict[str, UndefinedFlow] = {}
        self._registers: dict[Frame, _Registers] = {}
        self._memory: dict[Section, Array] = {}  # the undefined bits

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Forget the values in the shared memory of the blocks before."""
        self._memory.pop(batch.section("shared"), None)

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """Return code that also follows undefined values."""
        function = frame.function
        flow = self._flows.get(function.name)
        if flow is None:
            flow = self._flows[function.name] = UndefinedFlow.of(function, self._detect)
        if not flow.reach:
            return code
        registers = self._registers.get(frame)
        if registers is None:
            registers = self._registers[frame] = _Registers(frame, flow)
        counts = [*map(entries_of, block.operations)]
        given = iter(code.entries)
        entries = [*islice(given, len(code.entries) - sum(counts))]  # those of other detectors
        for operation, count in zip(block.operations, counts, strict=True):
            own = [*islice(given, count)]
            slots = slots_of(operation.sources)
            if not flow.reach.keys().isdisjoint(slots | slots_of(operation.destinations)):
                step: Entry = self._follow, (registers, operation, slots)
                own.insert(count if isinstance(operation.action, MemoryStore) else 0, step)
            entries += own
        terminator = block.terminator
        use = terminator.index if isinstance(terminator, IndexedBranch) else terminator.condition
        if isinstance(use, RegisterUse) and use.slot in flow.reach and terminator.site is not None:
            entries.append((self._branch, (registers, use, terminator.site)))
        return replace(code, entries=entries)

    # --- operations ------------------------------------------------------------------------------

    def _follow(self, registers: _Registers, operation: Operation, slots: set[int]) -> None:
        """Follow undefined values through an operation; only a store has been executed.

        Args:
            slots: The registers that it reads.
        """
        if isinstance(operation, Lanewise) and operation.function is fill:
            (use,) = operation.destinations
            registers.write(use, _filled(registers.read(use), "uninit" in self._detect))
            return
        action = operation.action
        is_reached = not registers.undefined.isdisjoint(slots)
        given = [registers.read(use) for use in operation.sources] if is_reached else []
        has_bits = any(_bytes(each).any() for each in given)
        if not (has_bits or (self._memory and isinstance(action, MemoryLoad))):
            active = registers.active
            is_shuffle = _is_shuffle(operation) and operation.site in registers.flow.shuffles
            if not is_shuffle or all_take_part(active, active.read(operation.sources[-1])):
                for use in operation.destinations:
                    if isinstance(use, RegisterUse) and use.slot in registers.undefined:
                        registers.write(use, np.zeros(active.count, use.type.dtype))
                return
        given = given or [registers.read(use) for use in operation.sources]
        for use, bits in zip(operation.sources, given, strict=True):
            registers.note_read(use, operation.site, bits)
        results = [registers.read(use) for use in operation.destinations]
        if isinstance(operation, Action) and isinstance(action, MemoryAction):
            self._access(registers, operation, given, results)
        elif isinstance(operation, Action) and isinstance(action, Shuffle):
            self._shuffle(registers, operation, given, results)
        else:
            _compute(registers, operation, given, results)
        for use, bits in zip(operation.destinations, results, strict=True):
            registers.write(use, bits)

    def _shuffle(
        self, registers: _Registers, operation: Action, given: Bits, results: Bits
    ) -> None:
        action = operation.action
        assert isinstance(action, Shuffle)
        active, (_, b, c, *masks) = registers.active, map(registers.active.read, operation.sources)
        action(active, (given[0], b, c, *masks), tuple(results))
        unknown = _any(given[1:3])
        for predicate in results[1:]:
            _filled(predicate, unknown)
        number = registers.flow.shuffles.get(operation.site)
        if number is not None:
            slots = action.slots(active)
            lane, threads = slots % WARP, active.batch.threads
            other, in_range = action.named(lane, b, c)
            living = threads.warp_bits(np.flatnonzero(active.batch.alive))[slots // WARP]
            partners = masks[0] & (living | 1 << lane)
            wrong = in_range & ~_has_bit(partners, other) & _has_bit(masks[0], lane)
            origin = registers.flow.origins[number]
            if origin.place is None and wrong.any():
                at = int(np.argmax(wrong))
                lanes = int(action.bits(active, slots, wrong)[at])
                place = threads.coordinates(active.lane(at))
                origin.place = AccessSite(
                    "arrival", operation.site, *place, lanes, int(masks[0][at])
                )
            unknown = unknown | wrong
        results[0][unknown] = _ones(results[0])

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """Forget the undefined values that are overwritten."""
        if access.writes and self._memory:
            for part in parts:
                if isinstance(part.region, Section) and part.region in self._memory:
                    places = part.offsets[:, None] + np.arange(access.bytes)
                    self._memory[part.region][places] = 0

    def _access(self, registers: _Registers, operation: Action, given: Bits, results: Bits) -> None:
        action = operation.action
        for bits in results:
            _filled(bits, False)
        if isinstance(action, MultiplyAsync):
            return  # it begins with accumulators, which it may ignore
        active, (address, *values) = registers.active, operation.sources
        self._check(registers, address, operation.site, _any(given[:1]))
        addresses = active.read(address)
        outside = np.full(active.count, isinstance(action, Atomic))
        if isinstance(action, MemoryStore):
            (access,) = action.accesses
            outside[:] = access.space == "global"
            if not access.space:
                outside = access.wide(addresses) >= WINDOWS_END
            if access.dtype.itemsize == 1:
                registers.note_use(values, given[1:], takes_bytes=True)
        for use, bits in zip(values, given[1:], strict=True):
            are_bytes = isinstance(action, MemoryStore) and np.isin(_bytes(bits), (0, 0xFF)).all()
            if not are_bytes or not all(each.is_padding for each in registers.flow.origins_of(use)):
                self._check(registers, use, operation.site, _any([bits]) & outside)
        if isinstance(action, MemoryLoad | MemoryStore):
            copy = action.with_accesses(partial(_BitAccess, memory=self._memory))
            try:
                copy(active, (addresses, *given[1:]), tuple(results))
            except DeviceFault:
                return  # which the operation raises, too

    # --- uses ------------------------------------------------------------------------------------

    def _branch(self, registers: _Registers, use: RegisterUse, site: Site) -> None:
        """Check the condition of a branch."""
        if use.slot in registers.undefined:
            bits = registers.read(use)
            registers.note_read(use, site, bits)
            self._check(registers, use, site, _any([bits]))

    def _check(self, registers: _Registers, use: Use, site: Site, wrong: Mask) -> None:
        """Report lanes that use an undefined value; then it counts as defined."""
        if not wrong.any():
            return
        assert isinstance(use, RegisterUse)
        lanes = registers.lanes[wrong]
        bits = registers.read(use)[wrong]
        registers.write(use, _filled(bits, False), lanes)
        origin = next(iter(registers.flow.origins_of(use)), None)
        if origin is None or origin.place is None:
            return  # reached on a path without one
        place = registers.active.batch.threads.coordinates(int(lanes[0]))
        places = [origin.place, AccessSite("use", site, *place)]
        memory, problem = None, SOURCE
        if origin.slot is not None:
            memory, problem = register_bytes(registers.frame.function.slots[origin.slot]), ""
            places[0] = AccessSite("load", origin.place.site, *place)
            places = places[: 1 if origin.place.site == site else 2]
        self._findings.add(self._launch, origin.kind, memory, tuple(places), len(lanes), problem)


class _BitAccess(Access):
    """An access to the undefined bits of shared and local memory; other memory has none."""

    def __init__(self, access: Access, memory: dict[Section, Array]) -> None:
        vars(self).update(vars(access))
        self._access = access
        self._memory = memory

    def locate(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the bits."""
        return [
            Piece(*self._bits(part.region, part.offsets), part.positions, part.region)
            for part in self._access.footprints(self._access.find(active, addresses))
        ]

    def _bits(self, region: object, offsets: Array) -> tuple[Array, Array]:
        has_bits = isinstance(region, Section) and (self.writes or region in self._memory)
        if not isinstance(region, Section) or region.name == "param" or not has_bits:
            return np.zeros(_LARGEST, dtype=np.uint8).view(self.dtype), np.zeros_like(offsets)
        if region not in self._memory:
            self._memory[region] = np.zeros(len(region.bytes), dtype=np.uint8)
        return self._memory[region].view(self.dtype), offsets // self.dtype.itemsize


def _compute(registers: _Registers, operation: Operation, given: Bits, results: Bits) -> None:
    """Compute the undefined bits of the results of an operation."""
    active = registers.active
    opcode, *modifiers = operation.site.name.split(".")
    count, places = _MOVES.get(opcode, (0, ()))
    moves = count == len(given) or opcode == "mov"
    if opcode == "cvt":  # between integers, without saturation
        moves = all(word[0] in "bsu" and word[1:].isdigit() for word in modifiers)
    is_logical = opcode in ("and", "or") and len(given) == 2
    if not moves or opcode in _MOVES.keys() - {"selp"}:
        registers.note_use(operation.sources, given, takes_bytes=moves or is_logical)
    if is_logical:
        a, b = (active.read(use) for use in operation.sources)
        if opcode == "or":
            a, b = ~a, ~b
        results[0][...] = given[0] & (b | given[1]) | given[1] & a
    elif moves and isinstance(operation, Lanewise):
        values = [
            active.read(use) if place in places else bits
            for place, (use, bits) in enumerate(zip(operation.sources, given, strict=True))
        ]
        scratch = (np.empty_like(results[0], dtype) for dtype in temporaries_of(operation.function))
        operation.function(*values, *results, *scratch)
        unknown = _any([given[place] for place in places])
        for bits in results:
            bits[np.broadcast_to(unknown, len(bits))] = _ones(bits)
    else:
        for bits in results:
            _filled(bits, _any(given))


def _bytes(array: Array) -> Array:
    """Return the bytes of each lane."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(len(array), -1)


def _any(arrays: Bits) -> Mask:
    """Return whether a lane has an undefined bit in one of some arrays."""
    found: Mask = np.zeros(1, dtype=np.bool_)
    for array in arrays:
        found = found | _bytes(array).any(axis=1)
    return found


def _filled(bits: Array, wrong: Mask | bool) -> Array:
    """Set all bits of some lanes, and clear those of the others."""
    bits[...] = 0
    bits[np.broadcast_to(wrong, len(bits))] = _ones(bits)
    return bits


def _ones(bits: Array) -> Any:
    """Return an element of all ones."""
    value = 1 if bits.dtype == np.bool_ else 0xFF
    return np.full(bits.itemsize, value, dtype=np.uint8).view(bits.dtype)[0]


def _has_bit(masks: Array, lanes: Array) -> Mask:
    return (masks >> (lanes & WARP - 1).astype(np.uint32) & 1).astype(np.bool_)
