"""Compiled kernels: which can be compiled, and their machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.access.atomics import concurrent_function
from cudarun.emulator.compiled.access.memory import MemoryFunctions
from cudarun.emulator.compiled.control.calls import outlined_calls
from cudarun.emulator.compiled.control.inlining import BlockOrigin, without_calls
from cudarun.emulator.compiled.control.recomputed import with_recomputed_values, with_shared_slots
from cudarun.emulator.compiled.control.turns import with_turns
from cudarun.emulator.compiled.control.waits import WaitPoints
from cudarun.emulator.compiled.control.warp_code import WarpCode, is_large
from cudarun.emulator.compiled.jit import MachineCode, missing_feature
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import ModuleText
from cudarun.emulator.compiled.observation import AccessObservation, Unobservable
from cudarun.emulator.compiled.visible_order import (
    are_blocks_independent,
    check_order,
    global_reductions,
)
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.system import assertfail
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.program import ModuleCode

_Run = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64
)
FixedValues = tuple[object, Array]
_Reduction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32)


class KernelModule:
    """The LLVM module of a kernel.

    Args:
        program: Its module of PTX.
        detect: The names of the detectors that observe it.
        interleaves: Whether a schedule draws the order of warps; ``None`` without a schedule.
        is_quick: Whether it is to be compiled in a short time, rather than to run fast.

    Raises:
        Untraceable: The kernel cannot be compiled.
    """

    def __init__(
        self,
        function: FunctionCode,
        program: ModuleCode,
        *,
        detect: Collection[str] = (),
        interleaves: bool | None = None,
        is_quick: bool = False,
    ) -> None:
        missing = missing_feature()
        if missing is not None:
            raise Untraceable(f"a processor without {missing}")
        inlined = without_calls(function, program, marks_frames="uninit" in detect)
        # The origin of each block of the code.
        self.origins = [BlockOrigin((), function, place) for place in range(len(function.blocks))]
        if inlined is not None:
            self.origins, function = inlined.origins, inlined.code
        if interleaves:
            self.origins, function = with_turns(self.origins, function)
        elif not (is_quick or detect or is_large(function)):
            function = with_recomputed_values(function)
            if WaitPoints.of(function.blocks).afters and not outlined_calls(function):
                function = with_shared_slots(function)
        self.interleaves = bool(interleaves)
        self.visible_order = ""  # what can see the order of the warps; empty if nothing can
        try:
            check_order(function)
        except Untraceable as reason:
            if detect:  # other findings than the interpreter's
                raise Unobservable(str(reason)) from None
            self.visible_order = str(reason)
        module = ModuleText()
        # What detectors need; ``None`` if none observes it.
        self.observation = AccessObservation.of(function, detect) if detect else None
        memory = MemoryFunctions(self.observation.unit if self.observation else 0)
        with np.errstate(all="ignore"):
            depths = [len(origin.callers) + origin.is_outlined for origin in self.origins]
            has_sync = bool(self.observation and self.observation.finds_sync_errors)
            # What the code needs from its caller.
            self.code = WarpCode(
                module,
                function,
                depths,
                memory,
                finds_sync_errors=has_sync,
                interleaves=interleaves,
                is_quick=is_quick,
            )
            self.code.define()
        observation = self.observation
        facts = self.code.facts._replace(
            scheduled=interleaves is not None,
            interleaves=self.interleaves,
            shadow_unit=observation.unit if observation else 0,
            finds_sync_errors=has_sync,
            finds_unwritten=bool(observation and observation.finds_unwritten),
        )
        facts.define_run(module)
        self.text = module
        # Whether another module of the kernel runs faster.
        self.is_quick = module.shares_functions
        # Whether its blocks can run at the same time.
        self.is_parallel = are_blocks_independent(function)
        # Whether it has integer reductions of global memory.
        self.has_reductions = bool(global_reductions(function))


class CompiledKernel:
    """The machine code of a kernel.

    Args:
        module: Its LLVM module.
        objects: The object files of the module.
    """

    def __init__(self, module: KernelModule, objects: Sequence[bytes]) -> None:
        self.code = module.code  # what the code needs from its caller
        self.is_quick = module.is_quick  # whether another module of the kernel runs faster
        # Whether its blocks can run at the same time, and are not slower then.
        self.is_parallel = module.is_parallel
        # Whether it has integer reductions of global memory.
        self.has_reductions = module.has_reductions
        # Whether threads can report that an assertion failed.
        self.has_assertions = any(
            isinstance(operation, Action) and operation.action is assertfail
            for operation in module.code.function.operations
        )
        self.origins = module.origins  # the origin of each block of the code
        self.interleaves = module.interleaves  # whether a schedule draws the order of warps
        self.operations = len(module.code.function.operations)  # the number of its operations
        self.observation = module.observation  # what detectors need; ``None`` if none observes it
        self.machine_code = MachineCode(module.text.symbols, objects)
        # ``run(context, first block, blocks, rows of block registers, bytes of a row)``.
        self.run = _Run(self.machine_code.address("run"))
        # The cache entries of equal accesses to shared memory.
        entries: dict[object, list[int]] = {}
        for entry, access in enumerate(module.code.sites.entries):
            if access.space == "shared":
                entries.setdefault((access.bytes, access.variable), []).append(entry)
        self.shared = list(entries.values())
        # The processor time of a block in the last launch, if it is known.
        self.block_seconds: float | None = None
        # The addresses of the allocations that cache entries had last, by their numbers.
        self.recent: dict[int, int] = {}
        # The values that the last launch fixed, those of the threads of a block, and of its last
        # blocks, each after what determines them.
        self.fixed: FixedValues = None, np.empty(0, np.uint8)
        self.lanes: FixedValues = None, np.empty(0, np.uint32)
        self.blocks: FixedValues = None, np.empty(0, np.uint32)
        # Its calls of outlined functions, by their blocks.
        self.calls = outlined_calls(module.code.function)

    def reduction(self, action: Atomic) -> Callable[[int, int, int], None] | None:
        """Return one lane's part of a reduction of global memory; ``None`` if it is not one."""
        name = concurrent_function(action)
        return None if name is None else _Reduction(self.machine_code.address(name))


def resident_blocks(kernel: CompiledKernel, launch: Launch) -> int:
    """Return the number of blocks that can run at the same time."""
    if launch.config.cooperative:
        return launch.blocks
    if not kernel.code.waits_for_blocks:
        return launch.blocks_per_batch() if kernel.interleaves else launch.cluster_blocks
    in_memory = launch.whole_clusters(launch.blocks_in_memory) or launch.cluster_blocks
    return min(launch.resident_blocks, in_memory, launch.blocks)
