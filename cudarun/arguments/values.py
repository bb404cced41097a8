"""Parsed arguments: plain frozen data that can be sent to the worker.

``str()`` of each gives text that parses to an equal object; :class:`Argument` also stores the
text as the user wrote it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from cudarun.arguments import types
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.initial_values import Constant, FileInitial, FileOrder, Generated
from cudarun.arguments.sampling import ArrayForm, Sampling, object_text, object_word
from cudarun.arguments.scalars import Computed, Scalar, UntypedNumber
from cudarun.arguments.tensor_map_options import TensorMapOptions
from cudarun.base.records import dataclass

# --- values passed in the parameter itself -------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SequenceValue:
    """A CUDA vector or an array passed by value: ``float4:1,2,3,4``, ``f32*4:1,2,3,4``."""

    type: types.VectorType | types.ArrayType
    elements: tuple[Element, ...]

    @property
    def literal(self) -> str:
        """The text without the type."""
        return ",".join(element.literal for element in self.elements)

    def __str__(self) -> str:
        return f"{self.type}:{self.literal}"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a struct value; ``name`` is ``None`` if the text has none."""

    name: str | None
    value: Value

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.name else str(self.value)


@dataclass(frozen=True, slots=True)
class StructValue:
    """A struct by value, ``{f32:1, float4:1,2,3,4}``; members may be buffers and pointers."""

    members: tuple[Member, ...]
    _type: types.StructType | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def type(self) -> types.StructType:
        """The struct's type; pointers in it are pointer members."""
        if self._type is None:
            members = tuple(types.StructMember(m.name, value_type(m.value)) for m in self.members)
            object.__setattr__(self, "_type", types.StructType(members))
        assert self._type is not None, "it is computed once"
        return self._type

    @property
    def literal(self) -> str:
        """The text without the types; such a struct has no pointers."""
        return f"{{{', '.join(literal_text(member.value) for member in self.members)}}}"

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.members))}}}"


@dataclass(frozen=True, slots=True)
class Bytes:
    """Raw bytes, ``bytes:00ff10``."""

    data: bytes

    def __str__(self) -> str:
        return f"bytes:{self.data.hex()}"


# --- values that are addresses -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Buffer:
    """A device buffer, ``f32[m,k]:rand``; ``initial`` is ``None`` if the text has none."""

    type: types.Type
    dimensions: tuple[Expression, ...]
    initial: Initial | None = None

    def __str__(self) -> str:
        shape = f"{self.type}[{','.join(map(str, self.dimensions))}]"
        return shape if self.initial is None else f"{shape}:{self.initial}"


@dataclass(frozen=True, slots=True)
class FileBuffer:
    """A device buffer with the type, shape and contents of a ``.npy`` file, ``@x.npy``.

    The fields are those of `FileInitial`.
    """

    path: str
    order: FileOrder = FileOrder.PLAIN
    name: str | None = None

    @property
    def initial(self) -> FileInitial:
        """The contents."""
        return FileInitial(self.path, self.order, name=self.name)

    def __str__(self) -> str:
        return str(self.initial)


@dataclass(frozen=True, slots=True)
class AddressOf:
    """The address of a buffer or of a variable of the image: ``&counter``, ``&a[128]``."""

    name: str  # the name of the buffer or the variable
    index: Expression | None = None  # the element; ``None`` for the first

    def __str__(self) -> str:
        return f"&{self.name}" if self.index is None else f"&{self.name}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Reference:
    """The number of another argument, or the buffer or value of an earlier step of a program."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Null:
    """A null pointer."""

    def __str__(self) -> str:
        return "null"


class Descriptor(ABC):
    """A value whose bytes follow from a buffer, a file or dimensions, which binding resolves."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time it would be the default of a field

        @property
        def type(self) -> types.Type:
            """The type in the parameter list."""

    type_name: ClassVar[str | None] = None  # the type's name in the framework, if it has one

    def mapped(self, change: Callable[[Any], Any]) -> Descriptor:
        """Return the value with the buffer in it changed."""
        buffer = getattr(self, "buffer", None)
        return self if buffer is None else replace(self, buffer=change(buffer))  # type: ignore[type-var]

    def fitted(self, size: int) -> Descriptor:
        """Return the value for a parameter of this size in bytes."""
        return self

    @abstractmethod
    def packed(self, name: str, resolve: Callable[..., Any]) -> tuple[bytes, Any, str]:
        """Return the bytes, the offsets of addresses in them, and a text for the layout table.

        Args:
            resolve: Returns the buffer to allocate for a value and its name.

        Raises:
            RequestError: A file or a dimension cannot be resolved.
        """


