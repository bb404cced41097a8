"""C++ values of stopped lanes: where they are, what they contain, and their text.

A value is that of some lanes at once, the lanes of an accessor. So a condition is evaluated for all
threads of a batch with a few operations on arrays, and the same functions show the variables of
one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.dtypes import Array, DType, scalar_dtype
from cudarun.arguments.types import NAMED, ScalarType
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.debug_variables import DebugMember, DebugType

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import LaneAccess

SHOWN = 32  # the number of elements of an array that its text has

_DEEPEST = 8  # structs within structs
_MOST_CHARACTERS = 2000  # of the text of a struct or of an array
_MOST_BYTES = 1 << 28  # that are read at once, of all lanes


@dataclass(frozen=True, slots=True, eq=False)
class CppValue:
    """A C++ value of each lane of an accessor."""

    accessor: LaneAccess  # reads memory
    type: DebugType  # its type; of a row of an array, that of the array
    extents: tuple[int, ...]  # its extents as an array
    space: str | None = None  # the state space that it is in; ``None`` if it is not in memory
    addresses: Array | None = None  # its address for each lane
    contents: Array | None = None  # the bytes of one that is not in memory, a row for each lane
    field: DebugMember | None = None  # the member that it is, if it is a bit field

    @property
    def scalar(self) -> DebugType:
        """The type of its scalars, or its own type if it is not an array."""
        return self.type.target if self.type.extents else self.type

    @property
    def _bytes(self) -> int:
        """The bytes of each lane; `RequestError` if they are too many to be read."""
        size = prod(self.extents) * self.scalar.size
        if size * self.accessor.lanes > _MOST_BYTES:
            raise RequestError(f"{self.type_name} has too many elements to be read")
        return size

    @property
    def type_name(self) -> str:
        """The C++ type."""
        if self.extents == self.type.extents:
            return self.type.name
        return f"{self.scalar.name} {''.join(f'[{each}]' for each in self.extents)}".strip()

    @property
    def is_pointer(self) -> bool:
        """True for a pointer."""
        return not self.extents and self.type.is_pointer

    @property
    def dtype(self) -> DType | None:
        """The numpy type of its scalars; ``None`` of a struct and of an unknown type."""
        return dtype_of(self.scalar)

    # --- parts -----------------------------------------------------------------------------------

    def _at(self, type_: DebugType, offset: int | Array, extents: Sequence[int] = ()) -> CppValue:
        """Return the value of a type at an offset, in bytes, from its beginning."""
        value = replace(self, type=type_, extents=tuple(extents), field=None)
        if self.addresses is not None:
            offsets = np.asarray(offset, np.int64).astype(np.uint64)
            return replace(value, addresses=self.addresses + offsets)
        assert self.contents is not None
        first = np.broadcast_to(np.asarray(offset, np.int64), (len(self.contents),))
        places = first[:, None] + np.arange(value._bytes)
        inside = np.clip(places, 0, self.contents.shape[1] - 1)
        return replace(value, contents=np.take_along_axis(self.contents, inside, 1))

    def referred(self) -> CppValue:
        """Return what a reference refers to, or the value itself."""
        return self.element(0) if self.type.is_reference and not self.extents else self

    def member(self, name: str) -> CppValue:
        """Return a member of a struct.

        Raises:
            RequestError: It has none of this name.
        """
        members = self.type.members if not self.extents else ()
        for each in members:
            part = self._at(each.type, each.offset, each.type.extents)
            if each.name == name:
                return (replace(part, field=each) if each.bits else part).referred()
            if each.name == each.type.name and part.has_member(name):  # of a base, or anonymous
                return part.member(name)
        if not members:
            hint = f"it points to one: use ->{name}" if self.is_pointer else None
            raise RequestError(f".{name}: {self.type_name} is not a struct", hint=hint)
        names = ", ".join(each.name for each in members)
        raise RequestError(f".{name}: {self.type_name} has no such member; members: {names}")

    def has_member(self, name: str, depth: int = 0) -> bool:
        """Return whether a struct, or a base class of it, has a member."""
        return depth < _DEEPEST and any(
            each.name == name
            or (each.name == each.type.name and self._at(each.type, 0).has_member(name, depth + 1))
            for each in self.type.members
        )

    def element(self, index: int | Array) -> CppValue:
        """Return an element of an array, or of what a pointer points to.

        Args:
            index: The index, of each lane or of all.

        Raises:
            RequestError: It is neither.
        """
        if self.extents:
            rest = self.extents[1:]
            step = prod(rest) * self.scalar.size
            type_ = self.type if rest else self.scalar
            return self._at(type_, np.asarray(index) * step, rest).referred()
        if not self.type.is_pointer:
            raise RequestError(f"{self.type_name} has no elements")
        return self._pointed(index, self.type.target.extents)

    def elements(self, first: int, count: int) -> CppValue:
        """Return elements of an array of one dimension, or of what a pointer points to."""
        if self.extents:
            return self._at(self.type, first * self.scalar.size, (count,))
        return self._pointed(first, (count,))

    def _pointed(self, index: int | Array, extents: tuple[int, ...]) -> CppValue:
        addresses = self._advanced(index)
        return CppValue(self.accessor, self.type.target, extents, "generic", addresses)

    def advanced(self, elements: Array) -> CppValue:
        """Return a pointer advanced by elements."""
        contents = self._advanced(elements).view(np.uint8).reshape(-1, 8)
        return replace(self, space=None, addresses=None, contents=contents)

    def distance(self, other: CppValue) -> Array:
        """Return the number of elements from another pointer to this one.

        Raises:
            RequestError: The size of the elements is unknown.
        """
        size = self.type.target.size
        if not size:
            raise RequestError(f"the elements of {self.type_name} have no size")
        found: Array = (self.numbers()[0] - other.numbers()[0]).astype(np.int64) // size
        return found

    def _advanced(self, elements: int | Array) -> Array:
        """Return the addresses of elements that a pointer points to."""
        offset = np.asarray(elements, np.int64) * self.type.target.size
        found: Array = self.numbers()[0] + offset.astype(np.uint64)
        return found

    def parts(self, most: int = SHOWN) -> Iterator[tuple[str, CppValue]]:
        """Yield members and elements by what follows the value: ``.x``, ``[0]``, ``->x``."""
        if self.extents:
            for index in range(min(self.extents[0], most)):
                yield f"[{index}]", self.element(index)
        elif self.type.is_pointer and self.type.target.size:
            target = self.element(0)
            if target.dtype is not None:
                yield "[0]", target
            else:
                yield from ((f"->{name[1:]}", each) for name, each in target.parts(most))
        elif self.dtype is None:
            yield from ((f".{each.name}", self.member(each.name)) for each in self.type.members)

    # --- contents --------------------------------------------------------------------------------

    def read(self) -> tuple[Array, Array]:
        """Return the bytes, a row for each lane, and whether lanes can access them."""
        if self.contents is not None:
            return self.contents, np.ones(len(self.contents), np.bool_)
        assert self.space is not None
        assert self.addresses is not None
        return self.accessor.read(self.space, self.addresses, self._bytes)

    def numbers(self) -> tuple[Array, Array]:
        """Return the scalars, a row for each lane, and whether lanes can access them.

        Raises:
            RequestError: It is a struct, or of an unknown type.
        """
        dtype = self.dtype
        if dtype is None:
            names = ", ".join(each.name for each in self.scalar.members)
            which = f"select a member: {names}" if names else "it has no number"
            raise RequestError(f"{self.type_name} is a struct; {which}")
        data, known = self.read()
        data = np.ascontiguousarray(data)
        words = data != 0 if dtype == np.bool_ else data.view(dtype)
        words = words.reshape(len(data), *self.extents)
        if self.field is not None and self.field.bits is not None:
            # To the top, and down again with the sign.
            type_, unused = words.dtype.type, 8 * words.dtype.itemsize - self.field.bits
            words = words << type_(unused - self.field.first_bit) >> type_(unused)
        return words, known

    def text(self, depth: int = 0) -> str:
        """Return the value of the only lane as text."""
        data, [is_known] = self.read()
        if not is_known:
            assert self.addresses is not None
            return f"<invalid address {int(self.addresses[0]):#x}>"
        if len(self.extents) == 1 and self.scalar.plain_name == "char":
            return repr(data[0].tobytes().partition(b"\0")[0].decode("latin-1"))
        if self.extents or (self.dtype is None and self.type.members):
            if depth == _DEEPEST:
                return "{…}"
            parts, left = [], _MOST_CHARACTERS
            for name, each in self.parts():
                text = each.text(depth + 1)
                parts.append(text if self.extents else f"{name[1:]} = {text}")
                left -= len(parts[-1])
                if left < 0:
                    break
            if self.extents[:1] > (len(parts),):
                parts.append(f"… {self.extents[0]} elements")
            elif left < 0:
                parts.append("…")
            return f"{{{', '.join(parts)}}}"
        if self.dtype is None:
            return f"<{self.scalar.size} bytes: {data[0, :SHOWN].tobytes().hex(' ')}>"
        number = self.numbers()[0][0]
        if self.type.is_pointer:
            return f"{int(number):#x}"
        if self.type.is_enumeration:
            return self.type.enumerators.get(int(number), str(number))
        if self.type.plain_name == "char" and 32 <= number < 127:
            return f"{number} {chr(number)!r}"
        return str(number).lower() if number.dtype == np.bool_ else str(number)


def dtype_of(type_: DebugType) -> DType | None:
    """Return the numpy type of a scalar C++ type: an address is a u64; ``None`` of another."""
    if type_.is_pointer:
        return np.dtype(np.uint64)
    if type_.is_enumeration and type_.size in (1, 2, 4, 8):
        return np.dtype(f"{'i' if type_.is_signed else 'u'}{type_.size}")
    named = NAMED.get(type_.plain_name)
    if not isinstance(named, ScalarType) or named.size != type_.size:
        return None
    return scalar_dtype(named)
