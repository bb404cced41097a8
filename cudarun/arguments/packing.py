"""Values packed into the bytes of a kernel's parameters, with unresolved addresses.

A buffer's address is known only after allocation, so packing returns a template
and the offsets of unresolved addresses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from cudarun.arguments import values
from cudarun.arguments.sampling import ArrayForm, Sampling, object_text
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import POINTER_SIZE, Type, inner_shape
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter
from cudarun.model.launch import LayoutRow

if TYPE_CHECKING:
    from cudarun.arguments.dtypes import DType
    from cudarun.arguments.tensor_map_layout import TensorMapLayout
    from cudarun.arguments.tensor_map_options import TensorMapOptions


@dataclass(frozen=True, slots=True)
class BufferSpec:
    """A device buffer to allocate and fill."""

    name: str  # the name in expressions
    type: Type  # the type of one element
    shape: tuple[int, ...]  # elements along each dimension
    # The contents before the launch; ``None`` leaves the caller's poison pattern.
    initial: values.Initial | None = None
    # The offsets of addresses in these contents, which has zeros in their place.
    pointers: Pointers = ()

    @property
    def nbytes(self) -> int:
        """The size in bytes; may be 0."""
        return math.prod(self.shape) * self.type.size

    @property
    def is_unwritten_at_first(self) -> bool:
        """True without an initializer: only the kernel writes it."""
        return self.initial is None

    @property
    def seed_name(self) -> str:
        """The name that its random numbers depend on."""
        return self.name

    @property
    def text(self) -> str:
        """The type, the shape and the initializer in the grammar."""
        return f"{self}{'' if self.initial is None else f':{self.initial}'}"

    @property
    def array_shape(self) -> tuple[int, ...]:
        """The shape of the numpy array: vectors and arrays add their axes at the end."""
        return self.shape + inner_shape(self.type)

    def dtype(self) -> DType:
        """The dtype of the numpy array."""
        from cudarun.arguments.dtypes import element_dtype

        return element_dtype(self.type)

    def __str__(self) -> str:
        return f"{self.type}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class ArraySpec(BufferSpec):
    """A CUDA array to allocate and fill, or a level of a mipmapped array."""

    array: str = ""  # the name of the array, which is that of level 0
    form: ArrayForm = field(default=ArrayForm())
    level: int = 0  # the number of the level
    levels: int = 1

    @property
    def seed_name(self) -> str:
        """The name that its random numbers depend on: a computed level has those of level 0."""
        return self.array if isinstance(self.initial, values.BoxFilter) else self.name


@dataclass(frozen=True, slots=True)
class ObjectSpec:
    """A texture or a surface object to create."""

    name: str
    source: str  # the name of its array or buffer
    # The levels of its array, or its buffer; empty until binding finds those of another argument.
    levels: tuple[BufferSpec, ...]
    owns: bool  # whether the array or buffer is its own, not that of another argument
    form: ArrayForm  # the options of the array in its text
    sampling: Sampling | None  # the way a texture is read; ``None`` for a surface

    @property
    def text(self) -> str:
        """The object in the grammar, with resolved dimensions."""
        given = [
            each.text for each in self.levels if not isinstance(each.initial, values.BoxFilter)
        ]
        return object_text(given if self.owns else [self.source], self.form, self.sampling)


@dataclass(frozen=True, slots=True)
class BufferElement:
    """An address in another buffer: its name, and the offset in bytes."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class VariableElement:
    """An address in a variable of the image: its name, and the index of the element."""

    name: str
    index: int = 0

    def __str__(self) -> str:
        return f"&{self.name}[{self.index}]"

    def offset(self, element: Type, count: int) -> int:
        """Return the offset in bytes in memory of ``count`` elements, whose end has one, too."""
        if not 0 <= self.index <= count:
            has = f"{count} element{'s' * (count != 1)}"
            raise RequestError(f"{self} is out of bounds: {self.name} has {has}")
        return self.index * element.size


