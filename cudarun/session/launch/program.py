"""A launch on a device: the kernels of its steps with fixed arguments, run in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from cudarun.arguments.packing import Handles
from cudarun.base.errors import DeviceFailed
from cudarun.base.records import dataclass
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device
from cudarun.session.driver.memory import DeviceBuffer, FixedMemory
from cudarun.session.driver.tensor_maps import encode_tensor_map
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.launcher import Launcher, launch_stream
from cudarun.session.launch.recorded.objects import with_tensor_maps
from cudarun.session.launch.request import ProgramOptions
from cudarun.session.launch.steps import BoundStep
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

# CUDA driver API, enum CUresult: STREAM_CAPTURE_UNSUPPORTED to STREAM_CAPTURE_WRONG_THREAD.
_OF_CAPTURES = range(900, 909)
_HINT = (
    "a graph contains kernel launches, and copies and fills of memory in one stream; "
    "run the steps without a graph"
)


@dataclass(frozen=True, slots=True)
class StepLaunches:
    """The launches of one step."""

    step: BoundStep
    # Its kernel with the arguments of each launch; they repeat in this order.
    launchers: tuple[Launcher, ...]
    # The variables of its ``--set`` with copies of their values, in a program; those of one launch
    # are written when buffers are initialized.
    writes: tuple[tuple[FixedMemory, DeviceBuffer], ...]
    stream: cuda.CUstream
    exchanges: int  # how often its swaps are to be applied to the names after it

    def __call__(self) -> None:
        """Enqueue all launches of the step."""
        for variable, value in self.writes:
            variable.copy_from(value, self.stream)
        for number in range(self.step.request.times):
            self.launchers[number % len(self.launchers)]()


class DeviceProgram:
    """The steps of a program on a device, ready to run."""

    def __init__(
        self,
        session: Session,
        device: Device,
        options: ProgramOptions,
        steps: Sequence[BoundStep],
        buffers: Buffers,
        handles: Mapping[int, Handles],
    ) -> None:
        self.session = session  # the session; the device's context is current
        self._driver = session.driver
        self.buffers = buffers  # their buffers, initialized
        self._first_handles = handles  # by the number of a step, the result of its `handles`
        self.stream = launch_stream(session, device, options.priority, created=options.graph)
        self._unchanged = behind = {name: name for name in buffers.addresses}
        found = []
        for step in steps:
            writes: tuple[tuple[FixedMemory, DeviceBuffer], ...] = ()
            if len(steps) > 1 and step.variables.written:
                addresses = {name: buffers.addresses[other] for name, other in behind.items()}
                step_handles = self._handles(step, behind)
                writes = buffers.staged(
                    step.variables.written, options.seed, addresses, step_handles
                )
            launchers, exchanges = self._launchers(device, step, behind)
            for _ in range(exchanges):
                behind = step.swapped(behind)
            found.append(StepLaunches(step, launchers, writes, self.stream, exchanges))
        self.steps = tuple(found)

    @property
    def name(self) -> str:
        """The kernel's name, in C++ spelling; of several steps, their number."""
        last = self.steps[-1].step
        return last.kernel.demangled if len(self.steps) == 1 else f"{len(self.steps)} steps"

    def run(self, after: Callable[[StepLaunches, float], None]) -> None:
        """Run all steps; wait for each that does not overlap with the next one.

        Args:
            after: Called after each step with its milliseconds; the names of buffers are then those
                after its swaps.
        """
        following = [*(each.step.request for each in self.steps[1:]), None]
        waits = True
        for launches, then in zip(self.steps, following, strict=True):
            overlaps = then is not None and then.preferences.programmatic
            with launches.step.errors_named(overlaps=not waits):
                waits = not overlaps or launches.step.request.reads_results
                milliseconds = self._timed(launches.step.kernel.demangled, launches, waits=waits)
            self._exchange(launches)
            after(launches, milliseconds)

    def try_once(self) -> None:
        """Run all steps and wait for each, so that a fault names its step."""
        for launches in self.steps:
            with launches.step.errors_named():
                launches()
                self._driver.cuCtxSynchronize()

    def run_as_graph(self) -> float:
        """Run all steps as one CUDA graph; return the milliseconds."""
        with self.captured() as launch:
            milliseconds = self._timed(f"a graph of {self.name}", launch)
        self.exchange_all()
        return milliseconds

    def captured(self) -> AbstractContextManager[Callable[[], None]]:
        """Capture all steps as a CUDA graph."""
        return captured(self._driver, self.stream, self._enqueue)

    def _enqueue(self) -> None:
        """Enqueue all steps."""
        for launches in self.steps:
            launches()

    def exchange_all(self) -> None:
        """Give the buffers the names that they have after all steps."""
        for launches in self.steps:
            self._exchange(launches)

    def _timed(self, name: str, launch: Callable[[], object], *, waits: bool = True) -> float:
        """Launch, and wait; return the milliseconds of both."""
        progress, traits = self.session.progress, self._driver.traits

        def report(done: float) -> None:
            progress.report(f"{'compiling' if traits.is_compiling() else 'running'} {name}", done)

        report(0.0)
        traits.on_progress(report)
        started = time.perf_counter()
        launch()
        if waits:
            self._driver.cuCtxSynchronize()
        return (time.perf_counter() - started) * 1e3

    def _exchange(self, launches: StepLaunches) -> None:
        for _ in range(launches.exchanges):
            for first, second in launches.step.swaps:
                self.buffers.exchange(first, second)

    def _handles(self, step: BoundStep, behind: dict[str, str]) -> Handles:
        """Return the addresses and handles of a step, once more only if names are exchanged."""
        if behind == self._unchanged:
            return self._first_handles[step.number]
        return step.handles(self.buffers, behind)

    def _launchers(
        self, device: Device, step: BoundStep, behind: dict[str, str]
    ) -> tuple[tuple[Launcher, ...], int]:
        """Return the launchers of a step until they repeat, and its exchanges of names.

        Args:
            behind: The buffer behind each name before it.
        """
        addresses = self.buffers.addresses
        launchers: list[Launcher] = []
        first = behind
        times = step.request.times
        for number in range(times):
            if number and behind == first:
                return tuple(launchers), times % number
            named = {name: addresses[other] for name, other in behind.items()}
            encode = partial(encode_tensor_map, self._driver)
            with step.errors_named():
                packed = step.binding.pack(named, self._handles(step, behind), encode)
                packed = self.buffers.moved.applied(packed)
                packed = with_tensor_maps(
                    self._driver, step.request.image.recording, step.kernel.parameters, packed
                )
                launchers.append(
                    Launcher(
                        self._driver, device, step.kernel, step.request, step.geometry, packed,
                        self.stream,
                    )
                )  # fmt: skip
            behind = step.swapped(behind)
        return tuple(launchers), times


