"""Streams and events: driver API, sections 6.18 and 6.19.

Work is executed when it is submitted, so a stream is always idle and a recorded event is always
complete, unless streams run on their own (`host.queues`). The times of events are real.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

from cuda.bindings.driver import CUevent_flags, CUgraphNodeType, CUstream_flags, CUstreamAttrValue

from cudarun.base.records import dataclass
from cudarun.emulator.host.captures import Capture, CaptureBranch
from cudarun.emulator.host.contexts import STREAM_PRIORITIES, Context, ContextObject
from cudarun.emulator.host.graphs import Node, Operation
from cudarun.emulator.host.interprocess import SharedCounts
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.stream_attributes import default_attributes

DEFAULT_STREAMS = (0, 1, 2)  # null, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
PER_THREAD = 2
_NON_BLOCKING = int(CUstream_flags.CU_STREAM_NON_BLOCKING)
_DISABLE_TIMING = int(CUevent_flags.CU_EVENT_DISABLE_TIMING)
INTERPROCESS = int(CUevent_flags.CU_EVENT_INTERPROCESS)
_EVENT_FLAGS = int(CUevent_flags.CU_EVENT_BLOCKING_SYNC) | _DISABLE_TIMING | INTERPROCESS
_TICK = 0.0005  # seconds between looks at the event of another process


@dataclass(eq=False)
class Stream(ContextObject):
    """An order of work in a context; a default stream has the handle 0."""

    context: Context
    flags: int = 0
    priority: int = 0  # when it is created
    handle: int = 0
    is_legacy: bool = False  # whether it is the legacy default stream
    id: int = field(default_factory=itertools.count(1).__next__)
    _branch: CaptureBranch | None = None

    @cached_property
    def attributes(self) -> dict[int, CUstreamAttrValue]:
        """The values of its attributes."""
        return default_attributes(self.priority)

    @property
    def is_blocking(self) -> bool:
        """Return whether it synchronizes with the legacy default stream."""
        return self.flags != _NON_BLOCKING

    @property
    def branch(self) -> CaptureBranch | None:
        """The stream's part of a capture; ``None`` unless it is capturing."""
        if self._branch is not None and self._branch.capture.has_ended:
            self._branch = None
        return self._branch

    def join(self, capture: Capture) -> CaptureBranch:
        """Let a capture include this stream."""
        self._branch = CaptureBranch(capture, self.context, self.is_blocking)
        capture.branches.append(self._branch)
        return self._branch

    def end(self) -> None:
        """End the stream with the capture that has begun in it, also when the context ends."""
        if self.branch is not None and self.branch is self.branch.capture.branches[0]:
            self.branch.capture.end()
        ContextObject.end(self)

    def check_not_capturing(self) -> None:
        """Check a call that a capturing stream does not permit.

        Raises:
            Refusal: It is capturing; the capture is invalidated.
        """
        if self.branch is not None:
            self.branch.capture.invalidate()
            raise Refusal("STREAM_CAPTURE_UNSUPPORTED", "the stream is capturing")

    def wait_for(self, event: Event) -> None:
        """Wait for an event, which has completed, or join the capture in which it was recorded.

        Raises:
            Refusal: The wait would connect a capture with other work.
        """
        branch = self.branch
        if branch is not None:
            branch.check()
        if event.captured is None:
            if branch is not None and event.recorded is not None:
                branch.capture.invalidate()
                raise Refusal(
                    "STREAM_CAPTURE_ISOLATION", "the event was recorded outside of the capture"
                )
            return
        capture, nodes = event.captured
        if not capture.is_valid and branch is not None:
            branch.capture.invalidate()
        event.check_capture_is_valid()
        if branch is None:
            if self.is_legacy:
                capture.invalidate()
                raise Refusal("STREAM_CAPTURE_IMPLICIT", "the legacy stream cannot join a capture")
            branch = self.join(capture)
        elif branch.capture is not capture:
            capture.invalidate()
            branch.capture.invalidate()
            raise Refusal("STREAM_CAPTURE_MERGE", "the stream belongs to another capture")
        branch.wait(nodes)


