"""What detectors have found: plain data, one finding for each pair of places in the PTX."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.launch import Launch

Coordinates = tuple[int, int, int]
Kind = Literal["race", "uninit"]


@dataclass(frozen=True, slots=True)
class Place:
    """One access of one thread: the instruction and who ran it.

    ``access`` is ``"load"``, ``"store"`` or ``"atomic operation"``.
    """

    access: str
    site: Site
    block: Coordinates
    thread: Coordinates


@dataclass(frozen=True, slots=True)
class Memory:
    """A few bytes of memory, and what they are part of.

    Attributes:
        space: ``"global"``, ``"shared"`` or ``"local"``.
        address: The first byte: its address in the space.
        size: How many bytes.
        name: What they belong to: ``variable counter``, ``cuMemAlloc``; empty where it has no name.
        offset: Where they are in that.
    """

    space: str
    address: int
    size: int
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a kernel.

    Attributes:
        kind: ``"race"``, or ``"uninit"`` for a read of what nothing has written.
        kernel: The kernel.
        memory: Where the first one was.
        places: The earlier access and the later one; of a read of unwritten memory only that.
        count: How often lanes did this at these places.
    """

    kind: Kind
    kernel: str
    memory: Memory
    places: tuple[Place, ...]
    count: int


@dataclass(slots=True)
class Findings:
    """All of them, those at the same places being one."""

    _found: dict[tuple[object, ...], Finding] = field(default_factory=dict)

    def known(self, kind: Kind, sites: tuple[Site, ...], count: int) -> bool:
        """Whether there is one for these places already; then it counts ``count`` more."""
        finding = self._found.get((kind, *sites))
        if finding is not None:
            self._found[(kind, *sites)] = replace(finding, count=finding.count + count)
        return finding is not None

    def add(self, finding: Finding) -> None:
        """A new one."""
        self._found[(finding.kind, *(place.site for place in finding.places))] = finding

    def most_important_first(self) -> list[Finding]:
        """Races before reads of unwritten memory, which can come from them; then the frequent."""
        return sorted(self._found.values(), key=lambda f: (f.kind != "race", -f.count))


def shared_name(launch: Launch, offset: int) -> tuple[str, int]:
    """The ``.shared`` variable at an offset, and the offset in it."""
    before = [(at, name) for name, at in launch.kernel.shared.items() if at <= offset]
    if not before:
        return "", offset
    start, name = max(before)
    return f"variable {name}", offset - start
