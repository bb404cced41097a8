"""The results of further runs of a launch: timed, with other seeds, after others, of a baseline."""

from __future__ import annotations

from cudarun.base.records import Number, dataclass
from cudarun.model.checks import CheckResult


@dataclass(frozen=True, slots=True)
class SeededRun:
    """A run of ``--seeds``, or the last one of a set of ``--input-sets``."""

    seed: int  # the seed of its inputs
    failures: tuple[str, ...]  # the failed checks, damaged guard zones and findings of detectors


@dataclass(frozen=True, slots=True)
class ScheduledRun:
    """A run of ``--schedules``."""

    schedule: str  # its schedule: late, or a seed
    # As of a run of ``--seeds``, and the buffers that differ from those of the usual schedule.
    failures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The same inputs with other schedules: ``--schedules``."""

    runs: tuple[ScheduledRun, ...]  # a run for each schedule
    # One for each buffer, or for each member of its structs, of the first failed run, or of the
    # last one; right is in the usual schedule.
    comparisons: tuple[CheckResult, ...]

    @property
    def failed(self) -> list[ScheduledRun]:
        """The failed runs."""
        return [run for run in self.runs if run.failures]


@dataclass(frozen=True, slots=True)
class StateResult:
    """The same inputs before and after launches with other inputs: ``--stateless``."""

    # One for each buffer, or for each member of its structs; left is after.
    comparisons: tuple[CheckResult, ...]
    changed: tuple[str, ...]  # the variables of the image that the launches changed


@dataclass(frozen=True, slots=True)
class SpeedResult:
    """The comparison of the times of a launch and of its baseline by a rank test."""

    ratio: Number  # how many times faster the launch is than the baseline; below 1, slower
    low: Number | None  # the lower bound of its interval; ``None`` if there are too few runs
    high: Number | None  # the upper bound, likewise
    confidence: float  # the confidence of the interval
    p_value: Number  # the probability of a difference at least as large if there is none
    is_significant: bool  # whether the times differ


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """The comparison with the kernel of ``--baseline``."""

    kernel: str  # the kernel, as in the request
    # One for each buffer, or for each member of its structs; left is the launch.
    comparisons: tuple[CheckResult, ...]
    timing: TimingResult | None  # the times of the baseline; ``None`` without ``--repeat``
    # The comparison of the times; ``None`` without ``--repeat``, on emulated devices, and where the
    # launch failed.
    speed: SpeedResult | None


@dataclass(frozen=True, slots=True)
class TimingResult:
    """The times of ``--repeat``, in milliseconds."""

    clock: str  # what was measured: CUDA events, or wall time of the emulation
    samples: tuple[Number, ...]  # all runs, in order
    warmup: int  # the number of runs before them
    flushed_bytes: int  # the bytes written before each run to flush the L2 cache
    minimum: Number  # the shortest run
    median: Number  # the median
    mean: Number  # the mean
    deviation: Number  # the standard deviation of the sample
    percentiles: dict[str, Number]  # by percentage, as "95"
    noisy: bool  # whether the deviation is too large for the times to mean much
    # What reduced the clock rates; ``None`` where that is not known.
    throttled: tuple[str, ...] | None
    gigabytes_per_second: Number | None  # by the median and ``--bytes``; ``None`` without
    gigaflops_per_second: Number | None  # by the median and ``--flops``; ``None`` without
    # Whether rates were requested on an emulated device, whose time is no device's.
    rates_left_out: bool = False
