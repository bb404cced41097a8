"""A complete ``cudarun launch`` command for a kernel, made from its signature.

The sizes are small and agree with each other: integers count elements, and buffers have room for
the product of all of them. Where there is PTX, it tells which parameters are pointers, to what, and
whether they are inputs; elsewhere the C++ types tell.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING

from cudarun.arguments.members import fields_of
from cudarun.arguments.parameter_match import PtxType, expected_type, is_tensor_map, pointee_type
from cudarun.arguments.parameter_order import has_names
from cudarun.arguments.types import NAMED, PointerType, ScalarType, VectorType
from cudarun.images.demangler import spellings
from cudarun.images.ptx_usage import KernelUsage, KernelUsages, PointerUse
from cudarun.records import dataclass
from cudarun.session.image.image import STDIN
from cudarun.session.image.numba_kernels import numba_arrays
from cudarun.session.image.triton import read_triton

if TYPE_CHECKING:
    from cudarun.images.facts import KernelFacts
    from cudarun.parameters import Parameter
    from cudarun.session.image.image import Image

_ELEMENTS = 1024
_LIMIT = 1 << 20  # elements of a buffer, however large the given integers are
_COUNTS = (32, 32, 32, 16)  # the value of an integer, by how many there are; then 8
_FEWEST = 8
_SHARED = "16Ki"
_ADDRESS = 8
_WARP = 32
_BLOCK = 256  # the default with --threads
_WIDEST = 1 << 14  # texels of an array of one dimension, which all devices support


@dataclass(frozen=True, slots=True)
class SuggestedKernel:
    """A kernel to launch, with the facts that are known.

    Attributes:
        name: Its mangled name.
        parameters: Its parameters.
        facts: The facts of the image, if it has them.
        usage: The use of its parameters in PTX, if the image is PTX.
        has_names: Whether arguments can be bound by name.
        texts: The values of parameters that are known from elsewhere, by index.
    """

    name: str
    parameters: Sequence[Parameter]
    facts: KernelFacts | None = None
    usage: KernelUsage | None = None
    has_names: bool = False
    texts: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class GivenWords:
    """The parts of a command that the user gave.

    Attributes:
        kernel: The value of ``-k``.
        options: The options of the image, the device and the geometry, as words.
        has_geometry: Whether they include a geometry.
        arguments: The argument for each parameter; ``None`` where it is missing.
        integers: The values of integers among them.
    """

    kernel: str | None = None
    options: tuple[str, ...] = ()
    has_geometry: bool = False
    arguments: tuple[str | None, ...] = ()
    integers: tuple[int, ...] = ()


def suggest_launch(
    image: str, kernel: SuggestedKernel, names: Iterable[str], given: GivenWords
) -> str:
    """Return a command that launches a kernel, in one line.

    Args:
        image: The image file as on the command line.
        kernel: The kernel.
        names: The mangled names of all kernels of the image.
        given: What the user gave already.
    """
    sizes = _Sizes(kernel, given)
    words = ["cudarun", "launch", "-" if image == STDIN else image]
    chosen = given.kernel or _choice(kernel.name, tuple(names))
    words += ["-k", chosen] if chosen else []
    words += given.options
    words += [] if given.has_geometry else _geometry(kernel, sizes)
    arrays = numba_arrays(kernel.name, len(kernel.parameters), kernel.usage)
    covered = 0  # the parameters before this index have an argument
    for parameter in kernel.parameters:
        index = parameter.index
        if index < covered:
            continue
        if index in arrays:
            covered = index + arrays[index].count
        own = given.arguments[index] if index < len(given.arguments) else None
        other = arrays[index].text if index in arrays else None
        words.append(own or other or _argument(kernel, parameter, sizes))
    return shlex.join(words)


def image_words(image: Image) -> tuple[str, ...]:
    """Return the options that compile an image as it was compiled."""
    options = image.compilation
    if options is None:
        return ()
    words = [*(("-I", each) for each in options.include)]
    words += [("-D", each) for each in options.defines]
    words += [("--std", options.standard)] if options.standard else []
    words += [("--compile-option", each) for each in options.options]
    words += [] if options.compiler == "auto" else [("--compiler", options.compiler)]
    return tuple(word for pair in words for word in pair)


def device_words(label: str) -> tuple[str, ...]:
    """Return the option of a device; nothing for the default."""
    return () if label == "0" else ("-d", label)


class Suggestions:
    """The commands that launch the kernels of an image.

    Args:
        image: The image as loaded.
        origin: The file as on the command line.
        usages: The use of parameters in it, where it is known.
    """

    def __init__(self, image: Image, origin: str, usages: KernelUsages | None = None) -> None:
        self._image = image
        self._origin = origin
        self._given_usages = usages
        self._triton = read_triton(image)

    def collect(self) -> None:
        """Collect what the commands need while a driver of this process compiles the image."""
        self._usages.collect()

    def command(
        self, name: str, parameters: Sequence[Parameter], names: Iterable[str], given: GivenWords
    ) -> str:
        """Return the command for a kernel, in one line.

        Args:
            name: Its mangled name.
            parameters: Its parameters.
            names: The mangled names of all kernels of the image.
            given: What the user gave already.
        """
        triton = self._triton if self._triton and self._triton.name == name else None
        texts: dict[int, str] = {}
        if triton is not None:
            from cudarun.session.image.triton_arguments import suggested  # few images need it

            parameters, texts = suggested(triton, self._image, parameters)
            grid = () if given.has_geometry else ("--grid", "1")
            given = replace(given, options=(*given.options, *grid), has_geometry=True)
        kernel = SuggestedKernel(
            name,
            parameters,
            self._facts.get(name),
            self._usages.of(name),
            has_names(parameters),
            tuple(texts.items()),
        )
        return suggest_launch(self._origin, kernel, names, given)

    @cached_property
    def _facts(self) -> dict[str, KernelFacts]:
        kernels = self._image.facts.kernels if self._image.facts else ()
        return {each.name: each for each in kernels}

    @cached_property
    def _usages(self) -> KernelUsages:
        return self._given_usages or KernelUsages(self._image.data)


def _choice(name: str, names: tuple[str, ...]) -> str | None:
    """Return the shortest spelling that only this kernel has; ``None`` if it is the only one."""
    if len(names) < 2:
        return None
    owners = _owners(names)
    own = (each for each in spellings(name) if owners[each] == 1)
    return min(own, key=len, default=name)


@lru_cache(maxsize=1)
def _owners(names: tuple[str, ...]) -> Counter[str]:
    """Return the number of kernels that have each spelling."""
    return Counter(spelling for name in dict.fromkeys(names) for spelling in spellings(name))


# --- sizes ---------------------------------------------------------------------------------------


class _Sizes:
    """The value of integers, and the number of elements of buffers.

    Attributes:
        value: The value of each integer.
        elements: The elements of a buffer; as an expression over the only integer if there is one
            with a name.
    """

    def __init__(self, kernel: SuggestedKernel, given: GivenWords) -> None:
        integers = [each for each in kernel.parameters if _is_count(kernel, each)]
        usage = kernel.usage
        # Indexes of such a kernel are linear in its only size.
        is_flat = usage is not None and usage.dimensions == 1 and not usage.has_loop
        count = len(integers)
        self.is_flat = is_flat and count <= 1
        self.value = _COUNTS[count] if count < len(_COUNTS) else _FEWEST
        if self.is_flat:
            self.value = max(given.integers, default=_ELEMENTS)
        missing = max(0, count - len(given.integers))
        product = prod(given.integers) * self.value**missing
        if count == 1 and usage is not None and usage.has_loop:
            product *= _BLOCK  # a step of a loop is often a block
        self.elements = min(max(_ELEMENTS, self.value if self.is_flat else product), _LIMIT)
        self.only = integers[0] if self.is_flat and kernel.has_names and count else None

    def extent(self, width: int) -> str:
        """Return the extent of a buffer whose accesses are ``width`` elements wide."""
        if self.only is None:
            return str(self.elements * width)
        return f"{width}*{self.only.name}" if width > 1 else str(self.only.name)


def _is_count(kernel: SuggestedKernel, parameter: Parameter) -> bool:
    """Return whether a parameter is an integer that can count elements."""
    if parameter.size not in (4, 8) or _is_pointer(kernel, parameter):
        return False
    match _expected(kernel, parameter):
        case ScalarType() as scalar:
            return scalar.is_integer
        case PtxType(letter):
            return letter != "f"
    return False


def _is_pointer(kernel: SuggestedKernel, parameter: Parameter) -> bool:
    expected = expected_type(parameter.type)
    if isinstance(expected, PointerType):
        return True
    if parameter.type is None and kernel.usage is None:  # an old cubin: most of 8 bytes are
        return parameter.size == _ADDRESS
    if kernel.usage is not None and (parameter.index, 0) in kernel.usage.pointers:
        return parameter.size == _ADDRESS
    is_unused = kernel.usage is None or (parameter.index, 0) not in kernel.usage.values
    is_integer = isinstance(expected, PtxType) and expected.letter != "f"
    return is_unused and is_integer and parameter.size == _ADDRESS


# --- words ---------------------------------------------------------------------------------------


def _geometry(kernel: SuggestedKernel, sizes: _Sizes) -> list[str]:
    facts, usage = kernel.facts, kernel.usage
    shared = ["--smem", _SHARED] if usage is not None and usage.has_dynamic_shared else []
    if facts is not None and facts.required_cluster is not None:
        grid = ["--grid", ",".join(map(str, facts.required_cluster))]
        return [*grid, *([] if facts.required_block else ["--block", "32"]), *shared]
    if facts is not None and facts.required_block is not None:
        return ["--grid", "1", *shared]
    dimensions = usage.dimensions if usage is not None else 1
    if dimensions > 1:
        side = str(sizes.value if dimensions == 2 else _FEWEST)
        return ["--threads", ",".join([side] * dimensions), *shared]
    threads = sizes.value if sizes.is_flat else _ELEMENTS
    extent = str(sizes.only.name if sizes.only else threads)
    return ["--threads", extent, *_block(usage), *shared]


def _block(usage: KernelUsage | None) -> list[str]:
    """Return a block of no more threads than the smallest array in shared memory has elements.

    An array of fewer elements than a warp has threads is no array of an element per thread.
    """
    if usage is None:
        return []
    counts = [size // usage.shared_access for size in usage.shared_arrays]
    fewest = min((count for count in counts if count >= _WARP), default=_BLOCK)
    return [] if fewest >= _BLOCK else ["--block", str(1 << (fewest.bit_length() - 1))]


def _argument(kernel: SuggestedKernel, parameter: Parameter, sizes: _Sizes) -> str:
    value = _value(kernel, parameter, sizes)
    return f"{parameter.name}={value}" if kernel.has_names else value


def _value(kernel: SuggestedKernel, parameter: Parameter, sizes: _Sizes) -> str:
    if _is_pointer(kernel, parameter):
        use = kernel.usage.pointers.get((parameter.index, 0)) if kernel.usage else None
        return _buffer(parameter, use, sizes)
    match _expected(kernel, parameter):
        case ScalarType() as scalar:
            return _number(scalar, sizes)
        case VectorType() as vector:
            return f"{vector}:{','.join(['1'] * vector.count)}"
        case PtxType("f", size):
            return f"f{8 * size}:1"
        case PtxType(_, size):
            return _number(NAMED[f"i{8 * size}"], sizes)
    for index, text in kernel.texts:
        if index == parameter.index:
            return text
    if is_tensor_map(parameter):
        return "tensormap(f32[64,64]:iota, box=32x32)"
    if parameter.members:
        return _described(parameter, kernel, sizes, 0)
    return _struct(parameter, kernel.usage, sizes)


def _expected(kernel: SuggestedKernel, parameter: Parameter) -> object:
    """Return the parameter's type; where it is bits, the type of the instruction that loads it."""
    expected = expected_type(parameter.type)
    loaded = kernel.usage.values.get((parameter.index, 0)) if kernel.usage else None
    if expected is None and parameter.type in (f"b{8 * parameter.size}", None) and loaded:
        scalar = _scalar(loaded)
        return scalar if scalar is not None and scalar.size == parameter.size else None
    if parameter.type is None and parameter.size in (1, 2, 4):
        return PtxType("u", parameter.size)
    return expected


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


