"""Texture and surface objects resolved: the levels of their arrays, also of other arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from cudarun.arguments.packing import ArraySpec, BufferSpec, ObjectSpec
from cudarun.arguments.sampling import ArrayForm, Sampling
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.values import BoxFilter, Buffer, FileBuffer, ObjectValue
from cudarun.base.errors import RequestError

ResolveLevel = Callable[[Buffer | FileBuffer, str], BufferSpec]
"""A function that returns the elements, the shape and the contents of a buffer's text."""


def resolve_object(value: ObjectValue, name: str, resolve: ResolveLevel) -> ObjectSpec:
    """Return the object to create for a value with this name.

    Raises:
        RequestError: No array has this form and shape, or it cannot be read in this way.
    """
    form, sampling = value.form, value.sampling
    if isinstance(value.source, str):
        return ObjectSpec(name, value.source, (), False, form, sampling)
    first, *others = (
        resolve(each, f"{name}.{index}" if index else name)
        for index, each in enumerate(value.source)
    )
    axes = len(first.shape)
    problem = form.problem(first.type, axes) or form.misshape(first.shape)
    if problem:
        raise _refused(name, first, problem)
    if form.linear:
        levels: list[BufferSpec] = [first]
    elif others:
        levels = [first, *others]
        _check_levels(name, levels, form)
    else:
        levels = [first, *_computed(name, first, form)]
    if sampling is not None:
        _check_sampling(name, levels, form, sampling)
    if not form.linear:
        levels = [
            ArraySpec(
                each.name, each.type, each.shape, each.initial, array=name, form=form, level=level,
                levels=len(levels),
            )
            for level, each in enumerate(levels)
        ]  # fmt: skip
    return ObjectSpec(name, name, tuple(levels), True, form, sampling)


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


def _check_levels(name: str, levels: Sequence[BufferSpec], form: ArrayForm) -> None:
    """Check the types and the shapes of the levels of a list."""
    first = levels[0]
    most = form.most_levels(first.shape)
    if len(levels) > most:
        raise _refused(name, first, f"{len(levels)} levels: it has at most {most}")
    for number, level in enumerate(levels):
        expected = replace(first, shape=form.level_shape(first.shape, number))
        if (level.type, level.shape) != (first.type, expected.shape):
            raise RequestError(f"{name}: level {number} is {level}; it must be {expected}")


def _check_sampling(
    name: str, levels: Sequence[BufferSpec], form: ArrayForm, sampling: Sampling
) -> None:
    first = levels[0]
    problem = sampling.mismatch(first.type, form, len(levels), len(first.shape))
    if problem:
        raise _refused(name, first, problem)


def _refused(name: str, spec: BufferSpec, problem: str) -> RequestError:
    return RequestError(f"{name}, {spec}: {problem}")


class ObjectLocator:
    """A converter of objects with the name of another argument's array to those with its levels.

    Args:
        objects: All objects of the launch.
        buffers: The buffers of the launch by name.
    """

    def __init__(self, objects: Sequence[ObjectSpec], buffers: Mapping[str, BufferSpec]) -> None:
        self._owners = {each.source: each for each in objects if each.owns}
        self._buffers = buffers

    def located(self, spec: ObjectSpec) -> ObjectSpec:
        """Return an object with the levels of its array.

        Raises:
            RequestError: No argument has the array, or it cannot be read or written in this way.
        """
        return spec if spec.owns else self._shared(spec)

    def _shared(self, spec: ObjectSpec) -> ObjectSpec:
        owner = self._owners.get(spec.source)
        form = spec.form if owner is None else owner.form
        levels = (self._buffer(spec),) if owner is None else owner.levels
        if owner is not None and spec.form.linear and not form.linear:
            raise RequestError(f"{spec.text}: {spec.source} is an array, not linear memory")
        if spec.sampling is None and form.linear:
            raise RequestError(f"{spec.text}: a surface requires an array, not linear memory")
        if spec.sampling is None and len(levels) > 1:
            raise RequestError(f"{spec.text}: a surface requires an array of one level")
        if spec.sampling is not None:
            _check_sampling(spec.name, levels, form, spec.sampling)
        return replace(spec, levels=levels)

    def _buffer(self, spec: ObjectSpec) -> BufferSpec:
        """Return the buffer that a texture shows as linear memory."""
        found = self._buffers.get(spec.source)
        if found is None or isinstance(found, ArraySpec):
            raise RequestError(
                f"{spec.text}: no texture, surface or buffer is named '{spec.source}'",
                hint=did_you_mean(spec.source, [*self._owners, *self._buffers]),
            )
        if not spec.form.linear:
            raise RequestError(
                f"{spec.text}: {spec.source} is a buffer, not an array",
                hint=f"read it as linear memory: texture({spec.source}, linear)"
                if spec.sampling is not None
                else None,
            )
        problem = spec.form.problem(found.type, len(found.shape))
        problem = problem or spec.form.misshape(found.shape)
        if problem:
            raise _refused(spec.source, found, problem)
        return found
