"""The observation of accesses by compiled code, for detectors.

Compiled code only finds out whether detectors can have a finding. Then the launch is repeated by
the interpreter, whose detectors report it. Kernels are compiled for detectors only where compiled
code finds all that the interpreter's detectors find: they have no synchronization through memory,
and the values of their threads do not depend on the order of accesses, unless these conflict.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.actions import action_name
from cudarun.emulator.compiled.control.barriers import are_counted
from cudarun.emulator.compiled.control.waiting import WaitingLoops
from cudarun.emulator.compiled.control.waits import WaitPoints
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.decode.analysis import unwritten_registers
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.matrices import LoadMatrix, StoreMatrix, WarpMatrixTransfer
from cudarun.emulator.machine.mbarriers import Arrive, Initialize, PhaseTest
from cudarun.emulator.machine.schedules.pending_products import PendingProducts
from cudarun.emulator.machine.spaces import InGlobalOrConst, Region, Section
from cudarun.emulator.machine.special_registers import ReadMoment
from cudarun.emulator.machine.tensor_maps.boxes import CHUNK
from cudarun.emulator.machine.tensor_maps.copies import TensorLoad, TensorStore
from cudarun.emulator.machine.transfers import (
    AsynchronousCopy,
    Fence,
    GridDependency,
    MemoryLoad,
    MemoryStore,
    NoEffect,
)
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.machine.warps import WarpAction

if TYPE_CHECKING:
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.launch import Launch

Array = npt.NDArray[np.uint8]

_OBSERVED = (
    *(MemoryLoad, MemoryStore, Atomic, LoadMatrix, StoreMatrix, WarpMatrixTransfer),
    *(AsynchronousCopy, MultiplyAsync),
)
_WRITES = (layout.SHADOW_WRITE | layout.SHADOW_ATOMIC) * 0o111  # in a word of shadow memory
_READ_BY_MANY = np.uint64(2**64 - 2**layout.SHADOW_BLOCK + layout.SHADOW_READ * 0o111)
_ON_OBJECTS = (Arrive, Initialize, PhaseTest, TensorLoad, TensorStore)
_OTHERS = (NoEffect, WarpAction, InGlobalOrConst, ReadMoment)
_NOT_OBSERVED = (Fence, GridDependency)


class Unobservable(Untraceable):
    """Compiled code could miss a finding of a detector: the launch is interpreted."""


class Suspicion(Exception):
    """Compiled code has found that a detector may have a finding."""


@dataclass(frozen=True, slots=True)
class AccessObservation:
    """The accesses that compiled code observes for detectors."""

    unit: int  # bytes of the smallest access, at most those of a word of shadow memory
    # Whether uninitialized reads are to be found. They can depend on the order of threads if there
    # are races, so that these are always found.
    finds_unwritten: bool
    finds_sync_errors: bool  # whether synchronization errors are to be found

    @classmethod
    def of(cls, function: FunctionCode, detect: Collection[str]) -> AccessObservation:
        """Return the observation of a kernel without calls, by detectors of some names.

        Raises:
            Unobservable: Compiled code could miss a finding.
        """
        if are_counted(WaitPoints.of(function.blocks).barriers):
            raise Unobservable("a barrier with a number or a result, with detectors")
        if "race=strict" in detect:
            raise Unobservable("writes of equal values, with detectors")
        finds_unwritten = "uninit" in detect
        if finds_unwritten and unwritten_registers(function):
            raise Unobservable("registers that may be read before they are written, with detectors")
        if any(PendingProducts.of(function).uses.values()):
            raise Unobservable("registers of products before the wait for them, with detectors")
        if WaitingLoops(function).waits_for_blocks:
            raise Unobservable("loops that may wait for other blocks, with detectors")
        smallest = layout.SHADOW_WORD
        for operation in function.operations:
            if isinstance(operation, Action):
                _check(operation)
                if isinstance(operation.action, MemoryAction):
                    smallest = min(smallest, _smallest_access(operation.action))
        return cls(smallest, finds_unwritten, "sync" in detect)


def _smallest_access(action: MemoryAction) -> int:
    """Return the bytes of the smallest part of accesses that compiled code makes at once."""
    if isinstance(action, LoadMatrix | StoreMatrix):
        return 2 if action.transposed else 4
    if isinstance(action, WarpMatrixTransfer):
        return action.type.bytes
    if isinstance(action, TensorLoad | TensorStore):
        return CHUNK
    accesses = action.accesses[:2] if isinstance(action, AsynchronousCopy) else action.accesses
    return min(access.dtype.itemsize for access in accesses)


def _check(operation: Action) -> None:
    """Check that compiled code observes an operation; `Unobservable` if it does not."""
    action = operation.action
    if isinstance(action, _ON_OBJECTS):
        is_observed = not (isinstance(action, Arrive) and not action.expects)
        is_observed &= not (isinstance(action, TensorLoad | TensorStore) and action.im2col)
    elif isinstance(action, MemoryAction):
        is_observed = isinstance(action, _OBSERVED) and not any(map(_orders, action.accesses))
        is_observed &= not any(access.dtype.kind == "V" for access in action.accesses)
    else:
        is_observed = isinstance(action, _OTHERS) and not isinstance(action, _NOT_OBSERVED)
        is_observed |= isinstance(action, Fence) and action.is_of_objects
    if not is_observed:
        raise Unobservable(f"{action_name(operation)} with detectors")


def _orders(access: Access) -> bool:
    """Return whether an access may order others, or races with atomic ones outside its scope."""
    if access.kind is AccessKind.ATOMIC:
        return access.order != "relaxed" or access.scope in ("cta", "cluster")
    return access.strong


# --- a launch ------------------------------------------------------------------------------------


class ObservedLaunch:
    """The memory of a launch that compiled code observes.

    Args:
        observation: What is observed.
        batch: The batch of the block that runs.
    """

    def __init__(self, observation: AccessObservation, launch: Launch, batch: Batch) -> None:
        self._scale = layout.SHADOW_WORD // observation.unit
        self._shadows: dict[int, tuple[Region, Array]] = {}
        self._shared = batch.section("shared")
        self._reserved = launch.reserved_bytes
        self._local = batch.section("local")
        words = len(self._shared.bytes) // observation.unit  # each of a copy at the most
        size = layout.COPY_GROUPS + layout.COPY_BYTES * words
        self._copies = np.zeros((batch.threads.warps + 1, size), dtype=np.uint8)
        if observation.finds_unwritten:
            self._shared.unwritten = np.ones(len(self._shared.bytes), dtype=np.uint8)
            self._shared.unwritten[: self._reserved] = 0
            if launch.uses_local:
                self._local.unwritten = np.ones(len(self._local.bytes), dtype=np.uint8)

    def fields(self) -> list[tuple[int, int, int]]:
        """Return the fields of a context: the offset, the value and 0."""
        shadow = self.shadow(self._shared)
        size = len(self._shared.bytes) * self._scale
        found = [(layout.SHARED_SHADOW, shadow, 0), (layout.SHARED_SHADOW_BYTES, size, 0)]
        found += [(layout.COPIES, self._copies.ctypes.data, 0)]
        found += [(layout.COPIES_BYTES, self._copies.strides[0], 0)]
        for section, first, pointer, count in (
            (self._shared, self._reserved, layout.SHARED_MARKS, layout.SHARED_MARKS_BYTES),
            (self._local, 0, layout.LOCAL_MARKS, layout.LOCAL_MARKS_BYTES),
        ):
            marks = section.unwritten
            if marks is not None:
                found += [(pointer, marks[first:].ctypes.data, 0), (count, len(marks) - first, 0)]
        return found

    def shadow(self, region: Region, start: int = 0) -> int:
        """Return the host address of the shadow of a region from an offset on; 0 without one."""
        if isinstance(region, Section) and region.name != "shared":
            return 0
        known = self._shadows.get(id(region))
        if known is None:
            size = len(region.bytes) if isinstance(region, Section) else region.size
            shadow = np.zeros(size * self._scale + layout.SHADOW_WORD, dtype=np.uint8)
            known = self._shadows[id(region)] = region, shadow
        address: int = known[1].ctypes.data
        return address + start * self._scale

    def tensor(self, own: Region, start: int, region: Region, first: int) -> int:
        """Return the shadow of a tensor, whose map copies read; writes to the map conflict.

        Raises:
            Suspicion: The launch has written the map before.
        """
        if self.shadow(own) and not isinstance(own, Section):
            words = self._shadows[id(own)][1][start * self._scale :].view(np.uint64)
            words = words[: layout.TENSOR_MAP_BYTES * self._scale // layout.SHADOW_WORD]
            if (words & np.uint64(_WRITES)).any():
                raise Suspicion
            words[:] = _READ_BY_MANY
        return self.shadow(region, first)
