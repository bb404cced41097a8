"""The registers of one function at one call depth, and its blocks bound to them.

Binding resolves the uses of a block's operations to numpy views once, so that executing the block
means calling functions with arrays. Bound code is cached by lane range: a loop, or the next thread
blocks of the batch, executes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass, replace
from cudarun.emulator.code import (
    Action,
    BlockCode,
    ConstantUse,
    FunctionCode,
    KernelParameterUse,
    Operation,
    ParameterUse,
    RegisterSlot,
    RegisterUse,
    Role,
    SinkUse,
    SymbolUse,
    Use,
)
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.numerics.arrays import Array, Arrays, DType
from cudarun.emulator.numerics.temporaries import temporaries_of
from cudarun.emulator.numerics.types import Type, TypeKind

if TYPE_CHECKING:
    from cudarun.emulator.code import Site, Terminator
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch

Entry = tuple[Callable[..., object], tuple[object, ...]]

_CODE_KEPT = 512
_NOTHING = np.empty(0, dtype=np.uint8)
_STAGGER = 5 * 64  # registers that begin in the same cache set would evict each other


@dataclass(frozen=True, slots=True)
class Code:
    """A block bound to the registers of some lanes: calls in order, and the branch condition."""

    entries: list[Entry]
    condition: Array | None
    terminator: Terminator


class Frame:
    """The registers of one function for all lanes of a batch.

    ``registers`` is the register file: a value per lane, or a single one if all lanes have the
    same. ``compacted`` are the gathered registers of active lanes that are not contiguous.
    """

    def __init__(self, batch: Batch, function: FunctionCode, depth: int) -> None:
        self.batch = batch
        self.function = function
        self.depth = depth
        self.registers = self._register_file()
        self.compacted = _MadeArrays(self._compacted)
        self._code: dict[tuple[int, int, bool, int, int], Code] = {}
        self._begin()

    def _begin(self) -> None:
        """Execute the operations with one result for all lanes."""
        for operation in self.function.prologue:
            view = _RegisterView(self, self.registers, 0, 1)
            for call, arguments in view.bind(operation):
                call(*arguments)

    def _compacted(self, slot: int) -> Array:
        array = self.registers[slot]
        return array if len(array) == 1 else np.zeros_like(array)

    def _register_file(self) -> list[Array] | _MadeArrays:
        slots = self.function.slots
        sizes = [_bytes_per_lane(slot) * self.batch.lanes + _STAGGER for slot in slots]
        memory = np.zeros(sum(-(-size // 64) * 64 for size in sizes) + 64, dtype=np.uint8)
        start = -memory.ctypes.data % 64
        arrays: list[Array] = []
        for slot, size in zip(slots, sizes, strict=True):
            if slot.role in (Role.SPECIAL, Role.STACK, Role.CONSTANT):
                arrays.append(self._values_of(slot))
            else:
                arrays.append(_storage(slot, memory[start : start + size - _STAGGER]))
                start += -(-size // 64) * 64
        return arrays

    def _values_of(self, slot: RegisterSlot) -> Array:
        """Return the values of a slot that is not in the memory of the registers."""
        match slot.role:
            case Role.SPECIAL:
                return self.batch.threads.special(slot.name)
            case Role.STACK:
                return self.batch.stack.base(self.depth)
            case _:
                return _storage(slot, np.zeros(max(slot.type.bytes, 1), dtype=np.uint8))

    def code(self, active: Active, block: BlockCode) -> Code:
        """Return the blocks from one to the active one, bound to the active lanes' registers."""
        start = active.members.start if isinstance(active.members, slice) else 0
        key = (block.index, active.block.index, active.in_place, start, active.width)
        code = self._code.get(key)
        if code is None:
            if len(self._code) >= _CODE_KEPT:
                self._code.clear()
            view, codes = self._view_of(active), []
            for each in self.function.blocks[block.index : active.block.index + 1]:
                entries = [entry for operation in each.operations for entry in view.bind(operation)]
                use = each.terminator.condition
                bound = Code(entries, None if use is None else view.stored(use), each.terminator)
                codes.append(self.batch.observer.bound(self, each, bound))
            entries = [entry for each_code in codes for entry in each_code.entries]
            code = self._code[key] = replace(codes[-1], entries=entries)
        return code

    def _view_of(self, active: Active) -> _RegisterView:
        start = active.members.start if isinstance(active.members, slice) else 0
        arrays = self.registers if active.in_place else self.compacted
        return _RegisterView(self, arrays, start, active.width)

    def view(self, active: Active, use: Use) -> Array:
        """Return the values of an operand for the members of the active lanes."""
        return self._view_of(active).values(use)

    def register_values(self, use: Use, lanes: Lanes) -> Array:
        """Return the values of an operand in the register file."""
        return _RegisterView(self, self.registers, 0, self.batch.lanes).values(use)[lanes]

    def register_file(self, use: RegisterUse) -> Array:
        """Return a register of all lanes in the register file."""
        return _RegisterView(self, self.registers, 0, self.batch.lanes).stored(use)

    def write_registers(self, use: RegisterUse, lanes: Lanes, values: Array) -> None:
        """Write a register in the register file."""
        self.register_file(use)[lanes] = values

    # --- compacted registers ---------------------------------------------------------------------

    def gather(self, members: Indices, slots: int) -> None:
        """Gather slots of some lanes into the compacted registers."""
        for slot in each(slots):
            values = self.compacted[slot][: len(members)]
            self.registers[slot].take(members, axis=0, out=values, mode="clip")

    def write_back(self, lanes: Lanes, positions: Indices | slice, slots: int) -> None:
        """Write slots of compacted lanes at some positions to the register file."""
        for slot in each(slots):
            self.registers[slot][lanes] = self.compacted[slot][positions]

    def compact(self, positions: Indices, slots: int) -> None:
        """Move the compacted registers at some positions to the front."""
        for slot in each(slots):
            values = self.compacted[slot]
            values[: len(positions)] = values.take(positions, axis=0)


