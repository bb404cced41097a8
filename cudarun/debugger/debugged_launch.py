"""The debugger in the process with the kernel: it stops the launch, and answers questions."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions.syntax import Expression
from cudarun.base.errors import CudarunError, InternalError, RequestError
from cudarun.base.records import dataclass
from cudarun.debugger import thread_values
from cudarun.debugger.descriptions import birth_text, finding_text
from cudarun.debugger.locations import Locations, Statement, place_of
from cudarun.debugger.plans import Plan
from cudarun.debugger.questions import QUESTIONS
from cudarun.debugger.stepping import Stepping
from cudarun.debugger.stopped_state import StoppedState
from cudarun.debugger.thread_values import LaunchNames
from cudarun.model.debug import Breakpoint, CodePlace, MemoryWrite, Reason, Stop, Thread
from cudarun.session.workers.snapshots import ParentConnection

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import (
        Batch,
        BlockRun,
        Controller,
        DebugObserver,
        DeviceFault,
        Launch,
        MemoryRange,
    )

_LOOK_AFTER = 512  # statements
_SNAPSHOT_SECONDS = 0.25  # of processor time
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
        start: Lets an object control all later launches.
    """

    def __init__(
        self, connection: ParentConnection, start: Callable[[Controller], DebugObserver]
    ) -> None:
        self._connection = connection
        self.observer = start(self)
        self._state = StoppedState(self.observer)
        self._plan = Plan("continue")
        self._stepping: Stepping | None = None
        self._marks: Mapping[Statement, Sequence[Breakpoint]] = {}
        self._conditions: dict[str, Expression] = {}
        self._catches: frozenset[str] = frozenset()
        self._watched: Mapping[MemoryRange, Sequence[Breakpoint]] = {}
        self._findings = 0
        self._exited = False
        self._last_hit: Stop | None = None
        self._pending: list[_Event] = []  # before the next instruction
        self._next_look = 0
        self._next_snapshot = 0.0
        self._before: dict[MemoryRange, bytes] = {}

    # --- events of the launch --------------------------------------------------------------------

    def bind(self, steps: Sequence[Any], buffers: Any) -> None:
        """Take the arguments of the launch that begins."""
        specs = {spec.name: spec for spec in buffers.specs}
        scalars = {name: value for step in steps for name, value in step.binding.scalars.items()}
        self._state.names = LaunchNames(specs, buffers.addresses, scalars)
        self._state.texts = [step.library.image.data for step in steps]

    def launched(self, launch: Launch) -> None:
        """See `Controller`."""
        first, self._state.launch = self._state.launch is None, launch
        self._state.locations = Locations(launch.functions)
        if first:
            self._converse(self._state.stop("start"))
        else:
            self._follow(self._plan)

    def printed(self, text: bytes) -> None:
        """See `Controller`."""
        self._state.output += text

    def exited(self, batch: Batch, lanes: Any) -> None:
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
        """Answer questions about the memory after the launch, until the process ends."""
        self._state.run = self.observer.batch = None
        self._pending = []
        while True:
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
            if not self._reach_pending():
                self._step_to(run, index)
        if observer.watches:
            self._before = {each: self._state.bytes_at(each) for each in observer.writes.ranges}
        if observer.nans is not None:
            run.follow_operands(index)

    def _step_to(self, run: BlockRun, index: int) -> None:
        """Stop where the motion of the selected thread ends."""
        stepping = self._stepping
        if stepping is None or not self._is_at_thread:
            return
        if stepping.stops_at(run, index):
            self._reached("finish" if self._plan.motion == "finish" else "step")

    def after(self, run: BlockRun, index: int) -> None:
        """See `Controller`."""
        observer = self.observer
        if observer.watches and observer.writes.written:
            self._written(run, index)
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

    def _reached(self, reason: Reason, **facts: Any) -> None:
        """Stop, or record the stop."""
        stop = self._state.stop(reason, **facts)
        end = self._plan.end
        if not self._plan.records:
            self._converse(stop)
        elif end is None or self._plan.includes_end or stop.position < end:
            self._last_hit = stop

    def _reach_breakpoints(self, run: BlockRun, index: int) -> None:
        """Let the launch stop at the breakpoints of a statement, if their conditions are true."""
        for each in self._marks.get((run.number, index), ()):
            states, text = self._state.states(), ""
            lanes = states.active
            if each.thread is not None:
                lanes = lanes[lanes == states.lane(each.thread)]
            if each.condition and len(lanes):
                try:
                    lanes = lanes[self._holds(each.condition, lanes)]
                except CudarunError as error:
                    text = str(error)
            if len(lanes):
                if not self._pending:
                    self._state.select(lanes)
                reason: Reason = "breakpoint" if each.number else "step"  # the end of ``until``
                numbers = (each.number,) if each.number else ()
                self._pending.append(_Event(reason, numbers, (), text, len(lanes)))

    def _holds(self, condition: str, lanes: Array) -> Array:
        parsed = self._conditions.get(condition)
        if parsed is None:
            parsed = self._conditions[condition] = thread_values.parse(condition)
        return thread_values.holds(parsed, self._state.values(lanes))

    def _written(self, run: BlockRun, index: int) -> None:
        """Let the launch stop at the writes of watched elements by the current instruction."""
        states, writes = self._state.states(), self.observer.writes
        lanes = {each.range: each.lane for each in writes.written}  # the last one of each
        writes.written = []
        site = run.site(index)
        assert site is not None, "a write is an instruction"
        self._state.thread = states.number(next(iter(lanes.values())))
        for where, lane in lanes.items():
            place = self.observer.place(states.launch, states.number(lane))
            for watchpoint in self._watched[where]:
                name = watchpoint.target
                change = MemoryWrite(
                    name,
                    Thread(*place),
                    place_of(site),
                    self.observer.position - 1,
                    self._state.element_text(name, self._before[where]),
                    self._state.element_text(name, self._state.bytes_at(where)),
                )
                self._pending.append(_Event("watchpoint", (watchpoint.number,), (change,)))

    # --- plans -----------------------------------------------------------------------------------

    def _follow(self, plan: Plan) -> None:
        """Run by a plan from now on."""
        observer = self.observer
        self._plan, self._last_hit, self._exited = plan, None, False
        self._state.thread = plan.thread
        marks: dict[Statement, list[Breakpoint]] = defaultdict(list)
        watched: dict[MemoryRange, list[Breakpoint]] = defaultdict(list)
        catches = set()
        for each in plan.breakpoints:
            if each.kind == "catch":
                catches.add(each.target)
            elif each.kind == "watch":
                watched[self._state.range_of(each.target)].append(each)
            else:
                for statement in self._resolved(each):
                    marks[statement].append(each)
        self._marks, self._catches, self._watched = marks, frozenset(catches), watched
        observer.marked = frozenset(number for number, _ in marks)
        observer.writes.ranges = tuple(watched)
        observer.writes.written.clear()
        observer.watches = bool(watched)
        observer.follow_nans(wanted=plan.follows_nans or "nan" in self._catches)
        self._findings = observer.findings
        self._stepping = None
        if plan.motion != "continue":
            depth = self._state.run.frame.depth if self._state.run is not None else 0
            site = None if plan.records else self._state.site
            depth = depth if plan.depth is None else plan.depth
            self._stepping = Stepping(plan.motion, self._state.locations, depth, site)
            if site is not None and self._state.run is not None:
                self._stepping.start_at(self._state.run, self._state.index)
        self._attend()

    def _resolved(self, point: Breakpoint) -> Mapping[Statement, CodePlace]:
        try:
            return self._state.locations.resolve(point)
        except RequestError:  # it is in the code of another launch
            return {}

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
            self._connection.receive()
            self._state.select_active()
            self._converse(self._state.stop("pause"))
        now = time.process_time()
        if self._plan.takes_snapshots and now >= self._next_snapshot:
            self._fork()
            taken = time.process_time() - now
            self._next_snapshot = now + max(_SNAPSHOT_SECONDS, _FORK_SHARE * taken)
        self._attend()

    def _fork(self) -> None:
        """Make a copy of the process, which waits for a plan."""
        if self._connection.fork(self.observer.position):
            self._answer()

    # --- the conversation ------------------------------------------------------------------------

    def _converse(self, stop: Stop | None, outcome: object = None) -> None:
        """Report a stop, and answer questions until the launch is to go on."""
        self._connection.send(("stop", stop, outcome))
        self._answer()

    def _answer(self) -> None:
        self._state.level = 0
        while True:
            name, arguments = self._connection.receive()
            if name == "resume":
                self._follow(*arguments)
                return
            if name == "abandon":
                raise LaunchAbandoned
            if name == "fork":
                self._connection.fork(self.observer.position)
                continue
            if name == "pause":  # it has stopped before
                continue
            try:
                answer = ("answer", QUESTIONS[name](self._state, *arguments))
            except CudarunError as error:
                answer = ("error", error)
            except Exception as error:  # a copy must not answer in the worker's place
                answer = ("error", InternalError(error))
            self._connection.send(answer)
