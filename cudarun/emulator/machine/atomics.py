"""``atom`` and ``red`` (PTX manual 9.7.13), serialized per address in lane order.

Each lane gets the value before its own operation. That is computed for all lanes at once: sorted by
address (stably, so in lane order), every address is a **run** of lanes, and a lane gets the old
value combined with the operands of the lanes before it in its run. The elements of a vector are
atomic individually, as in the manual, and are processed one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from cudarun.emulator import memory
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.spaces import Region, Section, section_window
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.arrays import Array, Arrays, DType
from cudarun.emulator.numerics.bits import INTEGER_OPERATIONS
from cudarun.emulator.numerics.formats import element, from_f32, from_pair, to_f32
from cudarun.emulator.numerics.native import contiguous
from cudarun.emulator.numerics.rounding import NEAREST, two_sum
from cudarun.emulator.numerics.special_values import canonical, extreme, flushed, with_hardware_nan
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words

Combine = Callable[[Array, Array], Array]

_SMALL = 2.0**-100  # sums of larger addends are never subnormal
_EXCHANGED = 8  # bytes, at most, that are exchanged with another process atomically
_SIXTEEN_BYTES = np.dtype([("low", np.uint64), ("high", np.uint64)])


class GlobalAccess(Access):
    """An access to global memory only, also with a generic address."""

    def region(self, active: Active, address: int) -> Region | None:
        """Return the region that it accesses from an address; ``None`` in a window."""
        return None if section_window(address % (1 << 64)) else super().region(active, address)

    def _sections(self, active: Active) -> list[Section]:
        return []

    def _explain(self, active: Active, address: int) -> tuple[str, int | None]:
        space = section_window(address)
        if space is None:
            return super()._explain(active, address)
        return f"is in {space} memory; vector atomics access global memory only", None


class Atomic(MemoryAction):
    """One atomic operation. With ``wanted`` false the old values are not read."""

    def __init__(self, words: Words) -> None:
        self.operation = words["op"]
        self.type = words.type
        self.wanted = True
        self.dtype = self.type.dtype if self.type.elements == 1 else _bits(self.type.bytes)
        self.space = words["space"]
        self.count = words.count
        kind = GlobalAccess if words.counts else Access
        given = self.space, self.dtype, self.count, AccessKind.ATOMIC, words.offsets[0]
        order, scope = words.get("sem") or "relaxed", words.get("scope") or "gpu"
        access = kind(*given, order=order, scope=scope)
        access.swaps = self.operation == "cas"
        access.observes = True
        self.accesses = (access,)
        # Sums in global memory are computed by the memory unit; shared memory has no adders.
        adder = self.operation == "add" and "shared" not in self.space
        self._adder = self.type.name if adder and self.type.name in ("f32", "f64") else ""
        # From the values of lanes at different addresses, and operands, to the new values.
        self.combine = combination(self.operation, self.type, self._adder)
        # An equivalent ufunc for integers, whose ``at`` serves if old values are unused.
        is_integer = self.type.kind is not TypeKind.FLOAT and self.type.elements == 1
        self._shortcut = INTEGER_OPERATIONS.get(self.operation) if is_integer else None

    def without_result(self) -> None:
        """Mark the destination as never read."""
        self.wanted = self.accesses[0].observes = False
        if self.operation == "exch":
            self.accesses[0].reads = False

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Read, combine and write memory; destinations get the old values."""
        each = 1 + (self.operation == "cas")
        values = self.operands(sources)
        (access,) = self.accesses
        for view, index, positions, _ in access.locate(active, sources[0]):
            given = values if positions is None else [value[positions] for value in values]
            for place in range(self.count):
                old = self._run(view[place:], index, given[each * place : each * (place + 1)])
                if old is not None and destinations:
                    _put(old, destinations[place], positions)

    def operands(self, sources: Arrays) -> list[Array]:
        """Return the operands: one for each element of a vector; of ``cas`` two."""
        each = 1 + (self.operation == "cas")
        # A cache policy may follow.
        return [self._as_stored(value) for value in sources[1 : 1 + each * self.count]]

    def _as_stored(self, value: Array) -> Array:
        if value.dtype == self.dtype and value.ndim == 1:
            return value
        return np.ascontiguousarray(value).view(self.dtype).reshape(len(value))

    def _run(self, view: Array, index: Array, values: list[Array]) -> Array | None:
        is_of_system = self.accesses[0].scope == "sys" and "shared" not in self.space
        if is_of_system and memory.exchange is not None and view.itemsize <= _EXCHANGED:
            return self._exchanged(memory.exchange, view, index, values)
        if not self.wanted and self._shortcut is not None:
            self._shortcut.at(view, index, values[0])
            return None
        one = len(index) == 1 or (index[0] == index[-1] and (index == index[0]).all())
        if self.operation == "cas":
            if not one:
                return compare_and_swap(view, index, values[0], values[1])
            old, view[index[0]] = _swapped_run(view[index[0]], values[0], values[1])
        elif one:
            old, view[index[0]] = self._one_run(view[index[0]], values[0])
        else:
            old = self._runs(view, index, values[0])
        return old

    def _exchanged(
        self, exchange: memory.Exchange, view: Array, index: Array, values: list[Array]
    ) -> Array:
        """Process one lane after the other, atomically also for another process."""
        old, bits = np.empty_like(values[0]), np.dtype(f"u{view.itemsize}")
        for lane, at in enumerate(index):
            place, given = view[at : at + 1], [value[lane : lane + 1] for value in values]
            swapped = False
            while not swapped:
                stored = place.copy()
                if self.operation == "cas":
                    new = np.where(stored == given[0], given[1], stored)
                else:
                    new = self.combine(stored, given[0])
                pair = (int(each.view(bits)[0]) for each in (stored, new))
                swapped = bool(exchange(place.ctypes.data, view.itemsize, *pair))
            old[lane] = stored[0]
        return old

    def _runs(self, view: Array, index: Array, value: Array) -> Array:
        order, starts, lengths, addresses = _sorted_runs(index)
        given = value[order]
        old = np.empty_like(given)
        if len(starts) == len(index):
            old = view[addresses]
            view[addresses] = self.combine(old, given)
        elif self.operation == "exch":
            old[1:] = given[:-1]
            old[starts] = view[addresses]
            view[addresses] = given[starts + lengths - 1]
        elif len(starts) < lengths.max():  # few addresses: each run at once
            for address, start, length in zip(addresses, starts, lengths, strict=True):
                run = slice(start, start + length)
                old[run], view[address] = self._one_run(view[address], given[run])
        else:
            for lanes, places in _turns(starts, lengths, addresses):
                stored = old[lanes] = view[places]
                view[places] = self.combine(stored, given[lanes])
        result = np.empty_like(old)
        result[order] = old
        return result

    def _one_run(self, stored: object, given: Array) -> tuple[Array, Any]:
        """Return old values and the last value of lanes with one address."""
        ufunc = self._shortcut
        if ufunc is None and self._plain_sum(stored, given):
            ufunc = np.add
        if ufunc is not None:
            chain = np.empty(len(given) + 1, dtype=given.dtype)
            chain[0] = stored
            chain[1:] = given
            ufunc.accumulate(chain, out=chain, dtype=chain.dtype)
            if chain.dtype == np.float32:
                canonical(chain)
            elif chain.dtype == np.float64:
                chain = with_hardware_nan(chain)
            return chain[:-1], chain[-1]
        if self.operation == "exch":
            return np.concatenate([np.array([stored], given.dtype), given[:-1]]), given[-1]
        old = np.empty_like(given)
        current = np.array([stored], dtype=given.dtype)
        for lane in range(len(given)):
            old[lane] = current[0]
            current = self.combine(current, given[lane : lane + 1])
        return old, current[0]

    def _plain_sum(self, stored: Any, given: Array) -> bool:
        """Return whether a chain of ordinary additions equals the hardware's result."""
        if self.operation != "add" or self.type.name not in ("f32", "f64") or algebra.enabled:
            return False
        if self.type.name == "f64":
            return not (np.isnan(stored) or np.isnan(given).any())
        if not self._adder:
            return True
        sizes = np.abs(given[given != 0])
        return bool(
            (stored == 0 or abs(stored) >= _SMALL) and (not len(sizes) or sizes.min() >= _SMALL)
        )


