"""C++ values of stopped lanes: where they are, what they contain, and their text.

A value is that of some lanes at once, the lanes of an accessor. So a condition is evaluated for all
threads of a batch with a few operations on arrays, and the same functions show the variables of
one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Protocol

import numpy as np

from cudarun.arguments.dtypes import Array, DType, scalar_dtype
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.types import NAMED, ScalarType
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.debug_variables import DebugMember, DebugType, DebugVariable

SHOWN = 32
"""The number of elements of an array that its text has."""

_DEEPEST = 8  # structs within structs in a text


class Accessor(Protocol):
    """The registers and the memory of some lanes.

    Attributes:
        lanes: Their number.
    """

    lanes: int

    def register(self, name: str) -> Array:
        """Return a register, ``%r1``, of each lane.

        Raises:
            KeyError: The function that the lanes are in does not have it.
        """

    def symbol(self, name: str) -> tuple[str, Array]:
        """Return the state space of a PTX variable, and its address for each lane.

        Raises:
            KeyError: There is none.
        """

    def read(self, space: str, addresses: Array, size: int) -> tuple[Array, Array]:
        """Read memory.

        Args:
            space: The state space, ``generic`` included.
            addresses: The address for each lane.
            size: Bytes for each lane.

        Returns:
            The bytes, a row for each lane, and whether a lane can access its address.
        """


@dataclass(frozen=True, slots=True, eq=False)
class CppValue:
    """A C++ value of each lane of an accessor.

    Attributes:
        type: Its type; of a row of an array, that of the array.
        extents: Its extents as an array.
        space: The state space that it is in; ``None`` if it is not in memory.
        addresses: Its address for each lane.
        contents: The bytes of one that is not in memory, a row for each lane.
        member: The member that it is, if it is a bit field.
    """

    type: DebugType
    extents: tuple[int, ...]
    space: str | None = None
    addresses: Array | None = None
    contents: Array | None = None
    member: DebugMember | None = None

    @property
    def element(self) -> DebugType:
        """The type of its scalars, or its own type if it is not an array."""
        return self.type.target if self.type.extents else self.type

    @property
    def size(self) -> int:
        """Bytes."""
        return prod(self.extents) * self.element.size

    @property
    def type_name(self) -> str:
        """The C++ type."""
        if self.extents == self.type.extents:
            return self.type.name
        return f"{self.element.name} {''.join(f'[{each}]' for each in self.extents)}".strip()

    @property
    def is_pointer(self) -> bool:
        """True for a pointer."""
        return not self.extents and self.type.is_pointer

    @property
    def dtype(self) -> DType | None:
        """The numpy type of its scalars; ``None`` of a struct and of an unknown type."""
        return dtype_of(self.element)

    def at(self, type_: DebugType, offset: int | Array, extents: Sequence[int] = ()) -> CppValue:
        """Return the value of a type at an offset, in bytes, from its beginning."""
        value = replace(self, type=type_, extents=tuple(extents), member=None)
        if self.addresses is not None:
            return replace(value, addresses=self.addresses + np.asarray(offset, np.uint64))
        assert self.contents is not None
        first = np.broadcast_to(np.asarray(offset, np.int64), (len(self.contents),))
        places = first[:, None] + np.arange(value.size)
        inside = np.clip(places, 0, self.contents.shape[1] - 1)
        return replace(value, contents=np.take_along_axis(self.contents, inside, 1))


def dtype_of(type_: DebugType) -> DType | None:
    """Return the numpy type of a scalar C++ type: an address is a u64; ``None`` of another."""
    if type_.is_pointer:
        return np.dtype(np.uint64)
    if type_.is_enumeration:
        return np.dtype(f"{'i' if type_.is_signed else 'u'}{type_.size}")
    named = NAMED.get(type_.plain_name)
    is_scalar = isinstance(named, ScalarType) and named.size == type_.size
    return scalar_dtype(named) if is_scalar and isinstance(named, ScalarType) else None


class NotAvailable(RequestError):
    """A variable has no value at the place where the lanes are.

    Args:
        name: The variable.
        why: The reason, as the predicate of a sentence.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")