def _number(scalar: ScalarType | VectorType, sizes: _Sizes) -> str:
    name = str(scalar)
    if name == "bool":
        return "bool:true"
    is_count = isinstance(scalar, ScalarType) and scalar.is_integer and scalar.size >= 4
    return f"{name}:{sizes.value if is_count else 1}"


def _buffer(parameter: Parameter, use: PointerUse | None, sizes: _Sizes) -> str:
    if use is not None and use.geometry is not None:
        return _object(use, sizes)
    element, width = pointee_type(parameter), _pointee_width(parameter)
    if element is None:
        element = _scalar(use.element) if use is not None and use.element else None
    width = max(width, use.width if use is not None else 1)
    if element is None:  # wide enough for elements of any size
        return f"u8[{sizes.extent(_ADDRESS)}]:zeros"
    is_input = _is_constant(parameter) if use is None else not use.is_written
    filled = ":zeros"
    if use is not None and use.is_written and not use.is_read:
        filled = ""  # so that elements that the kernel does not write are reported
    elif is_input and element.is_float:
        filled = ":iota"  # zeros are valid indexes, other integers may be none
    return f"{element}[{sizes.extent(width)}]{filled}"


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


def _object(use: PointerUse, sizes: _Sizes) -> str:
    """Return a texture or a surface object."""
    scalar = _scalar(use.element or "f32") or NAMED["f32"]
    element = str(scalar)
    if use.width > 1:
        base = {"u8": "uchar", "i16": "short", "f32": "float"}.get(element, "int")
        element = f"{base}{use.width}"
    shape, options = _SHAPES[use.geometry or "2d"]
    size = min(sizes.elements, _WIDEST) if use.geometry == "1d" else min(sizes.value, _BLOCK)
    filled = ":zeros" if use.is_surface and use.is_read else "" if use.is_surface else ":iota"
    word = "surface" if use.is_surface else "texture"
    return f"{word}({element}[{shape.format(size)}]{filled}{options})"


