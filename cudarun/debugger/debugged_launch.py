"""The debugger in the process with the kernel: it stops the launch, and answers questions."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.base.errors import CudarunError, InternalError, RequestError
from cudarun.base.records import dataclass
from cudarun.debugger import thread_values
from cudarun.debugger.descriptions import birth_text, finding_text
from cudarun.debugger.locations import Locations, Statement
from cudarun.debugger.plans import Plan
from cudarun.debugger.stepping import Stepping
from cudarun.debugger.stopped_state import LaunchNames, StoppedState, ThreadValues
from cudarun.debugger.watchpoints import Watchpoints
from cudarun.model.debug import Breakpoint, MemoryWrite, Reason, Stop, Thread
from cudarun.session.workers.snapshots import ParentConnection

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import (
        Batch,
        BlockRun,
        Controller,
        DebugObserver,
        DeviceFault,
        Launch,
    )

_LOOK_AFTER = 512  # statements
_SNAPSHOT_SECONDS = 0.25  # of processor time
_MOST_MESSAGES = 32  # of a breakpoint that prints, at once
_FORK_SHARE = 20  # a snapshot may take a twentieth of the time


@dataclass(frozen=True, slots=True)
class _Event:
    """A reason to stop: an effect of the last instruction, or a breakpoint."""

    reason: Reason
    breakpoints: tuple[int, ...] = ()
    changes: tuple[MemoryWrite, ...] = ()
    text: str = ""
    threads: int | None = None


class LaunchAbandoned(BaseException):
    """The front end has ended: the launch is not to run."""


class DebuggedLaunch:
    """The debugger in the process with the kernel, which `DebugObserver` calls.

    Args:
        connection: The connection with the front end.
        start: Lets an object control launches.
        printed: Takes what kernels print; by default, the front end does.
    """

    def __init__(
        self,
        connection: ParentConnection,
        start: Callable[[Controller], DebugObserver],
        printed: Callable[[bytes], object] | None = None,
    ) -> None:
        self._connection = connection
        self._printed = printed
        self._is_released = False
        self.observer = start(self)
        self._state = StoppedState(self.observer)
        self._state.is_of_program = printed is not None
        self._plan = Plan("continue")
        self._stepping: Stepping | None = None
        self._marks: Mapping[Statement, Sequence[Breakpoint]] = {}
        self._catches: frozenset[str] = frozenset()
        self._watchpoints = Watchpoints(self._state)
        self._hits: Counter[int] = Counter()
        self._findings = 0
        self._exited = False
        self._last_hit: Stop | None = None
        self._pending: list[_Event] = []  # before the next instruction
        self._next_look = 0
        self._next_snapshot = 0.0

    # --- events of the launch --------------------------------------------------------------------

    def bind(self, steps: Sequence[Any], buffers: Any) -> None:
        """Take the arguments of the launch that begins."""
        specs = {spec.name: spec for spec in buffers.specs}
        scalars = {name: value for step in steps for name, value in step.binding.scalars.items()}
        self._state.names = LaunchNames(specs, buffers.addresses, scalars)

    def launched(self, launch: Launch) -> None:
        """See `Controller`."""
        first, self._state.launch = self._state.launch is None, launch
        self._state.run = None
        self._state.launches += 1
        self._state.text = self.observer.text_of(launch.program)
        self._state.locations = Locations(launch.functions, self._state.text)
        if first:
            self._next_snapshot = time.process_time() + _SNAPSHOT_SECONDS
            self._converse(self._state.stop("start"))
            return
        self._follow(self._plan)
        if "launch" in self._catches:
            self._reached("start")

    def printed(self, text: bytes) -> None:
        """See `Controller`."""
        if self._printed is None:
            self._send_output(text.decode(errors="replace"))
        else:
            self._printed(text)

    def exited(self, batch: Batch, lanes: object) -> None:
        """See `Controller`."""
        if self._stepping is not None and not self._plan.records:
            lane = self.observer.states(None).lane(self._state.thread)
            self._exited |= lane is not None and not batch.alive[lane]

    def faulted(self, launch: Launch, fault: DeviceFault) -> None:
        """See `Controller`."""
        self._state.launch = launch
        self._state.run, self._state.index = self.observer.current, self.observer.index
        place = fault.places[0] if fault.places else None
        if place is not None and place.block is not None and place.thread is not None:
            self._state.thread = self._state.number(place.block, place.thread)
        self._reached("fault", text=fault.report)

    def finished(self, outcome: object) -> None:
        """Answer questions about the memory after the launch, until it is released."""
        self._state.run = self.observer.batch = None
        self._pending = []
        while not self._is_released:
            stop = self._state.stop("ended")
            self._converse(self._last_hit if self._plan.records else stop, outcome)

    def enters(self, run: BlockRun) -> bool:
        """See `Controller`."""
        observer = self.observer
        self._state.run, self._state.index, self._state.launch = run, 0, run.frame.batch.launch
        # A snapshot has no stop of the last instruction, which belongs to the plan before.
        if observer.position >= self._next_look and not self._pending:
            self._look()
        plan = self._plan
        if self._exited or run.number in observer.marked or self._looks_everywhere:
            return True
        if plan.end is not None and plan.end < observer.position + run.statements:
            return True
        return self._stepping is not None and self._is_at_thread

    def before(self, run: BlockRun, index: int) -> None:
        """See `Controller`."""
        self._state.run, self._state.index = run, index
        observer, plan = self.observer, self._plan
        if plan.end == observer.position:
            if plan.includes_end:
                self._reach_pending()
            self._converse(self._last_hit if plan.records else self._state.stop("position"))
        elif self._exited and not self._pending:
            self._exited = False
            self._state.select_active()
            self._reached("exit")
        else:
            self._reach_breakpoints(run, index)
            stepping = None if self._reach_pending() else self._stepping
            if stepping is not None and self._is_at_thread and stepping.stops_at(run, index):
                self._reached("finish" if plan.motion == "finish" else "step")
        if observer.watches:
            self._watchpoints.before()
        if observer.nans is not None:
            run.follow_operands(index)

    def after(self, run: BlockRun, index: int) -> None:
        """See `Controller`."""
        observer = self.observer
        if observer.watches:
            for point, change in self._watchpoints.after(run, index):
                if self._stops_at(point):
                    self._pending.append(_Event("watchpoint", (point.number,), (change,)))
        if "finding" in self._catches and observer.findings > self._findings:
            self._findings, finding = observer.findings, observer.last_finding()
            last = finding.places[-1]
            self._state.thread = self._state.number(last.block, last.thread)
            self._pending.append(_Event("finding", text=finding_text(finding)))
        if observer.nans is not None:
            birth = run.follow_result(index)
            if birth is not None and "nan" in self._catches:
                lane, self._state.thread = next(iter(birth.threads.items()))
                text = "\n".join(birth_text(birth, lane))
                self._pending.append(_Event("nan", text=text, threads=len(birth.threads)))

    # --- stops -----------------------------------------------------------------------------------

    @property
    def _looks_everywhere(self) -> bool:
        observer = self.observer
        return observer.watches or observer.nans is not None or "finding" in self._catches

    @property
    def _is_at_thread(self) -> bool:
        """True if the selected thread is among those that are active."""
        return self.observer.states(None).is_active(self._state.thread)

    def _reach_pending(self) -> bool:
        """Stop once for all pending events; return whether there were any."""
        events, self._pending = self._pending, []
        if not events:
            return False
        reasons = [each.reason for each in events if each.reason != "breakpoint"]
        facts = {} if events[0].threads is None else {"threads": events[0].threads}
        self._reached(
            reasons[-1] if reasons else "breakpoint",
            breakpoints=tuple(chain.from_iterable(each.breakpoints for each in events)),
            changes=tuple(chain.from_iterable(each.changes for each in events)),
            text="\n".join(each.text for each in events if each.text),
            **facts,
        )
        return True

    def _reached(self, reason: Reason, **facts: object) -> None:
        """Stop, or record the stop."""
        stop = self._state.stop(reason, **facts)
        end = self._plan.end
        if not self._plan.records:
            self._converse(stop)
        elif end is None or self._plan.includes_end or stop.position < end:
            self._last_hit = stop

    def _reach_breakpoints(self, run: BlockRun, index: int) -> None:
        """Let the launch stop at the breakpoints of a statement, if their conditions are true."""
        for point in self._marks.get((run.number, index), ()):
            states, text = self._state.states(), ""
            lanes = states.active
            if point.thread is not None:
                lanes = lanes[lanes == states.lane(point.thread)]
            if point.condition and len(lanes):
                try:
                    condition = thread_values.parse(point.condition)
                    lanes = lanes[thread_values.holds(condition, self._state.values(lanes))]
                except CudarunError as error:
                    text = str(error)
            if not len(lanes) or not self._stops_at(point):
                continue
            if point.message and not text:
                states = self._state.states()
                lines = []
                for lane in lanes[:_MOST_MESSAGES]:
                    values = ThreadValues(self._state, states, np.array([lane]))
                    place = Thread(*self.observer.place(states.launch, states.number(int(lane))))
                    lines.append(f"{place}: {thread_values.filled(point.message, values)}\n")
                if len(lanes) > _MOST_MESSAGES:
                    lines.append(f"{len(lanes) - _MOST_MESSAGES} more threads\n")
                self._send_output("".join(lines))
                continue
            if not self._pending:
                self._state.select(lanes)
            reason: Reason = "breakpoint" if point.number else "step"  # the end of ``until``
            numbers = (point.number,) if point.number else ()
            self._pending.append(_Event(reason, numbers, (), text, len(lanes)))

    def _stops_at(self, point: Breakpoint) -> bool:
        """Count that a breakpoint is reached; return whether to stop or to print there."""
        if self._plan.records:
            return not point.message
        self._hits[point.number] += 1
        return self._hits[point.number] > point.ignore

    def _send_output(self, text: str) -> None:
        if not self._plan.records:
            self._connection.send(("output", text, None))

    # --- plans -----------------------------------------------------------------------------------

    def _follow(self, plan: Plan) -> None:
        """Run by a plan from now on."""
        observer = self.observer
        self._plan, self._last_hit, self._exited = plan, None, False
        self._state.thread = plan.thread
        marks: dict[Statement, list[Breakpoint]] = defaultdict(list)
        catches = set()
        for each in plan.breakpoints:
            if each.kind == "catch":
                catches.add(each.target)
            elif each.kind != "watch":
                with suppress(RequestError):  # it is in the code of another launch
                    for statement in self._state.locations.resolve(each):
                        marks[statement].append(each)
        self._marks, self._catches = marks, frozenset(catches)
        watches = (each for each in plan.breakpoints if each.kind == "watch")
        self._watchpoints = Watchpoints(self._state, watches)
        observer.marked = frozenset(number for number, _ in marks)
        observer.writes.ranges = self._watchpoints.ranges
        observer.writes.written.clear()
        observer.watches = bool(self._watchpoints)
        observer.follow_nans(wanted=plan.follows_nans or "nan" in self._catches)
        self._findings = observer.findings
        self._stepping = None
        if plan.motion != "continue":
            depth = self._state.run.frame.depth if self._state.run is not None else 0
            site = None if plan.records else self._state.site
            depth = depth if plan.depth is None else plan.depth
            self._stepping = Stepping(plan.motion, self._state.locations, depth, site)
            run, index = self._state.run, self._state.index
            if site is not None and run is not None and (own := run.site(index)) is not None:
                self._stepping.last = run, index, own
        self._attend()

    def _attend(self) -> None:
        """Say up to which position blocks run at once."""
        observer, plan = self.observer, self._plan
        self._next_look = observer.position + _LOOK_AFTER
        ends = self._next_look if plan.end is None else min(self._next_look, plan.end)
        everywhere = self._looks_everywhere or self._stepping is not None
        observer.attention = -1 if everywhere else ends

    def _look(self) -> None:
        """Make a snapshot from time to time, and stop if the front end asks for it."""
        if self._connection.has_message:
            name, _ = self._connection.receive()
            if name == "release":
                self._release()
            else:
                self._state.select_active()
                self._converse(self._state.stop("pause"))
        now = time.process_time()
        if self._plan.takes_snapshots and now >= self._next_snapshot:
            if self._connection.fork(self.observer.position):
                self._next_snapshot = _SNAPSHOT_SECONDS  # its clock begins
                self._answer()
            taken = time.process_time() - now
            self._next_snapshot = now + max(_SNAPSHOT_SECONDS, _FORK_SHARE * taken)
        self._attend()

    # --- the conversation ------------------------------------------------------------------------

    def _converse(self, stop: Stop | None, outcome: object = None) -> None:
        """Report a stop, and answer questions until the launch is to go on."""
        if not self._is_released:
            hits, self._hits = tuple(self._hits.items()), Counter()
            stop = stop and replace(stop, hits=hits)
            self._connection.send(("stop", stop, outcome))
            self._answer()

    def _release(self) -> None:
        """Run to the end without a stop from now on."""
        self._is_released = True
        self._follow(Plan("continue"))

    def _answer(self) -> None:
        self._state.level = 0
        while True:
            name, arguments = self._connection.receive()  # a command, or a question
            if name == "resume":
                self._hits.clear()  # a snapshot has those of the plan before
                self._follow(*arguments)
                return
            if name == "release":
                self._release()
                return
            if name == "abandon":
                raise LaunchAbandoned
            if name == "fork":
                if self._connection.fork(self.observer.position):
                    self._next_snapshot = _SNAPSHOT_SECONDS
                continue
            if name == "pause":  # it has stopped before
                continue
            try:
                answer = ("answer", name(self._state, *arguments))
            except CudarunError as error:
                answer = ("error", error)
            except Exception as error:  # a copy must not answer in the worker's place
                answer = ("error", InternalError(error))
            self._connection.send(answer)
