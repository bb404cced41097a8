"""Watchpoints: which memory or which expression is watched, and what a statement changes of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.expressions.syntax import Index
from cudarun.base.errors import RequestError
from cudarun.debugger import thread_values
from cudarun.debugger.locations import place_of
from cudarun.debugger.stopped_state import StoppedState, ThreadValues
from cudarun.debugger.values import CppValue
from cudarun.model.debug import Breakpoint, MemoryWrite, Thread, Watched

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import BlockRun, MemoryRange


def watched(state: StoppedState, text: str) -> Watched:
    """Return what a watchpoint watches, in the selected thread.

    Raises:
        RequestError: The expression has no single value.
    """
    values, expression = state.values(), thread_values.parse(text)
    element = thread_values.element_of(expression, values)
    if element is not None:
        name, offset, dtype = element
        address = state.names.addresses[name] + offset
        return Watched(state.observer.global_range(address, dtype.itemsize), dtype)
    if isinstance(expression.node, Index) and not values.variables:
        known = ", ".join(values.buffers)
        hint = known and f"the buffers are {known}"
        raise RequestError(f"{text} is not an element of a buffer", hint=hint)
    states, lane = state.selected()
    value = thread_values.value_of(expression, values)
    depth = len(states.calls(lane)) - 1 - state.level
    function = states.frame(lane, state.level).function.name
    if isinstance(value, CppValue) and (value.dtype is None or value.extents):
        raise RequestError(f"{text} is not a scalar", hint="select an element or a member")
    if isinstance(value, CppValue) and value.addresses is not None and value.field is None:
        assert value.space is not None
        assert value.dtype is not None
        access = states.access(states.frame(lane, state.level), np.array([lane]))
        where = access.range_at(value.space, int(value.addresses[0]), value.dtype.itemsize)
        if where is None:
            raise RequestError(f"{text} is in no memory that can be written")
        if where.space != "local":
            return Watched(where, value.dtype, state.launches)
        return Watched(where, value.dtype, state.launches, state.thread, depth, function)
    return Watched(None, None, state.launches, state.thread, depth, function)


class Watchpoints:
    """The watchpoints of a run."""

    def __init__(self, state: StoppedState, points: Iterable[Breakpoint] = ()) -> None:
        self._state = state
        self._memory: dict[MemoryRange, list[Breakpoint]] = defaultdict(list)
        self._expressions: list[Breakpoint] = []
        for each in points:
            found = each.watched
            assert found is not None
            if found.launch not in (0, state.launches):
                continue
            if found.memory is None:
                self._expressions.append(each)
            else:
                self._memory[found.memory].append(each)
        self.ranges = tuple(self._memory)  # the memory that is watched
        self._bytes: dict[MemoryRange, bytes] = {}
        self._texts: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self._memory or self._expressions)

    def before(self) -> None:
        """Note the values before a statement."""
        found = {each: self._state.bytes_at(each) for each in self._memory}
        self._bytes = {where: data for where, data in found.items() if data is not None}
        self._texts = dict(self._evaluated())

    def _evaluated(self) -> Iterator[tuple[int, str]]:
        """Yield the values of watched expressions by their places in the list."""
        state = self._state
        for number, each in enumerate(self._expressions):
            watched, run = each.watched, state.run
            assert watched is not None
            assert run is not None
            states = state.states()
            lane = states.lane(watched.thread)
            here = (run.frame.depth, run.frame.function.name)
            if lane is None or here != (watched.depth, watched.function):
                continue
            if not states.is_active(watched.thread):
                continue
            try:
                values = ThreadValues(state, states, np.array([lane]))
                found = thread_values.value_of(thread_values.parse(each.target), values)
            except RequestError:  # it is not available here
                continue
            yield number, thread_values.text_of(found)

    def after(self, run: BlockRun, index: int) -> Iterator[tuple[Breakpoint, MemoryWrite]]:
        """Yield the watchpoints whose values a statement has written, and what it wrote.

        The first thread that wrote is selected.
        """
        state, site = self._state, run.site(index)
        writes, states = state.observer.writes, state.states()
        lanes, writes.written = writes.written, {}
        changes = [
            (point, states.number(lane), *self._change(point, where))
            for where, lane in lanes.items()
            for point in self._memory[where]
            if where in self._bytes and self._is_in_scope(point)
        ]
        state.index = index + 1  # debug information may have a variable elsewhere from there on
        for number, text in self._evaluated():
            point = self._expressions[number]
            before = self._texts.get(number, text)
            if before != text:
                assert point.watched is not None
                changes.append((point, point.watched.thread, before, text))
        if changes:
            assert site is not None, "a write is an instruction"
            state.thread = changes[0][1]
        for point, thread, old, new in changes:
            assert site is not None
            writer = Thread(*state.observer.place(states.launch, thread))
            position = state.observer.position - 1
            yield point, MemoryWrite(point.target, writer, place_of(site), position, old, new)

    def _change(self, point: Breakpoint, where: MemoryRange) -> tuple[str, str]:
        def text(data: bytes) -> str:
            assert point.watched is not None
            return thread_values.text_of(np.frombuffer(data, point.watched.dtype)[0])

        return text(self._bytes[where]), text(self._state.bytes_at(where) or b"")

    def _is_in_scope(self, point: Breakpoint) -> bool:
        """Return whether the call that has a local variable is in progress."""
        watched = point.watched
        if watched is None or not watched.function:
            return True
        states = self._state.states()
        lane = states.lane(watched.thread)
        calls = [] if lane is None else states.calls(lane)[::-1]
        return len(calls) > watched.depth and calls[watched.depth][0].name == watched.function