def _is_constant(parameter: Parameter) -> bool:
    return "const" in (parameter.type or "").replace("*", " * ").partition("*")[0].split()


def _pointee_width(parameter: Parameter) -> int:
    """Return the components of the vectors to which a parameter points."""
    target = (parameter.type or "").replace("const", "").partition("*")[0].strip()
    named = NAMED.get(target)
    return named.count if isinstance(named, VectorType) else 1


# --- structs -------------------------------------------------------------------------------------


def _struct(parameter: Parameter, usage: KernelUsage | None, sizes: _Sizes) -> str:
    """Return a struct with the members that the kernel loads; zeros for all others."""
    members = [*_members(parameter, usage)]
    if not members:
        return f"bytes:{'00' * parameter.size}"
    texts: list[str] = []
    end, alignment = 0, 1
    for offset, kind in members:
        use = usage.pointers.get((parameter.index, offset)) if usage else None
        scalar = _scalar(kind)
        if use is None and scalar is None:
            continue
        size = _ADDRESS if scalar is None or use is not None else scalar.size
        if offset < end or offset % size:
            continue
        texts += _filler(end, offset, size)
        if use is not None:
            texts.append(_buffer(parameter, use, sizes))
        elif scalar is not None:
            texts.append(_number(scalar, sizes))
        end, alignment = offset + size, max(alignment, size)
    texts += _filler(end, parameter.size, alignment)
    return f"{{{', '.join(texts)}}}"


