"""Registers of ``wgmma`` between the issue of a product and the wait for it, in a function's code.

Those that ``tcgen05.ld`` writes are pending until ``tcgen05.wait::ld`` in the same way. But LLVM
moves the wait behind uses (in kernels of Triton), and ptxas lets code wait for the registers of a
load. So only a load without a later wait in its block is pending.

Until ``wgmma.wait_group`` nothing may access the accumulators, except products of the same ones,
and nothing may write to A (PTX manual 9.7.15.7). Compilers copy registers, which ptxas undoes: a
copy of a pending register is pending, too, and the original may then get another one. Of code for
debugging, ptxas waits for each product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, FunctionCode, Operation, Site, slots_of
from cudarun.emulator.machine.tensor_memory.transfers import LoadTensorMemory, WaitForTransfers
from cudarun.emulator.machine.transfers import GroupControl
from cudarun.emulator.machine.warpgroups import MultiplyAsync

Register = tuple[int, bool]
"""The slot of a register, and whether products read it as A; otherwise they write it."""

State = dict[Register, dict[Site, int]]
"""By register, the products that are pending, and the groups that were committed since each."""


@dataclass(frozen=True, slots=True)
class EarlyUse:
    """An access to a register that may be pending."""

    operation: Operation
    slot: int  # the first such register
    verb: str  # ``"read"`` or ``"write"``
    products: tuple[Site, ...]


@dataclass(slots=True)
class PendingProducts:
    """The pending products of a function."""

    # By the number of a basic block, the accesses to registers that may be pending.
    uses: dict[int, list[EarlyUse]] = field(default_factory=dict)
    copied: set[int] = field(default_factory=set)  # the slots of pending registers that are copied
    # The loads of tensor memory among the sites of products.
    loads: set[Site] = field(default_factory=set)
    # Whether registers of loads are used before a wait that the load's block has.
    has_early: bool = False
    can_be_late: bool = False  # whether products can be computed when they are waited for

    @classmethod
    def of(cls, function: FunctionCode) -> PendingProducts:
        """Return those of a function."""
        found = cls()
        if not (function.is_optimized and has_pending_registers(function)):
            return found
        starts: dict[int, State] = {0: {}}
        waiting = [0]
        while waiting:
            block = function.blocks[waiting.pop()]
            end = {each: dict(sites) for each, sites in starts[block.index].items()}
            found.uses[block.index] = [*found._through(block, end)]
            for following in block.terminator.successors:
                if _join(starts.setdefault(following, {}), end) or following not in found.uses:
                    waiting.append(following)
        for number, uses in found.uses.items():
            # A copy may replace a register after its value has been copied.
            found.uses[number] = [
                use
                for use in uses
                if use.verb == "read" or use.slot not in found.copied or not _is_copy(use.operation)
            ]
        found.can_be_late = not (found.copied or found.has_early)
        return found

    def _through(self, block: BlockCode, state: State) -> Iterator[EarlyUse]:
        """Follow the operations of a block; yield its accesses to pending registers."""
        awaited = _awaited_loads(block)
        for operation in block.operations:
            action = operation.action
            product = action if isinstance(action, MultiplyAsync) else None
            load = isinstance(action, LoadTensorMemory)
            rest = operation.sources[product.accumulators :] if product else operation.sources
            written = slots_of(operation.destinations)
            copied: dict[Site, int] = {}
            reads = [(slot, False) for slot in sorted(slots_of(rest))]
            writes = [(slot, left) for slot in sorted(written) for left in (False, True)]
            for verb, registers in (("read", reads), ("write", [] if product else writes)):
                used = [each for each in registers if each in state]
                if used and verb == "read" and _is_copy(operation):
                    copied = state[used[0]]
                    self.copied.add(used[0][0])
                elif used:
                    products = dict.fromkeys(site for each in used for site in state[each])
                    if awaited.issuperset(products):
                        self.has_early = True
                        continue
                    yield EarlyUse(operation, used[0][0], verb, tuple(products))
            if load:
                self.loads.add(operation.site)
            for slot in written:
                state.pop((slot, True), None)
                state.pop((slot, False), None)
                if product or load or copied:
                    state[slot, False] = copied or {operation.site: 0}
            if product:
                left = rest[: product.left_registers]
                state |= {(slot, True): {operation.site: 0} for slot in slots_of(left)}
            _count_groups(operation, state, self.loads)


def _awaited_loads(block: BlockCode) -> set[Site]:
    """Return the loads of a block that a later operation of it waits for."""
    found: set[Site] = set()
    is_awaited = False
    for operation in reversed(block.operations):
        action = operation.action
        if isinstance(action, WaitForTransfers) and action.queue == "tcgen05.ld":
            is_awaited = True
        if is_awaited and isinstance(action, LoadTensorMemory):
            found.add(operation.site)
    return found


def has_pending_registers(function: FunctionCode) -> bool:
    """Return whether a function has ``wgmma`` products or loads of tensor memory."""
    return any(isinstance(each, MultiplyAsync | LoadTensorMemory) for each in function.actions)


def _is_copy(operation: Operation) -> bool:
    return operation.site.name.startswith("mov.")


def _count_groups(operation: Operation, state: State, loads: set[Site]) -> None:
    """Follow the end of a group, or a wait for groups or loads."""
    control = operation.action
    if not isinstance(control, GroupControl) or control.queue not in ("wgmma", "tcgen05.ld"):
        return
    for register, sites in [*state.items()]:
        if control.commits:
            state[register] = {site: age + 1 for site, age in sites.items()}
        elif control.pending is None:
            state[register] = {site: age for site, age in sites.items() if site not in loads}
        else:
            state[register] = {
                site: age for site, age in sites.items() if age <= control.pending or site in loads
            }
        if not state[register]:
            del state[register]


def _join(state: State, other: State) -> bool:
    """Join a state with that at the end of another block; return whether it changes."""
    changes = False
    for register, sites in other.items():
        known = state.setdefault(register, {})
        for site, age in sites.items():
            if known.get(site, age + 1) > age:
                known[site] = age
                changes = True
    return changes
