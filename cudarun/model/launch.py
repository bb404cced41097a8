"""The report of ``launch``."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import DETAIL, FIRST, LEFT_OUT, Number, dataclass
from cudarun.model.checks import CheckResult, ReferenceResult
from cudarun.model.runs import BaselineResult, ScheduleResult, SeededRun, StateResult, TimingResult

if TYPE_CHECKING:
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
    """A buffer reduced to what a terminal can show."""

    name: str  # the buffer
    kind: Literal["hist", "plot", "image"]  # the kind of figure
    minimum: float  # the smallest finite number
    maximum: float  # the largest finite number
    not_finite: int  # the number of NaNs and infinities, which are left out
    # Of a histogram, the number of elements in each interval; of a plot, the smallest and largest
    # number of each column, or ``None``; of an image, rows of red, green and blue.
    series: Counts | Columns | Pixels


USUAL_SCHEDULE = "as in the usual schedule"  # the claim of ``--schedules`` about a buffer
AFTER_OTHERS = "as before other launches"  # the claim of ``--stateless`` about a buffer


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A parameter of the kernel, or a member of a struct; sizes in bytes."""

    name: str  # its name; s.n for the member n of s
    type: str  # its type in the argument grammar; pointers as in C
    offset: int  # the offset in the parameter buffer
    size: int  # its size
    alignment: int  # its alignment
    padding_before: int  # unused bytes before it
    value: str  # its value, as text


@dataclass(frozen=True, slots=True)
class BufferResult:
    """A device buffer after the launch."""

    name: str  # the name of the argument
    type: str  # the element type in the argument grammar
    shape: tuple[int, ...]  # its dimensions
    nbytes: int  # its size in bytes, without guard zones
    # The number of elements that were never written; ``None`` where the buffer had an initializer.
    never_written: int | None
    # The offset of the first damaged byte of its guard zones, from the start of the buffer and
    # negative before it; ``None`` where they are intact.
    guard_damage: int | None
    # Whether a kernel is known to have read elements before anything wrote them.
    read_unwritten: bool = field(default=False, metadata=LEFT_OUT)
    # The digest of its contents; ``None`` where none was requested.
    digest: str | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class BufferCopy:
    """The contents of a buffer after the launch, in the file of `Program.copies`."""

    name: str  # the name of the argument
    offset: int  # the offset in the file in bytes
    dtype: np.dtype[Any]  # the dtype of the elements' numbers
    shape: tuple[int, ...]  # the shape of the array, with the axes of vectors last


