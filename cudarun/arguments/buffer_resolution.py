"""Buffers, textures and surfaces resolved: dimensions evaluated, levels computed, files checked.

No file's contents are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from cudarun.arguments.dimensions import evaluate_dimension
from cudarun.arguments.files import check_raw_size, is_npy, is_png, locate
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.packing import ArraySpec, BufferSpec, ObjectSpec, Pointee, pack
from cudarun.arguments.sampling import ArrayForm, Sampling
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.types import VECTORS, by_times, has_pointers, inner_shape, innermost
from cudarun.arguments.values import (
    Argument,
    BoxFilter,
    Buffer,
    FileBuffer,
    Initial,
    ListInitial,
    ObjectValue,
)
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass, replace

MAX_BYTES = (1 << 63) - 1
"""The largest accepted size of a buffer in bytes; the device refuses a size beyond its memory."""


@dataclass(frozen=True, slots=True)
class BufferResolver:
    """A converter of buffers from their text to the buffers to allocate."""

    integers: Mapping[str, int]
    directory: Path

    def resolve(
        self, argument: Argument, value: Buffer | FileBuffer | ObjectValue, name: str
    ) -> BufferSpec | ObjectSpec:
        """Return the buffer to allocate, or the object to create, for a value with this name."""
        if not isinstance(value, ObjectValue):
            return self.buffer(argument, value, name)
        form, sampling = value.form, value.sampling
        if isinstance(value.source, str):
            return ObjectSpec(name, value.source, (), False, form, sampling)
        first, *others = (
            self.level(argument, each, f"{name}.{index}" if index else name)
            for index, each in enumerate(value.source)
        )
        if problem := form.misshape(first.type, first.shape):
            raise _refused(name, first, problem)
        if form.linear:
            levels: list[BufferSpec] = [first]
        elif others:
            levels = [first, *others]
            if len(levels) > (most := form.most_levels(first.shape)):
                raise _refused(name, first, f"{len(levels)} levels: it has at most {most}")
            for number, each in enumerate(levels):
                expected = replace(first, shape=form.level_shape(first.shape, number))
                if (each.type, each.shape) != (first.type, expected.shape):
                    raise RequestError(f"{name}: level {number} is {each}; it must be {expected}")
        else:
            levels = [first, *_computed(name, first, form)]
        if sampling is not None:
            _check_sampling(name, levels, form, sampling)
        if not form.linear:
            levels = [
                ArraySpec(
                    each.name, each.type, each.shape, each.initial, array=name, form=form,
                    level=level, levels=len(levels),
                )
                for level, each in enumerate(levels)
            ]  # fmt: skip
        return ObjectSpec(name, name, tuple(levels), True, form, sampling)

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
            values = f", which has {by_times(spec.array_shape)} values"
            raise RequestError(
                f"a list of shape {by_times(initial.shape)} does not match {spec}"
                f"{values if inner_shape(spec.type) else ''}"
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


# --- textures and surfaces -----------------------------------------------------------------------


def _computed(name: str, first: BufferSpec, form: ArrayForm) -> list[BufferSpec]:
    """Return the levels that are computed from level 0."""
    most = form.most_levels(first.shape)
    count = form.levels or most
    if count > most:
        raise _refused(name, first, f"levels={count}: it has at most {most}")
    if count == 1:
        return []
    if first.initial is None:
        raise _refused(name, first, "levels are computed from level 0, which has no initializer")
    return [
        BufferSpec(
            f"{name}.{level}",
            first.type,
            form.level_shape(first.shape, level),
            BoxFilter(first.initial, first.shape, form.outer_axes, level),
        )
        for level in range(1, count)
    ]


def _check_sampling(
    name: str, levels: Sequence[BufferSpec], form: ArrayForm, sampling: Sampling
) -> None:
    first = levels[0]
    problem = sampling.mismatch(first.type, form, len(levels), len(first.shape))
    if problem:
        raise _refused(name, first, problem)


def _refused(name: str, spec: BufferSpec, problem: str) -> RequestError:
    return RequestError(f"{name}, {spec}: {problem}")


def with_levels(
    spec: ObjectSpec, owners: Mapping[str, ObjectSpec], buffers: Mapping[str, BufferSpec]
) -> ObjectSpec:
    """Return an object with the levels of its array, which may be that of another argument.

    Raises:
        RequestError: No argument has the array, or it cannot be read or written in this way.
    """
    if spec.owns:
        return spec
    owner = owners.get(spec.source)
    form = spec.form if owner is None else owner.form
    levels = () if owner is None else owner.levels
    if owner is None:  # a texture that shows a buffer as linear memory
        buffer = buffers.get(spec.source)
        if buffer is None or isinstance(buffer, ArraySpec):
            raise RequestError(
                f"{spec.text}: no texture, surface or buffer is named '{spec.source}'",
                hint=did_you_mean(spec.source, [*owners, *buffers]),
            )
        if not spec.form.linear:
            way = f"read it as linear memory: texture({spec.source}, linear)"
            hint = None if spec.sampling is None else way
            what = f"{spec.source} is a buffer, not an array"
            raise RequestError(f"{spec.text}: {what}", hint=hint)
        if problem := spec.form.misshape(buffer.type, buffer.shape):
            raise _refused(spec.source, buffer, problem)
        levels = (buffer,)
    if owner is not None and spec.form.linear and not form.linear:
        raise RequestError(f"{spec.text}: {spec.source} is an array, not linear memory")
    if spec.sampling is None and form.linear:
        raise RequestError(f"{spec.text}: a surface requires an array, not linear memory")
    if spec.sampling is None and len(levels) > 1:
        raise RequestError(f"{spec.text}: a surface requires an array of one level")
    if spec.sampling is not None:
        _check_sampling(spec.name, levels, form, spec.sampling)
    return replace(spec, levels=levels)