class PlainReadModifyWrite(MemoryAction):
    """An atomic operation as a plain load, the operation, and a plain store.

    All lanes load before any of them stores; the last one to store at an address wins. ``cas``
    stores only where the values are equal.
    """

    def __init__(self, atomic: Atomic) -> None:
        self._atomic = atomic
        (access,) = atomic.accesses
        self.accesses = tuple(
            type(access)(access.space, access.dtype, access.count, kind, access.offset)
            for kind in (AccessKind.READ, AccessKind.WRITE)
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load, combine and store."""
        atomic, address = self._atomic, sources[0]
        values = atomic.operands(sources)
        reading, writing = self.accesses
        old = reading.load(active, address)
        storing = np.arange(active.count)
        if atomic.operation == "cas":
            expected, *values = values
            storing = (old[:, 0] == expected).nonzero()[0]
        if len(storing):
            pairs = zip(old.T, values, strict=True)
            new = [atomic.combine(stored[storing], value[storing]) for stored, value in pairs]
            writing.store(active.some(storing), address[storing], np.stack(new, axis=1))
        for column, destination in zip(old.T, destinations, strict=False):
            _put(column, destination, None)


def _bits(size: int) -> DType:
    """Return a type of so many bytes without arithmetic."""
    return _SIXTEEN_BYTES if size == _SIXTEEN_BYTES.itemsize else np.dtype(f"u{size}")


def _put(old: Array, target: Array, positions: Array | None) -> None:
    """Write old values of all lanes, or of those at some positions, to a destination."""
    stored = target if target.dtype == old.dtype else target.view(old.dtype)
    if stored.ndim > old.ndim:
        stored = stored.reshape(len(stored))
    stored[slice(None) if positions is None else positions] = old


def _sorted_runs(index: Array) -> Arrays:
    """Return the lanes by address, and the start, length and address of each run of them."""
    order = np.argsort(index, kind="stable")
    starts = np.flatnonzero(np.diff(index[order], prepend=-1))
    return order, starts, np.diff(starts, append=len(index)), index[order[starts]]


def _turns(starts: Array, lengths: Array, addresses: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the first lane of every run with its address, then the second, and so on."""
    for turn in range(int(lengths.max(initial=0))):
        more = lengths > turn
        yield starts[more] + turn, addresses[more]


def _swapped_run(stored: object, expected: Array, new: Array) -> tuple[Array, Any]:
    """Return old values and the last value of ``cas`` by lanes with one address."""
    old = np.empty_like(expected)
    start = 0
    while start < len(expected):
        matches = expected[start:] == stored
        first = int(matches.argmax())
        if not matches[first]:
            break
        old[start : start + first + 1] = stored
        stored = new[start + first]
        start += first + 1
    old[start:] = stored
    return old, stored


def compare_and_swap(view: Array, index: Array, expected: Array, new: Array) -> Array:
    """Execute ``cas`` in lane order: all lanes up to the next successful one get one value.

    In each round every address proceeds to its next successful lane, so the number of rounds is the
    largest number of successes at one address.
    """
    order, starts, lengths, addresses = _sorted_runs(index)
    run = np.repeat(np.arange(len(starts)), lengths)
    wanted, given = expected[order], new[order]
    old = np.empty_like(wanted)
    lanes = np.arange(len(index))
    stored = view[addresses]
    while len(lanes):
        seen = stored[run[lanes]]
        old[lanes] = seen
        matches = np.flatnonzero(wanted[lanes] == seen)
        if not len(matches):
            break
        runs, first = np.unique(run[lanes[matches]], return_index=True)
        winners = lanes[matches[first]]
        stored[runs] = given[winners]
        after = np.full(len(starts), len(index))
        after[runs] = winners
        lanes = lanes[lanes > after[run[lanes]]]
    view[addresses] = stored
    result = np.empty_like(old)
    result[order] = old
    return result


def combine_at(view: Array, index: Array, given: Array, combine: Combine) -> None:
    """Combine values with elements of an array, one after the other where they are the same."""
    order, *runs = _sorted_runs(index)
    for lanes, places in _turns(*runs):
        view[places] = combine(view[places], given[order[lanes]])


def combination(operation: str, ptx_type: Type, adder: str) -> Combine:
    """Return the function from the value in memory and the operand to the new value.

    ``adder`` is the type of additions that the memory unit performs, or empty.
    """
    if ptx_type.kind is TypeKind.FLOAT and operation in ("add", "min", "max"):
        if algebra.enabled:
            return partial(algebra.combined, operation, ptx_type)
        return _float_combination(operation, ptx_type, adder)
    if operation in INTEGER_OPERATIONS:
        return INTEGER_OPERATIONS[operation]
    return {
        "exch": lambda stored, b: b,
        "cas": lambda stored, b: b,
        "inc": lambda stored, b: np.where(stored >= b, 0, stored + 1).astype(b.dtype),
        "dec": lambda stored, b: np.where((stored == 0) | (stored > b), b, stored - 1).astype(
            b.dtype
        ),
    }[operation]


def _float_combination(operation: str, ptx_type: Type, adder: str) -> Combine:
    number_format = element(ptx_type)
    if number_format in ("f32", "f64"):

        def add(stored: Array, b: Array) -> Array:
            if adder == "f32":
                total: Array = flushed(flushed(stored) + flushed(b))
            else:
                total = stored + b
            if number_format == "f32":
                canonical(total)
            elif adder:  # NaN are unchanged, signaling or not
                total = with_hardware_nan(total)
                total = np.where(np.isnan(stored), stored, np.where(np.isnan(b), b, total))
            else:
                total = with_hardware_nan(total, stored, b)
            return total

        return add

    dtype = ptx_type.dtype

    def add_halves(stored: Array, b: Array) -> Array:
        left, right = (
            to_f32(contiguous(x).view(dtype), number_format).astype(np.float64) for x in (stored, b)
        )
        s, e = two_sum(left, right)
        return from_pair(s, e, number_format, NEAREST).view(b.dtype)

    def extreme_of_halves(stored: Array, b: Array) -> Array:
        left, right = (to_f32(contiguous(x).view(dtype), number_format) for x in (stored, b))
        return from_f32(extreme(operation, left, right), number_format).view(b.dtype)

    return add_halves if operation == "add" else extreme_of_halves
