"""Streams and events."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import CUstreamCaptureMode

from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import RuntimeRefusal, driver_call, runtime_call

_INVALID_HANDLE = 400  # cudaErrorInvalidResourceHandle

# --- streams -------------------------------------------------------------------------------------


@runtime_call(1)
def cudaStreamCreate() -> Any:
    """Create a stream."""
    return cudart.cudaStream_t(int(driver_call("cuStreamCreate", 0)))


@runtime_call(1)
def cudaStreamCreateWithFlags(flags: int) -> Any:
    """Create a stream; ``cudaStreamNonBlocking`` does not wait for the legacy default stream."""
    return cudart.cudaStream_t(int(driver_call("cuStreamCreate", flags)))


@runtime_call(1)
def cudaStreamCreateWithPriority(flags: int, priority: int) -> Any:
    """Create a stream with a priority."""
    return cudart.cudaStream_t(int(driver_call("cuStreamCreateWithPriority", flags, priority)))


@runtime_call()
def cudaStreamDestroy(stream: Handle) -> None:
    """Destroy a stream."""
    driver_call("cuStreamDestroy", stream)


@runtime_call()
def cudaStreamSynchronize(stream: Handle) -> None:
    """Wait for a stream's work; report a kernel's fault."""
    driver_call("cuStreamSynchronize", stream)


@runtime_call()
def cudaStreamQuery(stream: Handle) -> None:
    """Return whether a stream's work has ended: ``cudaErrorNotReady`` if not."""
    driver_call("cuStreamQuery", stream)


@runtime_call()
def cudaStreamWaitEvent(stream: Handle, event: Handle, flags: int) -> None:
    """Make later work in a stream wait for an event."""
    driver_call("cuStreamWaitEvent", stream, event, flags)


@runtime_call(1)
def cudaStreamGetPriority(hStream: Handle) -> int:
    """Return the priority of a stream."""
    return int(driver_call("cuStreamGetPriority", hStream))


@runtime_call(1)
def cudaStreamGetFlags(hStream: Handle) -> int:
    """Return the flags of a stream."""
    return int(driver_call("cuStreamGetFlags", hStream))


@runtime_call(1)
def cudaStreamGetId(hStream: Handle) -> int:
    """Return the number of a stream, which is unique in the process."""
    return int(driver_call("cuStreamGetId", hStream))


@runtime_call()
def cudaLaunchHostFunc(stream: Handle, fn: Handle, userData: Handle) -> None:
    """Call a C function on the host, in a stream."""
    driver_call("cuLaunchHostFunc", stream, fn, userData)


# --- capture -------------------------------------------------------------------------------------


@runtime_call()
def cudaStreamBeginCapture(stream: Handle, mode: Any) -> None:
    """Capture later work in a stream as a graph."""
    driver_call("cuStreamBeginCapture", stream, CUstreamCaptureMode(int(mode)))


@runtime_call(1)
def cudaStreamEndCapture(stream: Handle) -> Any:
    """End the capture and return the graph."""
    return cudart.cudaGraph_t(int(driver_call("cuStreamEndCapture", stream)))


@runtime_call(1)
def cudaStreamIsCapturing(stream: Handle) -> Any:
    """Return the ``cudaStreamCaptureStatus`` of a stream."""
    return cudart.cudaStreamCaptureStatus(int(driver_call("cuStreamIsCapturing", stream)))


@runtime_call(1)
def cudaThreadExchangeStreamCaptureMode(mode: Any) -> Any:
    """Set the thread's capture mode and return the previous one."""
    given = CUstreamCaptureMode(int(mode))
    return cudart.cudaStreamCaptureMode(
        int(driver_call("cuThreadExchangeStreamCaptureMode", given))
    )


# --- events --------------------------------------------------------------------------------------


@runtime_call(1)
def cudaEventCreate() -> Any:
    """Create an event."""
    return cudart.cudaEvent_t(int(driver_call("cuEventCreate", 0)))


@runtime_call(1)
def cudaEventCreateWithFlags(flags: int) -> Any:
    """Create an event with flags."""
    return cudart.cudaEvent_t(int(driver_call("cuEventCreate", flags)))


@runtime_call()
def cudaEventDestroy(event: Handle) -> None:
    """Destroy an event."""
    driver_call("cuEventDestroy", event)


@runtime_call()
def cudaEventRecord(event: Handle, stream: Handle) -> None:
    """Record an event in a stream."""
    driver_call("cuEventRecord", event, stream)


@runtime_call()
def cudaEventRecordWithFlags(event: Handle, stream: Handle, flags: int) -> None:
    """Record an event in a stream, with flags."""
    driver_call("cuEventRecordWithFlags", event, stream, flags)


@runtime_call()
def cudaEventQuery(event: Handle) -> None:
    """Return whether an event has completed: ``cudaErrorNotReady`` if not."""
    if event is None or not int(event):  # even during a capture that does not permit the call
        raise RuntimeRefusal(_INVALID_HANDLE)
    driver_call("cuEventQuery", event)


@runtime_call()
def cudaEventSynchronize(event: Handle) -> None:
    """Wait for an event; report a kernel's fault."""
    driver_call("cuEventSynchronize", event)


@runtime_call(1)
def cudaEventElapsedTime(start: Handle, end: Handle) -> float:
    """Return the wall time of the emulation between two events, in milliseconds."""
    return float(driver_call("cuEventElapsedTime", start, end))
