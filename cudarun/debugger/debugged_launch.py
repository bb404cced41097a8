"""The debugger in the process with the kernel: it stops the launch, and answers questions."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions.syntax import Expression, Name
from cudarun.base.errors import CudarunError, InternalError, RequestError
from cudarun.debugger import thread_values
from cudarun.debugger.locations import Locations, Statement, place_of
from cudarun.debugger.plans import Plan
from cudarun.debugger.stepping import Stepping
from cudarun.debugger.thread_values import LaunchNames, ThreadValues
from cudarun.images.debug_variables import DebugVariables
from cudarun.images.demangler import demangle
from cudarun.images.kinds import ImageKind, identify
from cudarun.model.debug import (
    Breakpoint,
    CodePlace,
    Lanes,
    MemoryWrite,
    NanOrigin,
    Reason,
    StackFrame,
    Stop,
    Thread,
    ThreadGroup,
    Value,
    Warp,
)
from cudarun.session.workers.snapshots import ParentConnection

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import (
        Batch,
        BlockRun,
        DebugObserver,
        DetectorFinding,
        DeviceFault,
        Launch,
        MemoryRange,
        NanBirth,
        Site,
        ThreadStates,
    )

_LOOK_AFTER = 512  # statements
_SNAPSHOT_SECONDS = 0.25  # of processor time
_FORK_SHARE = 20  # a snapshot may take a twentieth of the time
_WARP = 32
_KINDS = {"race": "data race", "uninit": "uninitialized read", "sync": "synchronization error"}


class LaunchAbandoned(BaseException):
    """The front end has ended: the launch is not to run."""


class DebuggedLaunch:
    """The debugger in the process with the kernel, which `DebugObserver` calls.

    Args:
        connection: The connection with the front end.
    """

    def __init__(self, connection: ParentConnection) -> None:
        self._connection = connection
        self.observer: DebugObserver
        self._names = LaunchNames({}, {}, {})
        self._texts: list[bytes] = []
        self._debugs: dict[str, DebugVariables] = {}
        self._launch: Launch | None = None
        self._locations = Locations({})
        self._plan = Plan("continue")
        self._stepping: Stepping | None = None
        self._marks: Mapping[Statement, Sequence[Breakpoint]] = {}
        self._conditions: dict[str, Expression] = {}
        self._catches: frozenset[str] = frozenset()
        self._watched: dict[MemoryRange, tuple[Breakpoint, str]] = {}
        self._findings = 0
        self._thread = 0
        self._level = 0
        self._run: BlockRun | None = None
        self._index = 0
        self._exited = False
        self._last_hit: Stop | None = None
        self._pending: tuple[Reason, dict[str, Any]] | None = None  # before the next instruction
        self._next_look = 0
        self._next_snapshot = 0.0
        self._output = bytearray()
        self._before: dict[MemoryRange, bytes] = {}

    # --- events of the launch --------------------------------------------------------------------

    def bind(self, steps: Sequence[Any], buffers: Any) -> None:
        """Take the arguments of the launch that begins."""
        specs = {spec.name: spec for spec in buffers.specs}
        scalars = {name: value for step in steps for name, value in step.binding.scalars.items()}
        self._names = LaunchNames(specs, buffers.addresses, scalars)
        self._texts = [step.library.image.data for step in steps]

    def launched(self, launch: Launch) -> None:
        """See `Controller`."""
        first, self._launch = self._launch is None, launch
        self._locations = Locations(launch.functions)
        if first:
            self._converse(self._stopped("start"))
        else:
            self._follow(self._plan)

    def printed(self, text: bytes) -> None:
        """See `Controller`."""
        self._output += text

    def exited(self, batch: Batch, lanes: Any) -> None:
        """See `Controller`."""
        if self._stepping is not None:
            lane = self.observer.states(None).lane(self._thread)
            self._exited |= lane is not None and not batch.alive[lane]

    def faulted(self, launch: Launch, fault: DeviceFault) -> None:
        """See `Controller`."""
        self._launch = launch
        self._run, self._index = self.observer.current, self.observer.index
        place = fault.places[0] if fault.places else None
        if place is not None and place.block is not None and place.thread is not None:
            self._thread = self._number(place.block, place.thread)
        self._reached("fault", text=fault.report)

    def finished(self, outcome: object) -> None:
        """Answer questions about the memory after the launch, until the process ends."""
        self._run = self.observer.batch = self._pending = None
        while True:
            stop = self._stopped("ended")
            self._converse(self._last_hit if self._plan.records else stop, outcome)

    def enters(self, run: BlockRun) -> bool:
        """See `Controller`."""
        observer = self.observer
        self._run, self._index, self._launch = run, 0, run.frame.batch.launch
        if observer.position >= self._next_look:
            self._look()
        plan = self._plan
        if self._exited or run.number in observer.marked or self._looks_everywhere:
            return True
        if plan.end is not None and plan.end < observer.position + run.statements:
            return True
        return self._stepping is not None and self._is_at(run, self._thread)

    def before(self, run: BlockRun, index: int) -> None:
        """See `Controller`."""
        self._run, self._index = run, index
        observer, plan = self.observer, self._plan
        if plan.end == observer.position:
            if plan.includes_end:
                self._reach_pending()
            self._converse(self._last_hit if plan.records else self._stopped("position"))
        elif self._pending is not None:
            self._reach_pending()
        elif self._exited:
            self._exited = False
            self._select_active()
            self._reached("exit")
        elif not (self._marks and self._at_breakpoint(run, index)):
            self._step_to(run, index)
        if observer.watches:
            self._before = {each: self._bytes(each) for each in observer.writes.ranges}
        if observer.nans is not None:
            observer.nans.before(run, index)

    def _step_to(self, run: BlockRun, index: int) -> None:
        """Stop where the motion of the selected thread ends."""
        stepping = self._stepping
        if stepping is None or not self._is_at(run, self._thread):
            return
        if stepping.stops_at(run, index):
            self._reached("finish" if self._plan.motion == "finish" else "step")

    def after(self, run: BlockRun, index: int) -> None:
        """See `Controller`."""
        observer = self.observer
        if observer.watches and observer.writes.written:
            self._written(run, index)
        if "finding" in self._catches and observer.findings > self._findings:
            self._findings = observer.findings
            self._select_active()
            self._pending = "finding", {"text": _finding_text(observer.last_finding())}
        if observer.nans is not None:
            birth = observer.nans.after(run, index, observer.position - 1)
            if birth is not None and "nan" in self._catches:
                lane, self._thread = next(iter(birth.threads.items()))
                text = "\n".join(_birth_text(birth, lane))
                self._pending = "nan", {"text": text, "threads": len(birth.threads)}

    # --- stops -----------------------------------------------------------------------------------

    @property
    def _looks_everywhere(self) -> bool:
        observer = self.observer
        return observer.watches or observer.nans is not None or "finding" in self._catches

    def _reach_pending(self) -> None:
        """Stop for what the last instruction did."""
        if self._pending is not None:
            reason, facts = self._pending
            self._pending = None
            self._reached(reason, **facts)

    def _reached(self, reason: Reason, **facts: Any) -> None:
        """Stop, or record the stop."""
        stop = self._stopped(reason, **facts)
        if self._plan.records:
            self._last_hit = stop
        else:
            self._converse(stop)

    def _stopped(self, reason: Reason, **facts: Any) -> Stop:
        launch, site = self._launch, self._site
        output, self._output = self._output.decode(errors="replace"), bytearray()
        thread, threads = None, 0
        lanes: tuple[int, ...] = ()
        if launch is not None and self._is_running:
            thread = Thread(*self.observer.place(launch, self._thread))
            states = self.observer.states(site)
            lane = states.lane(self._thread)
            if lane is not None:
                group = states.group_of(lane)
                here, site = states.indices(group.lanes), group.site
                lanes, threads = self._lanes_of_warp(here), len(here)
        return Stop(
            reason,
            self.observer.position,
            demangle(launch.kernel.name) if launch else "",
            thread,
            None if site is None or thread is None else place_of(site),
            output=output,
            lanes=lanes,
            **{"threads": threads, **facts},
        )

    def _lanes_of_warp(self, lanes: Array) -> tuple[int, ...]:
        """Return those of some lanes that are in the warp of the selected thread."""
        assert self._launch is not None
        block, thread = divmod(self._thread, self._launch.block_threads)
        first = self.observer.states(None).lane(block * self._launch.block_threads)
        if first is None:
            return ()
        start = first + thread // _WARP * _WARP
        end = min(start + _WARP, first + self._launch.block_threads)
        return tuple((lanes[(lanes >= start) & (lanes < end)] - start).tolist())

    @property
    def _site(self) -> Site | None:
        return None if self._run is None else self._run.next_site(self._index)

    def _at_breakpoint(self, run: BlockRun, index: int) -> bool:
        """Stop at the breakpoints of a statement; return whether it has."""
        for each in self._marks.get((run.number, index), ()):
            states = self._states()
            lanes = states.active
            if each.thread is not None:
                lanes = np.intersect1d(lanes, [states.lane(each.thread) or -1])
            if each.condition and len(lanes):
                try:
                    lanes = lanes[self._holds(each.condition, lanes)]
                except CudarunError as error:
                    self._select(lanes)
                    self._reached("breakpoint", breakpoint=each.number, text=str(error))
                    return True
            if len(lanes):
                self._select(lanes)
                self._reached("breakpoint", breakpoint=each.number, threads=len(lanes))
                return True
        return False

    def _holds(self, condition: str, lanes: Array) -> Array:
        parsed = self._conditions.get(condition)
        if parsed is None:
            parsed = self._conditions[condition] = thread_values.parse(condition)
        return thread_values.holds(parsed, self._values(lanes))

    def _written(self, run: BlockRun, index: int) -> None:
        """Stop at the writes of watched elements by the current instruction."""
        states, writes = self._states(), self.observer.writes
        found, writes.written = writes.written, []
        for where in dict.fromkeys(each.range for each in found):
            watchpoint, name = self._watched[where]
            lane = next(each.lane for each in reversed(found) if each.range == where)
            site = run.site(index)
            assert site is not None, "a write is an instruction"
            self._thread = states.number(lane)
            change = MemoryWrite(
                name,
                Thread(*self.observer.place(states.launch, self._thread)),
                place_of(site),
                self.observer.position - 1,
                self._element_text(name, self._before[where]),
                self._element_text(name, self._bytes(where)),
            )
            self._pending = "watchpoint", {"breakpoint": watchpoint.number, "change": change}

    def _element_text(self, name: str, data: bytes) -> str:
        spec = self._names.buffers[name.partition("[")[0]]
        return thread_values.text_of(np.frombuffer(data, spec.dtype())[0])

    def _bytes(self, where: MemoryRange) -> bytes:
        return self.observer.states(None).bytes_at(where).tobytes()

    def _select(self, lanes: Array) -> None:
        """Select the thread of a lane, unless the selected one is among them."""
        states = self._states()
        if states.lane(self._thread) not in lanes:
            self._thread = states.number(int(lanes[0]))

    def _select_active(self) -> None:
        if len(lanes := self._states().active):
            self._select(lanes)

    def _is_at(self, run: BlockRun, thread: int) -> bool:
        """Return whether a thread is among those that execute a block."""
        states = self.observer.states(None)
        lane = states.lane(thread)
        active = run.frame.batch.active
        if lane is None or active is None:
            return False
        lanes = active.lanes
        if isinstance(lanes, slice):
            return bool(lanes.start <= lane < lanes.stop)
        position = int(np.searchsorted(lanes, lane))
        return position < len(lanes) and int(lanes[position]) == lane

    # --- plans -----------------------------------------------------------------------------------

    def _follow(self, plan: Plan) -> None:
        """Run by a plan from now on."""
        observer = self.observer
        self._plan, self._last_hit, self._exited = plan, None, False
        self._thread = plan.thread
        marks: dict[Statement, list[Breakpoint]] = defaultdict(list)
        catches, ranges = set(), {}
        for each in plan.breakpoints:
            if each.kind == "catch":
                catches.add(each.target)
            elif each.kind == "watch":
                ranges[self._range(each.target)] = (each, each.target)
            else:
                for statement in self._resolved(each):
                    marks[statement].append(each)
        self._marks, self._catches, self._watched = marks, frozenset(catches), ranges
        observer.marked = frozenset(number for number, _ in marks)
        observer.writes.ranges = tuple(ranges)
        observer.writes.written.clear()
        observer.watches = bool(ranges)
        observer.follow_nans(wanted=plan.follows_nans or "nan" in self._catches)
        self._findings = observer.findings
        self._stepping = None
        if plan.motion != "continue":
            depth = self._run.frame.depth if self._run is not None else 0
            site = None if plan.records else self._site
            depth = depth if plan.depth is None else plan.depth
            self._stepping = Stepping(plan.motion, self._locations, depth, site)
            if site is not None and self._run is not None:
                self._stepping.start_at(self._run, self._index)
        self._attend()

    def _resolved(self, point: Breakpoint) -> Mapping[Statement, CodePlace]:
        try:
            return self._locations.resolve(point)
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
            self._select_active()
            self._converse(self._stopped("pause"))
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
        self._level = 0
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
                answer = ("answer", self._QUESTIONS[name](self, *arguments))
            except CudarunError as error:
                answer = ("error", error)
            except Exception as error:  # a copy must not answer in the worker's place
                answer = ("error", InternalError(error))
            self._connection.send(answer)

    # --- questions -------------------------------------------------------------------------------

    @property
    def _is_running(self) -> bool:
        """True if a batch of the launch has begun and has not ended."""
        launch = self._launch
        return launch is not None and launch.running is not None and self.observer.batch is not None

    def _states(self) -> ThreadStates:
        """Return the threads that are running.

        Raises:
            RequestError: None are.
        """
        if not self._is_running:
            raise RequestError("no thread is running", hint="run to a breakpoint first")
        return self.observer.states(self._site)

    def _selected(self) -> tuple[ThreadStates, int]:
        """Return the running threads and the lane of the selected one."""
        states = self._states()
        lane = states.lane(self._thread)
        if lane is None or not states.batch.alive[lane]:
            raise RequestError(
                "the selected thread is not running", hint="'warps' lists those that are"
            )
        return states, lane

    def _values(self, lanes: Array | None = None) -> ThreadValues:
        states, level = None, 0
        if lanes is not None:
            states = self._states()
        elif self._is_running:
            states = self._states()
            lane = states.lane(self._thread)
            alive = lane is not None and states.batch.alive[lane]
            lanes, level = np.array([lane] if alive else [], dtype=np.intp), self._level
        else:
            lanes = np.empty(0, dtype=np.intp)
        return self._values_of(states, lanes, level)

    def _values_of(self, states: ThreadStates | None, lanes: Array, level: int) -> ThreadValues:
        memory, debug = self._memory, self._debug
        return ThreadValues(states, self._names, lanes, level, memory=memory, debug=debug)

    @property
    def _debug(self) -> DebugVariables | None:
        """The debug information of the kernel's PTX."""
        if self._launch is None:
            return None
        kernel = self._launch.kernel.name
        if kernel not in self._debugs:
            text = self._kernel_text() or b""
            self._debugs[kernel] = DebugVariables(text.decode(errors="replace"))
        return self._debugs[kernel]

    def _memory(self, address: int, size: int) -> Array:
        assert self._launch is not None
        return self.observer.global_bytes(self._launch, address, size)

    def _range(self, element: str) -> MemoryRange:
        name, offset, size = thread_values.element_of(element, self._values())
        return self.observer.global_range(self._names.addresses[name] + offset, size)

    def _check_breakpoint(self, point: Breakpoint) -> tuple[CodePlace, ...]:
        if point.condition:
            thread_values.parse(point.condition)
        if point.kind == "watch":
            self._range(point.target)
        if point.kind in ("watch", "catch"):
            return ()
        return tuple(self._locations.resolve(point).values())

    def _number(self, block: Sequence[int], thread: Sequence[int]) -> int:
        assert self._launch is not None
        config = self._launch.config
        number = _linear(block, config.grid, "block")
        return number * self._launch.block_threads + _linear(thread, config.block, "thread")

    def _select_thread(self, block: Sequence[int] | None, thread: Sequence[int]) -> Stop:
        states = self._states()
        if block is None:
            block = self.observer.place(states.launch, self._thread)[0]
        return self._select_number(self._number(block, thread))

    def _select_linear(self, thread: int, block: Sequence[int] | None = None) -> Stop:
        threads = self._states().launch.block_threads
        first = self._thread // threads * threads if block is None else self._number(block, ())
        return self._select_number(first + thread)

    def _select_number(self, number: int) -> Stop:
        states = self._states()
        lane = states.lane(number)
        if lane is None or not states.batch.alive[lane]:
            raise RequestError("the thread is not running", hint="'warps' lists those that are")
        self._thread, self._level = number, 0
        site = states.group_of(lane).site
        stop = self._stopped("position")
        lanes = self._lanes_of_warp(states.indices(states.group_of(lane).lanes))
        return replace(stop, place=None if site is None else place_of(site), lanes=lanes)

    def _frames(self) -> tuple[StackFrame, ...]:
        states, lane = self._selected()
        calls = states.calls(lane)
        return tuple(
            StackFrame(level, place_of(site))
            for level, (_, site) in enumerate(calls)
            if site is not None
        )

    def _select_frame(self, level: int) -> StackFrame:
        frames = self._frames()
        if not 0 <= level < len(frames):
            raise RequestError(f"no frame {level}: there are {len(frames)}")
        self._level = level
        return frames[level]

    def _warps(self) -> tuple[Warp, ...]:
        states = self._states()
        threads, first = states.launch.block_threads, states.batch.first_block
        found: dict[tuple[int, int], list[ThreadGroup]] = defaultdict(list)
        for group in states.groups():
            lanes = states.indices(group.lanes)
            place = None if group.site is None else place_of(group.site)
            blocks, warps = lanes // threads, lanes % threads // _WARP
            keys = np.stack([blocks, warps], axis=1)
            for block, warp in np.unique(keys, axis=0).tolist():
                own = lanes[(blocks == block) & (warps == warp)] % threads % _WARP
                found[block, warp].append(
                    ThreadGroup(tuple(own.tolist()), group.state, place, group.notes)
                )
        return tuple(
            Warp(self.observer.place(states.launch, (first + block) * threads)[0], warp, tuple(own))
            for (block, warp), own in sorted(found.items())
            if any(each.state != "exited" for each in own)
        )

    def _evaluate(self, text: str) -> Value:
        value = thread_values.value_of(thread_values.parse(text), self._values())
        return thread_values.described(text, value)

    def _variables(self, which: str) -> tuple[Value, ...]:
        return tuple(thread_values.variables(self._values(), which))

    def _parts(self, text: str) -> tuple[Value, ...]:
        value = thread_values.value_of(thread_values.parse(text), self._values())
        return tuple(thread_values.described(*part) for part in thread_values.parts_of(value))

    def _linear(self, thread: Sequence[int]) -> int:
        return _linear(thread, self._states().launch.config.block, "thread")

    def _lanes(self, text: str) -> Lanes:
        states, selected = self._selected()
        expression = thread_values.parse(text)
        threads = states.launch.block_threads
        block, thread = divmod(selected, threads)
        first = block * threads + thread // _WARP * _WARP
        end = min(first + _WARP, (block + 1) * threads)
        here = states.group_of(selected)
        members = set(states.indices(here.lanes).tolist())
        values = []
        for lane in range(first, end):
            if lane not in members:
                values.append("")
                continue
            own = self._values_of(states, np.array([lane]), self._level)
            values.append(thread_values.text_of(thread_values.value_of(expression, own)))
        place = self.observer.place(states.launch, self._thread)[0]
        return Lanes(text, place, thread // _WARP, tuple(values), selected - first)

    def _registers(self, names: Sequence[str]) -> tuple[Value, ...]:
        states, lane = self._selected()
        frame = states.frame(lane, self._level)
        types = states.registers(frame)
        unknown = [name for name in names if name not in types]
        if unknown:
            raise RequestError(
                f"unknown register {unknown[0]}", hint=f"the registers are {', '.join(types)}"
            )
        found = []
        for name in names or types:
            value = states.register(frame, name, np.array([lane]))[0]
            found.append(Value(name, types[name].name, thread_values.text_of(value)))
        return tuple(found)

    def _ptx(self) -> str:
        text = self._kernel_text()
        if text is None:
            hint = "extract it: cudarun load --help"
            raise RequestError("the PTX is in a container", hint=hint)
        return text.decode(errors="replace")

    def _kernel_text(self) -> bytes | None:
        """Return the PTX of the kernel; ``None`` if it is in a container."""
        kernel = b"" if self._launch is None else self._launch.kernel.name.encode()
        texts = (each for each in self._texts if identify(each) is ImageKind.PTX)
        return next((each for each in texts if kernel in each), None)

    def _known_names(self) -> tuple[str, ...]:
        values = self._values()
        return tuple(dict.fromkeys([*values.variables, *values]))

    def _known_locations(self) -> tuple[str, ...]:
        names = [each.partition("(")[0] for each in self._locations.functions]
        return (*names, *self._locations.files)

    # --- NaNs ------------------------------------------------------------------------------------

    def _check_nan(self, text: str) -> None:
        """Refuse an expression that is not a register or an element with a NaN."""
        value = thread_values.value_of(thread_values.parse(text), self._values())
        array = np.asarray(value)
        if array.ndim or array.dtype.kind not in "fV" or not np.isnan(array):
            raise RequestError(f"{text} is not a NaN: {thread_values.text_of(value)}")

    def _origin(self, text: str) -> NanOrigin:
        flow = self.observer.nans
        assert flow is not None, "the plan follows NaNs"
        node = thread_values.parse(text).node
        if isinstance(node, Name) and node.name.startswith(thread_values.REGISTER):
            states, lane = self._selected()
            name = "%" + node.name.removeprefix(thread_values.REGISTER)
            found = flow.of_register(states.frame(lane, self._level), name, lane)
        else:
            found = flow.of_memory(self.observer.batch, self._range(text))
        if found is None:
            return NanOrigin(None, text="no instruction of the launch produced it")
        birth, lane = found
        assert self._launch is not None
        thread = Thread(*self.observer.place(self._launch, birth.threads[lane]))
        position = None if birth.source else birth.position
        operands = tuple(_operands(birth, lane))
        came = f"it came from {birth.source}, read by" if birth.source else ""
        return NanOrigin(position, thread, place_of(birth.site), operands, came)

    _QUESTIONS: Mapping[str, Callable[..., object]] = {
        "check_breakpoint": _check_breakpoint,
        "number": _number,
        "select": _select_thread,
        "select_linear": _select_linear,
        "frames": _frames,
        "select_frame": _select_frame,
        "warps": _warps,
        "evaluate": _evaluate,
        "variables": _variables,
        "parts": _parts,
        "linear": _linear,
        "lanes": _lanes,
        "registers": _registers,
        "check_nan": _check_nan,
        "origin": _origin,
        "ptx": _ptx,
        "names": _known_names,
        "locations": _known_locations,
    }


def _operands(birth: NanBirth, lane: int) -> Iterator[Value]:
    """Yield the operands and the result of the instruction that produced a NaN in a lane."""
    row = [*birth.threads].index(lane)
    for number, (name, values) in enumerate(birth.operands):
        what = name or f"operand {number + 1}"
        value = values[row]
        yield Value(what, thread_values.type_of(value), thread_values.text_of(value))


def _birth_text(birth: NanBirth, lane: int) -> Iterator[str]:
    yield " ".join(birth.site.text.split())
    yield ", ".join(f"{each.name} = {each.text}" for each in _operands(birth, lane))


def _finding_text(finding: DetectorFinding) -> str:
    """Return a finding as text: the memory, and the instructions with their threads."""
    memory, what = finding.memory, finding.problem or _KINDS[finding.kind]
    if memory is not None:
        what += f": {memory.size} bytes of {memory.space} memory"
    if memory is not None and memory.name:
        name = demangle(memory.name.rpartition(".")[2]).rpartition("::")[2]
        what += f", at offset {memory.offset} of {name}"
    lines = [what]
    for each in finding.places:
        place = place_of(each.site)
        where = place.source or f"PTX line {place.ptx_line}"
        lines.append(f"{each.access} at {where} by {Thread(each.block, each.thread)}")
    return "\n".join(lines)


def _linear(place: Sequence[int], extent: Sequence[int], what: str) -> int:
    """Return the number of a place in an extent of up to three dimensions."""
    padded = [*place, *[0] * (3 - len(place))]
    if any(not 0 <= each < size for each, size in zip(padded, extent, strict=True)):
        limits = ", ".join(str(size - 1) for size in extent)
        raise RequestError(f"no {what} {tuple(place)}: the last one is ({limits})")
    x, y, z = padded
    return x + extent[0] * (y + extent[1] * z)