class ValueReader:
    """A reader of the values of an accessor's lanes."""

    def __init__(self, accessor: Accessor) -> None:
        self.accessor = accessor

    # --- values ----------------------------------------------------------------------------------

    def variable(self, variable: DebugVariable, line: int) -> CppValue:
        """Return the value of a variable.

        Args:
            variable: The variable.
            line: The line of PTX at which the lanes are.

        Raises:
            NotAvailable: It has no value there.
        """
        location = variable.location(line)
        if location is None:
            why = "is not available here" if variable.locations else "was optimized out"
            raise NotAvailable(variable.name, why)
        type_, lanes = variable.type, self.accessor.lanes
        value = CppValue(type_, type_.extents)
        if location.constant is not None:
            data = (location.constant % (1 << 8 * type_.size)).to_bytes(type_.size, "little")
            contents = np.broadcast_to(np.frombuffer(data, np.uint8), (lanes, type_.size))
            return replace(value, contents=contents)
        try:
            if location.register is not None:
                words = np.ascontiguousarray(self.accessor.register(location.register))
                if location.is_address:
                    return self._addressed(value, words + np.uint64(location.offset))
                contents = words.view(np.uint8).reshape(lanes, -1)[:, : type_.size]
                return self._referred(replace(value, contents=contents))
            space, addresses = self.accessor.symbol(location.symbol or "")
        except KeyError as missing:
            raise NotAvailable(
                variable.name, f"is in {missing.args[0]}, which is not used"
            ) from None
        addresses = addresses + np.uint64(location.offset)
        return self._referred(replace(value, space=space, addresses=addresses))

    def _addressed(self, value: CppValue, addresses: Array) -> CppValue:
        """Return a value at addresses: generic ones, though nvcc has those of parameters, too."""
        space = "generic" if self.accessor.read("generic", addresses, 1)[1].any() else "param"
        return replace(value, space=space, addresses=addresses)

    def _referred(self, value: CppValue) -> CppValue:
        """Return what a reference refers to, or the value itself."""
        return self.element(value, 0) if value.type.is_reference else value

    def member(self, value: CppValue, name: str) -> CppValue:
        """Return a member of a struct.

        Raises:
            RequestError: It has none of this name.
        """
        members = value.type.members if not value.extents else ()
        found = next((each for each in members if each.name == name), None)
        if found is not None:
            part = value.at(found.type, found.offset, found.type.extents)
            return self._referred(replace(part, member=found if found.bits else None))
        for base in members:  # a member of a base class, or of an anonymous union
            if base.name == base.type.name and base.type.is_struct:
                try:
                    return self.member(value.at(base.type, base.offset), name)
                except RequestError:
                    continue
        names = [each.name for each in members]
        if not names:
            hint = f"it points to one: use ->{name}" if value.type.is_pointer else None
            raise RequestError(f".{name}: {value.type_name} is not a struct", hint=hint)
        message = f".{name}: {value.type_name} has no such member; members: {', '.join(names)}"
        raise RequestError(message, hint=did_you_mean(name, names))

    def element(self, value: CppValue, index: int | Array) -> CppValue:
        """Return an element of an array, or of what a pointer points to.

        Args:
            value: The array or pointer.
            index: The index, of each lane or of all.

        Raises:
            RequestError: It is neither.
        """
        if value.extents:
            rest = value.extents[1:]
            step = prod(rest) * value.element.size
            type_ = value.type if rest else value.element
            return self._referred(value.at(type_, np.asarray(index) * step, rest))
        if not value.type.is_pointer:
            raise RequestError(f"{value.type_name} has no elements")
        target = value.type.target
        return CppValue(target, target.extents, "generic", self._moved(value, index))

    def elements(self, value: CppValue, first: int, count: int) -> CppValue:
        """Return elements of an array of one dimension, or of what a pointer points to."""
        if value.extents:
            return value.at(value.type, first * value.element.size, (count,))
        return CppValue(value.type.target, (count,), "generic", self._moved(value, first))

    def moved(self, pointer: CppValue, elements: Array) -> CppValue:
        """Return a pointer advanced by elements."""
        contents = self._moved(pointer, elements).view(np.uint8).reshape(-1, 8)
        return CppValue(pointer.type, (), contents=contents)

    def _moved(self, pointer: CppValue, elements: int | Array) -> Array:
        """Return the addresses of elements that a pointer points to."""
        offset = np.asarray(elements, np.int64) * pointer.type.target.size
        found: Array = self.numbers(pointer)[0] + offset.astype(np.uint64)
        return found

    def children(self, value: CppValue, most: int = SHOWN) -> Iterator[tuple[str, CppValue]]:
        """Yield the members, the elements, or what a pointer points to, with their names."""
        if value.extents:
            for index in range(min(value.extents[0], most)):
                yield f"[{index}]", self.element(value, index)
        elif value.type.is_pointer:
            if value.type.target.size:
                yield "*", self.element(value, 0)
        elif value.dtype is None:
            for member in value.type.members:
                yield member.name, self.member(value, member.name)

    # --- contents --------------------------------------------------------------------------------

    def contents(self, value: CppValue) -> tuple[Array, Array]:
        """Return the bytes of a value, a row for each lane, and whether lanes can access it."""
        if value.contents is not None:
            return value.contents, np.ones(len(value.contents), np.bool_)
        assert value.space is not None
        assert value.addresses is not None
        return self.accessor.read(value.space, value.addresses, value.size)

    def numbers(self, value: CppValue) -> tuple[Array, Array]:
        """Return the scalars of a value, a row for each lane, and whether lanes can access it.

        Raises:
            RequestError: It is a struct, or of an unknown type.
        """
        dtype = value.dtype
        if dtype is None:
            names = ", ".join(each.name for each in value.element.members)
            which = f"select a member: {names}" if names else "it has no number"
            raise RequestError(f"{value.type_name} is a struct; {which}")
        data, known = self.contents(value)
        data = np.ascontiguousarray(data)
        words = data != 0 if dtype == np.bool_ else data.view(dtype)
        words = words.reshape(len(data), *value.extents)
        if value.member is not None and value.member.bits is not None:
            words = _bit_field(words, value.member.first_bit, value.member.bits)
        return words, known

    # --- texts -----------------------------------------------------------------------------------

    def text(self, value: CppValue, depth: int = 0) -> str:
        """Return the value of the only lane as text."""
        data, [is_known] = self.contents(value)
        if not is_known:
            assert value.addresses is not None
            return f"<invalid address {int(value.addresses[0]):#x}>"
        if len(value.extents) == 1 and value.element.plain_name == "char":
            return repr(data[0].tobytes().partition(b"\0")[0].decode("latin-1"))
        if value.extents or (value.dtype is None and value.type.members):
            if depth == _DEEPEST:
                return "{…}"
            parts = [
                text if value.extents else f"{name} = {text}"
                for name, each in self.children(value)
                for text in [self.text(each, depth + 1)]
            ]
            if value.extents[:1] > (SHOWN,):
                parts.append(f"… {value.extents[0]} elements")
            return f"{{{', '.join(parts)}}}"
        if value.dtype is None:
            return f"<{value.size} bytes: {data[0, :SHOWN].tobytes().hex(' ')}>"
        return _scalar_text(value.type, self.numbers(value)[0][0])


def _scalar_text(type_: DebugType, number: Any) -> str:
    if type_.is_pointer:
        return f"{int(number):#x}"
    if type_.is_enumeration:
        return type_.enumerators.get(int(number), str(number))
    if type_.plain_name == "char" and 32 <= number < 127:
        return f"{number} {chr(number)!r}"
    return str(number).lower() if number.dtype == np.bool_ else str(number)


def _bit_field(words: Array, first_bit: int, bits: int) -> Array:
    """Return a bit field from its words: shifted to the top, and down again with its sign."""
    type_, unused = words.dtype.type, 8 * words.dtype.itemsize - bits
    found: Array = words << type_(unused - first_bit) >> type_(unused)
    return found
