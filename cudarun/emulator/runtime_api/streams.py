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
cudaStreamCreateWithFlags(flags: int) -> cudaStream_t = cuStreamCreate
    Create a stream; ``cudaStreamNonBlocking`` does not wait for the legacy default stream.
cudaStreamCreateWithPriority(flags: int, priority: int) -> cudaStream_t
cudaStreamDestroy(stream)
cudaStreamSynchronize(stream)
    Wait for a stream's work; report a kernel's fault.
cudaStreamQuery(stream)
    Return whether a stream's work has ended: ``cudaErrorNotReady`` if not.
cudaStreamWaitEvent(stream, event, flags: int)
cudaStreamGetPriority(hStream) -> int
cudaStreamGetFlags(hStream) -> int
cudaStreamGetId(hStream) -> int
cudaStreamGetAttribute(hStream, attr: enum) -> cudaStreamAttrValue
cudaStreamSetAttribute(hStream, attr: enum, value: stream_attribute)
cudaStreamCopyAttributes(dst, src)
cudaLaunchHostFunc(stream, fn, userData)
cudaStreamBeginCapture(stream, mode: enum)
cudaStreamBeginCaptureToGraph(stream, graph, dependencies, dependencyData, numDependencies: int,
        mode: enum)
cudaStreamEndCapture(stream) -> cudaGraph_t
cudaStreamIsCapturing(stream) -> cudaStreamCaptureStatus
cudaThreadExchangeStreamCaptureMode(mode: enum) -> cudaStreamCaptureMode
cudaEventCreate() -> cudaEvent_t = cuEventCreate(0)
cudaEventCreateWithFlags(flags: int) -> cudaEvent_t = cuEventCreate
cudaEventDestroy(event)
cudaEventRecord(event, stream)
cudaEventRecordWithFlags(event, stream, flags: int)
    Record an event in a stream, with flags.
cudaEventSynchronize(event)
    Wait for an event; report a kernel's fault.
cudaEventElapsedTime(start, end) -> float
    Return the wall time of the emulation between two events, in milliseconds.
""",
)


@runtime_call()
def cudaEventQuery(event: Handle) -> None:
    """Return whether an event has completed: ``cudaErrorNotReady`` if not."""
    if event is None or not int(event):  # even during a capture that does not permit the call
        raise RuntimeRefusal(_INVALID_HANDLE)
    driver_call("cuEventQuery", event)
