"""Arguments as frameworks pass them, and arrays by value with an initializer.

- numba: ``numba(f32[n,m]:rand)`` is 5 + 2·dimensions parameters of 8 bytes: ``meminfo`` and
  ``parent`` (null), the numbers of elements and of bytes of one, the address, the shape, and the
  strides in bytes (``_prepare_args`` in numba-cuda's ``dispatcher.py``).
- Warp: ``warp(f32[n,m]:rand)`` is an ``array_t`` (``warp/native/array.h``), and ``bounds(n,m)`` a
  ``launch_bounds_t`` (``warp/native/builtin.h``), the first parameter of every kernel.
- ``i32*8000:@x.npy``, ``f32*9:ones``: an array that is passed by value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from cudarun.arguments import types
from cudarun.arguments.buffers import BufferRules
from cudarun.arguments.dimensions import parse_count, read_dimension
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.files import locate
from cudarun.arguments.packing import BufferSpec, Pointers, Resolve
from cudarun.arguments.values import Argument, Buffer, Descriptor, FileBuffer, Null, Value
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

FRAMEWORKS = ("numba", "warp", "bounds")  # the words of this module

MAX_DIMENSIONS = 4  # of an array and of a launch in Warp

MAX_BY_VALUE = 1 << 26
"""The bytes of an array by value; those of a kernel's parameters are far fewer."""

_INITIAL_AHEAD = re.compile(r"@|(?:cast|corder|asis)\s*\(|(?:zeros|ones|iota)\b")
_INT64, _INT32 = types.SCALARS["i64"], types.SCALARS["i32"]


@dataclass(frozen=True, slots=True)
class NumbaArray(Descriptor):
    """An array of numba, several parameters; `numba_parameters` replaces it before binding."""

    buffer: Buffer | FileBuffer

    def __str__(self) -> str:
        return f"numba({self.buffer})"

    def packed(self, name: str, resolve: Resolve) -> tuple[bytes, Pointers, str]:
        """Never called: `numba_parameters` has replaced the value."""
        raise AssertionError(f"{name}: numba_parameters replaces it before it is packed")


@dataclass(frozen=True, slots=True)
class NumbaField(Descriptor):
    """One of the integers of an array of numba."""

    buffer: Buffer | FileBuffer
    name: str  # ``nitems``, ``itemsize``, ``shape`` or ``strides``
    axis: int = 0  # the axis of a shape or a stride
    type: types.Type = field(default=_INT64, init=False)

    def packed(self, name: str, resolve: Resolve) -> tuple[bytes, Pointers, str]:
        """Return the integer."""
        spec = resolve(self.buffer, name)
        totals = {"nitems": math.prod(spec.shape), "itemsize": spec.type.size}
        by_axis = spec.shape if self.name == "shape" else _strides(spec)
        number = totals[self.name] if self.name in totals else by_axis[self.axis]
        return number.to_bytes(8, "little"), (), str(number)

    def __str__(self) -> str:
        return f"{self.name} of {self.buffer}"


@dataclass(frozen=True, slots=True)
class WarpArray(Descriptor):
    """``array_t`` of Warp: data, gradient (null), four extents and strides, ``ndim``, ``flags``.

    Up to Warp 1.12 the last two are ``int``, later ``uint16_t``: with flags of 0 the same bytes.
    """

    buffer: Buffer | FileBuffer
    type: types.Type = field(default=types.StructType((
        types.StructMember("data", types.ADDRESS), types.StructMember("grad", types.ADDRESS),
        types.StructMember("shape", types.ArrayType(_INT32, MAX_DIMENSIONS)),
        types.StructMember("strides", types.ArrayType(_INT32, MAX_DIMENSIONS)),
        types.StructMember("ndim", _INT32), types.StructMember("flags", _INT32),
    )), init=False, repr=False, compare=False)  # fmt: skip

    type_name: ClassVar[str | None] = "array_t"

    def packed(self, name: str, resolve: Resolve) -> tuple[bytes, Pointers, str]:
        """Return the structure; the buffer in it has its name."""
        spec = resolve(self.buffer, name)
        dimensions = len(spec.shape)
        if dimensions > MAX_DIMENSIONS:
            raise RequestError(f"{self}: an array of Warp has at most {MAX_DIMENSIONS} dimensions")
        numbers = [0] * (2 * MAX_DIMENSIONS)
        numbers[:dimensions] = spec.shape
        numbers[MAX_DIMENSIONS : MAX_DIMENSIONS + dimensions] = _strides(spec)
        if max(numbers) > _INT32.maximum:
            raise RequestError(f"{self}: the extents and strides of Warp are 32-bit integers")
        data = b"".join(each.to_bytes(4, "little") for each in (*numbers, dimensions, 0))
        return bytes(16) + data, ((0, spec),), f"warp({spec.text})"

    def __str__(self) -> str:
        return f"warp({self.buffer})"


