"""Stream capture: the state of a capture, and what is not permitted during one.

Driver API, section 6.18 (``cuStreamBeginCapture``, ``cuThreadExchangeStreamCaptureMode``).
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum, auto

from cuda.bindings.driver import CUstreamCaptureMode, CUstreamCaptureStatus

from cudarun.base.records import dataclass
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.graphs import Graph, Node, Operation
from cudarun.emulator.host.refusal import refuse_if

_GLOBAL = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
_RELAXED = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED


class CaptureRule(Enum):
    """The effect of captures on a call without a stream."""

    PERMITTED = auto()
    UNSAFE = auto()  # it is potentially unsafe
    LEGACY_STREAM = auto()  # it works in the legacy default stream
    CONTEXT = auto()  # it affects all streams of the current context


@dataclass(eq=False)
class Capture:
    """A capture sequence, from ``cuStreamBeginCapture`` to ``cuStreamEndCapture``."""

    mode: CUstreamCaptureMode
    graph: Graph
    # The identity of the thread that began it.
    thread: int = field(default_factory=threading.get_ident)
    # The streams in it; the first is the one in which it began.
    branches: list[CaptureBranch] = field(default_factory=list)
    # Active or invalidated; none after its end.
    status: CUstreamCaptureStatus = CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    id: int = field(default_factory=itertools.count(1).__next__)
    is_new: bool = True  # whether the graph was created for it

    @property
    def is_valid(self) -> bool:
        """Return whether it is active."""
        return self.status == CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE

    @property
    def has_ended(self) -> bool:
        """Return whether it has ended."""
        return self.status == CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE

    def end(self) -> None:
        """Note that it has ended: by a call, or with the stream in which it began."""
        self.status = CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE

    def invalidate(self) -> None:
        """Make it fail at its end."""
        if self.is_valid:
            self.status = CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED


@dataclass(eq=False)
class CaptureBranch:
    """One stream's part of a capture."""

    capture: Capture
    context: Context
    is_blocking: bool  # whether the stream synchronizes with the legacy default stream
    # The nodes that the next one in the stream depends on.
    dependencies: list[Node] = field(default_factory=list)

    def add(self, operation: Operation) -> None:
        """Capture an operation of the stream; `Refusal` if the capture was invalidated."""
        self.check()
        self.dependencies = [self.capture.graph.add(operation, self.dependencies)]

    def wait(self, nodes: Iterable[Node]) -> None:
        """Let the next node depend on further nodes."""
        self.dependencies += [node for node in nodes if node not in self.dependencies]

    def check(self) -> None:
        """Raise `Refusal` if the capture was invalidated."""
        words = "an earlier call invalidated the stream's capture"
        refuse_if(not self.capture.is_valid, words, "STREAM_CAPTURE_INVALIDATED")


class _ThreadMode(threading.local):
    """The interaction mode of the calling thread."""

    mode = _GLOBAL


class Captures:
    """The captures of the process that have not ended, and the threads' modes."""

    def __init__(self) -> None:
        self._begun: list[Capture] = []
        self.thread = _ThreadMode()

    def begin(self, capture: Capture) -> None:
        """Record that a capture has begun."""
        self._begun = [*self._active(), capture]

    def _active(self) -> list[Capture]:
        self._begun = [each for each in self._begun if not each.has_ended]
        return self._begun

    def admit(self, rule: CaptureRule, context: Context | None) -> None:
        """Check a call that has no stream; `Refusal` if a capture forbids it; it is invalidated."""
        if not self._begun:
            return
        if rule is CaptureRule.UNSAFE:
            self.check_unsafe()
        elif rule is CaptureRule.CONTEXT:
            self._forbid("STREAM_CAPTURE_UNSUPPORTED", lambda capture: _has(capture, context))
        elif rule is CaptureRule.LEGACY_STREAM and context is not None:
            self.check_legacy_stream(context)

    def check_unsafe(self) -> None:
        """Check a call that is potentially unsafe.

        Raises:
            Refusal: A capture forbids it in this thread; it is invalidated.
        """
        self._forbid("STREAM_CAPTURE_UNSUPPORTED", self._is_unsafe_beside)

    def check_legacy_stream(self, context: Context, *, invalidate: bool = True) -> None:
        """Check a use of the legacy default stream.

        Raises:
            Refusal: A blocking stream of the context is capturing.
        """
        self._forbid(
            "STREAM_CAPTURE_IMPLICIT",
            lambda capture: _has(capture, context, blocking=True),
            invalidate=invalidate,
        )

    def is_capturing(self, graph: Graph) -> bool:
        """Return whether a capture adds nodes to a graph."""
        return any(capture.graph is graph for capture in self._active())

    def _is_unsafe_beside(self, capture: Capture) -> bool:
        modes = {self.thread.mode, capture.mode}
        is_own = capture.thread == threading.get_ident()
        return _RELAXED not in modes and (is_own or modes == {_GLOBAL})

    def _forbid(
        self, refusal: str, concerns: Callable[[Capture], bool], *, invalidate: bool = True
    ) -> None:
        concerned = [capture for capture in self._active() if concerns(capture)]
        for capture in concerned:
            if invalidate:
                capture.invalidate()
        refuse_if(concerned, "a stream is capturing", refusal)


def _has(capture: Capture, context: Context | None, *, blocking: bool = False) -> bool:
    return any(
        branch.context is context and (branch.is_blocking or not blocking)
        for branch in capture.branches
    )
