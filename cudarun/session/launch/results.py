"""The results of a step: files, checks, values and figures of the buffers after it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from cudarun.arguments.dtypes import Array, Values, is_float
from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.evaluation import Evaluator, Unwritten, nothing_unwritten
from cudarun.arguments.expressions.presentation import without_unwritten
from cudarun.arguments.expressions.rows import ALL, rows_wanted, span
from cudarun.arguments.expressions.statements import Check
from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError, RequestError
from cudarun.base.records import dataclass
from cudarun.model.checks import CheckResult, Mismatch, not_evaluated
from cudarun.model.launch import BufferResult, Figure, Printed, Saved
from cudarun.session.driver.devices import Device
from cudarun.session.driver.fill_pattern import fill_pattern
from cudarun.session.driver.transfers import ChunkSink
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.outputs import save, takes_parts
from cudarun.session.launch.pictures import figure
from cudarun.session.launch.request import Program, ProgramOptions
from cudarun.session.launch.step_request import LaunchStep, Save
from cudarun.session.launch.steps import BoundStep, all_scalars
from cudarun.session.workers.session import Session

_LARGE_CHECKS = 64 << 20
"""Bytes of checked buffers from which on the strength of checks is not evaluated."""


@dataclass(frozen=True, slots=True)
class StepResults:
    """The results that the options of a step request."""

    after: dict[str, Array]
    buffers: tuple[BufferResult, ...]
    saved: tuple[Saved, ...]
    checks: tuple[CheckResult, ...]
    weaknesses: tuple[str, ...]
    prints: tuple[Printed, ...]
    figures: tuple[Figure, ...]
    errors: tuple[CudarunError, ...]

    @property
    def failures(self) -> tuple[str, ...]:
        """The failed checks, and the damaged guard zones."""
        guards = (each for each in self.buffers if each.guard_damage is not None)
        return (
            *(f"guard zone of {each.name}" for each in guards),
            *(check.expression for check in self.checks if not check.passed),
        )


@dataclass()
class StepReader:
    """A reader of the buffers of a program after a step."""

    session: Session
    options: ProgramOptions
    buffers: Buffers
    device: Device
    steps: Sequence[BoundStep]  # the steps so far, of which the last one has just run
    before: dict[str, Array]  # the arrays of ``old(…)``
    comparing: bool = False  # copy all buffers, to compare them with the reference's

    def __post_init__(self) -> None:
        self.step = self.steps[-1]
        self.request = self.step.request
        self.scalars = all_scalars(self.steps)
        self.old = {**self.scalars, **self.before}
        self.errors: list[CudarunError] = []

    def results(self) -> StepResults:
        """Copy back, save, check and print."""
        request, step = self.request, self.step
        # Outputs are saved first: they must exist even if a check fails or cannot be evaluated.
        after, saved = self._copy_back()
        is_last = step.number == step.count
        verified = self.buffers.verified(digests=is_last and self.options.digests)
        self.session.progress.report("checking")
        checks, weak = self._checks(after)
        prints = tuple(self._printed({**self.scalars, **after}))
        number = None if is_last else step.number
        where = {"file": request.image.origin, "device": self.device.label}
        return StepResults(
            after=after,
            buffers=verified,
            saved=saved,
            checks=tuple(replace(each, step=number) for each in checks),
            weaknesses=weak,
            prints=tuple(replace(each, step=number) for each in prints),
            figures=tuple(figure(show, after[show.name]) for show in request.shows),
            errors=tuple(error.at(**where) for error in self.errors),
        )

    def _checks(self, after: dict[str, Array]) -> tuple[list[CheckResult], tuple[str, ...]]:
        """Evaluate checks and comparisons; note the errors of those that cannot be evaluated.

        Returns:
            The results, and the replacements of the outputs that they do not notice.
        """
        request, buffers, unwritten = self.request, self.buffers, self.buffers.unwritten
        values, old = {**self.scalars, **after}, self.old
        only_floats = self.session.driver.traits.unwritten_bytes is None
        results: list[CheckResult] = []
        for check in request.checks:
            try:
                results.append(self._checked(check, values, unwritten, only_floats=only_floats))
            except CudarunError as error:
                self.errors.append(error.of(option="--check"))
                results.append(not_evaluated(check.expression.text))
        expected: list[Array | CudarunError] = []
        recorded: list[CheckResult] = []
        if request.image.recording is not None:
            from cudarun.session.launch.recorded.results import compare_recorded

            recorded = [*compare_recorded(request, buffers)]
            results += recorded
        if request.expectations:
            from cudarun.session.launch.expected.comparison import (  # few launches have one
                compare_expected,
                expected_arrays,
            )

            functions = self.options.functions
            for each in expected_arrays(self.session, request, functions, buffers.specs, old):
                expected.append(each)
                if isinstance(each, CudarunError) and each not in self.errors:
                    self.errors.append(each.of(option="--expect"))
            results += compare_expected(request, buffers.specs, expected, values, unwritten)
        is_tested = _tests_strength(request, self.options, buffers.specs)
        passed = any(each.elements for each in results) and all(each.passed for each in results)
        if recorded or not (passed and is_tested):
            return results, ()  # recorded results are those of outputs that have changed

        def passes(replaced: Values, unwritten: Unwritten) -> bool:
            again = [self._checked(each, replaced, unwritten) for each in request.checks]
            if expected:
                again += compare_expected(request, buffers.specs, expected, replaced, unwritten)
            return all(each.passed for each in again)

        checked = {name: after[name] for name in _checked_names(request) if name in after}
        return results, weaknesses(passes, values, checked, old)

    def _checked(
        self, check: Check, values: Values, unwritten: Unwritten, *, only_floats: bool = False
    ) -> CheckResult:
        request = self.request
        return run_check(
            check.expression, values, self.old,
            request.tolerance.overridden(check.rtol, check.atol), request.directory, unwritten,
            only_floats=only_floats,
        )  # fmt: skip

    def _printed(self, values: Values) -> Iterator[Printed]:
        """Yield the values to print; note the error of one that cannot be evaluated."""
        for expression in self.request.prints:
            try:
                evaluator = Evaluator(expression, values, self.old, self.request.directory)
                value = evaluator.result()
                mask = evaluator.unwritten(expression.node, self.buffers.unwritten)
            except CudarunError as error:
                self.errors.append(error.of(option="--print"))
            else:
                text, plain = without_unwritten(value, mask)
                yield Printed(expression.text, text, plain)

    def _copy_back(self) -> tuple[dict[str, Array], tuple[Saved, ...]]:
        """Copy the requested data from the device: into arrays if necessary, else only to files.

        The error of a file that cannot be written is noted.
        """
        arrays: dict[str, Array] = {}
        saved: dict[Save, Saved] = {}
        buffers, request = self.buffers, self.request
        wanted = _as_arrays(request, self.options, buffers.specs)
        for spec in buffers.specs:
            deliver: Callable[[ChunkSink], object] = partial(buffers.deliver, spec.name)
            if self.comparing or ALL in wanted.get(spec.name, ()):
                arrays[spec.name] = buffers.array(spec.name)
                deliver = partial(_deliver, arrays[spec.name])
            elif spec.name in wanted:
                rows = span(wanted[spec.name], (*spec.array_shape, 1)[0])
                arrays[spec.name] = buffers.rows(spec.name, rows)
            for each in request.saves:
                if each.name == spec.name:
                    label, force = self.device.label, self.options.force
                    try:
                        saved[each] = save(each, label, spec, deliver, force=force)
                    except RequestError as error:
                        self.errors.append(error)
        return arrays, tuple(saved[each] for each in request.saves if each in saved)


def initializer_notes(
    specs: Sequence[BufferSpec], results: StepResults, *, suggest_uninit: bool
) -> Iterator[str]:
    """Yield what can explain results: memory that kernels read before anything wrote it.

    Args:
        suggest_uninit: The reads are known; the detector, which is off, would locate them.
    """
    unset = {spec.name: spec for spec in specs if spec.is_unwritten_at_first}
    first = [each for check in results.checks for each in check.first]
    has_nan = any((each.got == "nan") != (each.expected == "nan") for each in first)
    checked = re.findall(r"\w+", " ".join(check.expression for check in results.checks))
    inputs, outputs = [], []
    for each in results.buffers:
        if (spec := unset.get(each.name)) is None:
            continue
        if each.never_written and each.never_written == math.prod(each.shape):
            inputs += [each.name] if each.read_unwritten or (has_nan and not suggest_uninit) else []
        elif each.read_unwritten:
            outputs.append(each.name)
        elif not suggest_uninit and each.name in checked:
            pattern = fill_pattern(spec.dtype())
            is_added = has_nan or any(_exceeds_by(pattern, mismatch) for mismatch in first)
            outputs += [each.name] if is_added else []
    reads = "the kernel reads or updates elements before it writes them"
    for names, what, initializer in (
        (inputs, "an input, which the kernel does not write, needs one", "ones"),
        (outputs, reads if suggest_uninit else f"if {reads}, it needs one", "zeros"),
    ):
        if names:
            which = f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no initializer"
            use = " ".join(f"'{name}={unset[name]}:{initializer}'" for name in names)
            where = ". --detect uninit locates the reads" if suggest_uninit else ""
            yield f"{which}: {what}; example: {use}{where}"
    if suggest_uninit and has_nan and not (inputs or outputs):
        yield "registers, shared and local memory begin as NaN: see --detect uninit"


def _exceeds_by(pattern: bytes, mismatch: Mismatch) -> bool:
    """Return whether an integer is the expected one added to the fill pattern."""
    try:
        difference = int(mismatch.got or "") - int(mismatch.expected or "")
    except ValueError:
        return False
    return difference % (1 << 8 * len(pattern)) == int.from_bytes(pattern, "little")


def _tests_strength(
    request: LaunchStep, options: ProgramOptions, specs: Sequence[BufferSpec]
) -> bool:
    """Return whether the strength of checks is evaluated: not with very large buffers."""
    names = _checked_names(request)
    nbytes = sum(spec.nbytes for spec in specs if spec.name in names)
    return options.check_strength != "off" and nbytes < _LARGE_CHECKS


def _checked_names(request: LaunchStep) -> set[str]:
    """Return the names in checks, and the buffers with an expected output."""
    names = {name for each in request.checks for name in each.expression.names}
    return names | {each.name for each in request.expectations}


def old_names(program: Program, specs: Sequence[BufferSpec]) -> set[str]:
    """Return the buffers whose values from before the launch are needed."""
    if program.calls_functions:
        return {spec.name for spec in specs}
    steps = program.steps
    names = {name for step in steps for each in step.expressions for name in each.old_names}
    for step in steps:
        names |= _checked_names(step) if _tests_strength(step, program.options, specs) else set()
    return names


def _deliver(array: Array, take: ChunkSink) -> None:
    """Pass a whole array as one chunk."""
    take(array.reshape(-1), 0)


def _as_arrays(
    request: LaunchStep, options: ProgramOptions, specs: Sequence[BufferSpec]
) -> dict[str, list[slice]]:
    """Return the rows of the buffers that are needed as arrays after the launch."""
    wanted: dict[str, list[slice]] = {show.name: [ALL] for show in request.shows}
    wanted |= {each.name: [ALL] for each in request.expectations}
    if _tests_strength(request, options, specs):
        wanted |= {name: [ALL] for name in _checked_names(request)}
    wanted |= {save.name: [ALL] for save in request.saves if not takes_parts(save)}
    for expression in request.expressions:
        for name, rows in rows_wanted(expression.node):
            wanted.setdefault(name, []).append(rows)
    return wanted


def weaknesses(
    passes: Callable[[Values, Unwritten], bool],
    values: Values,
    after: Mapping[str, Array],
    old: Values,
) -> tuple[str, ...]:
    """Return the replacements of the outputs with which all checks still pass.

    Outputs are the buffers that the launch changed, and those without an initializer. They are
    replaced by zeros, by what they were before the launch, and by NaN, unless all floats are NaN.

    Args:
        passes: Evaluates all checks over values by name, with the elements that were never
            written; raises where they cannot be evaluated.
        values: Arrays and numpy scalars by name, after the launch.
        after: The arrays of buffers among them.
        old: The same before the launch, for buffers with an initializer.
    """
    outputs = {
        name: array
        for name, array in after.items()
        if name not in old or array.tobytes() != np.asarray(old[name]).tobytes()
    }
    found = []
    for name, replaced, unwritten in _replacements(outputs, old):
        with suppress(RequestError):  # such as a division by zero: these checks do notice
            if passes({**values, **replaced}, unwritten):
                found.append(name)
    return tuple(found)


def _replacements(
    outputs: Mapping[str, Array], old: Values
) -> Iterator[tuple[str, Mapping[str, Array], Unwritten]]:
    """Yield replacements with their names, and which of their elements were never written."""
    zeros = {name: np.zeros_like(array) for name, array in outputs.items()}
    yield "zeros", zeros, nothing_unwritten
    inputs = {name: old[name] if name in old else _pattern(outputs[name]) for name in outputs}
    unwritten = {name: np.ones(outputs[name].shape, np.bool_) for name in outputs.keys() - old}
    yield "their inputs", inputs, unwritten.get
    floats = {name: each for name, each in outputs.items() if is_float(each.dtype)}
    if not all(np.isnan(each).all() for each in floats.values()):  # else NaN can be right
        nans = {name: _pattern(each) for name, each in floats.items()}
        yield "NaN", {**zeros, **nans}, nothing_unwritten


def _pattern(array: Array) -> Array:
    item = np.frombuffer(fill_pattern(array.dtype), array.dtype).reshape(())
    return np.broadcast_to(item, array.shape)
