"""The control-flow instructions (PTX manual 9.7.13): terminators of basic blocks.

``finish`` is called after the operations of the block. It passes the next blocks of the active
lanes to the batch; they continue at once, wait, or exit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.code import FunctionCode, RegisterUse, Site, Terminator, Use
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.numerics.arrays import Array, distinct

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch


class Jump(Terminator):
    """``bra`` without a guard, and the fall-through to the next block."""

    def __init__(self, target: int, site: Site | None = None) -> None:
        super().__init__((target,), site=site)
        self.target = target

    def finish(self, batch: Batch, active: Active) -> None:
        """Continue with the target."""
        batch.proceed(active, self.target)


class Branch(Terminator):
    """``@p bra``, and the branch around any other guarded instruction."""

    def __init__(self, condition: RegisterUse, target: int, otherwise: int, site: Site) -> None:
        # The condition is bound without negation, so a negation swaps the targets.
        if condition.negated:
            target, otherwise = otherwise, target
            condition = RegisterUse(condition.slot, condition.type)
        super().__init__((target, otherwise), condition=condition, site=site)
        self.target = target
        self.otherwise = otherwise

    def finish(self, batch: Batch, active: Active) -> None:
        """Diverge by the condition."""
        batch.diverge(active, self.target, self.otherwise)


class IndexedBranch(Terminator):
    """``brx.idx``: the operand selects from a list of labels."""

    def __init__(self, index: Use, targets: tuple[int, ...], site: Site) -> None:
        super().__init__(tuple(dict.fromkeys(targets)), (index,), site=site)
        self.index = index
        self.targets = np.array(targets, dtype=np.intp)

    def finish(self, batch: Batch, active: Active) -> None:
        """Diverge by the index; one past the list is a fault."""
        chosen = active.read(self.index).astype(np.intp)
        beyond = chosen >= len(self.targets)
        if beyond.any():
            active.site = self.site
            lane = int(np.argmax(beyond))
            raise active.fault(
                719,
                f"branch index {int(chosen[lane])} is out of range: the list has "
                f"{len(self.targets)} targets",
                lane,
            )
        batch.scatter(active, self.targets[chosen])


class Exit(Terminator):
    """``exit``, and ``ret`` in a kernel."""

    def finish(self, batch: Batch, active: Active) -> None:
        """End the lanes."""
        batch.exit(active)


class Trap(Terminator):
    """``trap`` (and ``brkpt`` without a debugger): the launch ends with a fault."""

    def __init__(self, opcode: str, site: Site) -> None:
        super().__init__((), site=site)
        self.opcode = opcode

    def finish(self, batch: Batch, active: Active) -> None:
        """Raise the fault: CUDA_ERROR_LAUNCH_FAILED."""
        active.site = self.site
        raise active.fault(719, f"the kernel executed '{self.opcode}'", 0)


class FunctionCall(Terminator):
    """``call`` of a function of the program, direct or through a pointer.

    ``arguments`` and ``results`` are slots of the caller, in the order of the callee's own.
    """

    def __init__(
        self,
        callee: str | Use,
        arguments: tuple[int, ...],
        results: tuple[int, ...],
        after: int,
        site: Site,
        reads: tuple[Use, ...],
    ) -> None:
        pointer = () if isinstance(callee, str) else (callee,)
        super().__init__((after,), (*pointer, *reads), site=site)
        self.callee = callee
        self.arguments = arguments
        self.results = results
        self.after = after

    def finish(self, batch: Batch, active: Active) -> None:
        """Continue with the callee's first block, with a frame one level deeper."""
        path = active.path
        live = active.block.live_out
        if isinstance(self.callee, str):
            function = batch.launch.functions[self.callee]
            batch.call(path, batch.write_back(active, live), function, self)
            return
        addresses = active.read(self.callee).copy()
        targets = self.targets(active, addresses)
        lanes = batch.write_back(active, live)
        for address, function in targets:
            batch.call(path, lane_sets.select(lanes, addresses == address), function, self)

    def targets(self, active: Active, addresses: Array) -> list[tuple[int, FunctionCode]]:
        """Return the functions that the lanes' pointers point to, by their addresses."""
        active.site = self.site
        found = []
        for address in distinct(addresses).tolist():
            lane = int(np.argmax(addresses == address))
            function = active.batch.launch.function_at(address)
            if function is None:
                what = f"call of {address:#x}, which is not the address of a function"
                raise active.fault(718, what, lane)
            if len(function.parameters) != len(self.arguments):
                what = f"call of {function.name} with a different number of parameters"
                raise active.fault(718, what, lane)
            found.append((address, function))
        return found


class Return(Terminator):
    """``ret`` in a function, whose slots for the return values it reads."""

    def finish(self, batch: Batch, active: Active) -> None:
        """Return to the caller of each lane."""
        batch.return_to_caller(active)
