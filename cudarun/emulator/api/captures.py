"""Stream capture: driver API, section 6.18."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call, query
from cudarun.emulator.api.graph_nodes import Nodes, nodes_of
from cudarun.emulator.api.handles import GraphHandle, StreamHandle
from cudarun.emulator.host.captures import Capture, CaptureBranch
from cudarun.emulator.host.graphs import Graph
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_member, refuse_if
from cudarun.emulator.host.streams import Stream

# The bindings return the data of edges since CUDA 13.
if TYPE_CHECKING or cuda.CUDA_VERSION >= 13000:
    CaptureInfo = tuple[
        cuda.CUstreamCaptureStatus,
        cuda.cuuint64_t,
        cuda.CUgraph,
        list[cuda.CUgraphNode],
        list[cuda.CUgraphEdgeData],
        int,
    ]
else:
    CaptureInfo = tuple[
        cuda.CUstreamCaptureStatus, cuda.cuuint64_t, cuda.CUgraph, list[cuda.CUgraphNode], int
    ]

_ADD, _SET = 0, 1  # CUstreamUpdateCaptureDependencies_flags
_NONE = cuda.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


@call()
def cuStreamBeginCapture(hStream: StreamHandle, mode: cuda.CUstreamCaptureMode) -> None:
    """Begin to capture the work of a stream in a graph; not in the legacy default stream."""
    _begin(hStream, mode)


@call()
def cuStreamBeginCaptureToGraph(
    hStream: StreamHandle,
    hGraph: GraphHandle,
    dependencies: Nodes,
    dependencyData: object,
    numDependencies: int,
    mode: cuda.CUstreamCaptureMode,
) -> None:
    """Begin to capture the work of a stream in a graph that exists."""
    nodes = nodes_of(dependencies, numDependencies)
    hGraph.check_own(nodes)
    refuse_if(process.captures.is_capturing(hGraph), "a capture adds nodes to the graph")
    _begin(hStream, mode, hGraph).wait(nodes)


def _begin(
    stream: Stream, mode: cuda.CUstreamCaptureMode, graph: Graph | None = None
) -> CaptureBranch:
    """Begin a capture, into a new graph if there is none."""
    chosen = enum_member(cuda.CUstreamCaptureMode, mode)
    if stream.is_legacy:
        raise Refusal("STREAM_CAPTURE_UNSUPPORTED", "the legacy default stream cannot be captured")
    refuse_if(stream.branch is not None, "the stream is already capturing", "ILLEGAL_STATE")
    capture = Capture(chosen, graph or Graph(process.handles), is_new=graph is None)
    process.captures.begin(capture)
    return stream.join(capture)


@call()
def cuStreamEndCapture(hStream: StreamHandle) -> cuda.CUgraph:
    """End a capture in the stream in which it began, and return the graph."""
    branch = hStream.branch
    if branch is None:
        raise Refusal("ILLEGAL_STATE", "the stream is not capturing")
    capture = branch.capture
    if branch is not capture.branches[0]:
        capture.invalidate()
        raise Refusal("STREAM_CAPTURE_UNMATCHED", "the capture began in another stream")
    relaxed = cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    is_other_thread = capture.thread != threading.get_ident() and capture.mode != relaxed
    joined = capture.graph.with_ancestors(branch.dependencies)
    is_joined = all(joined.issuperset(each.dependencies) for each in capture.branches)
    words = "the stream does not wait for all work of the other streams in the capture"
    try:
        refuse_if(
            is_other_thread, "the capture began in another thread", "STREAM_CAPTURE_WRONG_THREAD"
        )
        branch.check()
        refuse_if(not is_joined, words, "STREAM_CAPTURE_UNJOINED")
    except Refusal:
        if capture.is_new:
            capture.graph.destroy()
        raise
    finally:
        capture.end()
    return cuda.CUgraph(capture.graph.handle)


@call()
def cuStreamIsCapturing(hStream: Handle) -> cuda.CUstreamCaptureStatus:
    """Return the capture status of a stream."""
    branch = process.stream(hStream, invalidate=False).branch
    return _NONE if branch is None else branch.capture.status


@call()
def cuStreamGetCaptureInfo(hStream: Handle) -> CaptureInfo:
    """Return a stream's capture status, and of an active capture its graph and dependencies."""
    branch = process.stream(hStream, invalidate=False).branch
    status, number, graph, nodes = _NONE, 0, 0, list[cuda.CUgraphNode]()
    if branch is not None:
        status = branch.capture.status
        if branch.capture.is_valid:
            number, graph = branch.capture.id, branch.capture.graph.handle
            nodes = [cuda.CUgraphNode(node.handle) for node in branch.dependencies]
    edges = [[cuda.CUgraphEdgeData() for _ in nodes]] if cuda.CUDA_VERSION >= 13000 else []
    numbers = cuda.cuuint64_t(number), cuda.CUgraph(graph)
    return status, *numbers, nodes, *edges, len(nodes)  # type: ignore[return-value]


@call()
def cuStreamUpdateCaptureDependencies(
    hStream: StreamHandle, dependencies: Nodes, *edgeData_count_and_flags: Any
) -> None:
    """Add to the nodes that the next one in a capturing stream depends on, or replace them."""
    branch = hStream.branch
    if branch is None:
        raise Refusal("ILLEGAL_STATE", "the stream is not capturing")
    *_data, count, flags = edgeData_count_and_flags
    refuse_if(flags not in (_ADD, _SET), f"{flags:#x} is not one of the flags")
    branch.check()
    nodes = nodes_of(dependencies, count)
    if any(node.graph is not branch.capture.graph for node in nodes):
        raise Refusal("INVALID_VALUE", "the node does not belong to the captured graph")
    if flags == _SET:
        branch.dependencies = []
    branch.wait(nodes)


@query()
def cuThreadExchangeStreamCaptureMode(mode: cuda.CUstreamCaptureMode) -> cuda.CUstreamCaptureMode:
    """Set how captures affect the potentially unsafe calls of this thread; return the old mode."""
    thread = process.captures.thread
    previous, thread.mode = thread.mode, enum_member(cuda.CUstreamCaptureMode, mode)
    return previous