def create_stream(context: Context, flags: int, priority: int) -> Stream:
    """Create a stream; the priority is clamped to the valid range.

    Raises:
        Refusal: The flags are invalid.
    """
    refuse_if(flags not in (0, _NON_BLOCKING), f"{flags:#x} is not a combination of CUstream_flags")
    least, greatest = STREAM_PRIORITIES
    stream = Stream(context, flags, max(greatest, min(least, priority)))
    stream.enter()
    return stream


@dataclass(eq=False)
class Task:
    """Work that was submitted to a stream at once."""

    stream: Stream
    operations: Sequence[Operation]
    before: Sequence[Task] = ()  # the work of other streams that it waits for
    done: bool = False  # whether it was executed, or dropped after a fault
    refusal: Refusal | None = None  # why it cannot be executed

    def end(self) -> None:
        """Note that it is done; an event that refers to it must not keep what was before it."""
        self.done, self.operations, self.before = True, (), ()


@dataclass(eq=False)
class Event(ContextObject):
    """A point in a stream; ``recorded`` is its time in nanoseconds."""

    context: Context
    flags: int = 0
    handle: int = 0
    recorded: int | None = None
    # The capture in which it was last recorded, and the nodes before it.
    captured: tuple[Capture, list[Node]] | None = None
    task: Task | None = None  # the work that last recorded it, where streams run on their own
    counts: SharedCounts | None = None  # the records of all processes that share it

    @property
    def timed(self) -> bool:
        """True if the event records a time."""
        return not self.flags & _DISABLE_TIMING

    def record(self) -> None:
        """Record the event now: all earlier work is done."""
        self.recorded = time.perf_counter_ns()
        self.captured = None

    def check_not_captured(self) -> None:
        """Check a call that an event of a capture does not permit.

        Raises:
            Refusal: The event was last recorded in a capturing stream; the capture is invalidated.
        """
        if self.captured is not None:
            self.check_capture_is_valid()
            self.captured[0].invalidate()
            raise Refusal("CAPTURED_EVENT", "the event was last recorded in a capturing stream")

    def check_capture_is_valid(self) -> None:
        """Raise `Refusal` if the event was last recorded in a capture that has ended or failed."""
        if self.captured is not None and not self.captured[0].is_valid:
            raise Refusal("INVALID_VALUE", "the event was last recorded in a capture that ended")

    def check_complete(self) -> None:
        """Raise `Refusal` if the work before it is not done."""
        is_running = self.task is not None and not self.task.done
        if is_running or not (self.counts is None or self.counts.has_done(self.counts.last())):
            raise Refusal("NOT_READY")


@dataclass(eq=False)
class EventOperation(Operation):
    """The record of an event, or a wait for it."""

    event: Event

    def at_launch(self) -> Operation:
        """Return the operation on an event that processes share: each launch is another record."""
        counts = self.event.counts
        if counts is None:
            return self
        if self.kind == CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return shared_wait(counts)
        return SharedRecord(self.kind, self.work, self.event, counts, counts.submit())


@dataclass(eq=False)
class SharedRecord(EventOperation):
    """A record of an event that processes share."""

    counts: SharedCounts
    number: int

    def end(self) -> None:
        """Note that it is done."""
        self.counts.complete(self.number)


def record_operation(event: Event) -> EventOperation:
    """Return the operation that records an event."""
    return EventOperation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD, event.record, event)


def shared_wait(counts: SharedCounts) -> Operation:
    """Return the operation that waits for the last record of any process, as a host function."""
    number = counts.last()

    def wait() -> None:
        while not counts.has_done(number):
            time.sleep(_TICK)

    return Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, wait)


def wait_operation(event: Event) -> EventOperation:
    """Return the operation that waits for an event, which has completed when it is executed."""
    kind = CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT
    return EventOperation(kind, lambda: None, event)


def create_event(context: Context, flags: int) -> Event:
    """Create an event; `Refusal` if the flags are invalid, or contradict each other."""
    refuse_if(flags & ~_EVENT_FLAGS, f"{flags:#x} is not a combination of CUevent_flags")
    event = Event(context, flags)
    if flags & INTERPROCESS and event.timed:
        raise Refusal("INVALID_VALUE", "an interprocess event must have its timing disabled")
    event.enter()
    return event
