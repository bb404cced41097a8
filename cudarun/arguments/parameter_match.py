"""Matching of a value, and of a buffer's elements, with a kernel's parameter.

A parameter's type is known from C++ (``float const*``, from the demangled signature), from PTX
(``u64``: its width, and whether it is a float), or not at all.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias

from cudarun.arguments import types, values
from cudarun.arguments.literals import Form, LiteralError, read
from cudarun.arguments.scalars import UntypedNumber
from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter

_OBJECTS = {
    "cudaTextureObject_t": "cudaTextureObject_t",
    "CUtexObject": "cudaTextureObject_t",
    "cudaSurfaceObject_t": "cudaSurfaceObject_t",
    "CUsurfObject": "cudaSurfaceObject_t",
}
"""The types of objects in declarations; mangled names have `unsigned long long` instead."""

_BASE_ALIGNMENT = 16  # in code for compute capability 9.0 parameters begin at 0x210
_PTX_TYPE = re.compile(r"\.?(?P<letter>[usbf])(?P<bits>8|16|32|64)")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|restrict|struct|enum)\b")


class ParameterMismatch(Exception):
    """A value that does not match its parameter; the message gives the reason in one table line."""


@dataclass(frozen=True, slots=True)
class PtxType:
    """A parameter's type in PTX: ``f`` a float, ``u`` or ``s`` an integer or a pointer."""

    letter: str
    size: int


Expected: TypeAlias = types.PointerType | types.ScalarType | types.VectorType | PtxType | None
"""A parameter's type; ``None`` if it is unknown, as for a struct."""


