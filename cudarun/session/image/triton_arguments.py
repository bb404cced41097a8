"""The parameters of a Triton kernel, from the arguments of its Python function.

Triton's launcher drops the arguments that are compiled into the kernel (``constexpr``, and those
that equal 1), expands a tensor descriptor of the host to a tensor map, the dimensions (``i32``) and
the strides (``i64``) of its tensor, and appends pointers to scratch memory. The number of these
depends on Triton's version, so they are counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cudarun.arguments import values
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.parameter_order import in_order
from cudarun.arguments.scalars import CompiledConstant, Scalar, UntypedNumber, constant_scalar
from cudarun.arguments.scanner import IDENTIFIER
from cudarun.arguments.tensor_map_options import TensorMapOptions, element_name, sizes_of
from cudarun.arguments.types import SCALARS, TENSOR_MAP, ScalarType, innermost
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.parameters import Parameter
from cudarun.session.image.image import Image
from cudarun.session.image.triton import SCRATCH, TritonDescriptor, TritonKernel, files_beside

_SHAPE, _STRIDE = SCALARS["i32"], SCALARS["i64"]
_LARGEST = 1 << 24  # bytes of a file
_PARAMETER = re.compile(r"%(?P<name>[A-Za-z_][\w.$-]*): ")
_NUMBERED = re.compile(r"arg[0-9]+")


@dataclass(frozen=True, slots=True)
class TritonParameter:
    """An argument of the Python function that the kernel has."""

    index: int  # the index of its first parameter
    descriptor: TritonDescriptor | None = None  # the descriptor, if it is one

    @property
    def width(self) -> int:
        """The number of parameters."""
        return 1 if self.descriptor is None else 1 + 2 * len(self.descriptor.block)


@dataclass(frozen=True, slots=True)
class TritonArguments:
    """The arguments of a launch."""

    arguments: tuple[values.Argument, ...]
    names: tuple[str, ...]  # the names of all parameters; nothing if they are unknown
    constants: tuple[CompiledConstant, ...]  # the values that are compiled into the kernel


def triton_arguments(
    kernel: TritonKernel, image: Image, given: Sequence[values.Argument], grid: Sequence[Expression]
) -> TritonArguments:
    """Return the arguments for all parameters.

    Args:
        given: The given arguments; complete if there are as many as parameters.
        grid: The grid in blocks.
    """
    facts = image.read_facts().kernel(kernel.name)
    parameters = () if facts is None else facts.parameters
    own = own_parameters(kernel, parameters)
    names = own_names(kernel, image, own)
    passed, constants = _without_constants(kernel, given, names)
    if len(passed) == len(parameters) and not (names and any(each.name for each in passed)):
        return TritonArguments(tuple(passed), (), constants)
    placed: Sequence[values.Argument | None] = passed
    if names:
        places = [Parameter(index, 0, 0, name=name) for index, name in enumerate(names)]
        placed = in_order(passed, places, kernel.name)
        placed = [
            each and replace(each, name=each.name or names[index] if index < len(names) else None)
            for index, each in enumerate(placed)
        ]
    arguments = [*_expanded(placed, own)]
    wanted = min(len(parameters) - len(arguments), len(kernel.scratch_bytes))
    is_named = bool(names) or any(argument.name for argument in given)
    blocks = [f"({each})" for each in grid]
    for name, size in [*zip(SCRATCH, kernel.scratch_bytes, strict=False)][: max(wanted, 0)]:
        value = f"u8[{'*'.join((str(size), *blocks))}]:zeros" if size else "null"
        arguments.append(parse_argument(f"{name}={value}" if is_named else value))
    every: list[str] = []
    for name, each in zip(names, own if names else (), strict=True):
        axes = range(each.width // 2)
        every.append(name)
        every += [f"{name}_{word}_{axis}" for word in ("shape", "stride") for axis in axes]
    every += SCRATCH[: len(parameters) - len(every)] if names else ()
    return TritonArguments(tuple(arguments), tuple(every), constants)


def own_parameters(
    kernel: TritonKernel, parameters: Sequence[Parameter]
) -> tuple[TritonParameter, ...]:
    """Return the arguments of the Python function that the kernel has."""
    found: list[TritonParameter] = []
    descriptors = iter(kernel.descriptors)
    index, end = 0, max(0, len(parameters) - len(kernel.scratch_bytes))
    while index < end:
        is_map = parameters[index].size == TENSOR_MAP.size
        found.append(TritonParameter(index, next(descriptors, None) if is_map else None))
        index += found[-1].width
    if index > end or next(descriptors, None) is not None:
        raise RequestError(
            f"{kernel.name}: the parameters are not those of the {len(kernel.descriptors)} tensor "
            "descriptors in Triton's file"
        )
    return tuple(found)


def own_names(
    kernel: TritonKernel, image: Image, own: Sequence[TritonParameter]
) -> tuple[str, ...]:
    """Return the names of `own_parameters`; nothing if they are unknown."""
    if kernel.signature:
        types = kernel.signature.items()
        names = tuple(name for name, type_ in types if type_ != "constexpr")
    else:
        every = names_beside(image.origin, kernel.name)
        if len(every) != sum(each.width for each in own):
            return ()
        names = tuple(every[each.index] for each in own)
    is_usable = len(names) == len(own) and all(map(IDENTIFIER.fullmatch, names))
    return names if is_usable else ()


def suggested(
    kernel: TritonKernel, image: Image, parameters: Sequence[Parameter]
) -> tuple[list[Parameter], dict[int, str]]:
    """Return the parameters that a command has arguments for, and descriptors by index."""
    own = own_parameters(kernel, parameters)
    names = own_names(kernel, image, own) or [parameters[each.index].name for each in own]
    texts = {}
    for each in own:
        if each.descriptor is not None:
            sizes = ",".join(str(size) for size in each.descriptor.block)
            texts[each.index] = f"{each.descriptor.type}[{sizes}]:zeros"
    found = [
        replace(parameters[each.index], name=name) for each, name in zip(own, names, strict=True)
    ]
    return found, texts


def _without_constants(
    kernel: TritonKernel, given: Sequence[values.Argument], names: Sequence[str]
) -> tuple[list[values.Argument], tuple[CompiledConstant, ...]]:
    """Return the arguments that the kernel has, and the values that are compiled into it."""
    known = {name: constant_scalar(value) for name, value in kernel.numbers.items()}
    constants = {name: CompiledConstant(name, value, True) for name, value in known.items()}
    types = (kernel.signature or {}).items()
    compiled = {name for name, type_ in types if type_ == "constexpr"} | {*known}
    passed: list[values.Argument] = []
    for argument in given:
        name = argument.name
        is_constant = name in compiled or not (kernel.signature or name in names)
        if name is None or not names or not is_constant:
            passed.append(argument)
            continue
        if not isinstance(argument.value, UntypedNumber | Scalar):
            if name in compiled:
                raise _constant_error(kernel, argument, "not a number")
            passed.append(argument)
            continue
        value = argument.value
        scalar = value if isinstance(value, Scalar) else constant_scalar(value)
        if name in known and scalar.value != known[name].value:
            raise _constant_error(kernel, argument, f"{known[name].literal} in this kernel")
        constants.setdefault(name, CompiledConstant(name, scalar, False))
    return passed, tuple(constants.values())


def _constant_error(kernel: TritonKernel, argument: values.Argument, why: str) -> RequestError:
    return RequestError(
        f"{kernel.name}: {argument.name} is {why}",
        hint="omit it, or compile the kernel for this value",
        argument=argument.shown,
    )


def _expanded(
    placed: Sequence[values.Argument | None], own: Sequence[TritonParameter]
) -> Iterator[values.Argument]:
    """Yield the arguments of all parameters but those of scratch memory."""
    for index, argument in enumerate(placed):
        if argument is None:
            continue
        parameter = own[index] if index < len(own) else None
        if parameter is None or parameter.descriptor is None:
            yield argument
            continue
        value = argument.value
        if not isinstance(value, values.TensorMapValue):
            value = _tensor_map(argument, parameter.descriptor)
        yield replace(argument, value=value)
        for word, scalar in (("shape", _SHAPE), ("stride", _STRIDE)):
            for axis in range(len(parameter.descriptor.block)):
                extent = values.TensorExtent(parameter.index, axis, word == "stride", scalar)
                yield values.Argument(argument.name and f"{argument.name}_{word}_{axis}", extent)


def _tensor_map(argument: values.Argument, descriptor: TritonDescriptor) -> values.TensorMapValue:
    """Return the tensor map of a descriptor over a buffer, as Triton's launcher encodes it."""
    value = argument.value
    if isinstance(value, values.Reference):  # a buffer of an earlier step
        value = values.AddressOf(value.name)
    if not isinstance(value, values.Buffer | values.FileBuffer | values.AddressOf):
        raise RequestError(
            f"{argument.name or 'it'} is a tensor descriptor: pass a buffer of "
            f"{descriptor.type}, got {argument.value}",
            hint=f"example: {argument.pasted(f'{descriptor.type}[m,n]:rand')}",
            argument=argument.shown,
        )
    if isinstance(value, values.Buffer):
        scalar = innermost(value.type)
        is_other = isinstance(scalar, ScalarType) and element_name(scalar) != descriptor.type
        if is_other and descriptor.type != "u8":
            raise RequestError(
                f"{argument.name or 'it'} is a tensor descriptor of {descriptor.type}, got {value}",
                argument=argument.shown,
            )
    options = TensorMapOptions(
        box=sizes_of(*descriptor.block), type=descriptor.type, swizzle=descriptor.swizzle, l2="128B"
    )
    return values.TensorMapValue(value, options)


def names_beside(origin: str, kernel: str) -> tuple[str, ...]:
    """Return the names of a kernel's parameters but scratch memory; nothing if unknown.

    ``A.shape.0`` is the first dimension of the tensor ``A``.
    """
    for path in files_beside(origin)[1:]:
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
                continue
            text = Path(path).read_text(errors="replace")
        except OSError:
            continue
        found = re.search(rf"tt\.func public @{re.escape(kernel)}\(", text)
        if found is not None:
            end = text.find("\n", found.end())
            names = tuple(each["name"] for each in _PARAMETER.finditer(text[found.end() : end]))
            if names and not any(map(_NUMBERED.fullmatch, names)):
                return names
    return ()
