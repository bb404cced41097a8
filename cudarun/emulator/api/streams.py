"""Streams and events: driver API, sections 6.18 and 6.19."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUcontext, CUdevice, CUevent, CUstream, CUstreamCaptureStatus

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import Event, Stream, create_event, create_stream


def _event(handle: Handle) -> Event:
    return process.handles.get(handle_value(handle), Event)


# --- streams -------------------------------------------------------------------------------------


@call(1)
def cuStreamCreate(Flags: int) -> CUstream:
    """Create a stream in the current context."""
    return CUstream(create_stream(process.current(), Flags, 0).handle)


@call(1)
def cuStreamCreateWithPriority(flags: int, priority: int) -> CUstream:
    """Create a stream with a priority, clamped to the valid range."""
    return CUstream(create_stream(process.current(), flags, priority).handle)


@call()
def cuStreamDestroy(hStream: Handle) -> None:
    """Destroy a stream; a default stream cannot be destroyed."""
    process.handles.get(handle_value(hStream), Stream).destroy()


@call(waits=True)
def cuStreamSynchronize(hStream: Handle) -> None:
    """Wait for all work of a stream."""
    process.ready(process.stream(hStream).context.device)


@call()
def cuStreamQuery(hStream: Handle) -> None:
    """Return success if all work of a stream is done; only a kernel of another thread can run."""
    if process.stream(hStream).context.device.busy:
        raise Refusal("NOT_READY")


@enqueue()
def cuStreamWaitEvent(hStream: Handle, hEvent: Handle, Flags: int) -> None:
    """Make a stream wait for an event; here it has already completed."""
    process.stream(hStream)
    _event(hEvent)
    if Flags not in (0, 1):  # CU_EVENT_WAIT_EXTERNAL
        raise Refusal("INVALID_VALUE", f"{Flags:#x} is not a combination of CUevent_wait_flags")


@call(1)
def cuStreamGetPriority(hStream: Handle) -> int:
    """Return a stream's priority."""
    return process.stream(hStream).priority


@call(1)
def cuStreamGetId(hStream: Handle) -> int:
    """Return a number that is unique among all streams of this process."""
    stream = process.stream(hStream)
    return stream.handle or stream.context.handle


@call(1)
def cuStreamGetFlags(hStream: Handle) -> int:
    """Return a stream's flags."""
    return process.stream(hStream).flags


@call(1)
def cuStreamGetCtx(hStream: Handle) -> CUcontext:
    """Return a stream's context."""
    return CUcontext(process.stream(hStream).context.handle)


@call(1)
def cuStreamIsCapturing(hStream: Handle) -> CUstreamCaptureStatus:
    """Return the capture status of a stream: never capturing, as graphs are not implemented."""
    process.stream(hStream)
    return CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


@call(1)
def cuStreamGetDevice(hStream: Handle) -> CUdevice:
    """Return a stream's device."""
    return CUdevice(process.stream(hStream).context.device.ordinal)


# --- events --------------------------------------------------------------------------------------


@call(1)
def cuEventCreate(Flags: int) -> CUevent:
    """Create an event in the current context."""
    return CUevent(create_event(process.current(), Flags).handle)


@call()
def cuEventDestroy(hEvent: Handle) -> None:
    """Destroy an event."""
    _event(hEvent).destroy()


@enqueue()
def cuEventRecord(hEvent: Handle, hStream: Handle) -> None:
    """Record an event when a stream has done all work submitted so far."""
    _record(_event(hEvent), process.stream(hStream))


@enqueue()
def cuEventRecordWithFlags(hEvent: Handle, hStream: Handle, flags: int) -> None:
    """`cuEventRecord`; its flags only affect graphs."""
    _record(_event(hEvent), process.stream(hStream))


def _record(event: Event, stream: Stream) -> None:
    if event.context is not stream.context:
        raise Refusal("INVALID_HANDLE", "the event and the stream belong to different contexts")
    process.ready(stream.context.device)
    event.record()


@call(waits=True)
def cuEventSynchronize(hEvent: Handle) -> None:
    """Wait for an event."""
    process.ready(_event(hEvent).context.device)


@call()
def cuEventQuery(hEvent: Handle) -> None:
    """Return success: a recorded event has completed."""
    _event(hEvent)


@call(1)
def cuEventElapsedTime(hStart: Handle, hEnd: Handle) -> float:
    """Return the milliseconds between two recorded events."""
    return _event(hEnd).milliseconds_since(_event(hStart))