@dataclass(frozen=True, slots=True)
class TensorMapSpec:
    """A tensor map to encode as soon as the address of its tensor is known."""

    # The tensor; binding resolves ``AddressOf``.
    tensor: BufferSpec | values.AddressOf | BufferElement
    options: TensorMapOptions
    layout: TensorMapLayout | None = None  # the layout; ``None`` until binding resolves it


Pointee: TypeAlias = (
    BufferSpec
    | ObjectSpec
    | values.AddressOf
    | BufferElement
    | VariableElement
    | TensorMapSpec
    | values.TensorExtent
)
"""The object that an address points to, or whose handle or tensor map it is; binding resolves
``AddressOf`` and ``TensorExtent``."""

EncodeTensorMap: TypeAlias = Callable[["TensorMapLayout", int], bytes]
"""A function that returns the bytes of a tensor map, from its layout and address."""

HandleOwner: TypeAlias = VariableElement | ObjectSpec
"""A part of a parameter that only the driver has: an address in the image, or a handle."""

Handles: TypeAlias = Mapping[HandleOwner, int]
"""Device addresses in variables of the image, and the handles of objects."""

Pointers: TypeAlias = tuple[tuple[int, Pointee], ...]
"""Addresses: their offsets, and the objects that they point to."""


def write_addresses(
    data: bytearray,
    pointers: Pointers,
    addresses: Mapping[str, int],
    handles: Handles,
    encode: EncodeTensorMap | None = None,
) -> None:
    """Write addresses, handles and tensor maps into the bytes of a parameter or of a buffer.

    Args:
        addresses: Device addresses by the name of the buffer; an empty one without is null.
        handles: Device addresses in variables of the image, and handles of objects.
        encode: The driver's encoder of tensor maps.

    Raises:
        KeyError: An address is missing.
    """
    for offset, pointee in pointers:
        if isinstance(pointee, TensorMapSpec):
            assert pointee.layout is not None, f"{pointee} is not resolved"
            assert encode is not None, "only parameters of a launch are tensor maps"
            found = encode(pointee.layout, _address(pointee.tensor, addresses, handles))
        else:
            found = _address(pointee, addresses, handles).to_bytes(POINTER_SIZE, "little")
        data[offset : offset + len(found)] = found


def _address(pointee: Pointee, addresses: Mapping[str, int], handles: Handles) -> int:
    match pointee:
        case VariableElement() | ObjectSpec():
            return handles[pointee]
        case BufferElement(name, shift):
            return addresses[name] + shift
        case BufferSpec(name=name) if pointee.nbytes == 0:
            return addresses.get(name, 0)
        case BufferSpec(name=name):
            return addresses[name]
        case _:
            raise TypeError(f"{pointee} is not resolved")