class SparseFrame(Frame):
    """A frame whose registers have memory, and their values, from their first use on.

    It is for compiled code, which keeps most registers of lanes elsewhere.
    """

    def _register_file(self) -> list[Array] | _MadeArrays:
        return _MadeArrays(self._made)

    def _begin(self) -> None:
        self._begun = False

    def _made(self, number: int) -> Array:
        slot = self.function.slots[number]
        if slot.role is Role.CONSTANT and not self._begun:
            self._begun = True
            super()._begin()
            return self.registers[number]
        if slot.role in (Role.SPECIAL, Role.STACK, Role.CONSTANT):
            return self._values_of(slot)
        return _storage(slot, np.zeros(_bytes_per_lane(slot) * self.batch.lanes, dtype=np.uint8))

    def view(self, active: Active, use: Use) -> Array:
        """Return the values of an operand for the members of the active lanes."""
        return self.register_values(use, active.members)


class _MadeArrays(dict[int, Array]):
    """Arrays that are made when they are first asked for, as fast as a list once they are."""

    def __init__(self, make: Callable[[int], Array]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, number: int) -> Array:
        found = self[number] = self._make(number)
        return found


class _RegisterView:
    """A range of the register file, or the compacted registers, to bind operations to."""

    def __init__(
        self, frame: Frame, arrays: list[Array] | _MadeArrays, start: int, width: int
    ) -> None:
        self.batch = frame.batch
        self.arrays = arrays
        self.start = start
        self.width = width
        self._scratch_used = 0

    def bind(self, operation: Operation) -> list[Entry]:
        """Return the calls that execute an operation."""
        self._scratch_used = 0
        entries: list[Entry] = []
        sources = tuple(self._source(use, entries) for use in operation.sources)
        targets = tuple(self._destination(use) for use in operation.destinations)
        if isinstance(operation, Action):
            action = self.batch.instead_of(operation)
            call = _ActionCall(self.batch, action, operation.site, sources, targets)
            entries.append((call, ()))
            return entries
        scratch = tuple(
            self._temporary(dtype, targets[0]) for dtype in temporaries_of(operation.function)
        )
        entries.append((operation.function, (*sources, *targets, *scratch)))
        return entries

    def _source(self, use: Use, entries: list[Entry]) -> Array:
        values = self.source(use)
        if isinstance(use, RegisterUse) and use.negated:
            inverted = self._temporary(values.dtype, values)
            entries.append((np.logical_not, (values, inverted)))
            return inverted
        return values

    def values(self, use: Use) -> Array:
        """Return the values of an operand, negated if it is."""
        values = self.source(use)
        is_negated = isinstance(use, RegisterUse) and use.negated
        return np.logical_not(values) if is_negated else values

    def source(self, use: Use) -> Array:
        """Return the values of a source, one per lane of the view."""
        match use:
            case RegisterUse():
                return self._broadcast(self.stored(use))
            case ConstantUse(value):
                return self._broadcast(value)
            case SymbolUse(space, name, addend, ptx_type):
                address = self.batch.launch.address_of(space, name) + addend
                bits = address & ((1 << ptx_type.bits) - 1)
                return self._broadcast(
                    np.array([bits], dtype=f"u{ptx_type.bytes}").view(ptx_type.dtype)
                )
            case KernelParameterUse(offset, ptx_type):
                return self._broadcast(self.batch.launch.parameter(offset, ptx_type))
            case ParameterUse(slot, offset, ptx_type):
                return self._parameter(slot, offset, ptx_type)
            case SinkUse():
                raise AssertionError("a sink cannot be a source")

    def _destination(self, use: Use) -> Array:
        match use:
            case RegisterUse():
                return self.stored(use)
            case ParameterUse(slot, offset, ptx_type):
                return self._parameter(slot, offset, ptx_type)
            case SinkUse(ptx_type):
                self._scratch_used += 1
                return self.batch.scratch.take(
                    ptx_type.dtype, 100 + self._scratch_used, self.width, ptx_type.elements
                )
            case _:
                raise AssertionError(f"{use} cannot be a destination")

    def stored(self, use: RegisterUse) -> Array:
        """Return a register as its type; a narrower type reads its low part."""
        array = self.arrays[use.slot]
        if len(array) > 1:
            array = array[self.start : self.start + self.width]
        ptx_type = use.type
        if ptx_type.kind is TypeKind.PREDICATE or ptx_type.dtype == array.dtype:
            return array
        if ptx_type.elements > 1:
            return (
                array
                if ptx_type.bits == 128
                else array.view(ptx_type.dtype).reshape(-1, ptx_type.elements)
            )
        if ptx_type.dtype.itemsize == array.dtype.itemsize:
            return array.view(ptx_type.dtype)
        ratio = array.dtype.itemsize // ptx_type.dtype.itemsize
        return array.view(ptx_type.dtype)[::ratio]

    def _parameter(self, slot: int, offset: int, ptx_type: Type) -> Array:
        rows = self.arrays[slot][self.start : self.start + self.width]
        if ptx_type.kind is TypeKind.PREDICATE:
            return rows[:, offset].view(np.bool_)
        words = rows.view(ptx_type.dtype)
        first = offset // ptx_type.dtype.itemsize
        if ptx_type.elements > 1:
            return words[:, first : first + ptx_type.elements]
        return words[:, first]

    def _broadcast(self, values: Array) -> Array:
        if len(values) == self.width:
            return values
        # The same as numpy.broadcast_to, eight times as fast; used to bind every operand.
        shape = (self.width, *values.shape[1:])
        array = np.ndarray(shape, values.dtype, values, 0, (0, *values.strides[1:]))
        array.flags.writeable = False
        return array

    def _temporary(self, dtype: DType, like: Array) -> Array:
        self._scratch_used += 1
        elements = like.shape[1] if like.ndim > 1 else 1
        return self.batch.scratch.take(dtype, self._scratch_used, len(like), elements)


