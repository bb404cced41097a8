"""Memory accesses: from the addresses of lanes to checked positions in numpy arrays.

The fast path is that all lanes access one allocation, the same as the last time: a subtraction, a
reduction that checks bounds and alignment at once, and a shift. Everything else is the slow path.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Self

import numpy as np
import numpy.typing as npt

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.clusters import RANK_OFFSET, other_blocks, rank_of
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.report import describe_address, describe_offset
from cudarun.emulator.machine.spaces import (
    RANK_SHIFT,
    WINDOW_BYTES,
    WINDOWS,
    Footprint,
    Piece,
    Region,
    Section,
    section_window,
)
from cudarun.emulator.memory import Allocation, Memory, mark_read, mark_written
from cudarun.emulator.numerics.arrays import Array, Arrays, DType

_ILLEGAL_ADDRESS = 700
_MISALIGNED_ADDRESS = 716
_INVALID_ADDRESS_SPACE = 717
_WRAP = 1 << 64


class AccessKind(Enum):
    """The effect of an access on memory; the value is the word for it in reports."""

    READ = "load"
    WRITE = "store"
    ATOMIC = "atomic operation"
    MBARRIER = "mbarrier operation"  # on an object: a read-modify-write, as an atomic operation


class Access:
    """The memory access of one instruction.

    Args:
        space: The state space; ``""`` for generic addresses.
        count: Number of consecutive elements per lane.
        offset: Offset from the address register in bytes.
        order: The memory order (PTX manual 8.3): ``"relaxed"``, ``"acquire"``, …, ``"volatile"``;
            empty for a weak one.
        scope: The scope of that order: ``"cta"``, ``"cluster"``, ``"gpu"`` or ``"sys"``.

    Attributes:
        bytes: Bytes per lane.
        reads: True if memory is read and the value is used.
        writes: True if memory is written.
        swaps: True of a compare-and-swap operation.
        observes: True of an atomic operation whose result, the old value, is used.
        discards: True if the memory is uninitialized afterwards.
        agent: What makes the access at some time after its issue: ``"cp.async"``, ``"bulk read"``
            or ``"bulk write"`` of a bulk group, ``"mbarrier"`` or ``"st.async"`` if it completes at
            an object, ``"wgmma"``; of a thread empty, or ``"tensormap"`` through that proxy.
        is_own: True if it is to the shared memory of the block, whatever rank an address has.
        variable: The shared variable that the address comes from, and its bytes, where it is known.
    """

    def __init__(
        self,
        space: str,
        dtype: DType,
        count: int,
        kind: AccessKind,
        offset: int,
        *,
        order: str = "",
        scope: str = "",
    ) -> None:
        self.space = space.partition("::")[0]
        self.is_own = space in ("shared", "shared::cta")
        self.dtype = dtype
        self.count = count
        self.bytes = dtype.itemsize * count
        self.kind = kind
        self.offset = offset
        self.order = "" if order == "weak" else order
        self.scope = scope
        self.reads = kind is not AccessKind.WRITE
        self.writes = kind is not AccessKind.READ
        self.swaps = self.observes = self.discards = False
        self.agent = ""
        self.variable: tuple[str, int] | None = None
        self._shift = dtype.itemsize.bit_length() - 1
        self._window = WINDOWS.get(self.space, 0)  # 0 where addresses are generic

    def by(self, agent: str) -> Self:
        """Let the access be one of an agent."""
        self.agent = agent
        return self

    @property
    def strong(self) -> bool:
        """True for atomic and volatile accesses; the others are weak."""
        return bool(self.order)

    def locate(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the accesses of the active lanes, and record them.

        Raises:
            DeviceFault: An access is invalid; the fault is that of the first such lane.
        """
        pieces = self.find(active, addresses)
        self.record(pieces, reads=self.reads)
        return pieces

    def load(self, active: Active, addresses: Array) -> Array:
        """Return the elements that the active lanes access: a row for each lane."""
        rows = np.zeros((len(addresses), self.count), dtype=self.dtype)
        for view, index, positions, _ in self.locate(active, addresses):
            lanes = slice(None) if positions is None else positions
            for place in range(self.count):
                rows[lanes, place] = view[place:].take(index)
        return rows

    def store(self, active: Active, addresses: Array, rows: Array) -> None:
        """Write the elements in a row for each active lane."""
        for view, index, positions, _ in self.locate(active, addresses):
            lanes = slice(None) if positions is None else positions
            for place in range(self.count):
                view[place:][index] = rows[lanes, place]

    def record(self, pieces: list[Piece], *, reads: bool = False) -> None:
        """Record that located bytes are written, or read before, where that is tracked."""
        for piece in pieces:
            match piece.region:
                case Allocation(unwritten=None, unchanged=None) | Section(unwritten=None):
                    continue
                case Memory(tracks_bytes=False):
                    continue
            for part in self.footprints([piece]):
                unwritten = part.region.unwritten
                if reads and unwritten is not None:
                    mark_read(unwritten, part.offsets, self.bytes)
                for tracked in (unwritten, part.region.unchanged) if self.writes else ():
                    if tracked is not None:
                        mark_written(tracked, part.offsets, self.bytes)

    def footprints(self, pieces: list[Piece]) -> list[Footprint]:
        """Return the allocations and sections of located accesses."""
        found = []
        for _, places, positions, region in pieces:
            offsets = places << self._shift
            if isinstance(region, Allocation | Section):
                found.append(Footprint(region, offsets, positions))
                continue
            assert isinstance(region, Memory)
            assert positions is not None
            while len(offsets):
                allocation = region.find(region.base + int(offsets[0]))
                assert allocation is not None, "the access is valid"
                start = allocation.base - region.base
                inside = (offsets >= start) & (offsets < start + allocation.size)
                found.append(Footprint(allocation, offsets[inside] - start, positions[inside]))
                offsets, positions = offsets[~inside], positions[~inside]
        return found

    def find(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the accesses of the active lanes.

        Raises:
            DeviceFault: An access is invalid; the fault is that of the first such lane.
        """
        recent = active.batch.recent.get(self)
        if recent is not None and recent.live:
            piece = self._inside(active, recent, addresses)
            if piece is not None:
                return [piece]
        region = self.region(active, int(addresses[0]) + self.offset)
        if region is not None and region is not recent:
            active.batch.recent[self] = region
            piece = self._inside(active, region, addresses)
            if piece is not None:
                return [piece]
        pieces, bad, misaligned = self._everywhere(active, addresses)
        if bad.any():
            lane, wide = int(np.argmax(bad)), self.wide(addresses)
            raise self._fault(active, int(wide[lane]), lane, misaligned=bool(misaligned[lane]))
        return [piece for piece in pieces if piece.positions is None or len(piece.positions)]

    def region(self, active: Active, address: int) -> Region | None:
        """Return the region that the instruction accesses from an address."""
        section = self._section(active, address % _WRAP)
        if section is not None:
            is_readonly = self.writes and section.name == "param" and not self._window
            return None if is_readonly or self._is_foreign(section.name) else section
        for memory in active.batch.launch.memories:
            allocation = memory.find(address % _WRAP)
            if allocation is not None:
                return allocation
        return None

    def _section(self, active: Active, address: int) -> Section | None:
        name = self.space if self._window else section_window(address)
        return None if name is None else active.batch.section(name)

    def _is_foreign(self, space: str | None) -> bool:
        """Return whether an access to global memory has an address in another space's window."""
        return self.space == "global" and space in ("local", "shared")

    def first_address(self, region: Region | Memory) -> int:
        """Return the first address of a region, in the space of the access."""
        return region.base - self._window

    def bounds(self, launch: Launch, region: Region) -> tuple[int, int]:
        """Return the first and the last valid offset in a region.

        An access to a variable whose alignment is less than the access's has the whole region.
        """
        if self.variable is not None and isinstance(region, Section) and region.name == "shared":
            name, size = self.variable
            start = launch.kernel.shared[name] - launch.shared_start
            if start % self.bytes == 0:
                return start, start + size - self.bytes
        return 0, region.size - self.bytes

    def _inside(self, active: Active, region: Region, addresses: Array) -> Piece | None:
        """Return the access if it is aligned and in one region for all lanes."""
        offsets = self._offsets(active, addresses, self.first_address(region))
        if isinstance(region, Section) and region.ranks is not None:
            if self.is_own:
                if int(offsets.max()) >> RANK_SHIFT >= active.batch.launch.cluster_blocks:
                    return None
                np.bitwise_and(offsets, offsets.dtype.type(RANK_OFFSET), out=offsets)
            else:
                ranks = active.per_lane(region.ranks)
                np.subtract(offsets, ranks, out=offsets, casting="unsafe")
        bits = int(np.bitwise_or.reduce(offsets))
        start, last = self.bounds(active.batch.launch, region)
        # The bitwise OR is at least as large as every offset, and misaligned if any is.
        if bits & (self.bytes - 1) or (bits > last and int(offsets.max()) > last):
            return None
        if start and int(offsets.min()) < start:
            return None
        if offsets.dtype.itemsize == 4:
            wide = active.scratch(np.uint64)
            np.copyto(wide, offsets)
            offsets = wide
        index = offsets.view(np.int64)
        starts = region.starts if isinstance(region, Section) else None
        if starts is not None:
            np.add(index, active.per_lane(starts), out=index)
        if self._shift:
            np.right_shift(index, self._shift, out=index)
        return Piece(region.view(self.dtype), index, None, region)

    def _offsets(self, active: Active, addresses: Array, base: int) -> Array:
        """Return offsets from the start of a region; addresses below it wrap to huge ones."""
        kind = addresses.dtype
        if kind.itemsize == 4 and not self._window:
            return self.wide(addresses) - np.uint64(base)
        offsets = active.scratch(kind)
        np.add(addresses, kind.type((self.offset - base) % (1 << 8 * kind.itemsize)), out=offsets)
        return offsets

    # --- the long way ----------------------------------------------------------------------------

    def valid(self, active: Active, addresses: Array) -> Indices:
        """Return the positions of the lanes whose accesses are valid."""
        return np.flatnonzero(~self._everywhere(active, addresses)[1])

    def peek(self, active: Active, addresses: Array) -> tuple[Array, Array]:
        """Return the first element of each lane, and which can be accessed; record nothing."""
        pieces, bad, _ = self._everywhere(active, addresses)
        found = np.zeros(len(addresses), dtype=self.dtype)
        for view, index, positions, _ in pieces:
            assert positions is not None
            valid = ~bad[positions]
            found[positions[valid]] = view[index[valid]]
        return found, ~bad

    def check_alignment(self, active: Active, addresses: Array) -> None:
        """Raise the fault of the first lane whose address is misaligned; nothing is accessed."""
        wide = self.wide(addresses)
        misaligned = (wide & np.uint64(self.bytes - 1)) != 0
        if misaligned.any():
            lane = int(np.argmax(misaligned))
            raise self._fault(active, int(wide[lane]), lane, misaligned=True)

    def _everywhere(self, active: Active, addresses: Array) -> tuple[list[Piece], Array, Array]:
        """Return accesses in all regions, and which are invalid, and which misaligned."""
        wide = self.wide(addresses)
        wrong = np.zeros(len(wide), dtype=np.bool_)
        unclaimed = np.ones(len(wide), dtype=np.bool_)
        pieces = []
        for section in self._sections(active):
            offsets = wide - np.uint64(self.first_address(section))
            inside = np.ones_like(wrong) if self._window else offsets < WINDOW_BYTES
            unclaimed &= ~inside
            starts = None if section.starts is None else active.per_lane(section.starts)
            if section.ranks is not None and self.is_own:
                known = offsets < np.uint64(active.batch.launch.cluster_blocks << RANK_SHIFT)
                offsets = np.where(known, offsets & np.uint64(RANK_OFFSET), offsets)
            elif section.ranks is not None:
                block = active.per_lane(active.batch.threads.block_of)
                offsets, starts = other_blocks(active.batch, block, offsets, section.stride)
            start, last = self.bounds(active.batch.launch, section)
            if last < start or (self.writes and section.name == "param"):
                wrong |= inside
            else:
                wrong |= inside & ((offsets < start) | (offsets > last))
            pieces.append(self._part(section, offsets, inside, starts))
        if not self._window:
            for memory in active.batch.launch.memories:
                inside = memory.reserves(wide)
                unclaimed &= ~inside
                wrong |= inside & ~self._in_allocations(memory, wide)
                pieces.append(self._part(memory, wide - np.uint64(memory.base), inside, None))
        # Hardware does not report misalignment of an address outside all memory.
        misaligned = ((wide & np.uint64(self.bytes - 1)) != 0) & ~unclaimed
        return pieces, wrong | unclaimed | misaligned, misaligned

    def wide(self, addresses: Array) -> Array:
        """Return addresses with the offset, of 64 bits."""
        if addresses.dtype.itemsize == 4:
            return (addresses + np.uint32(self.offset % (1 << 32))).astype(np.uint64)
        return addresses + np.uint64(self.offset % _WRAP)

    def _sections(self, active: Active) -> list[Section]:
        if self._window:
            return [active.batch.section(self.space)]
        names = [name for name in ("shared", "local", "param") if not self._is_foreign(name)]
        return [active.batch.section(name) for name in names]

    def _in_allocations(self, memory: Memory, addresses: Array) -> npt.NDArray[np.bool_]:
        bases, sizes = memory.table()
        if not len(bases):
            return np.zeros(len(addresses), dtype=np.bool_)
        index = np.searchsorted(bases, addresses, side="right") - 1
        before = index < 0
        offsets = addresses - bases[index]
        fits = (sizes[index] >= self.bytes) & (offsets <= sizes[index] - np.uint64(self.bytes))
        return fits & ~before

    def _part(
        self, region: Section | Memory, offsets: Array, inside: Array, starts: Array | None
    ) -> Piece:
        positions = np.flatnonzero(inside)
        index = offsets[positions].view(np.int64)
        if starts is not None:
            index += starts[positions]
        return Piece(region.view(self.dtype), index >> self._shift, positions, region)

    # --- faults ----------------------------------------------------------------------------------

    def _fault(self, active: Active, address: int, lane: int, *, misaligned: bool) -> DeviceFault:
        where = f"{self.space or 'generic'} address {address:#x}"
        access = f"{self.bytes}-byte {self.kind.value}"
        if misaligned:
            off = address % self.bytes
            what = f"misaligned address in a {access}"
            detail = f"{where} is misaligned by {off} for a {self.bytes}-byte access"
            return active.fault(_MISALIGNED_ADDRESS, what, lane, detail, address=address)
        space = section_window(address)
        if self._is_foreign(space):
            what = f"{access} of global memory at an address of {space} memory"
            return active.fault(_INVALID_ADDRESS_SPACE, what, lane, f"{where} is in {space} memory")
        why, near = self._explain(active, address)
        what = f"illegal address in a {access}"
        return active.fault(
            _ILLEGAL_ADDRESS, what, lane, f"{where} {why}", address=address, allocation=near
        )

    def _explain(self, active: Active, address: int) -> tuple[str, int | None]:
        """Describe an address that is not accessible, and its distance from one that is.

        Returns:
            The description, and the start of the allocation that it names.
        """
        section = self._section(active, address)
        if section is not None:
            offset = address - self.first_address(section)
            if section.ranks is not None:
                rank, blocks = rank_of(address), active.batch.launch.cluster_blocks
                if rank >= blocks:
                    return f"is in the block of rank {rank} of {blocks} in the cluster", None
                offset -= rank << RANK_SHIFT
            start, last = self.bounds(active.batch.launch, section)
            what, size = f"{section.name} memory", last - start + self.bytes
            if self.variable is not None and size != section.size:
                name = self.variable[0].rpartition(".")[2].partition("'")[0]
                what = f"shared variable {name}"
            return describe_offset(what, size, offset - start, self.bytes), None
        return describe_address(active.batch.launch, address, self.bytes)


class MemoryAction(ABC):
    """An action that accesses memory and declares its accesses."""

    # Every access that it makes. They are stored nowhere else, as an observer replaces them.
    accesses: tuple[Access, ...]

    @abstractmethod
    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Execute the instruction for the active lanes."""

    def with_accesses(self, stand_in: Callable[[Access], Access]) -> Self:
        """Return the same action with ``stand_in(access)`` in the place of each access."""
        other = copy.copy(self)
        other.accesses = tuple(map(stand_in, self.accesses))
        return other


class AsynchronousAction(MemoryAction):
    """An operation that accesses memory at any time between its issue and its completion.

    Without a schedule it does so at once, which the manual permits.

    Attributes:
        queue: ``"cp.async"`` or ``"bulk"`` if it belongs to a group that its thread waits for,
            ``"mbarrier"`` if it completes at a barrier object, to which the last access is,
            ``"tcgen05"`` if ``tcgen05.commit`` makes it so, ``"tcgen05.st"`` if its warp waits.
        follows: The queue whose operations of the same lanes, issued before, complete before it.
    """

    queue = "mbarrier"
    follows = ""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Execute the operation as a whole."""
        for write in self.transfers(active, sources):
            write()

    @abstractmethod
    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Read a part of the source, and yield what writes it; last what completes it."""

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the barrier objects."""
        return sources[-1]