def expected_type(text: str | None) -> Expected:
    """Parse a parameter's type as an image or a demangler writes it.

    Types that are not modeled, such as ``CUtensorMap_st`` or PTX's ``b8[24]``, are unknown.

    >>> expected_type("float const*")
    PointerType(pointee='float')
    """
    if text is None:
        return None
    text = text.strip()
    if ptx := _PTX_TYPE.fullmatch(text):
        return PtxType(ptx["letter"], int(ptx["bits"]) // 8)
    plain = _plain(text)
    if plain.endswith(("*", "&", ".ptr")) or "(*" in plain:
        return types.PointerType(plain.rstrip("*& "))
    # Debug information has the type of an enumeration: enum Mode : unsigned int.
    return types.NAMED.get(plain.rpartition(" : ")[2])


def _plain(text: str) -> str:
    """Return a C++ type without its qualifiers."""
    return " ".join(_QUALIFIERS.sub(" ", text).split())


def fit(value: values.Value, parameter: Parameter) -> values.Value:
    """Return the value for a parameter; an untyped number gets the parameter's type.

    Raises:
        ParameterMismatch: The value does not match the parameter.
    """
    expected = expected_type(parameter.type)
    if isinstance(value, UntypedNumber):
        match expected:
            case types.ScalarType():
                scalar = expected
            case PtxType("f"):
                scalar = types.SCALARS[f"f{8 * expected.size}"]
            case PtxType("u" | "s" as sign):
                # nvcc writes .u32 for a signed int too.
                negative = read(value.text).negative
                scalar = types.SCALARS[
                    f"{'i' if sign == 's' or negative else 'u'}{8 * expected.size}"
                ]
            case types.PointerType():
                raise ParameterMismatch("it is a pointer: pass a buffer, &symbol or null")
            case types.VectorType():
                raise ParameterMismatch(f"it is {expected}: {expected}:…")
            case _:
                forms = {Form.INTEGER: f"i{8 * parameter.size}", Form.TRUTH: "bool"}
                likely = f"{forms.get(read(value.text).form, f'f{8 * parameter.size}')}:{value}"
                raise ParameterMismatch(
                    f"its type is unknown: add a type to {value}, such as {likely}"
                )
        try:
            value = value.of(scalar)
        except LiteralError as error:
            raise ParameterMismatch(str(error)) from None
    if isinstance(value, values.Descriptor):
        value = value.fitted(parameter.size)
    given = values.value_type(value)
    _fit_object(given, parameter.type)
    if is_tensor_map(parameter) and isinstance(value, values.Buffer | values.FileBuffer):
        raise ParameterMismatch("it is a tensor map: tensormap(…, box=…)")
    if isinstance(value, values.Buffer | values.FileBuffer | values.AddressOf | values.Null):
        # A device address may be declared as an integer of its size, like CUdeviceptr.
        match expected:
            case types.ScalarType() | types.VectorType() if expected != types.SCALARS["u64"]:
                raise ParameterMismatch(f"it is {expected} by value, not a pointer")
            case PtxType(letter="f"):
                raise ParameterMismatch("it is a float by value, not a pointer")
    elif isinstance(given, types.ScalarType):
        match expected:
            case types.PointerType() if given != types.SCALARS["u64"]:  # of a raw address
                raise ParameterMismatch("it is a pointer: pass a buffer, &symbol or null")
            case types.ScalarType() if not has_same_bits(given, expected):
                raise ParameterMismatch(f"it is {expected}, not {given}")
            case PtxType(letter) if letter != "b" and (letter == "f") != given.is_float:
                raise ParameterMismatch(f"it is .{letter}{8 * expected.size}, not {given}")
    elif isinstance(given, types.StructType) and isinstance(expected, types.PointerType):
        if parameter.size == expected.size:  # not an array of pointers
            raise ParameterMismatch("it is a pointer: a buffer of structs is {…}[n]")
    elif isinstance(given, types.VectorType) and isinstance(expected, types.VectorType):
        has_same_elements = has_same_bits(given.element, expected.element)
        if given.count != expected.count or not has_same_elements:
            raise ParameterMismatch(f"it is {expected}, not {given}")
    if given.size != parameter.size:
        what = "an address" if type(given) is types.PointerType else str(given)
        what = value.type_name or what if isinstance(value, values.Descriptor) else what
        raise ParameterMismatch(f"{what} is {given.size} bytes, not {parameter.size}")
    # An offset is relative to the first parameter, whose address is a multiple of 16 only.
    if parameter.offset % min(given.alignment, _BASE_ALIGNMENT):
        raise ParameterMismatch(
            f"{given} is aligned to {given.alignment} bytes, the offset {parameter.offset} is not"
        )
    return value


def is_tensor_map(parameter: Parameter) -> bool:
    """Return whether a parameter is a ``CUtensorMap``, by its C++ type or its layout."""
    is_named = "CUtensorMap" in (parameter.type or "")
    is_aligned = is_named or parameter.alignment == types.TENSOR_MAP.alignment
    return is_aligned and parameter.size == types.TENSOR_MAP.size


class Agreement(Enum):
    """The agreement of a buffer's elements with the kernel's C++ pointee type."""

    FULL = "full"  # the types agree, or the pointee type is unknown
    SIGNEDNESS = "signedness"  # the types differ in signedness only, or are a bool and a byte
    NONE = "none"  # the types differ in size or kind


def agreement(element: types.Type, parameter: Parameter) -> Agreement:
    """Compare a buffer's elements with the kernel's C++ pointee type.

    Vectors, arrays and structs of one type agree with their scalars. Integers of one byte, like
    ``void``, enumerations and unknown classes, accept all elements.
    """
    expected = pointee_type(parameter)
    if expected is None or (expected.is_integer and expected.size == 1):
        return Agreement.FULL
    found = {_agreement(scalar, expected) for scalar in types.scalars_of(element)}
    return next((each for each in reversed(Agreement) if each in found), Agreement.FULL)


def pointee_type(parameter: Parameter) -> types.ScalarType | None:
    """Return the scalar type to which a parameter points; ``None`` if it is unknown.

    A pointer to pointers points to ``u64``.
    """
    plain = _plain(parameter.type or "")
    target = plain.removesuffix("*").rstrip()
    if target == plain:
        return None
    if target.endswith("*"):
        return types.SCALARS["u64"]
    named = types.NAMED.get(target)
    scalar = None if named is None else types.innermost(named)
    return scalar if isinstance(scalar, types.ScalarType) else None


def _agreement(given: types.ScalarType, expected: types.ScalarType) -> Agreement:
    if given == expected:
        return Agreement.FULL
    if given.size != expected.size or given.is_float or expected.is_float:
        return Agreement.NONE
    return Agreement.SIGNEDNESS


def _fit_object(given: types.Type, text: str | None) -> None:
    """Compare with a parameter that is an object by its declaration, or compare an object."""
    declared = _OBJECTS.get(_plain(text or ""))
    if declared is not None and isinstance(given, types.PointerType):
        if given != types.ObjectType(declared):
            word = "texture" if "Texture" in declared else "surface"
            raise ParameterMismatch(f"it is a {word} object: pass {word}(…)")
    elif isinstance(given, types.ObjectType):
        match expected_type(text):
            case types.PointerType():
                raise ParameterMismatch("it is a pointer: pass a buffer, &symbol or null")
            case types.ScalarType() | types.VectorType() as expected if expected.name not in (
                "u64",
                "i64",
            ):
                raise ParameterMismatch(f"it is {expected}, not a handle")
            case PtxType("f"):
                raise ParameterMismatch("it is a float, not a handle")


def has_same_bits(one: types.ScalarType, other: types.ScalarType) -> bool:
    """Return whether two types have the same bits, ignoring signedness."""
    if one.is_float or other.is_float:
        return one == other
    return one.size == other.size
