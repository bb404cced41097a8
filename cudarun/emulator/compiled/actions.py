"""The rules for actions: instructions that are more than arithmetic on lanes."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.access.atomics import AtomicRules
from cudarun.emulator.compiled.access.barrier_objects import BarrierObjects
from cudarun.emulator.compiled.access.copies import CopyCode
from cudarun.emulator.compiled.access.fragment_transfers import FragmentTransfers
from cudarun.emulator.compiled.access.tensor_copies import TensorCopies
from cudarun.emulator.compiled.products.products import MatrixProducts
from cudarun.emulator.compiled.warps import WarpOperations
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.bulk_copies import BulkCopy
from cudarun.emulator.machine.device_runtime import RUNTIME_FUNCTIONS
from cudarun.emulator.machine.matrices import (
    LoadMatrix,
    Multiply,
    StoreMatrix,
    WarpMatrixTransfer,
    WarpMultiply,
)
from cudarun.emulator.machine.mbarriers import (
    Arrive,
    ArriveAfterCopies,
    Initialize,
    PhaseTest,
    Transactions,
)
from cudarun.emulator.machine.special_registers import ReadMoment
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.emulator.machine.tensor_maps.copies import TensorLoad, TensorStore
from cudarun.emulator.machine.tensor_memory.transfers import WaitForTransfers
from cudarun.emulator.machine.textures.fetches import Fetch, Gather
from cudarun.emulator.machine.textures.surfaces import (
    FormattedStore,
    SurfaceLoad,
    SurfaceReduction,
    SurfaceStore,
)
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    Fence,
    GridDependency,
    GroupControl,
    MemoryLoad,
    MemoryStore,
    NoEffect,
    ProxyFence,
)
from cudarun.emulator.machine.warpgroups import MultiplyAsync, ProductFence, ProductGroups
from cudarun.emulator.machine.warps import ActiveMask, Elect, Match, Reduce, Shuffle, Vote

UNCOMPILED = frozenset(function.action for function in RUNTIME_FUNCTIONS.values())
"""The functions of the device that only the interpreter executes."""

# Called actions that take hardly longer for thousands of lanes than for a warp.
_SAMPLING = (Fetch, Gather, SurfaceLoad, SurfaceReduction, SurfaceStore, FormattedStore)

ActionRule = Callable[[Action, str], None]
"""``rule(operation, mask)`` adds the code of an operation; ``mask`` are the active lanes."""


def action_rules(accesses: AccessCode) -> dict[type, ActionRule]:
    """Return the rules by the class of the action.

    Actions without a rule are executed by the caller, as the interpreter does: large copies and
    products of tensor memory, few in a kernel, and instructions that compilers hardly emit.

    Args:
        accesses: Compiles accesses and calls of the interpreter.
    """
    warps = WarpOperations(accesses._code, accesses._registers)
    products = MatrixProducts(accesses)
    transfers = FragmentTransfers(accesses)
    objects = BarrierObjects(accesses)
    copies = CopyCode(accesses)
    tensors = TensorCopies(accesses)
    return {
        MemoryLoad: accesses.load,
        MemoryStore: accesses.store,
        Atomic: AtomicRules(accesses).atomic,
        AsynchronousCopy: copies.copy,
        NoEffect: _nothing,
        GroupControl: copies.control,
        GridDependency: _nothing,
        Fence: warps.fence,
        ProxyFence: copies.control,
        Shuffle: warps.shuffle,
        Vote: warps.vote,
        Match: warps.match,
        Reduce: warps.reduce,
        ActiveMask: warps.active_mask,
        Elect: warps.elect,
        ReadMoment: warps.read_clock,
        LoadMatrix: transfers.transfer_matrices,
        StoreMatrix: transfers.transfer_matrices,
        Multiply: products.multiply,
        WarpMultiply: products.multiply,
        WarpMatrixTransfer: transfers.transfer,
        Initialize: objects.initialize,
        PhaseTest: objects.test,
        Arrive: objects.change,
        ArriveAfterCopies: objects.change,
        Transactions: objects.change,
        BulkCopy: copies.copy_bulk,
        TensorLoad: tensors.load,
        TensorStore: tensors.store,
        MultiplyAsync: products.multiply_by_warpgroup,
        ProductFence: _nothing,
        ProductGroups: copies.control,
        WaitForTransfers: _nothing,
    }


def slower_compiled(function: FunctionCode) -> str:
    """Return why a kernel is faster if it is interpreted; empty if it is not."""
    for operation in function.operations:
        if isinstance(operation, Action) and isinstance(operation.action, _SAMPLING):
            return f"{action_name(operation)}, which is faster if it is interpreted"
    return ""


def _nothing(operation: Action, mask: str) -> None:
    """Compile an instruction without effect."""


def action_name(operation: Action) -> str:
    """Return the instruction of an operation, for messages."""
    for name, function in SYSTEM_FUNCTIONS.items():
        if function.action is operation.action:
            return f"a call of {name}"
    return f"instruction {operation.site.name}"
