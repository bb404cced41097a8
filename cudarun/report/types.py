"""What happened, as plain data: every rendering (table, JSON, JUnit) starts from these."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from cudarun.errors import CudarunError, ExitCode, worst
from cudarun.records import dataclass

if TYPE_CHECKING:
    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.report.sanitizer_types import SanitizerReport
    from cudarun.report.watch_types import Finding, LaunchStatistics, Watched


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that is not as it should be: its index, empty for a scalar, and both values.

    ``operator`` stands between the values as text, ``left < right``; where it is empty, ``left``
    should be true.
    """

    index: tuple[int, ...]
    left: str
    right: str
    operator: str = "=="


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one ``--check``.

    Attributes:
        expression: The text as given.
        held: Whether the check held; not where it could not be evaluated.
        elements: How many elements were compared.
        mismatches: How many of them differ.
        max_abs_error: Largest ``|left - right|`` over all elements; ``None`` where there is none.
        max_rel_error: Largest ``|left - right| / |right|``; ``None`` where there is none.
        rtol: Relative tolerance used; 0 for integers.
        atol: Absolute tolerance used; 0 for integers.
        first: The first mismatches in index order.
        both_nan: Of how many mismatches both sides are NaN.
        evaluated: Whether there is a verdict; where there is none, an error says why.
    """

    expression: str
    held: bool
    elements: int
    mismatches: int
    max_abs_error: float | None
    max_rel_error: float | None
    rtol: float
    atol: float
    first: tuple[Mismatch, ...] = field(default=())
    both_nan: int = 0
    evaluated: bool = True


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as the driver describes it; sizes in bytes.

    ``name`` to ``ptx_version`` are as the driver gives them; ``label`` is what ``--device`` calls
    the device: ``0``, ``cpu``, ``cpu:1``.
    """

    label: str
    index: int
    name: str
    uuid: str
    pci_bus_id: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory_free: int | None
    memory_total: int
    driver_version: tuple[int, int]
    ptx_version: tuple[int, int] | None
    peers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DevicesReport:
    """The answer of ``cudarun devices``.

    ``attributes`` has, by the device's label, every ``CUdevice_attribute`` by its name without
    ``CU_DEVICE_ATTRIBUTE_``; ``None`` where a driver does not know it. It is empty where nobody
    asked.
    """

    tag: ClassVar[Literal["devices"]] = "devices"

    devices: tuple[DeviceInfo, ...]
    attributes: dict[str, dict[str, int | None]] = field(default_factory=dict)

    @property
    def exit_code(self) -> ExitCode:
        """Zero: whatever fails is an error, and then there is no report."""
        return ExitCode.OK


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """A line of the layout table: a parameter, or below it a member of a struct.

    Attributes:
        name: ``s``, or ``s.n`` for a member.
        type: As in the argument grammar; pointers as in C.
        offset: Bytes from the start of the parameter buffer.
        size: Bytes.
        alignment: Bytes.
        padding_before: Unused bytes before it.
        value: What it holds, as text.
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
    """One device buffer after the launch.

    Attributes:
        name: The argument's name.
        type: Element type in the argument grammar.
        shape: Dimensions as given.
        nbytes: Bytes on the device, guard zones not counted.
        never_written: Elements that still hold the poison pattern; ``None`` where the buffer was
            initialised.
        guard_damage: First damaged guard byte, relative to the buffer's start (negative: before
            it); ``None`` where the guard zones are intact.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    nbytes: int
    never_written: int | None
    guard_damage: int | None


@dataclass(frozen=True, slots=True)
class Printed:
    """One ``--print``: the expression, its value as text for people and as plain data for JSON."""

    expression: str
    text: str
    value: object


@dataclass(frozen=True, slots=True)
class Saved:
    """One file written by ``--save``."""

    name: str
    path: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """``--reference``: every buffer compared with what another device made of it.

    ``comparisons`` has one for each buffer, or for each member where it holds structs; their
    ``expression`` is what was compared, ``y`` or ``s["f0"]``, this device's value on the left.
    ``is_itself``: the other device is this one.
    """

    device: str
    comparisons: tuple[CheckResult, ...]
    is_itself: bool = False