def _described(parameter: Parameter, kernel: SuggestedKernel, sizes: _Sizes, base: int) -> str:
    """Return a value with the members that debug information has; zeros for unknown ones.

    Args:
        parameter: The parameter, or a member of it with its index.
        kernel: The kernel.
        sizes: The sizes of buffers.
        base: The offset in the parameter.
    """
    expected = expected_type(parameter.type)
    if parameter.count > 1 and isinstance(expected, ScalarType):
        return f"{expected}*{parameter.count}:ones"
    if parameter.count == 1 and isinstance(expected, PointerType):
        use = kernel.usage.pointers.get((parameter.index, base)) if kernel.usage else None
        return _buffer(parameter, use, sizes)
    if isinstance(expected, ScalarType):
        is_enumeration = (parameter.type or "").startswith("enum ")
        return f"{expected}:0" if is_enumeration else _number(expected, sizes)
    if isinstance(expected, VectorType):
        return f"{expected}:{','.join(['1'] * expected.count)}"
    fields = fields_of(parameter)
    if not fields:
        return f"bytes:{'00' * parameter.size}"
    parts = []
    for field in fields:
        own = replace(field, index=parameter.index)
        text = _described(own, kernel, sizes, base + field.offset)
        parts.append(f"{field.name}={text}" if has_names(fields) else text)
    return f"{{{', '.join(parts)}}}"


def _members(parameter: Parameter, usage: KernelUsage | None) -> Iterator[tuple[int, str]]:
    for (index, offset), kind in sorted(usage.values.items() if usage else ()):
        if index == parameter.index:
            yield offset, kind


def _filler(end: int, offset: int, alignment: int) -> list[str]:
    """Return bytes from ``end`` to ``offset`` that alignment alone does not leave free."""
    if -(-end // alignment) * alignment == offset:
        return []
    return [f"u8*{offset - end}:{','.join(['0'] * (offset - end))}"]