@contextmanager
def captured(
    driver: Driver, stream: cuda.CUstream, run: Callable[[], None]
) -> Iterator[Callable[[], None]]:
    """Capture work as a graph, which is destroyed at the end of the ``with`` block.

    Args:
        driver: The driver; the stream's context must be current.
        stream: The stream, not the default one.
        run: Submits the work to the stream. It is called once, and nothing is executed. The
            parameters of launches are copied, the contents of buffers are not.

    Yields:
        A function that launches the graph once; faults are reported at the next synchronization.
    """
    graph = _capture(driver, stream, run)
    try:
        executable = driver.cuGraphInstantiate(graph, 0)
    finally:
        driver.attempt("cuGraphDestroy", graph)
    try:
        driver.cuGraphUpload(executable, stream)  # otherwise part of the first launch
        yield lambda: driver.cuGraphLaunch(executable, stream)
    finally:
        # After a fault every call fails with it; the block has reported it.
        driver.attempt("cuGraphExecDestroy", executable)


def _capture(driver: Driver, stream: cuda.CUstream, run: Callable[[], None]) -> cuda.CUgraph:
    # Other threads of the process, such as a progress report, do not affect the capture.
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    try:
        driver.cuStreamBeginCapture(stream, mode)
        try:
            run()
        except BaseException:  # end the capture, so that the stream can be used again
            result, graph = driver.attempt("cuStreamEndCapture", stream)
            if result == 0:
                driver.attempt("cuGraphDestroy", graph)
            raise
        return driver.cuStreamEndCapture(stream)
    except DeviceFailed as error:
        if error.cuda is not None and error.cuda[1] in _OF_CAPTURES:
            error.hint = error.hint or _HINT
        raise
