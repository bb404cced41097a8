"""``--baseline``: the same launch with another kernel, its results and its times."""

from __future__ import annotations

from dataclasses import replace

from cudarun.base.errors import DeviceFailed
from cudarun.base.records import derived
from cudarun.comparison.rank_test import CONFIDENCE, time_ratio
from cudarun.model.launch import LaunchResult
from cudarun.model.runs import BaselineResult, SpeedResult, TimingResult
from cudarun.session.launch.launches import Launches
from cudarun.session.launch.request import BaselineLaunch, Program
from cudarun.session.launch.timing import summary
from cudarun.session.workers.shared_file import SharedFile


class BaselineLaunches:
    """The launches of a baseline.

    Args:
        baseline: The baseline.
        launches: Launches its image.
        measures_device: Whether times are those of a device; others are not compared.
    """

    def __init__(
        self, baseline: BaselineLaunch, launches: Launches, *, measures_device: bool
    ) -> None:
        self._label = baseline.label
        self._program = baseline.program.without_results()
        self._launches = launches
        self._measures_device = measures_device

    def compare(self, program: Program, own: Launches) -> LaunchResult:
        """Make a launch and that of the baseline with the same inputs, and compare.

        Half of the timed runs of the baseline precede those of the launch, and the others follow
        them, so that a slow change of the clock rate affects both equally.
        """
        timing = program.options.timing
        repeat = 0 if timing is None else timing.repeat
        with SharedFile() as file:
            try:
                plain = self._program.with_options(seed=program.options.seed, timing=None)
                buffers = self._launches.reference(plain, file)
                before = self._times((repeat + 1) // 2)
            except DeviceFailed as error:
                raise error.of(option="--baseline") from None
            result = own.run(program, buffers)
        timings = [each for each in (before, self._times(repeat // 2)) if each is not None]
        assert result.reference is not None, "there are buffers to compare with"
        compared = BaselineResult(self._label, result.reference.comparisons, None, None)
        if result.timing is not None:
            samples = tuple(sample for each in timings for sample in each.samples)
            speed = None
            if self._measures_device:
                ratio = time_ratio(result.timing.samples, samples)
                speed = derived(SpeedResult, ratio, confidence=CONFIDENCE)
            compared = replace(compared, timing=_joined(timings, samples), speed=speed)
        return replace(result, reference=None, baseline=compared)

    def _times(self, repeat: int) -> TimingResult | None:
        """Time a number of runs; ``None`` of zero."""
        if not repeat:
            return None
        timing = self._program.options.timing
        assert timing is not None, "runs are timed only by request"
        sets = min(repeat, timing.input_sets)
        timing = replace(timing, repeat=repeat, input_sets=sets, nbytes=None, flops=None)
        return self._launches.run(self._program.with_options(timing=timing)).timing


def _joined(timings: list[TimingResult], samples: tuple[float, ...]) -> TimingResult:
    """Return the timing of all samples."""
    reasons = [each.throttled for each in timings if each.throttled is not None]
    return summary(
        [*samples],
        warmup=timings[0].warmup,
        clock=timings[0].clock,
        flushed_bytes=timings[0].flushed_bytes,
        throttled=tuple(dict.fromkeys(sum(reasons, ()))) if reasons else None,
        nbytes=None,
        flops=None,
    )
