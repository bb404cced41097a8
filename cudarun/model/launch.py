"""The report of ``launch``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import DETAIL, FIRST, LEFT_OUT, Number, dataclass
from cudarun.model.checks import CheckResult, ReferenceResult
from cudarun.model.runs import BaselineResult, ScheduleResult, SeededRun, StateResult, TimingResult

if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.model.detectors import (
        DetectorReport,
        LaunchFinding,
        LaunchStatistics,
        SanitizerReport,
    )
    from cudarun.model.devices import DeviceInfo
    from cudarun.model.occupancy import Prediction

Counts: TypeAlias = tuple[int, ...]
Columns: TypeAlias = tuple[tuple[float, float] | None, ...]
Pixels: TypeAlias = tuple[tuple[tuple[int, int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A buffer reduced to what a terminal can show.

    Attributes:
        name: The buffer.
        kind: The kind of figure.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: The number of NaNs and infinities, which are left out.
        series: Of a histogram, the number of elements in each interval; of a plot, the smallest and
            largest number of each column, or ``None``; of an image, rows of red, green and blue.
    """

    name: str
    kind: Literal["hist", "plot", "image"]
    minimum: float
    maximum: float
    not_finite: int
    series: Counts | Columns | Pixels


USUAL_SCHEDULE = "as in the usual schedule"
"""The claim of ``--schedules`` about a buffer."""
AFTER_OTHERS = "as before other launches"
"""The claim of ``--stateless`` about a buffer."""


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A parameter of the kernel, or a member of a struct; sizes in bytes.

    Attributes:
        name: Its name; s.n for the member n of s.
        type: Its type in the argument grammar; pointers as in C.
        offset: The offset in the parameter buffer.
        size: Its size.
        alignment: Its alignment.
        padding_before: Unused bytes before it.
        value: Its value, as text.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    padding_before: int
    value: str


@dataclass(frozen=True, slots=True)
class BufferResult:
    """A device buffer after the launch.

    Attributes:
        name: The name of the argument.
        type: The element type in the argument grammar.
        shape: Its dimensions.
        nbytes: Its size in bytes, without guard zones.
        never_written: The number of elements that were never written; ``None`` where the buffer had
            an initializer.
        guard_damage: The offset of the first damaged byte of its guard zones, from the start of the
            buffer and negative before it; ``None`` where they are intact.
        digest: The digest of its contents; ``None`` where none was requested.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    nbytes: int
    never_written: int | None
    guard_damage: int | None
    digest: str | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class BufferCopy:
    """The contents of a buffer after the launch, in the file of `Program.copies`.

    Attributes:
        name: The name of the argument.
        offset: The offset in the file in bytes.
        dtype: The dtype of the elements' numbers.
        shape: The shape of the array, with the axes of vectors last.
    """

    name: str
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """The value of a ``--print``.

    Attributes:
        expression: The expression as given.
        text: Its value, as text.
        value: Its value.
        step: The step after which it was evaluated; ``None`` after the last one.
    """

    expression: str
    text: str
    value: object
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that ``--save`` wrote.

    Attributes:
        name: The buffer.
        path: The file.
        nbytes: Its size in bytes.
    """

    name: str
    path: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Memory that is not an argument: a variable of the image, or a buffer of ``--buffer``.

    Attributes:
        name: The name in the request; symbol("…") where the request has that.
        symbol: The name of the variable's symbol, mangled in C++; ``None`` for a buffer.
        space: global or const.
        type: The type in the argument grammar, with the number of elements: f32[5].
        nbytes: Its size in bytes.
        value: The value of ``--set`` or the initializer, as text; ``None`` where there is none.
    """

    name: str
    symbol: str | None
    space: str
    type: str
    nbytes: int
    value: str | None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch of a kernel.

    Attributes:
        kernel: The kernel's name.
        demangled: Its name in C++ spelling.
        grid: Blocks in the grid.
        block: Threads in a block.
        threads: The requested number of threads; ``None`` without ``--threads``.
        shared_bytes: Dynamic shared memory of a block.
        cluster: Blocks in a cluster.
        cooperative: Whether the launch is cooperative.
        parameters: The contents of the parameter buffer.
        memory: The variables of the image that it uses, and its other buffers.
    """

    kernel: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    threads: tuple[int, int, int] | None
    shared_bytes: int
    cluster: tuple[int, int, int] | None
    cooperative: bool
    parameters: tuple[LayoutRow, ...] = field(metadata=DETAIL)
    memory: tuple[MemoryRow, ...] = field(metadata=DETAIL)


