"""Streams and events: driver API, sections 6.18 and 6.19."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUcontext, CUdevice, CUevent, CUstream, CUstreamAttrValue

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.handles import EventHandle, IdleStreamHandle, StreamHandle
from cudarun.emulator.host import streams
from cudarun.emulator.host.captures import CaptureBranch, CaptureRule
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.stream_attributes import PRIORITY, copied_attribute

_TICK = 0.001  # seconds between looks at the event of another process
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL


# --- streams -------------------------------------------------------------------------------------


@call()
def cuStreamCreate(Flags: int) -> CUstream:
    """Create a stream in the current context."""
    return CUstream(streams.create_stream(process.current(), Flags, 0).handle)


@call()
def cuStreamCreateWithPriority(flags: int, priority: int) -> CUstream:
    """Create a stream with a priority, clamped to the valid range."""
    return CUstream(streams.create_stream(process.current(), flags, priority).handle)


@call()
def cuStreamDestroy(hStream: Handle) -> None:
    """Destroy a stream; a default stream cannot be destroyed."""
    process.handles.get(handle_value(hStream), streams.Stream).destroy()


@call(waits=Wait.ITSELF)
def cuStreamSynchronize(hStream: IdleStreamHandle) -> None:
    """Wait for all work of a stream."""
    process.finish(hStream)


@call()
def cuStreamQuery(hStream: IdleStreamHandle) -> None:
    """Return success if all work of a stream is done; only a kernel of another thread can run."""
    queues = process.queues
    if hStream.context.device.busy if queues is None else queues.is_busy(hStream):
        raise Refusal("NOT_READY")


@enqueue()
def cuStreamWaitEvent(hStream: StreamHandle, hEvent: EventHandle, Flags: int) -> None:
    """Make a stream wait for an event, or join the capture in which the event was recorded."""
    refuse_if(Flags not in (0, _EXTERNAL), f"{Flags:#x} is not a combination of CUevent_wait_flags")
    if Flags == _EXTERNAL:
        _branch(hStream).add(streams.wait_operation(hEvent))
    else:
        hStream.wait_for(hEvent)
        task = hEvent.task
        if hEvent.counts is not None and hStream.branch is None:
            process.submit(hStream, streams.shared_wait(hEvent.counts))
        elif process.queues is not None and task is not None and not task.done:
            process.queues.submit(hStream, (), task)


def _branch(stream: streams.Stream) -> CaptureBranch:
    if stream.branch is None:
        raise Refusal("ILLEGAL_STATE", "an external event needs a capturing stream")
    return stream.branch


@call()
def cuStreamGetPriority(hStream: StreamHandle) -> int:
    """Return a stream's priority."""
    return int(hStream.attributes[PRIORITY].priority)


@call()
def cuStreamGetId(hStream: StreamHandle) -> int:
    """Return a number that is unique among all streams of this process."""
    hStream.check_not_capturing()
    return hStream.id


@call()
def cuStreamGetFlags(hStream: StreamHandle) -> int:
    """Return a stream's flags."""
    hStream.check_not_capturing()
    return hStream.flags


@call()
def cuStreamGetCtx(hStream: StreamHandle) -> CUcontext:
    """Return a stream's context."""
    return CUcontext(hStream.context.handle)


@call()
def cuStreamGetDevice(hStream: StreamHandle) -> CUdevice:
    """Return a stream's device."""
    hStream.check_not_capturing()
    return CUdevice(hStream.context.device.ordinal)


@call()
def cuStreamGetAttribute(hStream: StreamHandle, attr: int) -> CUstreamAttrValue:
    """Return an attribute of a stream: access policy, synchronization, priority, domains."""
    return copied_attribute(attr, hStream.attributes.get(attr), hStream.context)


@call()
def cuStreamSetAttribute(hStream: StreamHandle, attr: int, value: CUstreamAttrValue) -> None:
    """Set an attribute of a stream; no effect here, but noted."""
    hStream.attributes[attr] = copied_attribute(attr, value, hStream.context)


@call()
def cuStreamCopyAttributes(dst: StreamHandle, src: StreamHandle) -> None:
    """Copy the attributes of a stream to another one of its context."""
    refuse_if(dst.context is not src.context, "the streams belong to different contexts")
    dst.attributes.update(src.attributes)


# --- events --------------------------------------------------------------------------------------


@call()
def cuEventCreate(Flags: int) -> CUevent:
    """Create an event in the current context."""
    return CUevent(streams.create_event(process.current(), Flags).handle)


@call()
def cuEventDestroy(hEvent: EventHandle) -> None:
    """Destroy an event."""
    hEvent.destroy()


@enqueue()
def cuEventRecord(hEvent: EventHandle, hStream: StreamHandle) -> None:
    """Record an event when a stream has done all work submitted so far."""
    _record(hEvent, hStream)


@enqueue()
def cuEventRecordWithFlags(hEvent: EventHandle, hStream: StreamHandle, flags: int) -> None:
    """`cuEventRecord`; with ``CU_EVENT_RECORD_EXTERNAL`` a capture records it as a node."""
    if flags not in (0, _EXTERNAL):
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CUevent_record_flags")
    _record(hEvent, hStream, external=flags == _EXTERNAL)


def _record(event: streams.Event, stream: streams.Stream, *, external: bool = False) -> None:
    if event.context is not stream.context:
        raise Refusal("INVALID_HANDLE", "the event and the stream belong to different contexts")
    if external:
        _branch(stream).add(streams.record_operation(event))
    elif stream.branch is not None:
        stream.branch.check()
        event.captured = stream.branch.capture, list(stream.branch.dependencies)
    else:
        event.task = process.submit(stream, streams.record_operation(event).at_launch())


@call(waits=Wait.ITSELF, during_capture=CaptureRule.UNSAFE)
def cuEventSynchronize(hEvent: EventHandle) -> None:
    """Wait for an event."""
    hEvent.check_not_captured()
    if hEvent.counts is not None:
        number = hEvent.counts.last()
        while not hEvent.counts.has_done(number):
            process.lock.wait(_TICK)
    if hEvent.task is not None and process.queues is not None:
        process.queues.finish(hEvent.task)
    elif process.queues is None:
        process.ready(hEvent.context.device)


@call(during_capture=CaptureRule.UNSAFE)
def cuEventQuery(hEvent: EventHandle) -> None:
    """Return success if the work before an event is done."""
    hEvent.check_not_captured()
    hEvent.check_complete()


@call()
def cuEventElapsedTime(hStart: EventHandle, hEnd: EventHandle) -> float:
    """Return the milliseconds between two recorded events."""
    hEnd.check_not_captured()
    hStart.check_not_captured()
    hEnd.check_complete()
    hStart.check_complete()
    words = "the event was created with CU_EVENT_DISABLE_TIMING"
    refuse_if(not (hStart.timed and hEnd.timed), words, "INVALID_HANDLE")
    if hStart.recorded is None or hEnd.recorded is None:
        raise Refusal("INVALID_HANDLE", "the event has not been recorded")
    return (hEnd.recorded - hStart.recorded) / 1e6