@dataclass(slots=True, eq=False)
class _ActionCall:
    """An action bound to arrays; inactive lanes are removed from them before the call."""

    batch: Batch
    action: Callable[..., object]
    site: Site
    sources: Arrays
    destinations: Arrays

    def __call__(self) -> None:
        active = self.batch.active
        assert active is not None
        active.site = self.site
        if active.valid is None:
            self.action(active, self.sources, self.destinations)
            return
        positions = active.positions
        results = tuple(array[: len(positions)].copy() for array in self.destinations)
        self.action(active, tuple(array[positions] for array in self.sources), results)
        for array, result in zip(self.destinations, results, strict=True):
            array[positions] = result


def each(slots: int) -> list[int]:
    """Return the indices of the bits that are set."""
    found = []
    while slots:
        low = slots & -slots
        found.append(low.bit_length() - 1)
        slots ^= low
    return found


def mask_of(slots: Iterable[int]) -> int:
    """Return a number whose bits with these indices are set."""
    mask = 0
    for slot in slots:
        mask |= 1 << slot
    return mask


def _bytes_per_lane(slot: RegisterSlot) -> int:
    if slot.role is Role.PARAMETER:
        return slot.size
    return slot.type.bytes if slot.role is Role.REGISTER else 0


def _storage(slot: RegisterSlot, memory: Array) -> Array:
    if slot.role is Role.PARAMETER:
        return memory.reshape(-1, slot.size) if slot.size else memory.reshape(-1, 1)
    if slot.type.kind is TypeKind.PREDICATE:
        return memory.view(np.bool_)
    words = memory.view(slot.type.dtype)
    return words.reshape(-1, 2) if slot.type.bits == 128 else words


class Scratch:
    """Numbered arrays per type, for ``lanes`` lanes each.

    Allocating a large array takes a hundred times as long as an operation on it, because the system
    has to find and clear its pages.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._arrays: dict[tuple[DType, int], Array] = {}

    def take(self, dtype: DType, index: int, count: int, elements: int = 1) -> Array:
        """Return ``count`` items of one array; two-dimensional for several ``elements``."""
        key = (dtype, index)
        array = self._arrays.get(key)
        if array is None or len(array) < count * elements:
            array = np.empty(max(self._lanes, count) * elements, dtype=dtype)
            self._arrays[key] = array
        found = array[: count * elements]
        return found if elements == 1 else found.reshape(count, elements)