@dataclass(frozen=True, slots=True)
class StepResult(KernelLaunch):
    """One step of a program.

    Attributes:
        image: The file.
        times: The number of launches.
        milliseconds: The time of all of them with their synchronization; with ``--repeat``, the
            median; ``None`` in a graph.
        timing: The times of ``--repeat``; ``None`` in a graph.
    """

    image: str = field(metadata=FIRST)
    times: int
    milliseconds: Number | None
    timing: TimingResult | None


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """The engine that executed a kernel on an emulated device.

    Attributes:
        kernel: The kernel.
        demangled: Its name in C++ spelling.
        engine: interpret or compile.
        reason: Why it was interpreted, or some of its blocks (also the option or variable that
            selects the interpreter), or why a compiled kernel can have other results than an
            interpreted one; ``None`` for any other compiled kernel.
        is_default: Whether no option and no environment variable selected the engine.
    """

    kernel: str
    demangled: str
    engine: Literal["interpret", "compile"]
    reason: str | None
    is_default: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class LaunchResult(KernelLaunch):
    """A launch on a device that came back; of a program, the kernel is that of the last step.

    Attributes:
        device: The device.
        buffers: The buffers after the launch.
        checks: The results of ``--check``.
        reference: The comparison with ``--reference``.
        prints: The values of ``--print``.
        figures: The figures of ``--show``.
        saved: The files of ``--save``.
        milliseconds: The time from the launch call to the end of synchronization; with
            ``--repeat``, the median.
        timing: The times of ``--repeat``.
        diagnostics: Warnings of the compiler, and notes on the arguments.
        watched: What ``--detect`` and ``--stats`` saw.
        weaknesses: The replacements of the outputs with which all checks still pass.
        weak_is_failure: Whether weak checks are a failure: ``--check-strength fail``.
        errors: Why something that was asked of the results could not be done.
        steps: The steps of a program, or of a kernel that is launched several times.
        runs: The runs of ``--seeds``; checks, buffers and findings are those of the first failed
            one.
        input_sets: The last timed run of each of several input sets, likewise.
        schedules: The result of ``--schedules``, likewise; ``None`` without, or where the usual
            schedule failed.
        state: The result of ``--stateless``; ``None`` without.
        copies: The contents of all buffers, if a program requests them.
        baseline: The comparison with ``--baseline``; ``None`` without.
        engines: The engines of an emulated device, by kernel, also of kernels that kernels
            launched; empty for a GPU.
        predictions: The launches on the GPUs of ``--for``.
    """

    device: DeviceInfo = field(metadata={**FIRST, **DETAIL})
    buffers: tuple[BufferResult, ...] = field(metadata=DETAIL)
    checks: tuple[CheckResult, ...]
    reference: ReferenceResult | None
    prints: tuple[Printed, ...]
    figures: tuple[Figure, ...]
    saved: tuple[Saved, ...]
    milliseconds: Number
    timing: TimingResult | None
    diagnostics: tuple[Diagnostic, ...] = ()
    watched: DetectorReport | None = None
    weaknesses: tuple[str, ...] = ()
    weak_is_failure: bool = field(default=False, metadata=LEFT_OUT)
    errors: tuple[CudarunError, ...] = ()
    steps: tuple[StepResult, ...] = ()
    runs: tuple[SeededRun, ...] = ()
    input_sets: tuple[SeededRun, ...] = ()
    schedules: ScheduleResult | None = None
    state: StateResult | None = None
    copies: tuple[BufferCopy, ...] = field(default=(), metadata=LEFT_OUT)
    baseline: BaselineResult | None = None
    engines: tuple[KernelEngine, ...] = field(default=(), metadata=DETAIL)
    predictions: tuple[Prediction, ...] = ()

    @property
    def findings(self) -> tuple[LaunchFinding, ...]:
        """The findings of detectors."""
        return () if self.watched is None else self.watched.findings

    @property
    def statistics(self) -> LaunchStatistics | None:
        """The counts of ``--stats``."""
        return None if self.watched is None else self.watched.statistics

    @property
    def failures(self) -> tuple[str, ...]:
        """The failed checks and comparisons, damaged guard zones, and findings of detectors.

        The findings in a buffer or a variable are one failure.
        """
        found = dict.fromkeys(each.summary for each in self.findings)
        guards = (f"guard zone of {b.name}" for b in self.buffers if b.guard_damage is not None)
        checks = (check.expression for check in self.checks if check.evaluated and not check.passed)
        weak = ("weak checks",) if self.weaknesses and self.weak_is_failure else ()
        unequal = (
            f"{each.expression} {claim}"
            for each, claim in self.comparisons
            if not each.passed and claim != USUAL_SCHEDULE  # which is that of a failed run
        )
        return (*found, *guards, *checks, *weak, *unequal, *self._failed_runs())

    @property
    def comparisons(self) -> list[tuple[CheckResult, str]]:
        """The comparisons with other launches, each with a text after its expression."""
        found: list[tuple[tuple[CheckResult, ...], str]] = []
        if self.reference is not None:
            found.append((self.reference.comparisons, f"as on {self.reference.device}"))
        if self.baseline is not None:
            found.append((self.baseline.comparisons, f"as by {self.baseline.kernel}"))
        if self.schedules is not None:
            found.append((self.schedules.comparisons, USUAL_SCHEDULE))
        if self.state is not None:
            found.append((self.state.comparisons, AFTER_OTHERS))
        return [(each, claim) for comparisons, claim in found for each in comparisons]

    def _failed_runs(self) -> Iterator[str]:
        """Yield the number of failed runs of several, if there are any."""
        for what, runs in (("runs", self.runs), ("input sets", self.input_sets)):
            failed = [run for run in runs if run.failures]
            if failed:
                yield f"{len(failed)} of {len(runs)} {what}, the first with seed {failed[0].seed}"
        if self.schedules is not None and (wrong := self.schedules.failed):
            total, first = len(self.schedules.runs), wrong[0].schedule
            yield f"{len(wrong)} of {total} schedules, the first with --schedule {first}"

    @property
    def passed(self) -> bool:
        """True if there are no failures, and every check was evaluated."""
        return not self.failures and all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class PlannedStep(KernelLaunch):
    """A step of a program that ``--dry-run`` does not make.

    Attributes:
        image: The file.
        parameter_bytes: Its size in bytes.
    """

    image: str = field(metadata=FIRST)
    parameter_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchPlan(KernelLaunch):
    """The launch that ``--dry-run`` does not make.

    Attributes:
        image: The file.
        parameter_bytes: Its size in bytes.
        diagnostics: Warnings of the compiler, and notes on the arguments.
        steps: The steps of a program.
    """

    tag: ClassVar[Literal["launch-plan"]] = "launch-plan"

    image: str = field(metadata=FIRST)
    parameter_bytes: int
    diagnostics: tuple[Diagnostic, ...] = ()
    steps: tuple[PlannedStep, ...] = ()

    exit_code: ClassVar[ExitCode] = ExitCode.OK
    """A failure is an error, and then there is no report."""


