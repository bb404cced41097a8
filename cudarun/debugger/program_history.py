"""The launches of a program that is debugged: each has processes of its own, one after the other.

A launch runs in the server of its process of the program, which waits. To go back, a copy of the
server at the start of the launch runs again; the server itself then runs to the end of the launch
without stops, so that the program gets one result, and its memory is changed once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from cudarun.base.errors import WorkerDied
from cudarun.debugger.history import History, Reached
from cudarun.debugger.plans import Plan
from cudarun.model.debug import Stop
from cudarun.session.workers.snapshots import Copies, Copy


class ProgramHistory(History):
    """The processes of the launches of a program.

    Args:
        copies: The socket that they connect to.
        is_running: Returns whether the program can launch kernels.
        kill: Kills the program.

    Attributes:
        has_ended: Whether the program has ended by itself.
    """

    def __init__(
        self, copies: Copies, is_running: Callable[[], bool], kill: Callable[[], None]
    ) -> None:
        super().__init__(copies)
        self._is_running = is_running
        self._kill = kill
        self.has_ended = False
        self._launches: deque[Copy] = deque()  # those of other processes wait
        self._is_waiting = self._is_paused = False

    def start(self) -> Reached:
        """Return the first stop, at the start of the first launch."""
        return self._next_launch()

    def run(self, plan: Plan) -> Reached:
        """Run to the next stop, through launches to the end of the program."""
        reached = self._next_launch() if self._live is None or self._is_at_end else self._go(plan)
        output, hits = "", Counter[int]()
        while plan.end is None and self._goes_on(reached[0], plan):
            output, hits = output + reached[0].output, hits + Counter(dict(reached[0].hits))
            if reached[0].reason == "ended":
                reached = self._next_launch()
            else:
                # Its breakpoints were reached in earlier launches.
                kept = tuple(
                    replace(each, ignore=max(0, each.ignore - hits[each.number]))
                    for each in plan.breakpoints
                    if each.is_of_program
                )
                following = replace(plan, motion="continue", thread=0, depth=None)
                reached = self._go(replace(following, breakpoints=kept))
        hits += Counter(dict(reached[0].hits))
        stop = replace(reached[0], output=output + reached[0].output, hits=tuple(hits.items()))
        return stop, reached[1]

    def _goes_on(self, stop: Stop, plan: Plan) -> bool:
        """Return whether to go on from the end of a launch, or from the start of one."""
        if stop.reason == "start":
            return all(each.target != "launch" for each in plan.breakpoints)
        return stop.reason == "ended" and self._live is not None

    def pause(self) -> bool:
        """Stop the running process, or no longer wait for a launch."""
        self._is_paused |= self._is_waiting
        return super().pause() or self._is_waiting

    def _next_launch(self) -> Reached:
        """Leave the launch; return the start of the next one, or the end of the program."""
        self._release()
        self._is_waiting, self._is_paused = True, False

        def waits() -> bool:
            return not self._is_paused and self._is_running()

        try:
            if not self._launches and (found := self._copies.accept(waits)):
                self._launches.append(found)
        finally:
            self._is_waiting = False
        if not self._launches:
            self.has_ended = not self._is_paused
            return Stop("ended" if self.has_ended else "pause", 0), None
        launch = self._launches.popleft()
        self._first, _ = self._next_stop(launch)
        launch.introduction = 0  # its copies begin there
        self._enter(self._copy_of(launch), launch, launch)
        return self._first, None

    def _keep(self, copy: Copy) -> None:
        if copy.introduction is None:
            self._launches.append(copy)
        else:
            super()._keep(copy)

    def close(self) -> None:
        """End all copies, and the program, which does not go on with the launch."""
        if not self.has_ended:
            self._kill()
        self._release()

    def _release(self) -> None:
        """End all copies, and let the launch run to its end."""
        original = self._leave()
        if original is not None:
            with suppress(WorkerDied):
                original.send(("release", ()))