@dataclass(frozen=True, slots=True)
class ParameterSlot:
    """One parameter of the launch."""

    name: str  # the argument's name in expressions
    parameter: Parameter
    value: values.Value  # the argument's value; untyped numbers have received their type
    data: bytes  # its bytes, with zeros in place of addresses
    pointers: Pointers  # the offsets of addresses in ``data``


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed value."""

    data: bytes  # the bytes, with zeros in place of addresses
    pointers: Pointers  # the offsets of unresolved addresses, with their pointees
    # A line of the layout table for the value, then one for each member of a struct; offsets from
    # the start of the value.
    rows: tuple[LayoutRow, ...]


Resolve: TypeAlias = Callable[[values.Buffer | values.FileBuffer, str], BufferSpec]
"""A function that returns the buffer to allocate for a value and its name."""

ResolveAll: TypeAlias = Callable[
    [values.Buffer | values.FileBuffer | values.ObjectValue, str], BufferSpec | ObjectSpec
]
"""A function that returns the buffer to allocate, or the object to create, for a value and its
name."""


def pack(value: values.Value, name: str, resolve: ResolveAll) -> Packed:
    """Pack a value into the bytes of its parameter, little-endian, with zero padding.

    Args:
        value: Any value except an untyped number.
        name: The name in layout rows; a buffer within a struct is called ``NAME_MEMBER``.
        resolve: Called once for each buffer in the value.
    """
    packer = _Packer(bytearray(values.value_type(value).size), resolve)
    packer.put(value, name, 0, 0)
    return Packed(bytes(packer.data), tuple(packer.pointers), tuple(packer.rows))


def leaf_bytes(leaf: values.Leaf) -> bytes:
    """Return the bytes of a value in a list, with zeros in place of addresses."""
    return element_bytes(leaf) if isinstance(leaf, values.Element) else bytes(POINTER_SIZE)


def element_bytes(element: values.Element) -> bytes:
    """Return the bytes of a value without addresses."""
    if isinstance(element, Scalar):
        return element.bits.to_bytes(element.type.size, "little")
    if isinstance(element, values.SequenceValue):
        return b"".join(map(element_bytes, element.elements))
    data = bytearray(element.type.size)
    for member, start in zip(element.members, element.type.layout.offsets, strict=True):
        if isinstance(member.value, values.Element):
            part = element_bytes(member.value)
            data[start : start + len(part)] = part
    return bytes(data)


@dataclass(slots=True)
class _Packer:
    """A writer of a value and its members into ``data``, with a layout row for each."""

    data: bytearray
    resolve: ResolveAll
    pointers: list[tuple[int, Pointee]] = field(default_factory=list)
    rows: list[LayoutRow] = field(default_factory=list)

    def put(self, value: values.Value, name: str, offset: int, padding: int) -> None:
        text, type_text = self.written(value, name, offset)
        type_ = values.value_type(value)
        self.rows.append(
            LayoutRow(
                name, type_text or str(type_), offset, type_.size, type_.alignment, padding, text
            )
        )
        if isinstance(value, values.StructValue):
            end, layout = 0, value.type.layout
            for index, (member, start) in enumerate(
                zip(value.members, layout.offsets, strict=True)
            ):
                label = f"{name}.{member.name or index}"
                self.put(member.value, label, offset + start, start - end)
                end = start + values.value_type(member.value).size

    def written(self, value: values.Value, name: str, offset: int) -> tuple[str, str | None]:
        """Write a value without its members; return its text, and that of its type if special."""
        match value:
            case values.StructValue():
                return "{…}", None
            case Scalar() | values.SequenceValue():
                self.write(element_bytes(value), offset)
                return value.literal, None
            case values.Bytes(data):
                self.write(data, offset)
                return data.hex(), None
            case values.Buffer() | values.FileBuffer() | values.ObjectValue():
                spec = self.resolve(value, name)
                self.pointers.append((offset, spec))
                return spec.text, f"{spec.type}*" if isinstance(spec, BufferSpec) else None
            case values.Descriptor():
                data, pointers, text = value.packed(name, self.buffer)
                self.write(data, offset)
                self.pointers += ((offset + at, pointee) for at, pointee in pointers)
                return text, value.type_name
            case values.AddressOf() | values.TensorExtent():
                self.pointers.append((offset, value))
            case values.TensorMapValue(tensor, options):
                own = tensor if isinstance(tensor, values.AddressOf) else self.buffer(tensor, name)
                self.pointers.append((offset, TensorMapSpec(own, options)))
            case UntypedNumber():
                raise TypeError(f"the number {value} has no type")
        return str(value), None

    def write(self, data: bytes, offset: int) -> None:
        self.data[offset : offset + len(data)] = data

    def buffer(self, value: values.Buffer | values.FileBuffer, name: str) -> BufferSpec:
        """Return the buffer for a value."""
        spec = self.resolve(value, name)
        assert isinstance(spec, BufferSpec), "the value is a buffer"
        return spec
