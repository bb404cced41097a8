"""The launches of a program as a CUDA graph: captured once, then launched as often as needed.

CUDA driver API, sections 6.18 (stream capture) and 6.23 (graphs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cudarun.base.errors import DeviceFailed
from cudarun.session.driver.calls import Driver

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

# CUDA driver API, enum CUresult: STREAM_CAPTURE_UNSUPPORTED to STREAM_CAPTURE_WRONG_THREAD.
_OF_CAPTURES = range(900, 909)
_HINT = (
    "a graph contains kernel launches, and copies and fills of memory in one stream; "
    "run the steps without a graph"
)


class CapturedGraph:
    """An executable graph of captured work.

    Args:
        driver: The driver.
        executable: The executable graph.
        stream: The stream to launch it in.
        nodes: The number of its nodes.
    """

    def __init__(
        self, driver: Driver, executable: cuda.CUgraphExec, stream: cuda.CUstream, nodes: int
    ) -> None:
        self._driver = driver
        self._executable = executable
        self._stream = stream
        self.nodes = nodes

    def launch(self) -> None:
        """Launch the graph once; faults are reported at the next synchronization.

        Raises:
            DeviceFailed: The driver refuses the launch.
        """
        self._driver.cuGraphLaunch(self._executable, self._stream)


@contextmanager
def captured(
    driver: Driver, stream: cuda.CUstream, run: Callable[[], None]
) -> Iterator[CapturedGraph]:
    """Capture work as a graph, which is destroyed at the end of the ``with`` block.

    Args:
        driver: The driver; the stream's context must be current.
        stream: The stream, not the default one.
        run: Submits the work to the stream. It is called once, and nothing is executed. The
            parameters of launches are copied, the contents of buffers are not.

    Raises:
        DeviceFailed: The work cannot be captured, or the driver refuses a launch.
    """
    graph = _capture(driver, stream, run)
    try:
        _, nodes = driver.cuGraphGetNodes(graph)
        executable = driver.cuGraphInstantiate(graph, 0)
    finally:
        driver.attempt("cuGraphDestroy", graph)
    try:
        driver.cuGraphUpload(executable, stream)  # otherwise part of the first launch
        yield CapturedGraph(driver, executable, stream, nodes)
    finally:
        # After a fault every call fails with it; the block has reported it.
        driver.attempt("cuGraphExecDestroy", executable)


def _capture(driver: Driver, stream: cuda.CUstream, run: Callable[[], None]) -> cuda.CUgraph:
    with _refusals_explained():
        # Other threads of the process, such as a progress report, do not affect the capture.
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        driver.cuStreamBeginCapture(stream, mode)
        try:
            run()
        except BaseException:
            _abandon(driver, stream)
            raise
        return driver.cuStreamEndCapture(stream)


def _abandon(driver: Driver, stream: cuda.CUstream) -> None:
    """End a capture without a graph, so that the stream can be used again."""
    result, graph = driver.attempt("cuStreamEndCapture", stream)
    if result == 0:
        driver.attempt("cuGraphDestroy", graph)


@contextmanager
def _refusals_explained() -> Iterator[None]:
    try:
        yield
    except DeviceFailed as error:
        if error.cuda is not None and error.cuda[1] in _OF_CAPTURES:
            error.hint = error.hint or _HINT
        raise
