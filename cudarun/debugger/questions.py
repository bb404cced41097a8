"""The questions of a front end about a launch that has stopped, and their answers.

The process with the kernel calls the functions, each with its state.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

import numpy as np

from cudarun.arguments.dtypes import scalar_dtype
from cudarun.arguments.expressions.syntax import CASTS, Name
from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import RequestError
from cudarun.debugger import thread_values
from cudarun.debugger.descriptions import operands_of
from cudarun.debugger.locations import place_of, variable_name
from cudarun.debugger.stopped_state import REGISTER, WARP, StoppedState, ThreadValues
from cudarun.debugger.values import CppValue
from cudarun.debugger.variables import VariableScope
from cudarun.debugger.watchpoints import watched
from cudarun.model.debug import (
    Breakpoint,
    Lanes,
    NanOrigin,
    StackFrame,
    Stop,
    Thread,
    ThreadGroup,
    Value,
    Warp,
)

_SPACES = ("generic", "global", "local", "param", "shared")
_ELEMENTS = re.compile(r"(?P<type>\w+)(?:\[(?P<count>\d{1,6})\])?")


def resolve(state: StoppedState, point: Breakpoint) -> Breakpoint:
    """Return a breakpoint with the instructions or the memory that it stops at, or refuse it.

    A program may launch the code of a location later.
    """
    if point.condition:
        thread_values.parse(point.condition)
    for each in thread_values.FIELD.findall(point.message):
        thread_values.parse(each)
    if point.kind == "watch":
        return replace(point, watched=watched(state, point.target))
    if point.kind == "catch":
        return point
    try:
        found = state.locations.resolve(point)
    except RequestError:
        if not state.is_of_program or point.kind == "ptx":
            raise
        found = {}
    return replace(point, places=tuple(found.values()))


def select_thread(state: StoppedState, block: Sequence[int] | None, thread: Sequence[int]) -> Stop:
    """Select a thread, by default of the block of the selected one."""
    states = state.states()
    if block is None:
        block = state.observer.place(states.launch, state.thread)[0]
    return _select_number(state, state.number(block, thread))


def select_warp(state: StoppedState, warp: int, block: Sequence[int] | None = None) -> Stop:
    """Select the first thread of a warp that has not exited."""
    states = state.states()
    threads = states.launch.block_threads
    first = state.thread // threads * threads if block is None else state.number(block, ())
    lane = states.lane(first)
    alive = states.batch.alive[lane : lane + threads] if lane is not None else np.empty(0)
    left = np.flatnonzero(alive[WARP * warp : WARP * (warp + 1)])
    if not len(left):
        raise RequestError(
            f"warp {warp} of the block is not running", hint="'warps' lists those that are"
        )
    return _select_number(state, first + WARP * warp + int(left[0]))


def _select_number(state: StoppedState, number: int) -> Stop:
    states = state.states()
    lane = states.lane(number)
    if lane is None or not states.batch.alive[lane]:
        raise RequestError("the thread is not running", hint="'warps' lists those that are")
    state.thread, state.level = number, 0
    return state.stop("position")


def frames(state: StoppedState) -> tuple[StackFrame, ...]:
    """Return the calls of the selected thread."""
    states, lane = state.selected()
    calls = enumerate(states.calls(lane))
    return tuple(StackFrame(level, place_of(site)) for level, (_, site) in calls if site)


def select_frame(state: StoppedState, level: int) -> StackFrame:
    """Select a call."""
    calls = frames(state)
    if not 0 <= level < len(calls):
        raise RequestError(f"no frame {level}: there are {len(calls)}")
    state.level = level
    return calls[level]


def warps(state: StoppedState) -> tuple[Warp, ...]:
    """Return the states of the warps of the running batch."""
    states = state.states()
    threads, first = states.launch.block_threads, states.batch.first_block
    found: dict[tuple[int, int], list[ThreadGroup]] = defaultdict(list)
    for group in states.groups():
        lanes = states.indices(group.lanes)
        place = None if group.site is None else place_of(group.site)
        blocks, numbers = lanes // threads, lanes % threads // WARP
        keys = np.stack([blocks, numbers], axis=1)
        for block, warp in np.unique(keys, axis=0).tolist():
            own = lanes[(blocks == block) & (numbers == warp)] % threads % WARP
            found[block, warp].append(
                ThreadGroup(tuple(own.tolist()), group.state, place, group.notes)
            )
    return tuple(
        Warp(state.observer.place(states.launch, (first + block) * threads)[0], warp, tuple(own))
        for (block, warp), own in sorted(found.items())
        if any(each.state != "exited" for each in own)
    )


def evaluate(state: StoppedState, text: str) -> Value:
    """Return the value of an expression."""
    return thread_values.described(text, _value(state, text))


def _value(state: StoppedState, text: str) -> Any:
    return thread_values.value_of(thread_values.parse(text), state.values())


def variables(state: StoppedState, which: str) -> list[Value]:
    """Return the ``local`` or ``common`` variables of the code, or each ``argument``."""
    values = state.values()
    scope, found = values.variables, []
    names: Iterable[str] = values.arguments if which == "argument" else ()
    if which != "argument" and isinstance(scope, VariableScope):
        if scope.problem is not None and which == "local":
            found.append(Value("debug information", "", f"<{scope.problem}>"))
        names = scope.local if which == "local" else scope.common.keys() - scope.local.keys()
    for name in names:
        try:
            value = values[name] if which == "argument" else scope[name]
            found.append(thread_values.described(name, value))
        except RequestError as error:
            found.append(Value(name, "", f"<{error}>"))
    return found


def parts(state: StoppedState, text: str) -> tuple[Value, ...]:
    """Return the members and elements of a value."""
    return tuple(starmap(thread_values.described, thread_values.parts_of(_value(state, text))))


def lanes(state: StoppedState, text: str) -> Lanes:
    """Return the values of an expression across the warp of the selected thread."""
    states, selected = state.selected()
    expression = thread_values.parse(text)
    threads = states.launch.block_threads
    block, thread = divmod(selected, threads)
    first = block * threads + thread // WARP * WARP
    end = min(first + WARP, (block + 1) * threads)
    here = states.group_of(selected)
    members = set(states.indices(here.lanes).tolist())
    values = []
    for lane in range(first, end):
        if lane not in members:
            values.append("")
            continue
        own = ThreadValues(state, states, np.array([lane]), state.level)
        values.append(thread_values.text_of(thread_values.value_of(expression, own)))
    place = state.observer.place(states.launch, state.thread)[0]
    return Lanes(text, place, thread // WARP, tuple(values), selected - first)


def registers(state: StoppedState, names: Sequence[str] = ()) -> tuple[Value, ...]:
    """Return registers of the selected thread, by default all."""
    states, lane = state.selected()
    frame = states.frame(lane, state.level)
    types = states.registers(frame)
    names = [name if name in types else f"%{name.removeprefix('%')}" for name in names]
    unknown = [name for name in names if name not in types]
    if unknown:
        raise RequestError(
            f"unknown register {unknown[0]}",
            hint=did_you_mean(unknown[0], types) or "'registers' lists those of the function",
        )
    values = [(name, states.register(frame, name, np.array([lane]))[0]) for name in names or types]
    return tuple(
        Value(name, types[name].name, thread_values.text_of(value)) for name, value in values
    )


def memory(state: StoppedState, where: str, what: str) -> Value:
    """Return values in memory.

    Args:
        where: A shared variable, or an address, after ``SPACE:`` in a state space.
        what: Their type and number, as in ``f32[8]``.
    """
    states, lane = state.selected()
    space, _, address = where.rpartition(":")
    if space not in ("", *_SPACES):
        raise RequestError(f"unknown state space {space!r}: expected {', '.join(_SPACES)}")
    shared = {variable_name(name): at for name, at in states.launch.kernel.shared.items()}
    match = _ELEMENTS.fullmatch(what)
    scalar = match and CASTS.get(match["type"])
    if not match or not scalar:
        raise RequestError(f"{what!r} is not TYPE or TYPE[COUNT], such as f32[8]")
    count = int(match["count"] or 1)
    if address in shared:
        space, start = "shared", shared[address]
    else:
        value = _value(state, address)
        number = np.asarray(value.numbers()[0][0] if isinstance(value, CppValue) else value)
        if number.ndim or number.dtype.kind not in "iu":
            raise RequestError(f"{address} is neither a shared variable nor an address")
        start = int(number) % (1 << 64)
    size = scalar.size * count
    access = states.access(states.frame(lane, state.level), np.array([lane]))
    data, known = access.read(space or "generic", np.array([start], dtype=np.uint64), size)
    if not known.all():
        raise RequestError(f"{where}: not all of the {size} bytes are in memory")
    values = np.frombuffer(data.tobytes(), scalar_dtype(scalar))
    return Value(where, what, thread_values.text_of(values if match["count"] else values[0]))


def ptx(state: StoppedState) -> str:
    """Return the text of the kernel's PTX."""
    return state.text


