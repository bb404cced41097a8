"""Streams and events: driver API, sections 6.18 and 6.19.

Work is executed when it is submitted, so a stream is always idle and a recorded event is always
complete. The times of events are real.
"""

from __future__ import annotations

import time

from cuda.bindings.driver import CUevent_flags, CUstream_flags

from cudarun.emulator.host.contexts import STREAM_PRIORITIES, Context
from cudarun.emulator.host.refusal import Refusal
from cudarun.records import dataclass

DEFAULT_STREAMS = (0, 1, 2)  # null, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
_STREAM_FLAGS = (0, int(CUstream_flags.CU_STREAM_NON_BLOCKING))
_DISABLE_TIMING = int(CUevent_flags.CU_EVENT_DISABLE_TIMING)
_INTERPROCESS = int(CUevent_flags.CU_EVENT_INTERPROCESS)
_EVENT_FLAGS = int(CUevent_flags.CU_EVENT_BLOCKING_SYNC) | _DISABLE_TIMING | _INTERPROCESS


@dataclass(eq=False)
class Stream:
    """An order of work in a context; a default stream has the handle 0."""

    context: Context
    flags: int = 0
    priority: int = 0
    handle: int = 0

    def destroy(self) -> None:
        """Make the handle invalid."""
        self.context.disown(self.handle)
        self.context.handles.remove(self.handle)


def create_stream(context: Context, flags: int, priority: int) -> Stream:
    """Create a stream; the priority is clamped to the valid range.

    Raises:
        Refusal: The flags are invalid.
    """
    if flags not in _STREAM_FLAGS:
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CUstream_flags")
    least, greatest = STREAM_PRIORITIES
    stream = Stream(context, flags, max(greatest, min(least, priority)))
    stream.handle = context.handles.add(stream)
    context.own(stream.handle, stream.destroy)
    return stream


@dataclass(eq=False)
class Event:
    """A point in a stream; ``recorded`` is its time in nanoseconds."""

    context: Context
    flags: int = 0
    handle: int = 0
    recorded: int | None = None

    @property
    def timed(self) -> bool:
        """True if the event records a time."""
        return not self.flags & _DISABLE_TIMING

    def record(self) -> None:
        """Record the event now: all earlier work is done."""
        self.recorded = time.perf_counter_ns()

    def milliseconds_since(self, start: Event) -> float:
        """Return the time from ``start`` to this event.

        Raises:
            Refusal: One of them was never recorded, or is not timed.
        """
        if not (start.timed and self.timed):
            raise Refusal("INVALID_HANDLE", "the event was created with CU_EVENT_DISABLE_TIMING")
        if start.recorded is None or self.recorded is None:
            raise Refusal("INVALID_HANDLE", "the event has not been recorded")
        return (self.recorded - start.recorded) / 1e6

    def destroy(self) -> None:
        """Make the handle invalid."""
        self.context.disown(self.handle)
        self.context.handles.remove(self.handle)


def create_event(context: Context, flags: int) -> Event:
    """Create an event.

    Raises:
        Refusal: The flags are invalid, or contradict each other.
    """
    if flags & ~_EVENT_FLAGS:
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CUevent_flags")
    event = Event(context, flags)
    if flags & _INTERPROCESS and event.timed:
        raise Refusal("INVALID_VALUE", "an interprocess event must have its timing disabled")
    event.handle = context.handles.add(event)
    context.own(event.handle, event.destroy)
    return event
