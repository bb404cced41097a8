"""The state of a launch that has stopped: the selected thread, and the values of names in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.base.errors import RequestError
from cudarun.debugger.locations import Locations, place_of
from cudarun.debugger.thread_values import LaunchNames, ThreadValues
from cudarun.debugger.variables import shared_variables
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


class StoppedState:
    """The state of a launch that has stopped.

    Args:
        observer: The observer of the launch.
    """

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
        self.output = bytearray()  # what kernels have printed since the last stop
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
        output, self.output = self.output.decode(errors="replace"), bytearray()
        thread, threads = None, 0
        lanes: tuple[int, ...] = ()
        if launch is not None and self.is_running:
            thread = Thread(*self.observer.place(launch, self.thread))
            states = self.observer.states(site)
            lane = states.lane(self.thread)
            if lane is not None:
                group = states.group_of(lane)
                here, site = states.indices(group.lanes), group.site
                lanes, threads = self.lanes_of_warp(here), len(here)
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

    def lanes_of_warp(self, lanes: Array) -> tuple[int, ...]:
        """Return those of some lanes that are in the warp of the selected thread."""
        assert self.launch is not None
        block, thread = divmod(self.thread, self.launch.block_threads)
        first = self.observer.states(None).lane(block * self.launch.block_threads)
        if first is None:
            return ()
        start = first + thread // WARP * WARP
        end = min(start + WARP, first + self.launch.block_threads)
        return tuple((lanes[(lanes >= start) & (lanes < end)] - start).tolist())

    def values(self, lanes: Array | None = None) -> ThreadValues:
        """Return the values of names in some lanes, by default that of the selected thread."""
        states, level = None, 0
        if lanes is not None:
            states = self.states()
        elif self.is_running:
            states = self.states()
            lane = states.lane(self.thread)
            alive = lane is not None and states.batch.alive[lane]
            lanes, level = np.array([lane] if alive else [], dtype=np.intp), self.level
        else:
            lanes = np.empty(0, dtype=np.intp)
        return ThreadValues(self, states, lanes, level)

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
