"""The types of arguments, with their size and alignment on the device.

Sizes and alignments follow the CUDA C++ Programming Guide ("Built-in Vector Types") and, for
structs and arrays, the C++ layout rules that device code obeys. ``str(type)`` is the type in the
grammar of ``docs/reference/arguments.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from cudarun.base.records import dataclass

POINTER_SIZE = 8

MAX_DEPTH = 16  # the levels of structs and arrays in a type, and the axes of a buffer


class Kind(Enum):
    """The interpretation of a scalar's bits."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    BOOL = "bool"


class _Named:
    """A type whose text is its name in the grammar."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time it would be the default of a field

        @property
        def name(self) -> str:
            """The name."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ScalarType(_Named):
    """A scalar type."""

    name: str  # the name in the grammar, ``f32``
    kind: Kind  # the interpretation of its bits
    size: int  # bytes; a scalar is aligned to its size
    exponent_bits: int = 0  # width of the exponent field; 0 for integers
    mantissa_bits: int = 0  # width of the stored mantissa; 0 for integers
    # Whether the largest exponent means infinity (it does not in ``f8e4m3``).
    has_infinity: bool = True

    @property
    def alignment(self) -> int:
        """The alignment in bytes."""
        return self.size

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers; ``bool`` is neither."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        """True for floating types."""
        return self.kind is Kind.FLOAT

    @property
    def minimum(self) -> int:
        """The smallest value of an integer type."""
        return -(1 << (8 * self.size - 1)) if self.kind is Kind.SIGNED else 0

    @property
    def maximum(self) -> int:
        """The largest value of an integer type."""
        return (1 << (8 * self.size - (self.kind is Kind.SIGNED))) - 1


@dataclass(frozen=True, slots=True)
class VectorType(_Named):
    """A CUDA vector type such as ``float4``: ``count`` scalars, densely packed."""

    name: str
    element: ScalarType
    count: int
    alignment: int

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.element.size * self.count


@dataclass(frozen=True, slots=True)
class ArrayType(_Named):
    """An array member, ``f32*4`` for ``float a[4]``; ``f32*4*2`` is two arrays of four."""

    element: Type
    count: int

    @property
    def name(self) -> str:
        """The type in the grammar."""
        return f"{self.element}*{self.count}"

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.element.size * self.count

    @property
    def alignment(self) -> int:
        """The element's alignment in bytes."""
        return self.element.alignment


@dataclass(frozen=True, slots=True)
class PointerType(_Named):
    """A device address; ``pointee`` is informative only, and empty for ``ptr`` of the grammar."""

    pointee: str = "void"
    size: ClassVar[int] = POINTER_SIZE
    alignment: ClassVar[int] = POINTER_SIZE

    @property
    def name(self) -> str:
        """The type as in C, or ``ptr``."""
        return f"{self.pointee}*" if self.pointee else "ptr"


@dataclass(frozen=True, slots=True)
class ObjectType(PointerType):
    """The handle of a texture or surface object; ``pointee`` is CUDA's name of its type."""

    @property
    def name(self) -> str:
        """The type as in CUDA."""
        return self.pointee


@dataclass(frozen=True, slots=True)
class StructMember:
    """A member of a struct type; ``name`` is ``None`` if the text has none."""

    name: str | None
    type: Type

    def __str__(self) -> str:
        return f"{self.name}={self.type}" if self.name else str(self.type)