def known_names(state: StoppedState) -> tuple[str, ...]:
    """Return the names that expressions can have."""
    values = state.values()
    return tuple(dict.fromkeys([*values.variables, *values, *values.registers]))


def known_locations(state: StoppedState) -> tuple[str, ...]:
    """Return the functions and files that breakpoints can have."""
    return (*state.locations.functions, *state.locations.files)


def check_nan(state: StoppedState, text: str) -> int:
    """Return the level of the selected call.

    Raises:
        RequestError: The expression is not a register, a variable or an element with a NaN.
    """
    value = _value(state, text)
    if _register_of(state, text) is None and watched(state, text).memory is None:
        raise RequestError(
            f"{text} is neither in a register nor in memory",
            hint="origin %f5 and origin y[17] are such",
        )
    is_number = isinstance(value, CppValue) and value.dtype is not None
    array = np.asarray(value.numbers()[0][0] if is_number else value)
    if array.ndim or array.dtype.kind not in "fV" or not np.isnan(array):
        raise RequestError(f"{text} is not a NaN: {thread_values.text_of(value)}")
    return state.level


def _register_of(state: StoppedState, text: str) -> str | None:
    """Return the register that is an expression, or has the variable that it is."""
    node = thread_values.parse(text).node
    if not isinstance(node, Name):
        return None
    if node.name.startswith(REGISTER):
        return "%" + node.name.removeprefix(REGISTER)
    scope = state.values().variables
    return scope.register_of(node.name) if isinstance(scope, VariableScope) else None


def origin(state: StoppedState, text: str, level: int) -> NanOrigin:
    """Return the origin of a NaN, in a call of the selected thread."""
    state.level = level
    flow, register = state.observer.nans, _register_of(state, text)
    assert flow is not None, "the plan follows NaNs"
    if register is not None:
        states, lane = state.selected()
        found = flow.of_register(states.frame(lane, state.level), register, lane)
    else:
        where = watched(state, text).memory
        assert where is not None, "it was checked"
        found = flow.of_memory(state.observer.batch, where)
    if found is None:
        return NanOrigin(None, text="no instruction of the launch produced it")
    birth, lane = found
    assert state.launch is not None
    thread = Thread(*state.observer.place(state.launch, birth.threads[lane]))
    position = None if birth.source else birth.position
    operands = tuple(operands_of(birth, lane))
    came = f"it came from {birth.source}, read by" if birth.source else ""
    return NanOrigin(position, thread, place_of(birth.site), operands, came)
