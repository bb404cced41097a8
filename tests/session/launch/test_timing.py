"""How a kernel is timed: what the device is given for each run, and the figures of the samples."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.statements import parse_check
from cudarun.arguments.grammar import parse_arguments
from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.emulator import driver as emulator
from cudarun.emulator.host.process import process
from cudarun.images.reader import read_image
from cudarun.model.launch import LaunchResult
from cudarun.report.timing_tables import duration, show_timing
from cudarun.session.driver import drivers
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.driver.transfers import Transfers
from cudarun.session.image.image import Image
from cudarun.session.launch import buffers
from cudarun.session.launch.initialization import BufferInitializer
from cudarun.session.launch.request import Program, ProgramOptions, Timing
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep
from cudarun.session.launch.steps import load_libraries
from cudarun.session.launch.timing import summary
from cudarun.session.launch.worker import run_on
from cudarun.session.workers import session
from cudarun.session.workers.progress import Progress

SAXPY = Path(__file__).resolve().parents[3] / "samples" / "saxpy.ptx"


class Recorder:
    """The emulated driver, with the name and arguments of every call that is made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        member = getattr(emulator, name)
        if not (name.startswith("cu") and name[2].isupper()):
            return member

        def recorded(*args: Any) -> Any:
            self.calls.append((name, args))
            return member(*args)

        return recorded

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """A driver that has a cache to flush and needs guard zones, as a GPU does."""
    process.reset()
    recorder = Recorder()
    traits = drivers.DriverTraits(guard_bytes=64, clock="events", has_cache=True)
    choice = drivers.DriverChoice(recorder, traits)
    monkeypatch.setattr(session, "choose_driver", lambda name, profile: choice)
    yield recorder
    process.reset()


def launched(
    timing: Timing | None, *, profile: bool = False, checks: tuple[str, ...] = ()
) -> LaunchResult:
    data = SAXPY.read_bytes()
    step = LaunchStep(
        image=Image("saxpy.ptx", data, read_image(data, "saxpy.ptx")),
        kernel=None,
        geometry=GeometryRequest(block=parse_extent("32"), threads=parse_extent("n")),
        arguments=parse_arguments(["a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100"]),
        checks=tuple(map(parse_check, checks)),
    )
    options = ProgramOptions(timing=timing, profile=profile, check_strength="off")
    program = Program((step,), options)
    here = session.Session(Target(parse_devices("cpu")), parse_devices("cpu"))
    [device] = here.devices
    return run_on(here, load_libraries(here, program), program, device)


def test_each_run_is_restored_flushed_and_timed_alone(recorder: Recorder) -> None:
    result = launched(Timing(repeat=3, warmup=2), checks=("y == a*x + old(y)",))
    assert result.passed
    names = recorder.names()
    first = names.index("cuEventRecord") - 3
    run = ["cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync", "cuMemsetD8Async",
           "cuEventRecord", "cuLaunchKernel", "cuEventRecord"]  # fmt: skip
    assert names[first : first + 12] == 2 * run
    assert names[first + 12] == "cuCtxSynchronize"
    assert names.count("cuLaunchKernel") == 5
    assert names.count("cuEventElapsedTime") == 5
    assert names.count("cuEventCreate") == names.count("cuEventDestroy") == 10
    [flush] = {args[2] for name, args in recorder.calls if name == "cuMemsetD8Async"}
    assert flush == 256 << 20
    assert result.timing is not None
    assert (len(result.timing.samples), result.timing.flushed_bytes) == (3, 256 << 20)
    assert result.milliseconds == result.timing.median


def test_hot_runs_flush_nothing_but_keep_the_queue_ahead(recorder: Recorder) -> None:
    result = launched(Timing(repeat=2, warmup=0, hot=True), checks=("y == a*x + old(y)",))
    assert result.passed
    names = recorder.names()
    assert "cuMemsetD8Async" not in names
    first = names.index("cuEventRecord")
    assert names[first - 1] == "cuMemcpyDtoHAsync"
    assert names[first + 1] == "cuLaunchKernel"
    assert result.timing is not None
    assert result.timing.flushed_bytes == 0


def test_many_runs_go_to_the_device_in_batches(recorder: Recorder) -> None:
    result = launched(Timing(repeat=150, warmup=0))
    assert result.timing is not None
    assert len(result.timing.samples) == 150
    names = [name for name in recorder.names() if name in ("cuEventRecord", "cuCtxSynchronize")]
    assert names[200] == "cuCtxSynchronize"
    assert names[201:301] == 100 * ["cuEventRecord"]