@dataclass(frozen=True, slots=True)
class StructType(_Named):
    """A struct by value or in a buffer, ``{i32, float4}`` or ``{n=i32, v=float4}``."""

    members: tuple[StructMember, ...]
    layout: Layout = field(init=False, repr=False, compare=False)
    """The offsets of the members; computed once, or a struct in structs is laid out again by each
    of them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", lay_out(member.type for member in self.members))

    @property
    def name(self) -> str:
        """The type in the grammar."""
        return f"{{{', '.join(map(str, self.members))}}}"

    @property
    def size(self) -> int:
        """The size in bytes, including padding at the end."""
        return self.layout.size

    @property
    def alignment(self) -> int:
        """The largest alignment of a member, in bytes."""
        return self.layout.alignment

    @property
    def member_names(self) -> tuple[str, ...]:
        """The names of the members: their own, or ``f0``, ``f1``, … by position."""
        return tuple(member.name or f"f{index}" for index, member in enumerate(self.members))


@dataclass(frozen=True, slots=True)
class OpaqueType(_Named):
    """An object of the driver that is passed by value, such as ``CUtensorMap``."""

    name: str
    size: int
    alignment: int


Type: TypeAlias = ScalarType | VectorType | ArrayType | StructType | PointerType | OpaqueType


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a sequence of types: offsets and padded size in bytes."""

    offsets: tuple[int, ...]
    size: int
    alignment: int


