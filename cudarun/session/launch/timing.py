"""``--repeat``: the time of a kernel or a program by events, each run under the same conditions.

Before each run, outside the timed interval, the inputs are restored and the L2 cache is flushed by
writing a large buffer, as in ``triton.testing.do_bench``. All runs are enqueued at once, so that
the device never waits for the host between an event and the kernel.

All runs use the same buffers. Several sets of inputs (``--input-sets``) take turns: before each
run, in stream order, a copy of its inputs is written to the buffers, and the variables of the image
get the values that they had before the first run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.dimensions import evaluate_dimension
from cudarun.arguments.dtypes import Array
from cudarun.base.records import dataclass
from cudarun.model.runs import TimingResult
from cudarun.session.driver.devices import Device, uuid_of
from cudarun.session.driver.memory import DeviceBuffer
from cudarun.session.driver.nvml import Throttling
from cudarun.session.launch.image_state import ImageState
from cudarun.session.launch.program import DeviceProgram
from cudarun.session.launch.request import Timing

if TYPE_CHECKING:
    from cudarun.session.driver.protocol import Handle

_FLUSH_BYTES = 256 << 20  # do_bench's size; no device has a larger L2 cache
_LEAD_BYTES = 1 << 20
_BATCH = 100  # runs enqueued at once: few enough that the stream's queue never fills
_PERCENTILES = (5, 25, 75, 95, 99)
_NOISY = 0.05  # standard deviation divided by the mean


def measure(
    device: Device,
    program: DeviceProgram,
    timing: Timing,
    sets: Sequence[InputSet],
    integers: Mapping[str, int],
    *,
    as_graph: bool,
    verify: Callable[[InputSet], None],
) -> tuple[TimingResult, tuple[TimingResult, ...]]:
    """Run a kernel or a program repeatedly, and time it.

    Args:
        sets: The inputs, which take turns.
        integers: The integer arguments, for the expressions of ``timing``.
        verify: Called after the last run of each input set but the first, whose run is the last.

    Returns:
        The time of the whole, and of each step if there are several and they are no graph.
    """
    nbytes, flops = (
        None if each is None else evaluate_dimension(each, integers, option)
        for each, option in ((timing.nbytes, "--bytes"), (timing.flops, "--flops"))
    )
    driver = program.session.driver
    throttling = Throttling(uuid_of(driver, device.handle))
    with ExitStack() as stack:
        parts: Sequence[Callable[[], None]] = program.steps
        if as_graph:
            parts = [stack.enter_context(program.captured())]
        runs = _Runs(program, parts, sets, throttling, hot=timing.hot)
        tried = timing.warmup > 0 and len(program.steps) > 1
        if tried:
            program.try_once()
        runs.take(timing.warmup - tried, "warming up")
        others = sets[1:]
        samples = runs.take(timing.repeat - len(others) - bool(others), "timing")
        for number in reversed(range(len(sets) if others else 0)):
            runs.turn = number
            samples += runs.take(1, "timing")
            if number:
                verify(sets[number])
    is_measured = driver.traits.measures_device

    def summed(times: list[float], nbytes: int | None, flops: int | None) -> TimingResult:
        return summary(
            times,
            warmup=timing.warmup,
            clock=driver.traits.clock,
            flushed_bytes=runs.flushed_bytes,
            throttled=throttling.reasons,
            nbytes=nbytes if is_measured else None,
            flops=flops if is_measured else None,
            rates_left_out=not is_measured and (nbytes, flops) != (None, None),
        )

    whole, *steps = zip(*samples, strict=True)
    return (summed([*whole], nbytes, flops), tuple(summed([*times], None, None) for times in steps))


@dataclass()
class _Runs:
    """Runs of a program under the same conditions."""

    program: DeviceProgram
    parts: Sequence[Callable[[], None]]
    sets: Sequence[InputSet]
    throttling: Throttling
    hot: bool

    def __post_init__(self) -> None:
        self.turn = 0  # the number of the set of the next run
        session, driver = self.program.session, self.program.session.driver
        self.flushed_bytes = 0 if self.hot or not driver.traits.has_cache else _FLUSH_BYTES
        size = self.flushed_bytes or _LEAD_BYTES
        self.scratch = DeviceBuffer(driver, "to flush the L2 cache", size, 0)
        session.add_release(self.scratch.free)
        self.host = driver.cuMemHostAlloc(_LEAD_BYTES, 0)
        session.add_release(lambda: driver.cuMemFreeHost(self.host))

    def take(self, count: int, doing: str) -> list[list[float]]:
        """Return the milliseconds of each run: of the whole, then of each of several parts."""
        samples: list[list[float]] = []
        while len(samples) < count:
            samples += self._batch(min(_BATCH, count - len(samples)))
            progress = self.program.session.progress
            progress.report(f"{doing} {self.program.name}", len(samples) / count)
        return samples

    def _batch(self, count: int) -> list[list[float]]:
        driver, stream = self.program.session.driver, self.program.stream
        marks = range(len(self.parts) + 1)
        events = [[driver.cuEventCreate(0) for _ in marks] for _ in range(count)]
        for start, *ends in events:
            self._prepare(stream)
            driver.cuEventRecord(start, stream)
            for part, end in zip(self.parts, ends, strict=True):
                part()
                driver.cuEventRecord(end, stream)
        self.throttling.sample()
        driver.cuCtxSynchronize()
        samples = [
            [
                float(driver.cuEventElapsedTime(*pair))
                for pair in ((run[0], run[-1]), *(pairwise(run) if len(run) > 2 else ()))
            ]
            for run in events
        ]
        for run in events:
            for event in run:
                driver.cuEventDestroy(event)
        return samples

    def _prepare(self, stream: Handle) -> None:
        """Restore the inputs, then flush.

        Without a flush, a copy over the bus keeps the device busy for some microseconds
        instead, so that the launch is in the queue before the event is reached.
        """
        chosen = self.sets[self.turn % len(self.sets)]
        self.turn += 1
        self.program.buffers.restore(chosen.originals, stream)
        chosen.state.restore(stream)
        address = self.scratch.address
        if self.flushed_bytes:
            self.program.session.driver.cuMemsetD8Async(address, 0, self.flushed_bytes, stream)
        else:
            self.program.session.driver.cuMemcpyDtoHAsync(self.host, address, _LEAD_BYTES, stream)


def summary(
    samples: list[float],
    *,
    warmup: int,
    clock: str,
    flushed_bytes: int,
    throttled: tuple[str, ...] | None,
    nbytes: int | None = None,
    flops: int | None = None,
    rates_left_out: bool = False,
) -> TimingResult:
    """Return the statistics of samples, in milliseconds; rates are computed from the median."""
    median = float(np.median(samples))
    mean = float(np.mean(samples))
    deviation = float(np.std(samples, ddof=1)) if len(samples) > 1 else 0.0
    return TimingResult(
        clock=clock,
        samples=tuple(samples),
        warmup=warmup,
        flushed_bytes=flushed_bytes,
        minimum=min(samples),
        median=median,
        mean=mean,
        deviation=deviation,
        percentiles={str(p): float(np.percentile(samples, p)) for p in _PERCENTILES},
        noisy=deviation > _NOISY * mean,
        throttled=throttled,
        gigabytes_per_second=_rate(nbytes, median),
        gigaflops_per_second=_rate(flops, median),
        rates_left_out=rates_left_out,
    )


def _rate(count: int | None, milliseconds: float) -> float | None:
    """Return ``count`` per run as 10⁹ per second."""
    return None if count is None or milliseconds == 0 else count / milliseconds / 1e6


@dataclass(frozen=True, slots=True)
class InputSet:
    """The inputs of a run."""

    seed: int
    before: dict[str, Array]  # the arrays of ``old(…)``
    originals: dict[str, DeviceBuffer]  # the copies of all buffers with an initializer
    state: ImageState  # the variables of the image