@dataclass(frozen=True, slots=True)
class DeviceOutcome:
    """A launch on a device.

    Attributes:
        device: The device, as for ``--device``.
        result: The launch; ``None`` where it did not come back.
        error: The error; beside a result where something that was asked of it could not be done.
        output: What the kernel printed.
        sanitizer: What ``--sanitize`` found.
    """

    device: str
    result: LaunchResult | None
    error: CudarunError | None
    output: str | None
    sanitizer: SanitizerReport | None = None


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """A launch on one or several devices.

    Attributes:
        image: The image file.
        seed: The seed of random initializers; ``None`` where there are none.
        outcomes: One for each device, in order.
    """

    tag: ClassVar[Literal["launch"]] = "launch"

    image: str
    seed: int | None
    outcomes: tuple[DeviceOutcome, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all devices; a failed check is none."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all devices."""
        return max((_exit_code(outcome) for outcome in self.outcomes), default=ExitCode.OK)


def _exit_code(outcome: DeviceOutcome) -> ExitCode:
    if outcome.sanitizer is not None and outcome.sanitizer.findings:
        return ExitCode.CHECK_FAILED  # also where the launch fails of what was found
    if outcome.error is not None:
        return outcome.error.exit_code
    passed = outcome.result is not None and outcome.result.passed
    return ExitCode.OK if passed else ExitCode.CHECK_FAILED
