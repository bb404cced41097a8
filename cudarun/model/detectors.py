"""The findings of detectors and of ``--sanitize``, and the statistics of a launch."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from cudarun.base.records import beside, dataclass
from cudarun.diagnostics.entries import SanitizerFinding

Coordinates = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """A memory access of a thread, or its place in a synchronization error.

    Attributes:
        access: Such as load, store or atomic operation; use of an undefined value; arrival at a
            barrier or warp operation, or skip.
        function: The kernel or the function that it calls.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; ``None`` without line information.
        block: The thread's block.
        thread: The thread in its block.
        lanes: Of a synchronization error, the lanes of the thread's warp that are there, as a mask.
        members: Their member mask; ``None`` without one. Only beside lanes.
    """

    access: str
    function: str
    ptx_line: int
    ptx: str
    source: str | None
    block: Coordinates
    thread: Coordinates
    lanes: int | None = field(default=None, metadata=beside("lanes"))
    members: int | None = field(default=None, metadata=beside("lanes"))


@dataclass(frozen=True, slots=True)
class LaunchFinding:
    """A fault that a detector found. A synchronization error has no memory: its fields are null.

    Attributes:
        kind: A data race, an uninitialized read, or a synchronization error.
        kernel: The kernel.
        space: The state space, or register.
        memory: The buffer, the variable, the allocation, or the register.
        offset: Bytes from its start.
        element: The element of a buffer; ``None`` where it is none.
        address: The address in the state space; 0 of a register.
        nbytes: The number of bytes from there.
        places: The accesses; of a race both, the earlier first.
        count: How often threads did that at these lines of PTX; the other fields are of the first.
        problem: The synchronization error.
    """

    kind: Literal["race", "uninit", "sync"]
    kernel: str
    space: str | None
    memory: str | None
    offset: int | None
    element: int | None
    address: int | None
    nbytes: int | None
    places: tuple[MemoryAccess, ...]
    count: int
    problem: str | None = field(default=None, metadata=beside("problem"))

    @property
    def summary(self) -> str:
        """The fault in a few words."""
        if self.kind == "sync":
            return f"synchronization error: {self.problem}"
        return f"{'race in' if self.kind == 'race' else 'uninitialized read of'} {self.memory}"


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """The executed instructions of a kind.

    Attributes:
        kind: The kind.
        warps: Executions, counted once per warp.
        threads: Executions, counted once per thread.
    """

    kind: str
    warps: int
    threads: int


@dataclass(frozen=True, slots=True)
class LaunchTraffic:
    """The accesses to a state space.

    Attributes:
        space: The state space.
        requests: Accesses, counted once per warp.
        read_bytes: Bytes loaded, each time counted.
        written_bytes: Bytes stored.
        atomic_bytes: Bytes of atomic operations.
        sectors: 32-byte sectors of global memory that requests touched; ``None`` elsewhere.
    """

    space: str
    requests: int
    read_bytes: int
    written_bytes: int
    atomic_bytes: int
    sectors: int | None


@dataclass(frozen=True, slots=True)
class BankConflicts:
    """The bank conflicts of an instruction.

    Attributes:
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; ``None`` without line information.
        accesses: Accesses that banks could have served at once.
        conflicts: The further turns that they took.
    """

    ptx_line: int
    ptx: str
    source: str | None
    accesses: int
    conflicts: int


@dataclass(frozen=True, slots=True)
class LaunchStatistics:
    """The statistics of ``--stats``.

    Attributes:
        instructions: By kind, the most frequent first.
        warp_instructions: All kinds, counted once per warp.
        thread_instructions: All kinds, counted once per thread.
        branches: Conditional branches, counted once per warp.
        divergent_branches: Those at which a warp diverged.
        traffic: By state space.
        shared_accesses: Accesses to shared memory that banks could have served at once.
        bank_conflicts: The further turns that they took.
        worst_conflicts: The instructions with most of them.
    """

    instructions: tuple[InstructionCount, ...]
    warp_instructions: int
    thread_instructions: int
    branches: int
    divergent_branches: int
    traffic: tuple[LaunchTraffic, ...]
    shared_accesses: int
    bank_conflicts: int
    worst_conflicts: tuple[BankConflicts, ...]


@dataclass(frozen=True, slots=True)
class ProvedOperation:
    """The outcome of a launch without one synchronizing instruction.

    Attributes:
        kind: Its kind.
        function: The kernel or the function that it calls.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; ``None`` without line information.
        outcome: A race was found; none was found; the launch faulted, or timed out; or no thread
            reached the instruction.
        race: The first race; the launch ends there. Null without one.
        fault: A description of the fault; ``None`` without one.
    """

    kind: Literal[
        "barrier", "warp barrier", "cluster barrier", "mbarrier wait", "wgmma wait",
        "tcgen05 wait", "copy wait",
        "commit", "grid wait", "fence", "atomic",
    ]  # fmt: skip
    function: str
    ptx_line: int
    ptx: str
    source: str | None
    outcome: Literal["race", "no race", "fault", "timeout", "not reached"]
    race: LaunchFinding | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """The report of ``--prove``.

    Attributes:
        operations: The synchronizing instructions in the order of the PTX.
        skipped: The reason that there are none; ``None`` otherwise.
    """

    operations: tuple[ProvedOperation, ...] = ()
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class DetectorReport:
    """The report of ``--detect`` and ``--stats``.

    Attributes:
        detect: The detectors.
        findings: What they found, the most important first.
        statistics: What was counted; ``None`` without ``--stats``.
        proof: The launches without a synchronizing instruction; ``None`` without ``--prove``.
    """

    detect: tuple[str, ...]
    findings: tuple[LaunchFinding, ...]
    statistics: LaunchStatistics | None
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """The findings of a tool of compute-sanitizer.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        findings: The findings that it printed.
        total: The number of errors that it counted.
    """

    tool: str
    findings: tuple[SanitizerFinding, ...]
    total: int
