"""Streams and events."""
# ruff: noqa: N802 - the names are CUDA's

from __future__ import annotations

from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import RuntimeRefusal, driver_call, runtime_call
from cudarun.emulator.runtime_api.forwards import forward_calls

_INVALID_HANDLE = 400  # cudaErrorInvalidResourceHandle

forward_calls(
    __name__,
    """
cudaStreamCreate() -> cudaStream_t = cuStreamCreate(0)
    Create a stream.
cudaStreamCreateWithFlags(flags: int) -> cudaStream_t = cuStreamCreate
    Create a stream; ``cudaStreamNonBlocking`` does not wait for the legacy default stream.
cudaStreamCreateWithPriority(flags: int, priority: int) -> cudaStream_t
    Create a stream with a priority.
cudaStreamDestroy(stream)
    Destroy a stream.
cudaStreamSynchronize(stream)
    Wait for a stream's work; report a kernel's fault.
cudaStreamQuery(stream)
    Return whether a stream's work has ended: ``cudaErrorNotReady`` if not.
cudaStreamWaitEvent(stream, event, flags: int)
    Make later work in a stream wait for an event.
cudaStreamGetPriority(hStream) -> int
    Return the priority of a stream.
cudaStreamGetFlags(hStream) -> int
    Return the flags of a stream.
cudaStreamGetId(hStream) -> int
    Return the number of a stream, which is unique in the process.
cudaLaunchHostFunc(stream, fn, userData)
    Call a C function on the host, in a stream.
cudaStreamBeginCapture(stream, mode: enum)
    Capture later work in a stream as a graph.
cudaStreamBeginCaptureToGraph(stream, graph, dependencies, dependencyData, numDependencies: int,
        mode: enum)
    Capture later work in a stream in a graph that exists.
cudaStreamEndCapture(stream) -> cudaGraph_t
    End the capture and return the graph.
cudaStreamIsCapturing(stream) -> cudaStreamCaptureStatus
    Return the ``cudaStreamCaptureStatus`` of a stream.
cudaThreadExchangeStreamCaptureMode(mode: enum) -> cudaStreamCaptureMode
    Set the thread's capture mode and return the previous one.
cudaEventCreate() -> cudaEvent_t = cuEventCreate(0)
    Create an event.
cudaEventCreateWithFlags(flags: int) -> cudaEvent_t = cuEventCreate
    Create an event with flags.
cudaEventDestroy(event)
    Destroy an event.
cudaEventRecord(event, stream)
    Record an event in a stream.
cudaEventRecordWithFlags(event, stream, flags: int)
    Record an event in a stream, with flags.
cudaEventSynchronize(event)
    Wait for an event; report a kernel's fault.
cudaEventElapsedTime(start, end) -> float
    Return the wall time of the emulation between two events, in milliseconds.
""",
)


# --- events --------------------------------------------------------------------------------------


@runtime_call()
def cudaEventQuery(event: Handle) -> None:
    """Return whether an event has completed: ``cudaErrorNotReady`` if not."""
    if event is None or not int(event):  # even during a capture that does not permit the call
        raise RuntimeRefusal(_INVALID_HANDLE)
    driver_call("cuEventQuery", event)
