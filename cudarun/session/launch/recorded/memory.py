"""Recorded launches: their arguments, memory and variables in the forms of any launch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments import sampling
from cudarun.arguments.contents import Contents
from cudarun.arguments.dtypes import Array
from cudarun.arguments.packing import ArraySpec, BufferSpec
from cudarun.arguments.types import SCALARS, ScalarType, Type, VectorType
from cudarun.arguments.values import BYTE, Argument, Bytes, OtherInitial
from cudarun.base.errors import RequestError, errors_of
from cudarun.base.records import dataclass
from cudarun.images.facts import VariableFacts
from cudarun.images.parameters import Parameter
from cudarun.session.launch.step_request import LaunchStep
from cudarun.session.launch.variables import ImageVariable, VariableUse

if TYPE_CHECKING:  # few launches are recorded
    from cudarun.session.recording.archive import Recording
    from cudarun.session.recording.manifest import Manifest, RecordedRange

_POINTER = 8  # bytes; pointers are aligned to them


def pointer_words(data: Array, address: int) -> Array:
    """Return a view of the words of bytes that can be pointers, which are aligned.

    Args:
        address: The address of the first byte.
    """
    start = -address % _POINTER
    words: Array = data[start : start + (data.size - start) // _POINTER * _POINTER].view(np.uint64)
    return words


@dataclass(frozen=True, slots=True)
class MovedVariables:
    """The variables of a recording at other addresses than the recorded ones."""

    # The recorded address, the size and the new address of each.
    moves: tuple[tuple[int, int, int], ...] = ()

    def apply(self, data: Array, address: int) -> None:
        """Change the pointers to the variables in bytes.

        Args:
            data: The bytes, which are changed in place.
            address: The recorded address of the first one.
        """
        if not self.moves:
            return
        words = pointer_words(data, address)
        recorded = words.copy()
        for old, size, new in self.moves:
            inside = recorded - np.uint64(old) < np.uint64(size)  # wraps around below
            words[inside] = recorded[inside] - np.uint64(old) + np.uint64(new)

    def applied(self, data: bytes) -> bytes:
        """Return parameters with changed pointers."""
        changed = np.frombuffer(data, np.uint8).copy()
        self.apply(changed, 0)
        return changed.tobytes()


@dataclass(frozen=True, slots=True)
class RecordedInitial(OtherInitial):
    """The contents of a buffer, an array or a variable in a recording."""

    recording: Recording
    range: RecordedRange

    @property
    def is_writable(self) -> bool:
        """True of an array that surfaces can write."""
        return self.range.array is not None and bool(self.range.array.flags & sampling.SURFACE)

    def __str__(self) -> str:
        return "recorded"


def recorded_arguments(step: LaunchStep, parameters: Sequence[Parameter] | None) -> LaunchStep:
    """Return a step with the recorded parameters as its arguments, if it is of a recording."""
    recording = step.image.recording
    if recording is None or parameters is None:
        return step
    with errors_of(origin=step.image.origin):
        values = recorded_values(recording.manifest, parameters)
    return replace(step, arguments=tuple(Argument(None, Bytes(each)) for each in values))


def recorded_values(manifest: Manifest, parameters: Sequence[Parameter]) -> list[bytes]:
    """Return the recorded bytes of each parameter of a kernel.

    Args:
        parameters: The kernel's parameters; their offsets can be others than the recorded ones.
    """
    data = manifest.parameters
    layout = [(each.offset, each.size) for each in parameters]
    if [size for _, size in manifest.layout] == [size for _, size in layout]:
        layout = [*manifest.layout]
    end = max((offset + size for offset, size in layout), default=0)
    if end > len(data):
        raise RequestError(
            f"the recording has {len(data)} bytes of parameters, the kernel has {end}"
        )
    return [data[offset : offset + size] for offset, size in layout]


def recorded_buffers(step: LaunchStep) -> tuple[BufferSpec, ...]:
    """Return the recorded memory as buffers, and the recorded arrays."""
    recording = step.image.recording
    if recording is None:
        return ()
    return (
        *(
            BufferSpec(each.name, *element_layout(each), RecordedInitial(recording, each))
            for each in recording.manifest.memory
        ),
        *(_array(recording, each) for each in recording.manifest.arrays),
    )


def _array(recording: Recording, recorded: RecordedRange) -> ArraySpec:
    """Return an array as `LaunchArrays` creates it: its last axis is x."""
    found = recorded.array
    assert found is not None, "a recorded array has its shape"
    named = (name for name, number in sampling.TEXELS.items() if number == found.format)
    scalar = SCALARS.get(next(named, ""))
    form = sampling.ArrayForm(
        layered=bool(found.flags & sampling.LAYERED),
        cube=bool(found.flags & sampling.CUBEMAP),
        gather=bool(found.flags & sampling.GATHER),
    )
    shape = tuple(side for side in (found.depth, found.height, found.width) if side)
    if form.cube:
        layers = (found.depth // sampling.FACES,) if form.layered else ()
        shape = (*layers, sampling.FACES, found.height, found.width)
    element: Type = scalar or BYTE
    if scalar is not None and found.channels != 1:
        name = f"{scalar.name}x{found.channels}"
        element = VectorType(name, scalar, found.channels, scalar.size * found.channels)
    problem = form.misshape(element, shape)
    if scalar is None or element.size * math.prod(shape) != recorded.size:
        problem = "it has another size"
    if problem is not None:
        raise RequestError(
            f"the recording is damaged: the array '{recorded.name}': {problem}",
            origin=recording.path,
        )
    initial = RecordedInitial(recording, recorded)
    return ArraySpec(recorded.name, element, shape, initial, array=recorded.name, form=form)


def with_recorded_variables(
    step: LaunchStep, use: VariableUse, known: Sequence[VariableFacts]
) -> VariableUse:
    """Return the variables of a launch with those of its recording, which are written first.

    Raises:
        RequestError: A candidate does not have a variable that the recorded launch changed.
    """
    recording = step.image.recording
    if recording is None:
        return use
    facts = {each.name: each for each in known}
    found = [
        ImageVariable(
            each.name, *element_layout(each), RecordedInitial(recording, each),
            symbol=each.symbol or "", space=facts[each.symbol].space,
        )
        for each in recording.manifest.variables
        if each.symbol in facts and facts[each.symbol].size == each.size
    ]  # fmt: skip
    changed = tuple(
        each
        for each in found
        if isinstance(each.initial, RecordedInitial) and each.initial.range.after
    )
    own = {each.symbol for each in found}
    for each in recording.manifest.variables if step.image.replaces_recorded else ():
        if each.after and each.symbol not in own:
            raise RequestError(
                f"the image has no variable '{each.symbol}' of {each.size} bytes, which the "
                "recorded launch changed",
                origin=step.image.origin,
            )
    return VariableUse((*found, *use.written), (*use.read, *changed))


def moved_variables(written: Iterable[ImageVariable]) -> MovedVariables:
    """Return the recorded variables among others, with their addresses, that have moved."""
    return MovedVariables(
        tuple(
            (initial.range.address, initial.range.size, each.address)
            for each in written
            if isinstance(initial := each.initial, RecordedInitial)
            and initial.range.address != each.address
        )
    )


def element_layout(recorded: RecordedRange) -> tuple[ScalarType, tuple[int, ...]]:
    """Return the type of a range's elements, bytes if it does not divide it, and their shape."""
    element = SCALARS.get(recorded.type, BYTE)
    if recorded.size % element.size:
        element = BYTE
    return element, (recorded.size // element.size,)


def memory_ranges(specs: Sequence[BufferSpec]) -> list[tuple[int, int]]:
    """Return the addresses and sizes of the recorded buffers among others."""
    initials = (spec.initial for spec in specs if type(spec) is BufferSpec)
    found = [each.range for each in initials if isinstance(each, RecordedInitial)]
    return [(each.address, each.size) for each in found]


class RecordedMemoryContents(Contents):
    """The contents of a range before the launch, read from the file in order."""

    in_order = True

    def __init__(self, initial: RecordedInitial, moved: MovedVariables) -> None:
        super().__init__(np.dtype(np.uint8), initial.range.size)
        self._file = initial.recording.contents()
        self._recorded = initial.range
        self._moved = moved

    def read(self, part: Array, first: int) -> None:
        """Copy a chunk."""
        whole = part.view(np.uint8)
        whole[...] = self._file.read(self._recorded, first, first + whole.size)
        self._moved.apply(whole, self._recorded.address + first)
