"""The debugger's interface for front ends: methods that return results, and print nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudarun.base.errors import RequestError
from cudarun.debugger import questions
from cudarun.debugger.history import Answer, History
from cudarun.debugger.plans import Motion, Plan
from cudarun.debugger.stopped_state import StoppedState
from cudarun.model.debug import (
    Breakpoint,
    CodePlace,
    Listing,
    MemoryWrite,
    NanOrigin,
    Reason,
    SourceLine,
    StackFrame,
    Stop,
    Thread,
)

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchReport

EVENTS = ("fault", "finding", "nan", "launch")
"""What a catchpoint stops at; a fault also without one."""


class Debugger:
    """A launch that is debugged. Each method raises `CudarunError` if it is not possible.

    Args:
        history: The processes of the launch.
        report: Returns the report of a launch that has ended; ``None`` for a program.
        folders: Where source files are looked for by their names, after their own folders.

    Attributes:
        last: The last stop.
        report: The report of the launch, once it has ended.
    """

    def __init__(
        self,
        history: History,
        report: Callable[[Any], LaunchReport] | None = None,
        folders: Sequence[Path] = (),
    ) -> None:
        self._history = history
        self._make_report = report
        self._folders = folders
        self._ptx: dict[str, str] = {}  # by the kernel
        self._breakpoints: dict[int, Breakpoint] = {}
        self._number = self._selected = 0
        self._place: CodePlace | None = None
        self.report: LaunchReport | None = None
        self.last = self._seen(history.start())

    def show_output(self, show: Callable[[str], object]) -> None:
        """Take what the launch prints at once, and not with the next stop."""
        self._history.show = show

    # --- breakpoints -----------------------------------------------------------------------------

    def add_breakpoint(
        self,
        location: str,
        condition: str = "",
        *,
        once: bool = False,
        ignore: int = 0,
        message: str = "",
    ) -> Breakpoint:
        """Stop at ``FILE:LINE``, ``LINE``, ``ptx:LINE`` or a function.

        Args:
            location: The location; a line alone is of the current source file.
            condition: Stop only for threads for which it is true.
            once: Delete the breakpoint when it is reached.
            ignore: How often to pass it without a stop.
            message: Print it in place of a stop, with the values of expressions in braces.
        """
        point = replace(self._location(location), condition=condition, once=once)
        return self._add(replace(point, ignore=ignore, message=message))

    def ignore(self, number: int, count: int) -> Breakpoint:
        """Let a breakpoint be passed some times."""
        point = self._numbered(number)
        if point.kind == "catch":
            raise RequestError(f"{number} is an event, which cannot be passed")
        self._breakpoints[number] = point = replace(point, ignore=count)
        return point

    def log(self, number: int, message: str) -> Breakpoint:
        """Print a message in place of a stop; an empty one stops again."""
        point = self._numbered(number)
        if point.kind in ("watch", "catch"):
            raise RequestError(f"{number} is not a location, which a message needs")
        point = self.ask(questions.resolve, replace(point, message=message))
        self._breakpoints[number] = point
        return point

    def watched(self, expression: str) -> Breakpoint:
        """Return a watchpoint that is not set yet, for the selected thread."""
        return self.ask(questions.resolve, Breakpoint(0, "watch", expression))

    def watch(self, expression: str | Breakpoint) -> Breakpoint:
        """Stop after a write of a scalar, as in ``y[17]`` or ``p->x``.

        An expression that is not in memory stops where its value changes in the selected call.
        """
        return self._add(expression if isinstance(expression, Breakpoint)
                         else Breakpoint(0, "watch", expression))  # fmt: skip

    def catch(self, event: str) -> Breakpoint:
        """Stop at an event: ``fault``, ``finding`` or ``nan``."""
        if event not in EVENTS:
            raise RequestError(f"unknown event {event!r}: expected {', '.join(EVENTS)}")
        return self._add(Breakpoint(0, "catch", event))

    def delete(self, number: int | None = None) -> None:
        """Delete a breakpoint, or all."""
        if number is None:
            self._breakpoints.clear()
        else:
            del self._breakpoints[self._numbered(number).number]

    def _numbered(self, number: int) -> Breakpoint:
        if number not in self._breakpoints:
            known = ", ".join(map(str, self._breakpoints))
            hint = f"the breakpoints are {known}" if known else "there are no breakpoints"
            raise RequestError(f"no breakpoint {number}", hint=hint)
        return self._breakpoints[number]

    @property
    def breakpoints(self) -> Sequence[Breakpoint]:
        """The breakpoints in the order of their numbers."""
        return [*self._breakpoints.values()]

    def _add(self, point: Breakpoint) -> Breakpoint:
        found = point if point.watched is not None else self.ask(questions.resolve, point)
        self._number += 1
        added = replace(found, number=self._number)
        self._breakpoints[added.number] = added
        return added

    def _location(self, text: str) -> Breakpoint:
        file, _, line = text.rpartition(":")
        if not line.isdecimal():
            return Breakpoint(0, "function", text)
        if file == "ptx":
            return Breakpoint(0, "ptx", line)
        if not file and self.last.place is not None:
            file = self.last.place.file or ""
        if not file:
            known = self.ask(questions.known_locations)
            files = [each for each in known if "." in Path(each).name]
            if len(files) != 1:
                raise RequestError("no current source file", hint="name it: FILE:LINE, or ptx:LINE")
            file = files[0]
        return Breakpoint(0, "line", f"{file}:{line}")

    # --- motion ----------------------------------------------------------------------------------

    def move(self, motion: Motion = "continue", count: int = 1, *, back: bool = False) -> Stop:
        """Run to the next stop, or go back to the last one before.

        Args:
            motion: What the selected thread does, if no breakpoint stops it; ``continue`` runs to
                a breakpoint or to the end.
            count: How often it does so.
            back: Go back: to the start of the line before, to the instruction that the thread
                executed before, to the call of the function, or to a breakpoint or the start.
        """
        if motion == "finish" and len(self.ask(questions.frames)) < 2:
            raise RequestError("the selected thread is in the kernel, which no function called")
        go = self._back if back else self._run
        stop = go(motion)
        for _ in range(count - 1):
            if stop.reason != "step":
                break
            stop = go(motion)
        return stop

    def until(self, location: str = "") -> Stop:
        """Run the selected thread to a location, or to a later line."""
        if not location:
            return self._run("until")
        wanted = replace(self._location(location), thread=self._thread())
        return self._run("continue", [self.ask(questions.resolve, wanted)])

    def go_to(self, position: int) -> Stop:
        """Go to a position, forwards or back."""
        if position < 0:
            raise RequestError("positions begin at 0")
        return self._at(self._history.go_to(position, self._thread() if position else None))

    def pause(self) -> bool:
        """Stop the launch, for a signal handler or another thread; return whether it runs."""
        return self._history.pause()

    def _run(self, motion: Motion, others: Iterable[Breakpoint] = ()) -> Stop:
        breakpoints = (*self._breakpoints.values(), *others)
        plan = Plan(motion, self._thread(), None, breakpoints, takes_snapshots=True)
        return self._at(self._history.run(plan))

    def _back(self, motion: Motion) -> Stop:
        """Go to the last stop before this one, by running the launch again."""
        at_end = self.last.thread is None
        depth = None if motion == "continue" or at_end else len(self.ask(questions.frames)) - 1
        breakpoints = tuple(self._breakpoints.values()) if motion == "continue" else ()
        plan = Plan(motion, self._thread(), depth, breakpoints, records=True)
        found = self._history.last_stop(plan, self.last.position)
        if found is None:
            return self._at(self._history.go_to(0, None))
        stop, outcome = self._history.go_to(found.position, self._number_of(found.thread))
        if stop.reason == "position":  # not paused on the way
            reason: Reason = "step" if motion == "finish" else found.reason
            stop = replace(found, reason=reason)
        return self._at((stop, outcome))

    def _at(self, reached: tuple[Stop, object]) -> Stop:
        self.last = self._seen(reached)
        for number, count in self.last.hits:
            if point := self._breakpoints.get(number):
                left = max(0, point.ignore - count)
                self._breakpoints[number] = replace(point, hits=point.hits + count, ignore=left)
        for number in self.last.breakpoints:
            if number in self._breakpoints and self._breakpoints[number].once:
                del self._breakpoints[number]
        return self.last

    def _seen(self, reached: tuple[Stop, object]) -> Stop:
        stop, outcome = reached
        self._place = stop.place
        if stop.reason != "ended" or self._make_report is None:
            return stop
        self.report = self._make_report(outcome)
        return replace(stop, exit_code=self.report.exit_code)

    def _thread(self) -> int:
        """Return the number in the grid of the selected thread, or of the last one."""
        if self.last.thread is not None:
            self._selected = self._number_of(self.last.thread)
        return self._selected

    def _number_of(self, thread: Thread | None) -> int:
        return 0 if thread is None else self.ask(StoppedState.number, thread.block, thread.thread)

    # --- inspection ------------------------------------------------------------------------------

    def select(self, block: Sequence[int] | None, thread: Sequence[int]) -> Stop:
        """Select a thread, by default of the block of the selected one."""
        return self._at((self.ask(questions.select_thread, block, thread), None))

    def select_warp(self, warp: int, block: Sequence[int] | None = None) -> Stop:
        """Select a warp, by default of the block of the selected thread."""
        return self._at((self.ask(questions.select_warp, warp, block), None))

    def select_frame(self, level: int) -> StackFrame:
        """Select a call, whose registers and variables expressions see."""
        frame = self.ask(questions.select_frame, level)
        self._place = frame.place
        return frame

    def writer(self, element: str) -> MemoryWrite | None:
        """Return the last write of an element before now; ``None`` if there was none."""
        watch = self.watched(element)
        plan = Plan("continue", self._thread(), None, (watch,), records=True, includes_end=True)
        found = self._history.last_stop(plan, self.last.position)
        return None if found is None else found.changes[0]

    def origin(self, expression: str) -> NanOrigin:
        """Return where the NaN came from that a register or an element has."""
        level = self.ask(questions.check_nan, expression)
        plan = Plan("continue", self._thread(), end=self.last.position, follows_nans=True)
        return self._history.replay(plan, questions.origin, expression, level)

    def source(self, *, ptx: bool = False, around: int = 5) -> Listing:
        """Return the lines around the current one, of the source or of the PTX.

        Raises:
            RequestError: No thread has stopped, or the file cannot be read.
        """
        place = self._place
        if place is None:
            raise RequestError("no thread is running", hint="run to a breakpoint first")
        ptx = ptx or place.line is None
        path = None if ptx else self.source_path(place.file or "")
        if path is None and not ptx:
            raise RequestError(f"no source file {place.file}", hint="'list ptx' shows the PTX")
        text = self.ptx() if path is None else path.read_text(errors="replace")
        lines, number = text.splitlines(), place.ptx_line if ptx else place.line or 0
        first, end = max(1, number - around), min(len(lines), number + around)
        shown = (SourceLine(at, lines[at - 1], at == number) for at in range(first, end + 1))
        return Listing("PTX" if ptx else place.file or "", tuple(shown))

    def source_path(self, file: str) -> Path | None:
        """Return where a source file is, by its name in the PTX."""
        candidates = (Path(file), *(folder / Path(file).name for folder in self._folders))
        return next((each.absolute() for each in candidates if each.is_file()), None)

    def ptx(self) -> str:
        """Return the PTX of the kernel."""
        if self.last.kernel not in self._ptx:
            self._ptx[self.last.kernel] = self.ask(questions.ptx)
        return self._ptx[self.last.kernel]

    def ask(self, question: Callable[..., Answer], *arguments: object) -> Answer:
        """Return the answer to one of `questions` about the state."""
        return self._history.ask(question, *arguments)
