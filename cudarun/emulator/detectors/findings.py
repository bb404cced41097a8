"""The findings of detectors: plain data, one finding for each pair of instructions."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

from cudarun.base.records import dataclass
from cudarun.emulator.code import RegisterSlot, Site
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Region, Section
from cudarun.emulator.machine.tensor_memory.allocations import TENSOR_BYTES, TENSOR_COLUMNS

Coordinates = tuple[int, int, int]
Kind = Literal["sync", "race", "uninit"]
_KINDS = ("sync", "race", "uninit")  # the first ones can cause the others


@dataclass(frozen=True, slots=True)
class AccessSite:
    """One access by one thread: the instruction and the thread.

    ``access`` is ``"load"``, ``"store"`` or ``"atomic operation"``, after ``"asynchronous "`` if
    the instruction only issues it; or ``"use"`` of an undefined value. Of an instruction that
    synchronizes it is ``"arrival"`` or ``"skip"``, ``lanes`` are those of the thread's warp that
    did so, and ``members`` is their member mask.
    """

    access: str
    site: Site
    block: Coordinates
    thread: Coordinates
    lanes: int | None = None
    members: int | None = None


@dataclass(frozen=True, slots=True)
class AccessedBytes:
    """A few bytes of memory, and the variable or allocation they are in."""

    space: str  # ``"global"``, ``"shared"``, ``"tensor"``, ``"local"`` or ``"register"``
    address: int  # the address of the first byte in the space; 0 of a register
    size: int  # number of bytes
    # The variable or allocation: ``variable counter``, ``cuMemAlloc``; may be empty. Or the
    # register: ``register %f1``, or the cell: ``lane 3, column 8``.
    name: str
    offset: int  # offset in the variable or allocation


@dataclass(frozen=True, slots=True)
class DetectorFinding:
    """A fault of a kernel."""

    kind: Kind  # ``"race"``, ``"uninit"`` for an uninitialized read, or ``"sync"``
    kernel: str
    # The memory of the first occurrence; ``None`` for a synchronization error.
    memory: AccessedBytes | None
    # The earlier access and the later one; of an uninitialized read of memory only that.
    places: tuple[AccessSite, ...]
    count: int  # number of occurrences at these instructions
    # The synchronization error; of a race with an asynchronous operation or the end of a block,
    # what is missing.
    problem: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """The instructions, and the properties that distinguish findings at them."""
        memory = self.memory
        register = memory.name if memory is not None and memory.space == "register" else ""
        return (self.kind, self.problem or register, *(place.site for place in self.places))


class FirstRace(Exception):
    """The first race of a launch that ends there."""

    def __init__(self, race: DetectorFinding) -> None:
        super().__init__(race)
        self.race = race


@dataclass(slots=True)
class Baseline:
    """Facts of the unmodified launches, for launches without a synchronizing instruction."""

    # The unordered pairs of a read and an atomic or volatile write, and the copies that may read
    # the shared memory of blocks after their end. They are no races; a launch without an
    # instruction has one if it has others.
    mixed: set[frozenset[Site]] = field(default_factory=set)
    # The instructions that threads of a block have waited or arrived at together with another
    # instruction, so that without one of them the others never end.
    joint: set[Site] = field(default_factory=set)


@dataclass(slots=True)
class FindingTable:
    """The findings of a launch, one per pair of instructions."""

    stops: bool = False  # end the launch at the first race
    # Collects the unordered pairs of a read and an atomic or volatile write, which are not
    # reported; ``None`` if they are not collected. A launch that stops reports those that are not
    # among them.
    baseline: Baseline | None = None
    strict: bool = False  # whether two writes of the same value are a race
    _found: dict[tuple[object, ...], DetectorFinding] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def last(self) -> DetectorFinding:
        """The finding that was first added last."""
        return [*self._found.values()][-1]

    def tolerates(self, sites: tuple[Site, ...]) -> bool:
        """Return whether instructions are not to be reported (`Baseline.mixed`)."""
        assert self.baseline is not None
        if not self.stops:
            self.baseline.mixed.add(frozenset(sites))
        return frozenset(sites) in self.baseline.mixed

    def add(
        self,
        launch: Launch,
        kind: Kind,
        memory: AccessedBytes | None,
        places: tuple[AccessSite, ...],
        count: int,
        problem: str = "",
    ) -> None:
        """Add a finding, or its count to an earlier one at the same instructions.

        Raises:
            FirstRace: The table stops the launch.
        """
        finding = DetectorFinding(kind, launch.kernel.name, memory, places, count, problem)
        if self.stops and finding.kind == "race":
            raise FirstRace(finding)
        first = self._found.get(finding.key)
        if first is not None:
            finding = replace(first, count=first.count + finding.count)
        self._found[finding.key] = finding

    def most_important_first(self) -> list[DetectorFinding]:
        """Return findings by kind, causes before effects; then by count."""
        return sorted(self._found.values(), key=lambda f: (_KINDS.index(f.kind), -f.count))


def register_bytes(slot: RegisterSlot) -> AccessedBytes:
    """Return a register."""
    return AccessedBytes("register", 0, slot.type.bytes, f"register {slot.name}", 0)


def accessed_bytes(launch: Launch, region: Region, place: int, size: int) -> AccessedBytes:
    """Return bytes at a place in an allocation, or in the section of a space.

    The name of an allocation has the first parameter of the kernel that points to it.
    """
    if not isinstance(region, Section):
        name, values = region.label, launch.parameters.tobytes()
        for number, (at, width) in enumerate(launch.kernel.parameters):
            pointer = int.from_bytes(values[at : at + width], "little")
            if " " not in name and 0 <= pointer - region.base < region.size:
                name = f"{name} (param_{number})"
        return AccessedBytes("global", region.base + place, size, name, place)
    if region.name == "shared":
        return shared_bytes(launch, place, size)
    if region.name == "local":
        place %= launch.local_stride
        return AccessedBytes("local", place, size, "", place)
    lane, column = divmod(place % TENSOR_BYTES // size, TENSOR_COLUMNS)
    name = f"lane {lane}, column {column}"
    return AccessedBytes("tensor", lane << 16 | column, size, name, 0)


def shared_bytes(launch: Launch, place: int, size: int) -> AccessedBytes:
    """Return bytes at a place in the section of shared memory, with their ``.shared`` variable."""
    address = launch.shared_start + place % launch.shared_stride
    before = [(at, name) for name, at in launch.kernel.shared.items() if at <= address]
    start, name = max(before, default=(0, ""))
    return AccessedBytes("shared", address, size, name and f"variable {name}", address - start)
