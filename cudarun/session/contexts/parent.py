"""Running context scripts, seen from the parent: a worker that is handed one step at a time.

So the steps that were done are known when one never comes back, and a script can go on in a new
process after a fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cudarun.errors import CudarunError, OutOfTime, RequestError
from cudarun.report.ctx_types import ScriptReport, StepReport
from cudarun.session.contexts.script import Script, Step
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import Target
from cudarun.session.image.image import Image
from cudarun.session.workers.parent import Outcome, Worker, gather
from cudarun.session.workers.progress import Progress

if TYPE_CHECKING:  # only a worker has one
    from cudarun.session.contexts.worker import Player

T = TypeVar("T")
Shown = Callable[[StepReport], object]


def run_script(
    script: Script, target: Target, images: Mapping[str, Image], shown: Shown = lambda step: None
) -> ScriptReport:
    """Run a script, step by step, in one process or as many as it asks for.

    Args:
        script: What to run.
        target: On which devices, for how long, whether to trace and to capture.
        images: The files that it names (`Script.images`), as read.
        shown: Called with each step when it is done.

    Raises:
        NoDevice: No driver, no device, or not the one asked for.
        RequestError: The script names more devices than were chosen.
        ImageRefused: A source does not compile, or a file holds no image.
    """
    with Stage(target, images) as stage:
        return stage.play(script, shown)


class Stage:
    """A worker that initialises the driver from now on, ready for one script.

    Args:
        target: On which devices, for how long, whether to trace and to capture.
        images: The files that the script names.

    Raises:
        RequestError: The devices are of two drivers, which no one process can serve.
    """

    def __init__(self, target: Target, images: Mapping[str, Image]) -> None:
        if len({selector.driver for selector in target.devices}) > 1:
            raise RequestError("a script runs in one process: GPUs and cpu have no common driver")
        self._target = target
        self._images = images
        self._deadline: float | None = None
        self._worker = self._begin()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.__exit__()

    def play(self, script: Script, shown: Shown = lambda step: None) -> ScriptReport:
        """Run the script; arguments and errors are those of `run_script`."""
        limit = self._target.timeout
        self._deadline = None if limit is None else time.monotonic() + limit
        labels = self._ask(_labels).unwrap()
        if script.devices > len(labels):
            raise RequestError(
                f"the script names dev={script.devices - 1}, and {len(labels)} "
                f"device{'s were' if len(labels) > 1 else ' was'} chosen ({', '.join(labels)})",
                hint="-d chooses them, as in -d 0,1 or -d all",
            )
        done: list[StepReport] = []
        output = ""
        for step in script.steps:
            if step.verb == "new-process":
                report = self._new_process(step)
            else:
                outcome = self._ask(partial(_play, step))
                output += outcome.output
                if outcome.value is None:
                    error = self._last_words(outcome).at(
                        file=script.origin, step=f"{step.number} ({step.text})"
                    )
                    return ScriptReport(script.origin, labels, tuple(done), error, output)
                report = outcome.value
            done.append(report)
            shown(report)
        return ScriptReport(script.origin, labels, tuple(done), None, output)

    def _begin(self) -> Worker[Player]:
        target = self._target
        progress = Progress(verbose=target.verbose)
        make = partial(_player, target.devices, self._images, target.trace, progress)
        return Worker(make, capture=target.capture)

    def _ask(self, task: Callable[[Player], T]) -> Outcome[T]:
        """Have the worker do something within what is left of the time."""
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        self._worker.send(task)
        [outcome] = gather([self._worker], timeout=left)
        return outcome

    def _new_process(self, step: Step) -> StepReport:
        """End the process and begin another: a step that is no call of the driver."""
        self._worker.__exit__()
        self._worker = self._begin()
        return StepReport(
            number=step.number, line=step.line, thread=step.thread, text=step.text, call="",
            result="", code=None, value=None, expected=None, verdict="ok", milliseconds=None,
            reason=None, stacks=(), floating=(),
        )  # fmt: skip

    def _last_words(self, outcome: Outcome[Any]) -> CudarunError:
        """Why the script went no further."""
        if outcome.error is None:
            raise ValueError("a step without an answer or an error")
        if not isinstance(outcome.error, OutOfTime):
            return outcome.error
        return OutOfTime(
            f"the script took longer than {self._target.timeout:g} s; the worker was killed",
            hint="a kernel that never ends, or a limit (--timeout) that is too short",
        )


# --- in the worker -------------------------------------------------------------------------------


def _player(
    selectors: Sequence[Selector], images: Mapping[str, Image], trace: bool, progress: Progress
) -> Player:
    from cudarun.session.contexts.worker import Player

    return Player(selectors, images, trace=trace, progress=progress)


def _labels(player: Player) -> tuple[str, ...]:
    return tuple(device.label for device in player.devices)


def _play(step: Step, player: Player) -> StepReport:
    return player.play(step)