@dataclass(frozen=True, slots=True)
class Histogram:
    """``--show NAME=hist``: the numbers of a buffer, counted in equal intervals.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: The count of each interval.
    """

    kind: ClassVar[Literal["hist"]] = "hist"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """``--show NAME=plot``: the numbers of a buffer in memory order, in columns.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: The smallest and the largest number of each column; ``None`` where none is finite.
    """

    kind: ClassVar[Literal["plot"]] = "plot"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[tuple[float, float] | None, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """``--show NAME=image``: a buffer as an image.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: Rows of ``(red, green, blue)``, 0 to 255.
    """

    kind: ClassVar[Literal["image"]] = "image"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[tuple[tuple[int, int, int], ...], ...]


Figure: TypeAlias = Histogram | Plot | Picture
"""``--show``: a buffer reduced to what a terminal can show."""


@dataclass(frozen=True, slots=True)
class TimingResult:
    """``--repeat``: how long the kernel took; all times in milliseconds.

    Attributes:
        clock: What was measured: ``CUDA events``, or ``wall time of the emulation``.
        samples: Every run, in order.
        warmup: Runs before them that are not counted.
        flushed_bytes: How much was written before each run to flush the L2 cache; 0: nothing.
        minimum: The shortest run.
        median: The middle one.
        mean: The average.
        deviation: The standard deviation of the sample.
        percentiles: By percent, as ``"95"``.
        noisy: Whether the deviation is too large for the figures to mean much.
        throttled: What held the clocks down meanwhile; ``None`` where nobody tells.
        gigabytes_per_second: By the median and ``--bytes``; ``None`` without.
        gigaflops_per_second: By the median and ``--flops``; ``None`` without.
    """

    clock: str
    samples: tuple[float, ...]
    warmup: int
    flushed_bytes: int
    minimum: float
    median: float
    mean: float
    deviation: float
    percentiles: dict[str, float]
    noisy: bool
    throttled: tuple[str, ...] | None
    gigabytes_per_second: float | None
    gigaflops_per_second: float | None


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """One launch on one device that came back.

    ``milliseconds`` is the time from the launch call to the end of the synchronisation; where the
    kernel was timed, the median of ``timing``. ``diagnostics`` are the warnings about CUDA source
    and notes on arguments.
    ``watched`` is what detectors saw; ``None`` where none was at work. ``errors`` says why
    something that was asked of the results could not be done.
    """

    device: DeviceInfo
    kernel: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    cluster: tuple[int, int, int] | None
    cooperative: bool
    parameters: tuple[LayoutRow, ...]
    buffers: tuple[BufferResult, ...]
    checks: tuple[CheckResult, ...]
    reference: ReferenceResult | None
    prints: tuple[Printed, ...]
    figures: tuple[Figure, ...]
    saved: tuple[Saved, ...]
    milliseconds: float
    timing: TimingResult | None
    diagnostics: tuple[Diagnostic, ...] = ()
    watched: Watched | None = None
    errors: tuple[CudarunError, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What detectors found."""
        return () if self.watched is None else self.watched.findings

    @property
    def statistics(self) -> LaunchStatistics | None:
        """What was counted."""
        return None if self.watched is None else self.watched.statistics

    @property
    def broken(self) -> tuple[str, ...]:
        """What should hold and does not: checks, the reference, guard zones; what was found."""
        found = (f"{finding.kind} of {finding.memory}" for finding in self.findings)
        guards = (f"guard zone of {b.name}" for b in self.buffers if b.guard_damage is not None)
        checks = (check.expression for check in self.checks if check.evaluated and not check.held)
        if self.reference is None:
            return (*found, *guards, *checks)
        where = self.reference.device
        differ = (f"{c.expression} as on {where}" for c in self.reference.comparisons if not c.held)
        return (*found, *guards, *checks, *differ)

    @property
    def held(self) -> bool:
        """Whether every check held, the reference agrees, guards are intact, nothing was found."""
        return not self.broken and all(check.held for check in self.checks)


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What ``--dry-run`` shows: the launch as it would be made."""

    tag: ClassVar[Literal["launch-plan"]] = "launch-plan"

    image: str
    kernel: str
    demangled: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    cluster: tuple[int, int, int] | None
    cooperative: bool
    parameters: tuple[LayoutRow, ...]
    parameter_bytes: int
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Zero: whatever fails is an error, and then there is no report."""
        return ExitCode.OK


@dataclass(frozen=True, slots=True)
class DeviceOutcome:
    """A launch on one device: its result or why there is none, and what the kernel printed.

    There is an error beside a result where something that was asked of it could not be done.
    ``sanitizer`` is what ``--sanitize`` found; a launch can fail of what it found.
    """

    device: str
    result: LaunchResult | None
    error: CudarunError | None
    output: str | None
    sanitizer: SanitizerReport | None = None


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """The answer of ``cudarun launch``: one outcome per device, in the order asked for.

    ``seed`` is what random initialisers started from; ``None`` where there was none.
    """

    tag: ClassVar[Literal["launch"]] = "launch"

    image: str
    seed: int | None
    outcomes: tuple[DeviceOutcome, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst of all devices; a check that does not hold is none."""
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
    held = outcome.result is not None and outcome.result.held
    return ExitCode.OK if held else ExitCode.CHECK_FAILED
