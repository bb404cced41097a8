"""The shapes of what ``--detect``, ``--stats`` and ``--sanitize`` report."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from cudarun.report.schemas.values import Extent


class MemoryAccessRecord(TypedDict):
    """A memory access of a thread, or its place in a synchronization error.

    Attributes:
        access: Such as load, store or atomic operation; use of an undefined value; arrival at a
            barrier or warp operation, or skip.
        function: The kernel or the function that it calls.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; null without line information.
        block: The thread's block.
        thread: The thread in its block.
        lanes: Of a synchronization error, the lanes of the thread's warp that are there, as a mask.
        members: Their member mask; null without one. Only beside lanes.
    """

    access: str
    function: str
    ptx_line: int
    ptx: str
    source: str | None
    block: Extent
    thread: Extent
    lanes: NotRequired[int | None]
    members: NotRequired[int | None]


class DetectorFindingRecord(TypedDict):
    """A fault that a detector found. A synchronization error has no memory: its fields are null.

    Attributes:
        kind: A data race, an uninitialized read, or a synchronization error.
        kernel: The kernel.
        space: The state space, or register.
        memory: The buffer, the variable, the allocation, or the register.
        offset: Bytes from its start.
        element: The element of a buffer; null where it is none.
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
    places: list[MemoryAccessRecord]
    count: int
    problem: NotRequired[str]


class InstructionCountRecord(TypedDict):
    """The executed instructions of a kind.

    Attributes:
        kind: The kind.
        warps: Executions, counted once per warp.
        threads: Executions, counted once per thread.
    """

    kind: str
    warps: int
    threads: int


class MemoryTrafficRecord(TypedDict):
    """The accesses to a state space.

    Attributes:
        space: The state space.
        requests: Accesses, counted once per warp.
        read_bytes: Bytes loaded, each time counted.
        written_bytes: Bytes stored.
        atomic_bytes: Bytes of atomic operations.
        sectors: 32-byte sectors of global memory that requests touched; null elsewhere.
    """

    space: str
    requests: int
    read_bytes: int
    written_bytes: int
    atomic_bytes: int
    sectors: int | None


class BankConflictsRecord(TypedDict):
    """The bank conflicts of an instruction.

    Attributes:
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; null without line information.
        accesses: Accesses that banks could have served at once.
        conflicts: The further turns that they took.
    """

    ptx_line: int
    ptx: str
    source: str | None
    accesses: int
    conflicts: int


class StatisticsRecord(TypedDict):
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

    instructions: list[InstructionCountRecord]
    warp_instructions: int
    thread_instructions: int
    branches: int
    divergent_branches: int
    traffic: list[MemoryTrafficRecord]
    shared_accesses: int
    bank_conflicts: int
    worst_conflicts: list[BankConflictsRecord]


class ProvedOperationRecord(TypedDict):
    """The outcome of a launch without one synchronizing instruction.

    Attributes:
        kind: Its kind.
        function: The kernel or the function that it calls.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        source: File and line of the CUDA source; null without line information.
        outcome: A race was found; none was found; the launch faulted, or timed out; or no thread
            reached the instruction.
        race: The first race; the launch ends there. Null without one.
        fault: A description of the fault; null without one.
    """

    kind: Literal[
        "barrier",
        "warp barrier",
        "cluster barrier",
        "mbarrier wait",
        "wgmma wait",
        "fence",
        "atomic",
    ]
    function: str
    ptx_line: int
    ptx: str
    source: str | None
    outcome: Literal["race", "no race", "fault", "timeout", "not reached"]
    race: DetectorFindingRecord | None
    fault: str | None


class ProofRecord(TypedDict):
    """The report of ``--prove``.

    Attributes:
        operations: The synchronizing instructions in the order of the PTX.
        skipped: The reason that there are none; null otherwise.
    """

    operations: list[ProvedOperationRecord]
    skipped: str | None


class WatchedRecord(TypedDict):
    """The report of ``--detect`` and ``--stats``.

    Attributes:
        detect: The detectors.
        findings: What they found, the most important first.
        statistics: What was counted; null without --stats.
        proof: The launches without a synchronizing instruction; null without --prove.
    """

    detect: list[str]
    findings: list[DetectorFindingRecord]
    statistics: StatisticsRecord | None
    proof: ProofRecord | None


class InstructionRecord(TypedDict):
    """An instruction that a finding of the sanitizer is about.

    Attributes:
        access: The kind of access; empty where the finding says it.
        function: The function, in C++ spelling.
        offset: Bytes from the function's start.
        file: The source file; null without line information.
        line: The line, from 1.
    """

    access: str
    function: str | None
    offset: int | None
    file: str | None
    line: int | None


class SanitizerFindingRecord(TypedDict):
    """A fault that compute-sanitizer found.

    Attributes:
        kind: Its kind, such as Invalid __global__ write.
        severity: The severity by the sanitizer.
        message: Its first line.
        kernel: The kernel; null where the sanitizer does not name it.
        places: The instruction and its callers; of a race, all that take part.
        block: The thread's block.
        thread: The thread in its block.
        address: The address.
        details: Its other lines.
    """

    kind: str
    severity: Literal["error", "warning"]
    message: str
    kernel: str | None
    places: list[InstructionRecord]
    block: Extent | None
    thread: Extent | None
    address: int | None
    details: list[str]


class SanitizerRecord(TypedDict):
    """The findings of a tool of compute-sanitizer.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        findings: The findings that it printed.
        total: The number of errors that it counted.
    """

    tool: str
    findings: list[SanitizerFindingRecord]
    total: int