def test_no_memory_for_a_second_copy_is_said(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    alloc, left = emulator.cuMemAlloc, iter(range(2))

    def scarce(size: int) -> Any:
        if next(left, None) is None:
            return emulator.CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        return alloc(size)

    monkeypatch.setattr(emulator, "cuMemAlloc", scarce)
    with pytest.raises(DeviceFailed, match="a second copy of every input, to restore it: buffer"):
        launched(Timing(repeat=3, warmup=2))


def test_rates_come_from_the_integer_arguments(recorder: Recorder) -> None:
    timing = Timing(2, 0, nbytes=parse_expression("12*n"), flops=parse_expression("2*n"))
    result = launched(timing).timing
    assert result is not None
    assert result.gigabytes_per_second == pytest.approx(1200 / result.median / 1e6)
    assert result.gigaflops_per_second == pytest.approx(200 / result.median / 1e6)


def test_rates_over_unknown_names_are_refused_before_anything_runs(recorder: Recorder) -> None:
    with pytest.raises(RequestError, match=r"^--bytes '12\*m': unknown integer argument 'm'"):
        launched(Timing(2, 0, nbytes=parse_expression("12*m")))
    assert "cuLaunchKernel" not in recorder.names()


def test_a_profiled_launch_is_bare(recorder: Recorder) -> None:
    launched(None, profile=True)
    names = recorder.names()
    assert names.count("cuLaunchKernel") == 1
    assert not [name for name in names if name.startswith(("cuMemset", "cuMemcpyDtoH"))]
    assert [args for name, args in recorder.calls if name == "cuMemAlloc"] == [(400,), (400,)]


def test_a_profiled_launch_still_checks_what_it_is_asked_to(recorder: Recorder) -> None:
    assert launched(None, profile=True, checks=("y == a*x + 1",)).passed
    assert recorder.names().count("cuMemcpyDtoH") == 2


def test_an_ordinary_launch_has_guard_zones(recorder: Recorder) -> None:
    assert launched(None).passed
    assert [args for name, args in recorder.calls if name == "cuMemAlloc"] == [(528,), (528,)]


def test_an_emulated_kernel_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_ENGINE", "interpret")
    process.reset()
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(Progress, "report", lambda self, what, done=0.0: told.append((what, done)))
    launched(None)
    process.reset()
    assert [done for what, done in told if what == "running saxpy"] == [0.0, 1.0]


# --- the figures ---------------------------------------------------------------------------------


def figures(samples: list[float], **kwargs: Any) -> Any:
    known = {"warmup": 0, "clock": "", "flushed_bytes": 0, "throttled": None}
    return summary(samples, **(known | {"nbytes": None, "flops": None} | kwargs))


def test_the_figures_of_known_samples() -> None:
    found = figures([1.0, 2.0, 3.0, 4.0, 10.0])
    assert (found.minimum, found.median, found.mean) == (1.0, 3.0, 4.0)
    assert found.deviation == pytest.approx(math.sqrt(12.5))
    assert found.percentiles["25"] == 2.0
    assert found.percentiles["95"] == pytest.approx(8.8)
    assert found.noisy


def test_steady_samples_are_not_noisy() -> None:
    assert not figures([1.0, 1.01, 0.99, 1.0]).noisy


def test_one_sample_has_no_deviation() -> None:
    found = figures([2.0])
    assert (found.deviation, found.noisy, found.median) == (0.0, False, 2.0)


def test_rates_are_by_the_median() -> None:
    found = figures([1.0, 2.0, 9.0], nbytes=4_000_000, flops=2_000_000_000)
    assert (found.gigabytes_per_second, found.gigaflops_per_second) == (2.0, 1000.0)


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.0123456, "12.35 µs"), (1.23456, "1.235 ms"), (123.456, "123.5 ms"), (12345.6, "12.35 s")],
)
def test_durations_have_four_digits(milliseconds: float, text: str) -> None:
    assert duration(milliseconds) == text


@pytest.mark.parametrize(
    ("flops", "text"), [(123_456_789_000, "61730 GFLOP/s"), (1_234_567_000, "617.3 GFLOP/s")]
)
def test_rates_have_four_digits_and_no_exponent(flops: int, text: str) -> None:
    out = io.StringIO()
    show_timing(figures([2.0], flops=flops), Console(file=out, width=200))
    assert f"\n{text} (median)\n" in out.getvalue()


def test_large_copies_go_in_parts_and_say_how_far_they_are(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts = partial(Transfers, large=400, block_bytes=152, blocks=2)
    monkeypatch.setattr(buffers, "Transfers", in_parts)
    told: list[tuple[str, float]] = []
    monkeypatch.setattr(Progress, "report", lambda self, what, done=0.0: told.append((what, done)))
    assert launched(None, checks=("y == a*x + 1",)).passed
    for call in ("cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"):
        sizes = [args[2] for name, args in recorder.calls if name == call]
        assert sizes == 2 * [152, 152, 96]
    for what in ("filling x", "copying x from the device"):
        assert [done for said, done in told if said == what and done] == [0.38, 0.76]


def test_a_long_sequence_is_made_by_a_kernel(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffers, "BufferInitializer", partial(BufferInitializer, large=400))
    assert launched(None, checks=("old(x) == arange(100)", "y == a*x + 1")).passed
    assert recorder.names().count("cuLaunchKernel") == 1, "an array that is kept is copied"
    assert launched(None, checks=("y == a*x + 1",)).passed
    assert recorder.names().count("cuLaunchKernel") == 3


def test_a_profiler_sees_no_kernel_of_ours(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buffers, "BufferInitializer", partial(BufferInitializer, large=400))
    assert launched(None, profile=True, checks=("y == a*x + 1",)).passed
    assert recorder.names().count("cuLaunchKernel") == 1
