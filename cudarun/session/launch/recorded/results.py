"""The comparison of a replay with the results in its recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.arguments.packing import BufferSpec
from cudarun.base.records import dataclass
from cudarun.model.checks import CheckResult
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.recorded.memory import MovedVariables, RecordedInitial
from cudarun.session.launch.step_request import LaunchStep
from cudarun.session.launch.variables import ImageVariable

if TYPE_CHECKING:  # few launches are recorded
    from cudarun.session.recording.archive import RecordedContents
    from cudarun.session.recording.manifest import Manifest, RecordedRange

_BITS = "u32"
"""The type of accesses of 32 bits, also of floats: compilers load and store them as ``.b32``."""

_FLOATS = {"f16", "bf16", "f32", "f64", _BITS}
_GOT, _EXPECTED = "got", "expected"


def compare_recorded(request: LaunchStep, buffers: Buffers) -> Iterator[CheckResult]:
    """Compare memory and variables with the recorded ones; yield a result for each that changed.

    Those that the recorded launch did not change have a result only if they differ. Without
    ``--rtol`` and ``--atol`` all bits must be equal.
    """
    recording = request.image.recording
    if recording is None or recording.manifest.status != 0:
        return
    with recording.contents() as contents:
        for spec in buffers.specs:
            if not isinstance(spec.initial, RecordedInitial):
                continue
            recorded = spec.initial.range
            comparison = _Comparison(contents, recorded, buffers.moved)
            buffers.deliver(spec.name, comparison)
            got = expected = np.zeros(0, np.uint8)  # a range can be large
            if not comparison.is_equal:
                got, expected = buffers.array(spec.name), comparison.expected(0, spec.nbytes)
            result = _compared(request, spec, got, expected)
            if recorded.after or not result.passed:
                yield replace(result, expression=f"{recorded.symbol or spec.name} == recorded")


@dataclass(slots=True)
class _Comparison:
    """A comparison with a recorded range, chunk by chunk."""

    contents: RecordedContents
    recorded: RecordedRange
    moved: MovedVariables
    is_equal: bool = True

    def __call__(self, part: Array, first: int) -> None:
        """Take a chunk of the device's memory."""
        start = first * part.itemsize
        got = part.reshape(-1).view(np.uint8)
        if self.is_equal and not np.array_equal(got, self.expected(start, start + got.size)):
            self.is_equal = False

    def expected(self, start: int, end: int) -> Array:
        """Return the recorded bytes from one offset to another."""
        found = self.contents.read(self.recorded, start, end, after=True)
        self.moved.apply(found, self.recorded.address + start)
        return found


def _compared(request: LaunchStep, spec: BufferSpec, got: Array, expected: Array) -> CheckResult:
    """Return the result of comparing bytes; none if all are equal."""
    tolerance, dtype = request.tolerance, spec.dtype()
    is_exact = tolerance.rtol is None and tolerance.atol is None
    if is_exact and dtype.kind not in "iu":
        dtype = np.dtype(f"u{dtype.itemsize}")
    if got.size and not is_exact and str(spec.type) == _BITS:
        values = _as_floats(got, expected)
    else:
        values = {_GOT: got.reshape(-1).view(dtype), _EXPECTED: expected.view(dtype)}
    check = run_check(parse_expression(f"{_GOT} == {_EXPECTED}"), values, {}, tolerance)
    if not got.size:
        elements = spec.nbytes // dtype.itemsize
        return replace(check, elements=elements, passed=True, is_empty=False)
    return check


def _as_floats(got: Array, expected: Array) -> dict[str, Array]:
    """Return 32-bit words as f32, those that are equal as 0: they need not be numbers."""
    words = got.reshape(-1).view(np.uint32).copy(), expected.view(np.uint32).copy()
    equal = words[0] == words[1]
    for each in words:
        each[equal] = 0
    return {_GOT: words[0].view(np.float32), _EXPECTED: words[1].view(np.float32)}


def recorded_notes(
    request: LaunchStep, variables: Sequence[ImageVariable], checks: Sequence[CheckResult]
) -> Iterator[str]:
    """Yield what was not compared, and how to compare floating-point results.

    Args:
        variables: The variables that the launch wrote first.
    """
    recording = request.image.recording
    if recording is None:
        return
    if request.image.replaces_recorded:
        if recording.manifest.status != 0:
            yield "the recorded launch failed: there are no results to compare with"
        own = {each.symbol for each in variables if isinstance(each.initial, RecordedInitial)}
        missing = [each.symbol for each in recording.manifest.variables if each.symbol not in own]
        if missing:
            named = ", ".join(map(str, missing))
            yield f"recorded variables that are missing in the candidate: {named}"
    note = _tolerance_note(recording.manifest, request.tolerance, checks)
    if note is not None:
        yield note


def _tolerance_note(
    manifest: Manifest, tolerance: Tolerance, checks: Sequence[CheckResult]
) -> str | None:
    """Return how to compare floating-point results that differ in their last bits."""
    if tolerance.rtol is not None or tolerance.atol is not None:
        return None
    failed = {each.expression for each in checks if not each.passed}
    ranges = [
        each for each in manifest.ranges if f"{each.symbol or each.name} == recorded" in failed
    ]
    if any(each.type in _FLOATS for each in ranges):
        return "every bit was compared; to accept rounding errors, add --rtol 1e-5"
    if ranges and not manifest.shrunk:
        return (
            "every bit was compared; to accept rounding errors, give the numbers types with "
            "cudarun record --shrink, and add --rtol 1e-5"
        )
    return None