@dataclass(frozen=True, slots=True)
class LaunchBounds(Descriptor):
    """``launch_bounds_t`` of Warp: the dimensions of a launch and their product.

    Up to Warp 1.12 it is ``{int shape[4]; int ndim; size_t size;}``, later
    ``{uint32_t shape[N]; size_t size; size_t coord_mult;}``. The size of the parameter tells which;
    where both have 32 bytes, with three and four dimensions, it is the later one.
    """

    dimensions: tuple[Expression, ...]  # one to four
    size: int = 32  # the bytes of the parameter
    type_name: ClassVar[str | None] = "launch_bounds_t"

    @property
    def type(self) -> types.Type:
        """The size, aligned to 8 bytes."""
        return types.StructType(
            (types.StructMember("shape", types.ArrayType(types.SCALARS["u64"], self.size // 8)),)
        )

    def fitted(self, size: int) -> LaunchBounds:
        """Return the layout for a parameter of this size; the parser has the first that fits."""
        return replace(self, size=size if size in (self._least, 32) else self._least)

    @property
    def _least(self) -> int:
        return 24 if len(self.dimensions) <= 2 else 32

    def packed(self, name: str, resolve: Resolve) -> tuple[bytes, Pointers, str]:
        """Return the structure."""
        shape = resolve(Buffer(types.SCALARS["u8"], self.dimensions), name).shape
        if any(extent > types.SCALARS["u32"].maximum for extent in shape):
            raise RequestError(f"{self}: the dimensions of Warp are 32-bit integers")
        count = math.prod(shape).to_bytes(8, "little")
        if self.size == self._least:
            head = b"".join(extent.to_bytes(4, "little") for extent in shape)
            data = head.ljust(self.size - 16, b"\0") + count + (1).to_bytes(8, "little")
        else:
            padded = (*shape, *[0] * (MAX_DIMENSIONS - len(shape)), len(shape), 0)
            data = b"".join(extent.to_bytes(4, "little") for extent in padded) + count
        return data, (), f"bounds({','.join(map(str, shape))})"

    def __str__(self) -> str:
        return f"bounds({','.join(map(str, self.dimensions))})"


@dataclass(frozen=True, slots=True)
class FilledArray(Descriptor):
    """An array by value with an initializer, ``i32*8000:@x.npy``."""

    type: types.ArrayType
    buffer: Buffer

    def packed(self, name: str, resolve: Resolve) -> tuple[bytes, Pointers, str]:
        """Return the elements, read from the file."""
        from cudarun.arguments.initializers import fill, seeded  # numpy

        try:
            spec = resolve(self.buffer, name)
        except RequestError as error:  # its hints are for buffers
            count = f"{self.buffer.type}[{self.type.count}]"
            error.hint = error.hint and error.hint.replace(count, str(self.type))
            raise
        assert spec.initial is not None, "the parser requires an initializer"
        array = fill(spec.initial, spec.type, spec.shape, seeded(0, name))
        return array.tobytes(), (), str(spec.initial)

    def __str__(self) -> str:
        return f"{self.type}:{self.buffer.initial}"


def _strides(spec: BufferSpec) -> list[int]:
    """Return the distance of neighbors along each axis, in bytes."""
    return [math.prod(spec.shape[axis + 1 :]) * spec.type.size for axis in range(len(spec.shape))]


def numba_parameters(arguments: Sequence[Argument], directory: Path) -> list[Argument]:
    """Return the arguments with an argument per parameter for each array of numba.

    The buffer has the name of the array: ``x``; the others are ``x.meminfo``, ``x.shape0``, ….
    """
    found: list[Argument] = []
    for each in arguments:
        if not isinstance(each.value, NumbaArray):
            found.append(each)
            continue
        buffer, whole = each.value.buffer, each.shown
        if isinstance(buffer, FileBuffer):
            from cudarun.arguments.array_files import npy_header  # numpy

            path = locate(buffer.path, directory)
            axes = range(len(npy_header(path, buffer, each.pasted)[1]))
        else:
            axes = range(len(buffer.dimensions))
        parts: dict[str, Value] = {
            **dict.fromkeys(("meminfo", "parent"), Null()),
            **{name: NumbaField(buffer, name) for name in ("nitems", "itemsize")},
            "": buffer,
            **{f"shape{axis}": NumbaField(buffer, "shape", axis) for axis in axes},
            **{f"strides{axis}": NumbaField(buffer, "strides", axis) for axis in axes},
        }
        for name, value in parts.items():
            own = each.name and (f"{each.name}.{name}" if name else each.name)
            text = f"{name} of {whole}" if name else each.text
            found.append(Argument(own, value, text, whole))
    return found


class FrameworkRules(BufferRules):
    """The values of this module in the grammar."""

    def framework(self, word: str, start: int) -> Descriptor:
        """Parse the rest of a value that starts with a word of `FRAMEWORKS`."""
        scanner = self.scanner
        if word == "numba" and self.closing:
            raise scanner.error(
                "an array of numba is several parameters and cannot be a member", start
            )
        scanner.expect("(", f"after {word}")
        with self.enclosed(")"):
            found: Descriptor
            if word == "bounds":
                dimensions = scanner.several(partial(read_dimension, scanner))
                if len(dimensions) > MAX_DIMENSIONS:
                    raise scanner.error(
                        f"a launch of Warp has at most {MAX_DIMENSIONS} dimensions", start
                    )
                found = LaunchBounds(tuple(dimensions))
            else:
                inside = scanner.skip_space()
                buffer = self.pointer()
                if not isinstance(buffer, Buffer | FileBuffer):
                    raise scanner.error(
                        f"expected a buffer, found {buffer}", inside, hint=f"{word}(f32[n]:zeros)"
                    )
                found = NumbaArray(buffer) if word == "numba" else WarpArray(buffer)
        scanner.expect(")", f"after the value of {word}")
        return found

    def filled_array(self, element: types.Type) -> FilledArray | None:
        """Parse the initializer of an array by value; ``None`` if there is none."""
        if not isinstance(element, types.ArrayType) or not self.scanner.looks_at(_INITIAL_AHEAD):
            return None
        if types.has_pointers(element):
            return None
        if element.size > MAX_BY_VALUE:
            raise self.scanner.error(
                f"{element} has {element.size} bytes; an array by value has at most {MAX_BY_VALUE}"
            )
        count = (parse_count(str(element.count)),)
        initial = self.initial(element.element, count)
        return FilledArray(element, Buffer(element.element, count, initial))
