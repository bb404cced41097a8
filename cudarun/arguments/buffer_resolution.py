"""Buffers resolved: dimensions evaluated, and files checked without reading their contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from cudarun.arguments.dimensions import evaluate_dimension
from cudarun.arguments.files import check_raw_size, is_npy, is_png, locate
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.object_resolution import resolve_object
from cudarun.arguments.packing import BufferSpec, ObjectSpec, Pointee, pack
from cudarun.arguments.types import VECTORS, by_times, has_pointers, inner_shape, innermost
from cudarun.arguments.values import Argument, Buffer, FileBuffer, Initial, ListInitial, ObjectValue
from cudarun.base.errors import RequestError

MAX_BYTES = (1 << 63) - 1
"""The largest accepted size of a buffer in bytes; the device refuses a size beyond its memory."""


class BufferResolver:
    """A converter of buffers from their text to the buffers to allocate."""

    def __init__(self, integers: dict[str, int], directory: Path) -> None:
        self.integers = integers
        self.directory = directory

    def resolve(
        self, argument: Argument, value: Buffer | FileBuffer | ObjectValue, name: str
    ) -> BufferSpec | ObjectSpec:
        """Return the buffer to allocate, or the object to create, for a value with this name."""
        if isinstance(value, ObjectValue):
            return resolve_object(value, name, partial(self.level, argument))
        return self.buffer(argument, value, name)

    def level(self, argument: Argument, value: Buffer | FileBuffer, name: str) -> BufferSpec:
        """Return the contents of a texture: channels of an image are components of its texels."""
        spec = self.buffer(argument, value, name)
        if not isinstance(value, FileBuffer) or len(spec.shape) != 3:
            return spec
        if not is_png(locate(value.path, self.directory)):
            return spec
        components = 2 if spec.shape[2] == 2 else 4  # CUDA has no texels of 3
        texel = VECTORS[f"{'uchar' if spec.type.size == 1 else 'ushort'}{components}"]
        return replace(spec, type=texel, shape=spec.shape[:2])

    def buffer(self, argument: Argument, value: Buffer | FileBuffer, name: str) -> BufferSpec:
        """Return the buffer to allocate for a value with this name."""
        if isinstance(value, FileBuffer):
            from cudarun.arguments.array_files import npy_header

            path = locate(value.path, self.directory)
            element, shape = npy_header(path, value, argument.pasted)
            return BufferSpec(name, element, shape, replace(value.initial, path=str(path)))
        shape = tuple(evaluate_dimension(each, self.integers) for each in value.dimensions)
        spec = BufferSpec(name, value.type, shape)
        if spec.nbytes > MAX_BYTES:
            raise RequestError(f"{value} is {spec} of {spec.nbytes} bytes, more than any memory")
        spec = replace(spec, initial=self.initial(argument, value.initial, spec))
        return replace(spec, pointers=tuple(self.pointers(argument, spec)))

    def pointers(self, argument: Argument, spec: BufferSpec) -> Iterator[tuple[int, Pointee]]:
        """Yield the addresses in a list with their offsets; a buffer in it is called NAME.INDEX."""
        if not (isinstance(spec.initial, ListInitial) and has_pointers(spec.type)):
            return
        step = innermost(spec.type).size
        for index, leaf in enumerate(spec.initial.leaves):
            packed = pack(leaf, f"{spec.name}.{index}", partial(self.resolve, argument))
            yield from ((index * step + offset, pointee) for offset, pointee in packed.pointers)

    def initial(
        self, argument: Argument, initial: Initial | None, spec: BufferSpec
    ) -> Initial | None:
        """Resolve the file of an initializer and check all that is possible without reading it."""
        if isinstance(initial, ListInitial) and initial.shape != spec.array_shape:
            raise RequestError(
                f"a list of shape {by_times(initial.shape)} does not match {spec}"
                + (
                    f", which has {by_times(spec.array_shape)} values"
                    if inner_shape(spec.type)
                    else ""
                )
            )
        if isinstance(initial, FileInitial):
            path = locate(initial.path, self.directory)
            is_array = is_npy(path) or is_png(path)
            if is_array or initial.cast or initial.order is not FileOrder.PLAIN:
                from cudarun.arguments.array_files import check_file

                check_file(path, spec, initial, argument.pasted)
            else:
                check_raw_size(path, spec.nbytes, str(spec))
            return replace(initial, path=str(path))
        return initial
