"""What a launch was watched for, what detectors found and what was counted, as plain data."""

from __future__ import annotations

from typing import Literal

from cudarun.records import dataclass

Coordinates = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """One access of one thread.

    Attributes:
        access: ``load``, ``store`` or ``atomic operation``.
        function: In which function it stands, the kernel or one that it calls.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source, ``x.cu:12``; ``None`` without line information.
        block: Whose it was.
        thread: Whose it was.
    """

    access: str
    function: str
    ptx_line: int
    ptx: str
    source: str | None
    block: Coordinates
    thread: Coordinates


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a kernel that a detector saw.

    Attributes:
        kind: ``race``: two threads touch memory, nothing orders them, and one of them writes.
            ``uninit``: a read of memory that nothing has written.
        kernel: Its name.
        space: ``global``, ``shared`` or ``local``.
        memory: What the memory is: ``buffer x``, ``variable tile``, or how it was allocated.
        offset: How many bytes from the start of that.
        element: Of a buffer, which element; ``None`` where it is none.
        address: In the space.
        nbytes: How many bytes from there on.
        places: For a race both accesses, the earlier one first.
        count: How often threads did that at these places of the PTX; the rest is of the first time.
    """

    kind: Literal["race", "uninit"]
    kernel: str
    space: str
    memory: str
    offset: int
    element: int | None
    address: int
    nbytes: int
    places: tuple[Place, ...]
    count: int


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """Instructions of a kind: how many warps executed, and how many threads."""

    kind: str
    warps: int
    threads: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """The accesses to one space.

    Attributes:
        space: The state space.
        requests: Accesses, counted once per warp.
        read_bytes: What threads loaded, each counted.
        written_bytes: What threads stored.
        atomic_bytes: What threads worked on atomically.
        sectors: Of global memory, 32-byte sectors that the requests touched; ``None`` elsewhere.
    """

    space: str
    requests: int
    read_bytes: int
    written_bytes: int
    atomic_bytes: int
    sectors: int | None


@dataclass(frozen=True, slots=True)
class BankConflicts:
    """One instruction that accesses shared memory, where banks made warps take turns.

    Attributes:
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; ``None`` without line information.
        accesses: How often lanes could have been served at once.
        conflicts: The further turns that they took.
    """

    ptx_line: int
    ptx: str
    source: str | None
    accesses: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class LaunchStatistics:
    """``--stats``.

    Attributes:
        instructions: By kind, the most frequent first.
        warp_instructions: All kinds together.
        thread_instructions: All kinds together.
        branches: Conditional branches, counted once per warp.
        divergent_branches: Those at which a warp parted.
        traffic: By space.
        shared_accesses: How often lanes could have been served at once by shared memory.
        bank_conflicts: The further turns that they took.
        worst_conflicts: The instructions that caused most of them.
    """

    instructions: tuple[InstructionCount, ...]
    warp_instructions: int
    thread_instructions: int
    branches: int
    divergent_branches: int
    traffic: tuple[Traffic, ...]
    shared_accesses: int
    bank_conflicts: int
    worst_conflicts: tuple[BankConflicts, ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """What ``--detect`` and ``--stats`` saw.

    Attributes:
        detect: What was looked for.
        findings: What was found of that, the most important first.
        statistics: What was counted; ``None`` without ``--stats``.
    """

    detect: tuple[str, ...]
    findings: tuple[Finding, ...]
    statistics: LaunchStatistics | None
