"""The processes of a launch that is debugged: the one that has stopped, and snapshots before it.

A snapshot is a copy of the process at a position. To go back, a copy of the nearest snapshot runs
forward again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from cudarun.base.errors import CudarunError, RequestError, WorkerDied
from cudarun.debugger.plans import Plan
from cudarun.model.debug import Stop
from cudarun.session.workers.snapshots import DIED, Copies, Copy

_MOST_SNAPSHOTS = 16

Answer = TypeVar("Answer")

Reached = tuple[Stop, object]  # a stop, and the result of the launch if it has ended


class History:
    """The processes of a launch.

    Args:
        copies: The socket that they connect to.
        root: The process at the start of the launch, which only makes copies.

    Attributes:
        show: Takes what a launch prints when it runs to a stop; without it, the stop has it.
    """

    def __init__(self, copies: Copies, root: Copy | None = None) -> None:
        self.show: Callable[[str], object] | None = None
        self._copies = copies
        self._snapshots: list[Copy] = []
        self._live: Copy | None = None  # the process that has stopped; none between launches
        self._original = root  # ends by itself
        self._running: Copy | None = None
        self._position = 0
        self._is_at_end = False

    def start(self) -> Reached:
        """Return the first stop, at the start of the launch.

        Raises:
            CudarunError: The launch cannot begin.
        """
        root = self._original
        assert root is not None
        self._first, outcome = self._next_stop(root)
        if isinstance(outcome, CudarunError):
            raise outcome
        self._enter(root, self._copy_of(root), root)
        return self._first, None

    def _enter(self, root: Copy, live: Copy, original: Copy) -> None:
        """Begin with a launch: its start, the process that runs, and the one that is no copy."""
        self._snapshots, self._live, self._original = [root], live, original
        self._position, self._is_at_end = 0, False

    def run(self, plan: Plan) -> Reached:
        """Run to the next stop."""
        if self._is_at_end:
            raise RequestError("the launch has ended", hint="go back, as with reverse-continue")
        return self._go(plan)

    def _go(self, plan: Plan) -> Reached:
        stop, outcome = self._run(self._process, plan)
        self._position, self._is_at_end = stop.position, stop.reason == "ended"
        return stop, outcome

    @property
    def _process(self) -> Copy:
        if self._live is None:
            raise RequestError("no kernel is running")
        return self._live

    def go_to(self, position: int, thread: int | None) -> Reached:
        """Go to a position and select a thread; without one, to the start of the launch."""
        if thread is None or not self._position < position:
            nearest = self._before(position)
            self._end(self._process)
            self._live, self._is_at_end = self._copy_of(nearest), False
        if thread is None:
            self._position = 0
            return self._first, None
        return self._go(Plan("continue", thread, end=position, takes_snapshots=True))

    def last_stop(self, plan: Plan, end: int) -> Stop | None:
        """Return the last stop of a plan before a position; ``None`` if there is none."""
        while end > 0:
            snapshot = self._before(end - 1)
            runner = self._copy_of(snapshot)
            try:
                stop = self._run_apart(runner, replace(plan, end=end, takes_snapshots=True))
            finally:
                runner.end()
            if stop is not None:
                return stop
            end = snapshot.introduction
        return None

    def replay(self, plan: Plan, question: Callable[..., Answer], *arguments: object) -> Answer:
        """Run the launch again to the end of a plan, and return the answer to a question there.

        Raises:
            CudarunError: It has no answer.
        """
        runner = self._copy_of(self._before(0))
        try:
            self._run_apart(runner, plan)
            return self._answer(runner, question, *arguments)
        finally:
            runner.end()

    def ask(self, question: Callable[..., Answer], *arguments: object) -> Answer:
        """Return the answer to a question about the state.

        Raises:
            CudarunError: It has no answer.
        """
        return self._answer(self._process, question, *arguments)

    def _answer(self, process: Copy, question: Callable[..., Answer], *arguments: object) -> Answer:
        process.send((question, arguments))
        answer: Answer
        kind, answer = self._copies.wait(process, self._keep)
        if kind == "error":
            assert isinstance(answer, CudarunError)
            raise answer
        return answer

    def pause(self) -> bool:
        """Stop the running process; return whether one runs."""
        if self._running is not None:
            self._running.send(("pause", ()))
        return self._running is not None

    def close(self) -> None:
        """End all processes but the root, whose task ends."""
        root = self._leave()
        if root is not None:
            with suppress(WorkerDied):
                root.send(("abandon", ()))

    def _leave(self) -> Copy | None:
        """End all copies; return the process that is none."""
        original = self._original
        for each in {*self._snapshots, *filter(None, [self._live])}:
            self._end(each)
        self._snapshots, self._live, self._original = [], None, None
        return original

    def _end(self, process: Copy) -> None:
        if process is not self._original:
            process.end()

    def _run(self, process: Copy, plan: Plan) -> Reached:
        process.send(("resume", (plan,)))
        self._running = process
        try:
            return self._next_stop(process, self.show if plan.end is None else None)
        finally:
            self._running = None

    def _run_apart(self, runner: Copy, plan: Plan) -> Stop | None:
        """Run a process other than the live one; return what it has found.

        Raises:
            RequestError: It was paused before the end of the plan.
        """
        stop: Stop | None = self._run(runner, plan)[0]
        if stop is not None and stop.reason == "pause":
            raise RequestError("interrupted")
        return stop

    def _next_stop(self, process: Copy, show: Callable[[str], object] | None = None) -> Reached:
        output: list[str] = []
        while True:
            kind, found, outcome = self._copies.wait(process, self._keep)
            if kind != "output":
                return found and replace(found, output="".join(output)), outcome
            (show or output.append)(found)

    def _before(self, position: int) -> Copy:
        """Return the last snapshot that is not after a position."""
        if not self._snapshots:
            raise RequestError("no kernel is running")
        return max(
            (each for each in self._snapshots if each.introduction <= position),
            key=lambda each: int(each.introduction),
        )

    def _copy_of(self, snapshot: Copy) -> Copy:
        """Return a copy of a snapshot."""
        snapshot.send(("fork", ()))
        while True:
            copy = self._copies.accept()
            if copy is None:
                raise WorkerDied(DIED)
            if copy.introduction == snapshot.introduction:
                return copy
            self._keep(copy)

    def _keep(self, copy: Copy) -> None:
        """Take a new snapshot; end every second one if there are many: old ones become rare."""
        if any(each.introduction == copy.introduction for each in self._snapshots):
            copy.end()
            return
        self._snapshots.append(copy)
        self._snapshots.sort(key=lambda each: int(each.introduction))
        if len(self._snapshots) > _MOST_SNAPSHOTS:
            for each in self._snapshots[1::2]:
                each.end()
            del self._snapshots[1::2]
