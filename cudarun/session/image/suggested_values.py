"""Values for the parameters of a kernel, made from its signature.

The sizes are small and agree with each other: integers count elements, and buffers have room for
the product of all of them. Where there is PTX, it tells which parameters are pointers, to what, and
whether they are inputs; elsewhere the C++ types tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from cudarun.arguments.members import fields_of
from cudarun.arguments.parameter_match import PtxType, expected_type, is_tensor_map, pointee_type
from cudarun.arguments.parameter_order import has_names
from cudarun.arguments.types import NAMED, PointerType, ScalarType, VectorType

if TYPE_CHECKING:
    from cudarun.images.parameters import Parameter
    from cudarun.images.ptx_usage import KernelUsage, PointerUse

ELEMENTS = 1024
FEWEST = 8
_LIMIT = 1 << 20  # elements of a buffer, however large the given integers are
_COUNTS = (32, 32, 32, 16)  # the value of an integer, by how many there are; then `FEWEST`
_ADDRESS = 8
_BLOCK = 256  # the default with --threads
_WIDEST = 1 << 14  # texels of an array of one dimension, which all devices support


class SuggestedValues:
    """Values for the parameters of a kernel.

    Args:
        usage: Their use in PTX, if the image is PTX.
        integers: The values of given integers.
        texts: The values of parameters that are known from elsewhere, by index.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        usage: KernelUsage | None,
        integers: Sequence[int],
        texts: Mapping[int, str],
    ) -> None:
        self._usage = usage
        self._texts = texts
        self._has_names = has_names(parameters)
        found = [each for each in parameters if self._is_count(each)]
        is_linear = usage is not None and usage.dimensions == 1 and not usage.has_loop
        # Whether indexes are linear in the only integer.
        self.is_flat = is_linear and len(found) <= 1
        # The value of each integer.
        self.count = _COUNTS[len(found)] if len(found) < len(_COUNTS) else FEWEST
        if self.is_flat:
            self.count = max(integers, default=ELEMENTS)
        missing = max(0, len(found) - len(integers))
        product = prod(integers) * self.count**missing
        if len(found) == 1 and usage is not None and usage.has_loop:
            product *= _BLOCK  # a step of a loop is often a block
        self._elements = min(max(ELEMENTS, self.count if self.is_flat else product), _LIMIT)
        # That integer, if it has a name.
        self.only = found[0] if self.is_flat and self._has_names and found else None

    def argument(self, parameter: Parameter) -> str:
        """Return an argument for a parameter, with its name if arguments can be bound by name."""
        value = self._value(parameter)
        return f"{parameter.name}={value}" if self._has_names else value

    def _is_count(self, parameter: Parameter) -> bool:
        """Return whether a parameter is an integer that can count elements."""
        if parameter.size not in (4, 8) or self._is_pointer(parameter):
            return False
        match self._expected(parameter):
            case ScalarType() as scalar:
                return scalar.is_integer
            case PtxType(letter):
                return letter != "f"
        return False

    def _is_pointer(self, parameter: Parameter) -> bool:
        expected, usage = expected_type(parameter.type), self._usage
        if isinstance(expected, PointerType):
            return True
        if parameter.size != _ADDRESS:
            return False
        if usage is None and parameter.type is None:  # an old cubin: most of 8 bytes are
            return True
        if self._use(parameter, 0) is not None:
            return True
        is_unused = usage is None or (parameter.index, 0) not in usage.values
        return is_unused and isinstance(expected, PtxType) and expected.letter != "f"

    def _use(self, parameter: Parameter, offset: int) -> PointerUse | None:
        """Return the use of the pointer at an offset of a parameter."""
        return self._usage.pointers.get((parameter.index, offset)) if self._usage else None

    def _value(self, parameter: Parameter) -> str:
        if self._is_pointer(parameter):
            return self._buffer(parameter, self._use(parameter, 0))
        match self._expected(parameter):
            case ScalarType() as scalar:
                return self._number(scalar)
            case VectorType() as vector:
                return _vector(vector)
            case PtxType("f", size):
                return f"f{8 * size}:1"
            case PtxType(_, size):
                return self._number(NAMED[f"i{8 * size}"])
        if parameter.index in self._texts:
            return self._texts[parameter.index]
        if is_tensor_map(parameter):
            return "tensormap(f32[64,64]:iota, box=32x32)"
        return self._described(parameter, 0) if parameter.members else self._struct(parameter)

    def _expected(self, parameter: Parameter) -> object:
        """Return the parameter's type; of bits, the type of the instruction that loads it."""
        expected = expected_type(parameter.type)
        loaded = self._usage.values.get((parameter.index, 0)) if self._usage else None
        if expected is None and parameter.type in (f"b{8 * parameter.size}", None) and loaded:
            scalar = _scalar(loaded)
            return scalar if scalar is not None and scalar.size == parameter.size else None
        if parameter.type is None and parameter.size in (1, 2, 4):
            return PtxType("u", parameter.size)
        return expected

    def _number(self, scalar: ScalarType | VectorType) -> str:
        name = str(scalar)
        if name == "bool":
            return "bool:true"
        is_count = isinstance(scalar, ScalarType) and scalar.is_integer and scalar.size >= 4
        return f"{name}:{self.count if is_count else 1}"

    # --- buffers ---

    def _buffer(self, parameter: Parameter, use: PointerUse | None) -> str:
        if use is not None and use.geometry is not None:
            return self._object(use)
        element, pointee = pointee_type(parameter), (parameter.type or "").partition("*")[0]
        named = NAMED.get(pointee.replace("const", "").strip())
        width = named.count if isinstance(named, VectorType) else 1
        if element is None and use is not None and use.element:
            element = _scalar(use.element)
            is_struct = pointee.replace("const", "").strip() not in ("", "void") and named is None
            if is_struct and element is not None and use.end > use.width * element.size:
                size = -(-use.end // element.size) * element.size
                return f"u8[{self._extent(size)}]:zeros"
        width = max(width, use.width if use is not None else 1)
        if element is None:  # wide enough for elements of any size
            return f"u8[{self._extent(_ADDRESS)}]:zeros"
        is_input = "const" in pointee.split() if use is None else not use.is_written
        filled = ":zeros"
        if use is not None and use.is_written and not use.is_read:
            filled = ""  # so that elements that the kernel does not write are reported
        elif is_input and element.is_float:
            filled = ":iota"  # zeros are valid indexes, other integers may be none
        return f"{element}[{self._extent(width)}]{filled}"

    def _extent(self, width: int) -> str:
        """Return the extent of a buffer whose accesses are ``width`` elements wide."""
        if self.only is None:
            return str(self._elements * width)
        return f"{width}*{self.only.name}" if width > 1 else str(self.only.name)

    def _object(self, use: PointerUse) -> str:
        """Return a texture or a surface object."""
        element = str(_scalar(use.element or "f32") or NAMED["f32"])
        if use.width > 1:
            base = {"u8": "uchar", "i16": "short", "f32": "float"}.get(element, "int")
            element = f"{base}{use.width}"
        shape, options = _SHAPES[use.geometry or "2d"]
        is_long = use.geometry == "1d"
        size = min(self._elements, _WIDEST) if is_long else min(self.count, _BLOCK)
        filled = ":zeros" if use.is_surface and use.is_read else "" if use.is_surface else ":iota"
        word = "surface" if use.is_surface else "texture"
        return f"{word}({element}[{shape.format(size)}]{filled}{options})"

    # --- structs ---

    def _struct(self, parameter: Parameter) -> str:
        """Return a struct with the members that the kernel loads; zeros for all others."""
        values = sorted(self._usage.values.items() if self._usage else ())
        members = [(offset, kind) for (index, offset), kind in values if index == parameter.index]
        if not members:
            return _zeros(parameter)
        texts: list[str] = []
        end, alignment = 0, 1
        for offset, kind in members:
            use, scalar = self._use(parameter, offset), _scalar(kind)
            if use is not None:
                size, text = _ADDRESS, self._buffer(parameter, use)
            elif scalar is not None:
                size, text = scalar.size, self._number(scalar)
            else:
                continue
            if offset < end or offset % size:
                continue
            texts += [*_filler(end, offset, size), text]
            end, alignment = offset + size, max(alignment, size)
        texts += _filler(end, parameter.size, alignment)
        return f"{{{', '.join(texts)}}}"

    def _described(self, parameter: Parameter, base: int) -> str:
        """Return a value with the members that debug information has; zeros for unknown ones.

        Args:
            parameter: The parameter, or a member of it with its index.
            base: The offset in the parameter.
        """
        expected = expected_type(parameter.type)
        if parameter.count > 1 and isinstance(expected, ScalarType):
            return f"{expected}*{parameter.count}:ones"
        if parameter.count == 1 and isinstance(expected, PointerType):
            return self._buffer(parameter, self._use(parameter, base))
        if isinstance(expected, ScalarType):
            is_enumeration = (parameter.type or "").startswith("enum ")
            return f"{expected}:0" if is_enumeration else self._number(expected)
        if isinstance(expected, VectorType):
            return _vector(expected)
        fields = fields_of(parameter)
        if not fields:
            return _zeros(parameter)
        parts = []
        for field in fields:
            member = replace(field, index=parameter.index)
            text = self._described(member, base + field.offset)
            parts.append(f"{field.name}={text}" if has_names(fields) else text)
        return f"{{{', '.join(parts)}}}"


def _vector(vector: VectorType) -> str:
    return f"{vector}:{','.join(['1'] * vector.count)}"


def _zeros(parameter: Parameter) -> str:
    return f"bytes:{'00' * parameter.size}"


_SHAPES = {
    "1d": ("{0}", ""),
    "2d": ("{0},{0}", ""),
    "3d": ("{0},{0},{0}", ""),
    "a1d": ("8,{0}", ", layered"),
    "a2d": ("8,{0},{0}", ", layered"),
    "cube": ("6,{0},{0}", ", cube"),
    "acube": ("2,6,{0},{0}", ", cube, layered"),
}
"""The dimensions and options of an array for each geometry of PTX; ``{0}`` is the size."""


def _scalar(ptx_type: str) -> ScalarType | None:
    """Return the type of a PTX type; bits are signed integers, as nvcc writes ``.u32`` for int.

    ``None`` for packed types and 128 bits.
    """
    found = NAMED.get(ptx_type)
    if isinstance(found, ScalarType) and found.is_float:
        return found
    bits = ptx_type.lstrip("busf")
    scalar = NAMED.get(f"{'u' if bits == '8' else 'i'}{bits}")
    return scalar if isinstance(scalar, ScalarType) else None


def _filler(end: int, offset: int, alignment: int) -> list[str]:
    """Return bytes from ``end`` to ``offset`` that alignment alone does not leave free."""
    if -(-end // alignment) * alignment == offset:
        return []
    return [f"u8*{offset - end}:{','.join(['0'] * (offset - end))}"]