@dataclass(frozen=True, slots=True)
class Printed:
    """The value of a ``--print``."""

    expression: str  # the expression as given
    text: str  # its value, as text
    value: object  # its value
    step: int | None = None  # the step after which it was evaluated; ``None`` after the last one


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that ``--save`` wrote."""

    name: str  # the buffer
    path: str  # the file
    nbytes: int  # its size in bytes


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """Memory that is not an argument: a variable of the image, or a buffer of ``--buffer``."""

    name: str  # the name in the request; symbol("…") where the request has that
    symbol: str | None  # the name of the variable's symbol, mangled in C++; ``None`` for a buffer
    space: str  # ``global`` or ``const``
    type: str  # the type in the argument grammar, with the number of elements: f32[5]
    nbytes: int  # its size in bytes
    # The value of ``--set`` or the initializer, as text; ``None`` where there is none.
    value: str | None


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """A launch of a kernel."""

    kernel: str  # the kernel's name
    demangled: str  # its name in C++ spelling
    grid: tuple[int, int, int]  # blocks in the grid
    block: tuple[int, int, int]  # threads in a block
    # The requested number of threads; ``None`` without ``--threads``.
    threads: tuple[int, int, int] | None
    shared_bytes: int  # dynamic shared memory of a block
    cluster: tuple[int, int, int] | None  # blocks in a cluster
    cooperative: bool  # whether the launch is cooperative
    # The contents of the parameter buffer.
    parameters: tuple[LayoutRow, ...] = field(metadata=DETAIL)
    # The variables of the image that it uses, and its other buffers.
    memory: tuple[MemoryRow, ...] = field(metadata=DETAIL)


@dataclass(frozen=True, slots=True)
class StepResult(KernelLaunch):
    """One step of a program."""

    image: str = field(metadata=FIRST)  # the file
    times: int  # the number of launches
    # The time of all of them with their synchronization; with ``--repeat``, the median; ``None`` in
    # a graph.
    milliseconds: Number | None
    timing: TimingResult | None  # the times of ``--repeat``; ``None`` in a graph


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """The engine that executed a kernel on an emulated device."""

    kernel: str  # the kernel
    demangled: str  # its name in C++ spelling
    engine: Literal["interpret", "compile"]  # ``interpret`` or ``compile``
    # Why it was interpreted, or some of its blocks (also the option or variable that selects the
    # interpreter), or why a compiled kernel can have other results than an interpreted one;
    # ``None`` for any other compiled kernel.
    reason: str | None
    # Whether no option and no environment variable selected the engine.
    is_default: bool = field(default=False, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class LaunchResult(KernelLaunch):
    """A launch on a device that came back; of a program, the kernel is that of the last step."""

    device: DeviceInfo = field(metadata={**FIRST, **DETAIL})  # the device
    buffers: tuple[BufferResult, ...] = field(metadata=DETAIL)  # the buffers after the launch
    checks: tuple[CheckResult, ...]  # the results of ``--check``
    reference: ReferenceResult | None  # the comparison with ``--reference``
    prints: tuple[Printed, ...]  # the values of ``--print``
    figures: tuple[Figure, ...]  # the figures of ``--show``
    saved: tuple[Saved, ...]  # the files of ``--save``
    # The time from the launch call to the end of synchronization; with ``--repeat``, the median.
    milliseconds: Number
    timing: TimingResult | None  # the times of ``--repeat``
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings of the compiler, and notes on the arguments
    watched: DetectorReport | None = None  # what ``--detect`` and ``--stats`` saw
    # The replacements of the outputs with which all checks still pass.
    weaknesses: tuple[str, ...] = ()
    # Whether weak checks are a failure: ``--check-strength fail``.
    weak_is_failure: bool = field(default=False, metadata=LEFT_OUT)
    # Why something that was asked of the results could not be done.
    errors: tuple[CudarunError, ...] = ()
    # The steps of a program, or of a kernel that is launched several times.
    steps: tuple[StepResult, ...] = ()
    # The runs of ``--seeds``; checks, buffers and findings are those of the first failed one.
    runs: tuple[SeededRun, ...] = ()
    # The last timed run of each of several input sets, likewise.
    input_sets: tuple[SeededRun, ...] = ()
    # The result of ``--schedules``, likewise; ``None`` without, or where the usual schedule failed.
    schedules: ScheduleResult | None = None
    state: StateResult | None = None  # the result of ``--stateless``; ``None`` without
    # The contents of all buffers, if a program requests them.
    copies: tuple[BufferCopy, ...] = field(default=(), metadata=LEFT_OUT)
    baseline: BaselineResult | None = None  # the comparison with ``--baseline``; ``None`` without
    # The engines of an emulated device, by kernel, also of kernels that kernels launched; empty for
    # a GPU.
    engines: tuple[KernelEngine, ...] = field(default=(), metadata=DETAIL)
    predictions: tuple[Prediction, ...] = ()  # the launches on the GPUs of ``--for``

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
        failed = []
        for what, runs in (("runs", self.runs), ("input sets", self.input_sets)):
            if seeds := [run.seed for run in runs if run.failures]:
                failed.append(f"{len(seeds)} of {len(runs)} {what}, the first with seed {seeds[0]}")
        if self.schedules is not None and (wrong := self.schedules.failed):
            total, first = len(self.schedules.runs), wrong[0].schedule
            failed.append(f"{len(wrong)} of {total} schedules, the first with --schedule {first}")
        return (*found, *guards, *checks, *weak, *unequal, *failed)

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

    @property
    def passed(self) -> bool:
        """True if there are no failures, and every check was evaluated."""
        return not self.failures and all(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True)
class PlannedStep(KernelLaunch):
    """A step of a program that ``--dry-run`` does not make."""

    image: str = field(metadata=FIRST)  # the file
    parameter_bytes: int  # its size in bytes


@dataclass(frozen=True, slots=True)
class LaunchPlan(KernelLaunch):
    """The launch that ``--dry-run`` does not make."""

    tag: ClassVar[Literal["launch-plan"]] = "launch-plan"

    image: str = field(metadata=FIRST)  # the file
    parameter_bytes: int  # its size in bytes
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings of the compiler, and notes on the arguments
    steps: tuple[PlannedStep, ...] = ()  # the steps of a program

    exit_code: ClassVar[ExitCode] = ExitCode.OK
    """A failure is an error, and then there is no report."""


@dataclass(frozen=True, slots=True)
class DeviceOutcome:
    """A launch on a device."""

    device: str  # the device, as for ``--device``
    result: LaunchResult | None  # the launch; ``None`` where it did not come back
    # The error; beside a result where something that was asked of it could not be done.
    error: CudarunError | None
    output: str | None  # what the kernel printed
    sanitizer: SanitizerReport | None = None  # what ``--sanitize`` found


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """A launch on one or several devices."""

    tag: ClassVar[Literal["launch"]] = "launch"

    image: str  # the image file
    seed: int | None  # the seed of random initializers; ``None`` where there are none
    outcomes: tuple[DeviceOutcome, ...]  # one for each device, in order

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
