"""The findings of detectors and of ``--sanitize``, and the statistics of a launch."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from cudarun.base.records import LEFT_OUT, beside, dataclass
from cudarun.diagnostics.entries import SanitizerFinding

Coordinates = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """A memory access of a thread, or its place in a synchronization error."""

    # Such as load, store or atomic operation; use of an undefined value; arrival at a barrier or
    # warp operation, or skip.
    access: str
    function: str  # the kernel or the function that it calls
    ptx_line: int  # the line of the PTX
    ptx: str  # the instruction
    source: str | None  # file and line of the CUDA source; ``None`` without line information
    block: Coordinates  # the thread's block
    thread: Coordinates  # the thread in its block
    # Of a synchronization error, the lanes of the thread's warp that are there, as a mask.
    lanes: int | None = field(default=None, metadata=beside("lanes"))
    # Their member mask; ``None`` without one. Only beside lanes.
    members: int | None = field(default=None, metadata=beside("lanes"))

    @property
    def summary(self) -> str:
        """The access and its line."""
        return f"{self.access} at {self.source or f'PTX line {self.ptx_line}'}"


@dataclass(frozen=True, slots=True)
class LaunchFinding:
    """A fault that a detector found. A synchronization error has no memory: its fields are null."""

    # A data race, an uninitialized read, or a synchronization error.
    kind: Literal["race", "uninit", "sync"]
    kernel: str  # the kernel
    space: str | None  # the state space, or register
    memory: str | None  # the buffer, the variable, the allocation, or the register
    offset: int | None  # bytes from its start
    element: int | None  # the element of a buffer; ``None`` where it is none
    address: int | None  # the address in the state space; 0 of a register
    nbytes: int | None  # the number of bytes from there
    places: tuple[MemoryAccess, ...]  # the accesses; of a race both, the earlier first
    # How often threads did that at these lines of PTX; the other fields are of the first.
    count: int
    # The synchronization error.
    problem: str | None = field(default=None, metadata=beside("problem"))

    @property
    def summary(self) -> str:
        """The fault in a few words."""
        if self.kind == "sync":
            return f"synchronization error: {self.problem}"
        return f"{'race in' if self.kind == 'race' else 'uninitialized read of'} {self.memory}"


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """The executed instructions of a kind."""

    kind: str  # the kind
    warps: int  # executions, counted once per warp
    threads: int  # executions, counted once per thread


@dataclass(frozen=True, slots=True)
class LaunchTraffic:
    """The accesses to a state space."""

    space: str  # the state space
    requests: int  # accesses, counted once per warp
    read_bytes: int  # bytes loaded, each time counted
    written_bytes: int  # bytes stored
    atomic_bytes: int  # bytes of atomic operations
    # 32-byte sectors of global memory that requests touched; ``None`` elsewhere.
    sectors: int | None


@dataclass(frozen=True, slots=True)
class BankConflicts:
    """The bank conflicts of an instruction."""

    ptx_line: int  # the line of the PTX
    ptx: str  # the instruction
    source: str | None  # file and line of the CUDA source; ``None`` without line information
    accesses: int  # accesses that banks could have served at once
    conflicts: int  # the further turns that they took


@dataclass(frozen=True, slots=True)
class LaunchStatistics:
    """The statistics of ``--stats``."""

    instructions: tuple[InstructionCount, ...]  # by kind, the most frequent first
    warp_instructions: int  # all kinds, counted once per warp
    thread_instructions: int  # all kinds, counted once per thread
    branches: int  # conditional branches, counted once per warp
    divergent_branches: int  # those at which a warp diverged
    traffic: tuple[LaunchTraffic, ...]  # by state space
    shared_accesses: int  # accesses to shared memory that banks could have served at once
    bank_conflicts: int  # the further turns that they took
    worst_conflicts: tuple[BankConflicts, ...]  # the instructions with most of them
    # The executions by PTX instruction, once per warp.
    executed: tuple[tuple[str, int], ...] = field(default=(), metadata=LEFT_OUT)

    @property
    def counts(self) -> dict[str, int]:
        """The numbers that ``--assert`` compares, by name."""
        return {
            **dict(self.executed),
            "bank_conflicts": self.bank_conflicts,
            "divergent_branches": self.divergent_branches,
        }


@dataclass(frozen=True, slots=True)
class ProvedOperation:
    """The outcome of a launch without one synchronizing instruction."""

    # Its kind.
    kind: Literal[
        "barrier", "warp barrier", "cluster barrier", "mbarrier wait", "wgmma wait",
        "tcgen05 wait", "copy wait",
        "commit", "grid wait", "fence", "atomic",
    ]  # fmt: skip
    function: str  # the kernel or the function that it calls
    ptx_line: int  # the line of the PTX
    ptx: str  # the instruction
    source: str | None  # file and line of the CUDA source; ``None`` without line information
    # A race was found; none was found; the launch faulted, or timed out; or no thread reached the
    # instruction.
    outcome: Literal["race", "no race", "fault", "timeout", "not reached"]
    race: LaunchFinding | None = None  # The first race; the launch ends there. Null without one.
    fault: str | None = None  # a description of the fault; ``None`` without one


@dataclass(frozen=True, slots=True)
class Proof:
    """The report of ``--prove``."""

    # The synchronizing instructions in the order of the PTX.
    operations: tuple[ProvedOperation, ...] = ()
    skipped: str | None = None  # the reason that there are none; ``None`` otherwise


@dataclass(frozen=True, slots=True)
class DetectorReport:
    """The report of ``--detect`` and ``--stats``."""

    detect: tuple[str, ...]  # the detectors
    findings: tuple[LaunchFinding, ...]  # what they found, the most important first
    statistics: LaunchStatistics | None  # what was counted; ``None`` without ``--stats``
    # The launches without a synchronizing instruction; ``None`` without ``--prove``.
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class SanitizerReport:
    """The findings of a tool of compute-sanitizer."""

    tool: str  # ``memcheck``, racecheck, initcheck or synccheck
    findings: tuple[SanitizerFinding, ...]  # the findings that it printed
    total: int  # the number of errors that it counted
