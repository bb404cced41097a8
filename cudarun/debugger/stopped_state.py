"""The state of a launch that has stopped: the selected thread, and the values of names in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.debugger.locations import Locations, place_of
from cudarun.debugger.values import CppValue
from cudarun.debugger.variables import VariableScope, shared_variables
from cudarun.images.debug_variables import DebugVariables
from cudarun.images.demangler import demangle
from cudarun.model.debug import Reason, Stop, Thread

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import (
        BlockRun,
        DebugObserver,
        Launch,
        MemoryRange,
        Site,
        ThreadStates,
    )

WARP = 32
_BUILT_IN = {
    **{f"threadIdx.{axis}": f"%tid.{axis}" for axis in "xyz"},
    **{f"blockIdx.{axis}": f"%ctaid.{axis}" for axis in "xyz"},
    **{f"blockDim.{axis}": f"%ntid.{axis}" for axis in "xyz"},
    **{f"gridDim.{axis}": f"%nctaid.{axis}" for axis in "xyz"},
    "laneid": "%laneid",
    "warpid": "%warpid",
}
REGISTER = "reg."
"""The prefix of registers in expressions: ``reg.r5``, or ``%r5`` as in the PTX."""

ARGUMENT = "arg."
"""The prefix of an argument of the launch that a variable of the code hides: ``arg.x``."""


@dataclass(frozen=True, slots=True)
class LaunchNames:
    """The arguments of a launch by name."""

    buffers: Mapping[str, BufferSpec]
    addresses: Mapping[str, int]  # those of the buffers
    scalars: Mapping[str, Any]  # the values of the others


class ThreadValues(Mapping[str, Any]):
    """The values of names in some lanes: of registers an item for each lane.

    Args:
        states: The stopped threads; ``None`` where none runs.
        lanes: The lanes, which are in the same function.
        level: The call whose registers are meant; 0 is the innermost.
    """

    def __init__(
        self, state: StoppedState, states: ThreadStates | None, lanes: Array, level: int = 0
    ) -> None:
        self._state = state
        self._states = states
        self._names = state.names
        self.buffers = state.names.buffers  # the buffers of the launch
        self._lanes = lanes
        self.count = len(lanes)  # the number of lanes
        self._level = level
        self._known: dict[str, Any] = {}

    def some(self, chosen: Array) -> ThreadValues:
        """Return the values in some of the lanes."""
        return ThreadValues(self._state, self._states, self._lanes[chosen], self._level)

    @property
    def arguments(self) -> Sequence[str]:
        """The names of the arguments of the launch in expressions."""
        names = [*self.buffers, *self._names.scalars]
        return [f"{ARGUMENT}{each}" if each in self.variables else each for each in names]

    @cached_property
    def variables(self) -> Mapping[str, CppValue]:
        """The C++ variables in scope."""
        debug = self._state.debug
        if debug is None or self._states is None or not self.count:
            return {}
        lane = int(self._lanes[0])
        frame = self._states.frame(lane, self._level)
        _, site = self._states.calls(lane)[self._level]
        assert site is not None, "it has an instruction to execute"
        accessor = self._states.access(frame, self._lanes)
        return VariableScope(debug, frame.function.name, site.line, accessor)

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._value(name)
        return self._known[name]

    def _value(self, name: str) -> Any:
        name = name.removeprefix(ARGUMENT)
        if name in self.buffers:
            spec = self.buffers[name]
            data = self._state.memory(self._names.addresses[name], spec.nbytes)
            return data.view(spec.dtype()).reshape(spec.array_shape)
        if name in self._names.scalars:
            return self._names.scalars[name]
        states = self._states
        if states is None or not self.count:
            raise KeyError(name)
        if name not in _BUILT_IN and not name.startswith(REGISTER):
            raise KeyError(name)
        register = _BUILT_IN.get(name) or "%" + name.removeprefix(REGISTER)
        frame = states.frame(int(self._lanes[0]), self._level)
        try:
            found = states.register(frame, register, self._lanes)
        except KeyError:
            raise RequestError(
                f"unknown register {register}", hint="'registers' lists those of the function"
            ) from None
        return found[0] if self.count == 1 else found

    @property
    def registers(self) -> list[str]:
        """The names of the registers, as in the PTX."""
        if self._states is None or not self.count:
            return []
        frame = self._states.frame(int(self._lanes[0]), self._level)
        return [*self._states.registers(frame)]

    def __iter__(self) -> Iterator[str]:
        yield from self.buffers
        yield from self._names.scalars
        if self._states is not None and self.count:
            yield from _BUILT_IN

    def __len__(self) -> int:
        return sum(1 for _ in self)


class StoppedState:
    """The state of a launch that has stopped."""

    def __init__(self, observer: DebugObserver) -> None:
        self.observer = observer
        self.launch: Launch | None = None
        self.launches = 0  # the number of launches so far
        self.is_of_program = False  # whether a program launches kernels that are not known yet
        self.run: BlockRun | None = None  # the basic block that was last looked at
        self.index = 0  # its next statement
        self.thread = 0  # the number of the selected thread in the grid
        self.level = 0  # the level of the selected call
        self.names = LaunchNames({}, {}, {})
        self.text = ""  # the PTX of the kernel
        self.locations = Locations({})
        self._debugs: dict[str, DebugVariables] = {}

    @property
    def site(self) -> Site | None:
        """The next instruction of the active lanes."""
        return None if self.run is None else self.run.next_site(self.index)

    @property
    def is_running(self) -> bool:
        """True if a batch of the launch has begun and has not ended."""
        launch = self.launch
        return launch is not None and launch.running is not None and self.observer.batch is not None

    def states(self) -> ThreadStates:
        """Return the threads that are running.

        Raises:
            RequestError: None are.
        """
        if not self.is_running:
            raise RequestError("no thread is running", hint="run to a breakpoint first")
        return self.observer.states(self.site)

    def selected(self) -> tuple[ThreadStates, int]:
        """Return the running threads and the lane of the selected one."""
        states = self.states()
        lane = states.lane(self.thread)
        if lane is None or not states.batch.alive[lane]:
            raise RequestError(
                "the selected thread is not running", hint="'warps' lists those that are"
            )
        return states, lane

    def number(self, block: Sequence[int], thread: Sequence[int]) -> int:
        """Return the number of a thread in the grid."""
        assert self.launch is not None
        config = self.launch.config
        number = linear_number(block, config.grid, "block")
        return number * self.launch.block_threads + linear_number(thread, config.block, "thread")

    def select(self, lanes: Array) -> None:
        """Select the thread of a lane, unless the selected one is among them."""
        states = self.states()
        if states.lane(self.thread) not in lanes:
            self.thread = states.number(int(lanes[0]))

    def select_active(self) -> None:
        """Select an active thread, unless the selected one is."""
        if len(lanes := self.states().active):
            self.select(lanes)

    def stop(self, reason: Reason, **facts: Any) -> Stop:
        """Return a stop of the selected thread."""
        launch, site = self.launch, self.site
        thread, threads = None, 0
        lanes: tuple[int, ...] = ()
        if launch is not None and self.is_running:
            thread = Thread(*self.observer.place(launch, self.thread))
            states = self.observer.states(site)
            lane = states.lane(self.thread)
            if lane is not None:
                group = states.group_of(lane)
                here, site = states.indices(group.lanes), group.site
                thread_of_block = self.thread % launch.block_threads
                start = lane - thread_of_block % WARP
                end = min(start + WARP, lane - thread_of_block + launch.block_threads)
                of_warp = here[(here >= start) & (here < end)] - start
                lanes, threads = tuple(of_warp.tolist()), len(here)
        return Stop(
            reason,
            self.observer.position,
            demangle(launch.kernel.name) if launch else "",
            thread,
            None if site is None or thread is None else place_of(site),
            lanes=lanes,
            **{"threads": threads, **facts},
        )

    def values(self, lanes: Array | None = None) -> ThreadValues:
        """Return the values of names in some lanes, by default that of the selected thread."""
        if lanes is not None:
            return ThreadValues(self, self.states(), lanes)
        states, own = self.states() if self.is_running else None, list[int]()
        if states is not None:
            lane = states.lane(self.thread)
            own = [lane] if lane is not None and states.batch.alive[lane] else []
        return ThreadValues(self, states, np.array(own, dtype=np.intp), self.level)

    @property
    def debug(self) -> DebugVariables | None:
        """The debug information of the kernel's PTX."""
        if self.launch is None:
            return None
        kernel = self.launch.kernel.name
        if kernel not in self._debugs:
            shared = shared_variables(self.observer.shared_types(self.launch))
            self._debugs[kernel] = DebugVariables(self.text, [*shared])
        return self._debugs[kernel]

    def memory(self, address: int, size: int) -> Array:
        """Return bytes of global memory."""
        assert self.launch is not None
        return self.observer.global_bytes(self.launch, address, size)

    def bytes_at(self, where: MemoryRange) -> bytes | None:
        """Return the bytes of a range of memory; ``None`` if its block is not running."""
        try:
            return self.observer.states(None).bytes_at(where).tobytes()
        except ValueError:
            return None


def linear_number(place: Sequence[int], extent: Sequence[int], what: str) -> int:
    """Return the number of a place in an extent of up to three dimensions.

    Raises:
        RequestError: It is outside.
    """
    padded = [*place, *[0] * (3 - len(place))]
    if any(not 0 <= each < size for each, size in zip(padded, extent, strict=True)):
        wanted = ", ".join(map(str, place))
        limits = ", ".join(str(size - 1) for size in extent)
        raise RequestError(f"no {what} ({wanted}): the last one is ({limits})")
    x, y, z = padded
    return x + extent[0] * (y + extent[1] * z)