def align_up(offset: int, alignment: int) -> int:
    """Return the smallest multiple of ``alignment`` that is not below ``offset``."""
    return -(-offset // alignment) * alignment


def lay_out(types: Iterable[Type]) -> Layout:
    """Lay out types in sequence as C++ does the members of a struct."""
    offsets: list[int] = []
    end, widest = 0, 1
    for each in types:
        alignment = each.alignment
        offsets.append(align_up(end, alignment))
        end = offsets[-1] + each.size
        widest = max(widest, alignment)
    return Layout(tuple(offsets), align_up(end, widest), widest)


def inner_shape(element: Type) -> tuple[int, ...]:
    """Return the axes that one element adds to the shape of a buffer: ``(4,)`` for ``float4``."""
    match element:
        case VectorType() | ArrayType():
            return (element.count, *inner_shape(element.element))
        case _:
            return ()


def by_times(shape: Iterable[int]) -> str:
    """Return the text of a shape: ``2×3``."""
    return "×".join(map(str, shape))


def depth(element: Type) -> int:
    """Return the levels of structs and arrays of an element: 2 for ``{f32*4}``."""
    match element:
        case ArrayType():
            return 1 + depth(element.element)
        case StructType():
            return 1 + max(depth(member.type) for member in element.members)
        case _:
            return 0


def innermost(element: Type) -> ScalarType | StructType | PointerType | OpaqueType:
    """Return the type that vectors and arrays consist of: ``f32`` for ``float4*2``."""
    match element:
        case VectorType() | ArrayType():
            return innermost(element.element)
        case _:
            return element


def has_pointers(element: Type) -> bool:
    """Return whether an element is an address, or a struct with addresses."""
    inner = innermost(element)
    if isinstance(inner, StructType):
        return any(has_pointers(member.type) for member in inner.members)
    return isinstance(inner, PointerType)


def scalars_of(element: Type) -> tuple[ScalarType, ...]:
    """Return every distinct scalar type of an element, in order of appearance."""
    inner = innermost(element)
    if isinstance(inner, StructType):
        nested = (scalar for member in inner.members for scalar in scalars_of(member.type))
        return tuple(dict.fromkeys(nested))
    return (inner,) if isinstance(inner, ScalarType) else ()


def least_exact(*types: ScalarType | None) -> ScalarType | None:
    """Return the floating type with the shortest mantissa."""
    return min(filter(None, types), key=lambda each: each.mantissa_bits, default=None)


def most_exact(*types: ScalarType | None) -> ScalarType | None:
    """Return the floating type with the longest mantissa, in which C++ computes."""
    return max(filter(None, types), key=lambda each: each.mantissa_bits, default=None)


# --- names ---------------------------------------------------------------------------------------


_INTEGERS = [
    ScalarType(f"{letter}{8 * size}", kind, size)
    for letter, kind in (("i", Kind.SIGNED), ("u", Kind.UNSIGNED))
    for size in (1, 2, 4, 8)
]
_OTHERS = [
    ScalarType("f16", Kind.FLOAT, 2, 5, 10),
    ScalarType("bf16", Kind.FLOAT, 2, 8, 7),
    ScalarType("f32", Kind.FLOAT, 4, 8, 23),
    ScalarType("f64", Kind.FLOAT, 8, 11, 52),
    ScalarType("f8e4m3", Kind.FLOAT, 1, 4, 3, has_infinity=False),
    ScalarType("f8e5m2", Kind.FLOAT, 1, 5, 2),
    ScalarType("bool", Kind.BOOL, 1),
]
SCALARS = {scalar.name: scalar for scalar in _INTEGERS + _OTHERS}  # by their own names

NAMELESS = ("bf16", "f8e4m3", "f8e5m2")  # the scalar types for which numpy has no name

ALIASES: dict[str, tuple[str, ...]] = {
    "i8": ("char", "signed char", "int8_t", "int8", "s8"),
    "u8": ("unsigned char", "uint8_t", "uint8", "uchar"),
    "i16": ("short", "short int", "signed short", "int16_t", "int16", "s16"),
    "u16": ("unsigned short", "unsigned short int", "uint16_t", "uint16", "ushort"),
    "i32": ("int", "signed", "signed int", "int32_t", "int32", "s32"),
    "u32": ("unsigned", "unsigned int", "uint32_t", "uint32", "uint"),
    "i64": (
        *("long", "long int", "signed long", "long long", "long long int", "signed long long"),
        *("int64_t", "int64", "s64", "ssize_t", "ptrdiff_t", "intptr_t"),
    ),
    "u64": (
        *("unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int"),
        *("uint64_t", "uint64", "ulong", "size_t", "uintptr_t", "CUdeviceptr"),
    ),
    "f16": ("half", "__half", "float16"),
    "bf16": ("__nv_bfloat16", "nv_bfloat16", "bfloat16"),
    "f32": ("float", "float32"),
    "f64": ("double", "float64"),
    "f8e4m3": ("__nv_fp8_e4m3", "float8_e4m3fn"),
    "f8e5m2": ("__nv_fp8_e5m2", "float8_e5m2"),
    "bool": ("_Bool",),
}
"""Further names of the scalar types: C, CUDA, numpy and ml_dtypes names on 64-bit Linux."""


def _vector_types() -> dict[str, VectorType]:
    bases = {
        "char": "i8", "uchar": "u8", "short": "i16", "ushort": "u16", "int": "i32", "uint": "u32",
        "long": "i64", "ulong": "u64", "longlong": "i64", "ulonglong": "u64",
        "float": "f32", "double": "f64",
    }  # fmt: skip
    vectors = []
    for base, name in bases.items():
        scalar = SCALARS[name]
        for count in (1, 2, 3, 4):
            # Three components are aligned like one; nothing is aligned above 16 bytes …
            alignment = scalar.size if count == 3 else min(16, scalar.size * count)
            vectors.append(VectorType(f"{base}{count}", scalar, count, alignment))
        if scalar.size == 8:
            # … except the types that CUDA 13 added with explicit alignment.
            vectors += [VectorType(f"{base}4_{wide}a", scalar, 4, wide) for wide in (16, 32)]
    vectors.append(VectorType("half2", SCALARS["f16"], 2, 4))
    vectors.append(VectorType("bfloat162", SCALARS["bf16"], 2, 4))
    return {vector.name: vector for vector in vectors}


VECTORS = _vector_types()  # the vector types by their CUDA names

VECTOR_ALIASES: dict[str, tuple[str, ...]] = {
    "half2": ("__half2",),
    "bfloat162": ("__nv_bfloat162", "nv_bfloat162"),
}

ADDRESS = PointerType("")  # the type ``ptr``

TENSOR_MAP = OpaqueType("CUtensorMap", 128, 64)  # a tensor map: driver API, section 6.30

NAMED: dict[str, ScalarType | VectorType] = {
    **SCALARS,
    **VECTORS,
    **{alias: SCALARS[name] for name, aliases in ALIASES.items() for alias in aliases},
    **{alias: VECTORS[name] for name, aliases in VECTOR_ALIASES.items() for alias in aliases},
}
"""Every name of a type."""
