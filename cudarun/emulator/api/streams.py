"""Streams and events: driver API, sections 6.18 and 6.19."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUcontext, CUdevice, CUevent, CUstream

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.host.captures import CaptureBranch, CaptureRule
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import (
    Event,
    Stream,
    create_event,
    create_stream,
    record_operation,
    wait_operation,
)

_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


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
    stream = process.handles.get(handle_value(hStream), Stream)
    branch = stream.branch
    if branch is not None and branch is branch.capture.branches[0]:
        process.captures.end(branch.capture)
    stream.destroy()


@call(waits=True)
def cuStreamSynchronize(hStream: Handle) -> None:
    """Wait for all work of a stream."""
    process.ready(process.idle_stream(hStream).context.device)


@call()
def cuStreamQuery(hStream: Handle) -> None:
    """Return success if all work of a stream is done; only a kernel of another thread can run."""
    if process.idle_stream(hStream).context.device.busy:
        raise Refusal("NOT_READY")


@enqueue()
def cuStreamWaitEvent(hStream: Handle, hEvent: Handle, Flags: int) -> None:
    """Make a stream wait for an event, or join the capture in which the event was recorded."""
    stream, event = process.stream(hStream), _event(hEvent)
    if Flags not in (0, _EXTERNAL):
        raise Refusal("INVALID_VALUE", f"{Flags:#x} is not a combination of CUevent_wait_flags")
    if Flags == _EXTERNAL:
        _branch(stream).add(wait_operation(event))
    else:
        stream.wait_for(event)


def _branch(stream: Stream) -> CaptureBranch:
    if stream.branch is None:
        raise Refusal("ILLEGAL_STATE", "an external event needs a capturing stream")
    return stream.branch


@call(1)
def cuStreamGetPriority(hStream: Handle) -> int:
    """Return a stream's priority."""
    return process.stream(hStream).priority


@call(1)
def cuStreamGetId(hStream: Handle) -> int:
    """Return a number that is unique among all streams of this process."""
    stream = process.stream(hStream)
    stream.check_not_capturing()
    return stream.handle or stream.context.handle


@call(1)
def cuStreamGetFlags(hStream: Handle) -> int:
    """Return a stream's flags."""
    stream = process.stream(hStream)
    stream.check_not_capturing()
    return stream.flags


@call(1)
def cuStreamGetCtx(hStream: Handle) -> CUcontext:
    """Return a stream's context."""
    return CUcontext(process.stream(hStream).context.handle)


@call(1)
def cuStreamGetDevice(hStream: Handle) -> CUdevice:
    """Return a stream's device."""
    stream = process.stream(hStream)
    stream.check_not_capturing()
    return CUdevice(stream.context.device.ordinal)


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
    _record(hEvent, hStream)


@enqueue()
def cuEventRecordWithFlags(hEvent: Handle, hStream: Handle, flags: int) -> None:
    """`cuEventRecord`; with ``CU_EVENT_RECORD_EXTERNAL`` a capture records it as a node."""
    if flags not in (0, _EXTERNAL):
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CUevent_record_flags")
    _record(hEvent, hStream, external=flags == _EXTERNAL)


def _record(hEvent: Handle, hStream: Handle, *, external: bool = False) -> None:
    event, stream = _event(hEvent), process.stream(hStream)
    if event.context is not stream.context:
        raise Refusal("INVALID_HANDLE", "the event and the stream belong to different contexts")
    if external:
        _branch(stream).add(record_operation(event))
    elif stream.branch is not None:
        event.capture_in(stream.branch)
    else:
        process.submit(stream, record_operation(event))


@call(waits=True, during_capture=CaptureRule.UNSAFE)
def cuEventSynchronize(hEvent: Handle) -> None:
    """Wait for an event."""
    process.ready(_completed(hEvent).context.device)


@call(during_capture=CaptureRule.UNSAFE)
def cuEventQuery(hEvent: Handle) -> None:
    """Return success: a recorded event has completed."""
    _completed(hEvent)


def _completed(handle: Handle) -> Event:
    event = _event(handle)
    event.check_not_captured()
    return event


@call(1)
def cuEventElapsedTime(hStart: Handle, hEnd: Handle) -> float:
    """Return the milliseconds between two recorded events."""
    return _completed(hEnd).milliseconds_since(_completed(hStart))
