"""Statistics of a kernel: instructions, divergence, bytes by space, bank conflicts.

Instructions are those of the PTX text, counted per warp and per thread. The emulated device decides
which lanes of a warp are active together; hardware diverges and reconverges at similar
instructions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, Site, Terminator
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.control import Branch
from cudarun.emulator.machine.frame import Code, Frame
from cudarun.emulator.machine.spaces import Footprint
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.numerics.arrays import Array

# The kinds of instructions, by the PTX manual's chapter 9.7.
_KINDS = {
    "load": "ld ldu tex tld4 suld cp ldmatrix",
    "store": "st sust stmatrix",
    "atomic": "atom red",
    "fence": "membar fence",
    "barrier": "bar barrier mbarrier",
    "warp": "shfl vote match redux activemask elect",
    "matrix": "mma wmma movmatrix wgmma tcgen05",
    "control": "bra brx call ret exit trap brkpt",
    "compare": "setp set selp slct testp",
    "convert": "cvt cvta cvt.pack",
    "move": "mov mapa getctarank isspacep prmt alloca stacksave stackrestore",
    "logic": "and or xor not cnot lop3 shl shr shf popc clz bfind fns brev bfe bfi szext bmsk",
    "hint": "prefetch prefetchu discard applypriority nanosleep pmevent griddepcontrol setmaxnreg",
}
_KIND_OF = {opcode: kind for kind, opcodes in _KINDS.items() for opcode in opcodes.split()}
_FLOATING = ("f16", "bf16", "f32", "f64", "f16x2", "bf16x2")


def kind_of(name: str) -> str:
    """Return the kind of an instruction by its name with modifiers: ``add.rn.f32``, ``"floating"``.

    Arithmetic is ``"floating"`` or ``"integer"`` by its type.
    """
    opcode, *modifiers = name.split(".")
    if opcode == "wmma" and modifiers[:1] in (["load"], ["store"]):
        return modifiers[0]
    kind = _KIND_OF.get(opcode)
    if kind is not None:
        return kind
    return "floating" if any(word in _FLOATING for word in modifiers) else "integer"


_BANKS, _BANK_BYTES = 32, 4
_SECTOR_BITS = 5  # global memory is accessed in sectors of 32 bytes


@dataclass(slots=True)
class ExecutionCount:
    """Executions of instructions of a kind: per warp and per thread."""

    warps: int = 0
    threads: int = 0


@dataclass(slots=True)
class MemoryTraffic:
    """The accesses to one space."""

    requests: int = 0  # accesses, counted once per warp
    read_bytes: int = 0  # bytes loaded, summed over threads
    written_bytes: int = 0  # bytes stored
    atomic_bytes: int = 0  # bytes of atomic operations
    sectors: int = 0  # accessed 32-byte sectors of global memory


@dataclass(slots=True)
class BankConflictCount:
    """Shared memory accesses of warps, and their serialization by bank conflicts."""

    # Conflict-free wavefronts: one per warp, two for 8 bytes per thread, four for 16.
    accesses: int = 0
    turns: int = 0  # actual wavefronts


@dataclass(slots=True)
class Statistics:
    """The statistics of observed launches."""

    executed: dict[str, ExecutionCount] = field(default_factory=dict)  # by instruction
    branches: int = 0  # conditional branches executed by warps
    divergent: int = 0  # those at which a warp diverged
    traffic: dict[str, MemoryTraffic] = field(default_factory=dict)  # by space
    # Per instruction that accesses shared memory.
    banks: dict[Site, BankConflictCount] = field(default_factory=dict)

    @property
    def instructions(self) -> dict[str, ExecutionCount]:
        """The executions by kind of instruction."""
        found: dict[str, ExecutionCount] = {}
        for name, count in self.executed.items():
            total = found.setdefault(kind_of(name), ExecutionCount())
            total.warps += count.warps
            total.threads += count.threads
        return found


class StatisticsCounter(Detector):
    """An observer that counts into ``statistics``, over all observed launches."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    # --- instructions ----------------------------------------------------------------------------

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """Return code that counts its executions, and divergence at its end."""
        names = Counter(block.instructions)
        terminator = code.terminator
        if isinstance(terminator, Branch) and "bra" in block.instructions[-1:]:
            terminator = _CountedBranch(terminator, self._statistics)
        entries = [(self._executed, (frame.batch, names)), *code.entries] if names else code.entries
        return replace(code, entries=entries, terminator=terminator)

    def _executed(self, batch: Batch, names: Counter[str]) -> None:
        active = batch.active
        assert active is not None
        warps, threads = len(_first_of_warps(active)), active.count
        for name, count in names.items():
            executed = self._statistics.executed.setdefault(name, ExecutionCount())
            executed.warps += count * warps
            executed.threads += count * threads

    # --- memory ----------------------------------------------------------------------------------

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        for part in parts:
            space = "const" if access.space == "const" else part.space
            traffic = self._statistics.traffic.setdefault(space, MemoryTraffic())
            count = len(part.offsets) * access.bytes
            if access.kind is AccessKind.READ:
                traffic.read_bytes += count
            elif access.kind is AccessKind.WRITE:
                traffic.written_bytes += count
            else:
                traffic.atomic_bytes += count
            slots = active.per_lane(active.batch.threads.slot_of)
            slots = slots if part.positions is None else slots[part.positions]
            traffic.requests += 1 + int(np.count_nonzero(np.diff(slots // WARP)))
            if space == "global":
                sectors = (part.offsets + part.region.base) >> _SECTOR_BITS
                traffic.sectors += int(np.count_nonzero(_different(sectors[:, None], slots)[1]))
            elif space == "shared":
                conflicts = self._statistics.banks.setdefault(site, BankConflictCount())
                first = part.offsets // _BANK_BYTES
                words = first[:, None] + np.arange(max(access.bytes // _BANK_BYTES, 1))
                rows, new = _different(words, slots)
                group, place = np.nonzero(new)
                keys = group * _BANKS + rows[group, place] % _BANKS
                per_bank = np.bincount(keys, minlength=len(rows) * _BANKS).reshape(-1, _BANKS)
                most = per_bank.max(axis=1)  # words in one bank, of lanes that are served together
                conflicts.accesses += int(np.count_nonzero(most))
                conflicts.turns += int(most.sum())


class _CountedBranch(Terminator):
    """A branch that counts the warps that diverge."""

    def __init__(self, branch: Branch, statistics: Statistics) -> None:
        super().__init__(branch.successors, branch.reads, site=branch.site)
        self._branch = branch
        self._statistics = statistics

    def finish(self, batch: Batch, active: Active) -> None:
        """Count, then branch."""
        starts = _first_of_warps(active)
        self._statistics.branches += len(starts)
        condition = active.code.condition
        assert condition is not None
        if len(condition) == active.width > 1:
            taken = condition if active.valid is None else condition[active.positions]
            every = np.logical_and.reduceat(taken, starts)
            some = np.logical_or.reduceat(taken, starts)
            self._statistics.divergent += int(np.count_nonzero(some & ~every))
        self._branch.finish(batch, active)


def _first_of_warps(active: Active) -> Array:
    """Return the first active lane of each warp."""
    warps = active.per_lane(active.batch.threads.slot_of) // WARP
    return np.flatnonzero(np.diff(warps, prepend=-1))


def _different(values: Array, slots: Array) -> tuple[Array, Array]:
    """Sort values in rows of 32 lanes that are served together; mark the first of equal ones.

    Args:
        values: A row of up to 4 for each lane, none negative.
        slots: The index of each lane when warps are padded to 32 lanes, in ascending order.
    """
    first = int(slots[0]) // WARP * WARP
    count = int(slots[-1]) // WARP * WARP + WARP - first
    table = np.full((count, values.shape[1]), -1, dtype=np.int64)
    table[slots - first] = values
    rows = table.reshape(-1, WARP)
    rows.sort(axis=1)
    new = rows >= 0
    new[:, 1:] &= rows[:, 1:] != rows[:, :-1]
    return rows, new