@dataclass(frozen=True, slots=True)
class ObjectValue:
    """A texture or a surface object, passed by its handle: ``texture(f32[h,w]:rand)``."""

    # Its memory: the levels of a new array, level 0 first, or the name of an array or a buffer of
    # the launch.
    source: tuple[Buffer | FileBuffer, ...] | str
    form: ArrayForm = field(default=ArrayForm())  # the form of a new array
    sampling: Sampling | None = None  # the way a texture is read; ``None`` for a surface

    @property
    def word(self) -> str:
        """The word in the grammar."""
        return object_word(self.sampling)

    def again(self, name: str) -> ObjectValue:
        """Return a texture or surface of the same array or buffer as this one of an argument."""
        source = self.source if isinstance(self.source, str) else name
        return ObjectValue(source, ArrayForm(linear=self.form.linear), self.sampling)

    def __str__(self) -> str:
        levels = [self.source] if isinstance(self.source, str) else [*map(str, self.source)]
        return object_text(levels, self.form, self.sampling)


@dataclass(frozen=True, slots=True)
class TensorMapValue:
    """A tensor map, ``tensormap(x, box=64x64)``."""

    tensor: AddressOf | Buffer | FileBuffer  # the buffer, by its name or as a value
    options: TensorMapOptions

    def __str__(self) -> str:
        tensor = self.tensor
        named = isinstance(tensor, AddressOf) and tensor.index is None
        text = tensor.name if isinstance(tensor, AddressOf) and named else str(tensor)
        return f"tensormap({text}, {self.options})"


@dataclass(frozen=True, slots=True)
class TensorExtent:
    """A dimension or a stride of the tensor of another parameter; it has no text."""

    parameter: int  # the index of the parameter with the tensor map
    axis: int  # the dimension, in row-major order
    is_stride: bool  # whether it is the stride, in elements
    type: types.ScalarType

    def __str__(self) -> str:
        return (
            f"{'stride' if self.is_stride else 'shape'} {self.axis} of parameter {self.parameter}"
        )


Element: TypeAlias = Scalar | SequenceValue | StructValue  # the parsed value of an element

Pointer: TypeAlias = Buffer | FileBuffer | AddressOf | Null | ObjectValue
"""The value of an address or a handle."""

Value: TypeAlias = (
    Element
    | UntypedNumber
    | Computed
    | Bytes
    | Pointer
    | Reference
    | Descriptor
    | TensorMapValue
    | TensorExtent
)

Leaf: TypeAlias = Element | Pointer  # the value of an element in a list

BYTE = types.ScalarType("u8", types.Kind.UNSIGNED, 1)


def value_type(value: Value) -> types.Type:
    """Return the type of ``value`` in the parameter list; a buffer's is a pointer.

    Raises:
        TypeError: A number has no type until it is bound to a parameter.
    """
    match value:
        case Scalar() | SequenceValue() | StructValue() | Descriptor() | TensorExtent():
            return value.type
        case Bytes():
            return types.ArrayType(BYTE, len(value.data))
        case Buffer():
            return types.PointerType(str(value.type))
        case ObjectValue(sampling=sampling):
            return types.ObjectType(
                "cudaSurfaceObject_t" if sampling is None else "cudaTextureObject_t"
            )
        case TensorMapValue():
            return types.TENSOR_MAP
        case UntypedNumber() | Computed():
            raise TypeError(f"the number {value} has no type")
        case _:
            return types.PointerType()


