"""The results of further runs of a launch: timed, with other seeds, after others, of a baseline."""

from __future__ import annotations

from cudarun.base.records import Number, dataclass
from cudarun.model.checks import CheckResult


@dataclass(frozen=True, slots=True)
class SeededRun:
    """A run of ``--seeds``, or the last one of a set of ``--input-sets``.

    Attributes:
        seed: The seed of its inputs.
        failures: The failed checks, damaged guard zones and findings of detectors.
    """

    seed: int
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduledRun:
    """A run of ``--schedules``.

    Attributes:
        schedule: Its schedule: late, or a seed.
        failures: As of a run of ``--seeds``, and the buffers that differ from those of the usual
            schedule.
    """

    schedule: str
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The same inputs with other schedules: ``--schedules``.

    Attributes:
        runs: A run for each schedule.
        comparisons: One for each buffer, or for each member of its structs, of the first failed
            run, or of the last one; right is in the usual schedule.
    """

    runs: tuple[ScheduledRun, ...]
    comparisons: tuple[CheckResult, ...]

    @property
    def failed(self) -> list[ScheduledRun]:
        """The failed runs."""
        return [run for run in self.runs if run.failures]


@dataclass(frozen=True, slots=True)
class StateResult:
    """The same inputs before and after launches with other inputs: ``--stateless``.

    Attributes:
        comparisons: One for each buffer, or for each member of its structs; left is after.
        changed: The variables of the image that the launches changed.
    """

    comparisons: tuple[CheckResult, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpeedResult:
    """The comparison of the times of a launch and of its baseline by a rank test.

    Attributes:
        ratio: How many times faster the launch is than the baseline; below 1, slower.
        low: The lower bound of its interval; ``None`` if there are too few runs.
        high: The upper bound, likewise.
        confidence: The confidence of the interval.
        p_value: The probability of a difference at least as large if there is none.
        is_significant: Whether the times differ.
    """

    ratio: Number
    low: Number | None
    high: Number | None
    confidence: float
    p_value: Number
    is_significant: bool


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """The comparison with the kernel of ``--baseline``.

    Attributes:
        kernel: The kernel, as in the request.
        comparisons: One for each buffer, or for each member of its structs; left is the launch.
        timing: The times of the baseline; ``None`` without ``--repeat``.
        speed: The comparison of the times; ``None`` without ``--repeat``, on emulated devices, and
            where the launch failed.
    """

    kernel: str
    comparisons: tuple[CheckResult, ...]
    timing: TimingResult | None
    speed: SpeedResult | None


@dataclass(frozen=True, slots=True)
class TimingResult:
    """The times of ``--repeat``, in milliseconds.

    Attributes:
        clock: What was measured: CUDA events, or wall time of the emulation.
        samples: All runs, in order.
        warmup: The number of runs before them.
        flushed_bytes: The bytes written before each run to flush the L2 cache.
        minimum: The shortest run.
        median: The median.
        mean: The mean.
        deviation: The standard deviation of the sample.
        percentiles: By percentage, as "95".
        noisy: Whether the deviation is too large for the times to mean much.
        throttled: What reduced the clock rates; ``None`` where that is not known.
        gigabytes_per_second: By the median and ``--bytes``; ``None`` without.
        gigaflops_per_second: By the median and ``--flops``; ``None`` without.
        rates_left_out: Whether rates were requested on an emulated device, whose time is no
            device's.
    """

    clock: str
    samples: tuple[Number, ...]
    warmup: int
    flushed_bytes: int
    minimum: Number
    median: Number
    mean: Number
    deviation: Number
    percentiles: dict[str, Number]
    noisy: bool
    throttled: tuple[str, ...] | None
    gigabytes_per_second: Number | None
    gigaflops_per_second: Number | None
    rates_left_out: bool = False