def has_type(value: Value) -> bool:
    """Return whether the type of a value is known before it is bound to a parameter."""
    match value:
        case StructValue(members):
            return all(has_type(member.value) for member in members)
        case UntypedNumber() | Reference() | Computed():
            return False
        case _:
            return True


# --- lists of values, and levels of arrays, as the contents of a buffer -------------------------


@dataclass(frozen=True, slots=True)
class ListInitial:
    """Individual values, ``[[1,2],[3,4]]``; all lists of one level have the same length."""

    items: tuple[ListInitial | Leaf, ...]

    @property
    def leaves(self) -> Iterator[Leaf]:
        """The values, in order."""
        for item in self.items:
            if isinstance(item, ListInitial):
                yield from item.leaves
            else:
                yield item

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the lists, outermost first."""
        first = self.items[0] if self.items else None
        return (len(self.items), *(first.shape if isinstance(first, ListInitial) else ()))

    def __str__(self) -> str:
        return f"[{', '.join(map(literal_text, self.items))}]"


@dataclass(frozen=True, slots=True)
class BoxFilter:
    """A level of a mipmapped array, computed from level 0; no text has it."""

    initial: Initial  # the contents of level 0
    shape: tuple[int, ...]  # the elements of level 0 along each dimension
    outer: int  # the axes of layers and faces, which have the same size in all levels
    level: int

    def __str__(self) -> str:
        return f"level {self.level} of {self.initial}"


class OtherInitial:
    """Contents that no text has, from elsewhere."""

    __slots__ = ()


Initial: TypeAlias = Constant | Generated | ListInitial | FileInitial | BoxFilter | OtherInitial


def literal_text(value: object) -> str:
    """Return the text of a value without its type, where it has one."""
    return str(getattr(value, "literal", value))


# --- the values within a value: of structs, lists, textures and tensor maps ----------------------


def with_parts(value: Value, change: Callable[[Any], Any]) -> Value:
    """Return a value with ``change`` applied to each value in it; it keeps their kinds."""
    match value:
        case Buffer(initial=ListInitial() as items):
            return replace(value, initial=_with_leaves(items, change))
        case StructValue(members):
            changed = (Member(member.name, change(member.value)) for member in members)
            return StructValue(tuple(changed))
        case Descriptor():
            return value.mapped(change)
        case ObjectValue(source=tuple(levels)):
            return replace(value, source=tuple(map(change, levels)))
        case TensorMapValue(Buffer() | FileBuffer() as tensor):
            return replace(value, tensor=change(tensor))
    return value


def _with_leaves(items: ListInitial, change: Callable[[Any], Any]) -> ListInitial:
    return ListInitial(
        tuple(
            _with_leaves(item, change) if isinstance(item, ListInitial) else change(item)
            for item in items.items
        )
    )


def walk(value: Value) -> Iterator[Value]:
    """Yield a value and all values in it."""
    parts: list[Value] = []

    def note(part: Value) -> Value:
        parts.append(part)
        return part

    with_parts(value, note)
    yield value
    for part in parts:
        yield from walk(part)


# --- the argument itself -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Argument:
    """One ARG of the command line."""

    name: str | None  # the name in expressions, if one is given
    value: Value
    text: str = field(default="", compare=False)  # the text as the user wrote it
    # Of one of several parameters, the text of the argument for all of them.
    whole: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The text in messages: that of the user, if there is one."""
        return self.text or str(self)

    def pasted(self, value: object) -> str:
        """Return the argument with another value, quoted for the shell; a part of one alone."""
        import shlex  # only hints need it

        is_whole = not isinstance(self.value, StructValue | ObjectValue)
        is_named = self.name is not None and is_whole
        return shlex.quote(f"{self.name}={value}" if is_named else str(value))

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.name else str(self.value)
