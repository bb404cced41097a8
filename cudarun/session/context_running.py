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
from cudarun.session.context_script import Script, Step
from cudarun.session.requests import Image, Target
from cudarun.session.selection import Selector
from cudarun.session.worker import Outcome, Worker, gather

if TYPE_CHECKING:  # only a worker has one
    from cudarun.session.context_player import Player

T = TypeVar("T")
Shown = Callable[[StepReport], object]


def check_devices(selectors: Sequence[Selector]) -> None:
    """Refuse devices of two drivers, which no one process can serve.

    Raises:
        RequestError: They are.
    """
    if len({selector.driver for selector in selectors}) > 1:
        raise RequestError("a script runs in one process: GPUs and cpu have no common driver")


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
    """
    check_devices(target.devices)
    stage = _Stage(target, images)
    try:
        labels = stage.ask(_labels).unwrap()
        if script.devices > len(labels):
            raise RequestError(
                f"the script names dev={script.devices - 1}, and {len(labels)} "
                f"device{'s were' if len(labels) > 1 else ' was'} chosen ({', '.join(labels)})",
                hint="-d chooses them, as in -d 0,1 or -d all",
            )
        return _play_all(script, stage, labels, shown)
    finally:
        stage.close()


def _play_all(script: Script, stage: _Stage, labels: tuple[str, ...], shown: Shown) -> ScriptReport:
    done: list[StepReport] = []
    output = ""
    error: CudarunError | None = None
    for step in script.steps:
        if step.verb == "new-process":
            stage.begin()
            report = _new_process(step)
        else:
            outcome = stage.ask(partial(_play, step))
            output += outcome.output
            if outcome.value is None:
                error = _ended(outcome, step, script, stage)
                break
            report = outcome.value
        done.append(report)
        shown(report)
    return ScriptReport(script.origin, labels, tuple(done), error, output)


class _Stage:
    """The worker of the moment."""

    def __init__(self, target: Target, images: Mapping[str, Image]) -> None:
        self.timeout = target.timeout
        self._deadline = None if target.timeout is None else time.monotonic() + target.timeout
        self._target = target
        self._images = images
        self._worker: Worker[Player] | None = None
        self.begin()

    def begin(self) -> None:
        """A new process, in the place of the one there was."""
        self.close()
        make = partial(_player, self._target.devices, self._images, self._target.trace)
        self._worker = Worker(make, capture=self._target.capture)

    def ask(self, task: Callable[[Player], T]) -> Outcome[T]:
        """Have the worker do something within what is left of the time."""
        if self._worker is None:
            raise ValueError("the stage is closed")
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        self._worker.send(task)
        [outcome] = gather([self._worker], timeout=left)
        return outcome

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.__exit__()
            self._worker = None


def _new_process(step: Step) -> StepReport:
    """The report of ``new-process``, which is no call of the driver."""
    return StepReport(
        number=step.number, line=step.line, thread=step.thread, text=step.text, call="",
        result="", code=None, value=None, expected=None, verdict="ok", milliseconds=None,
        reason=None, stacks=(), floating=(),
    )  # fmt: skip


def _ended(outcome: Outcome[Any], step: Step, script: Script, stage: _Stage) -> CudarunError:
    """Why the script went no further, with the step that was the last."""
    error = outcome.error
    if error is None:
        raise ValueError("a step without an answer or an error")
    where = f"{step.number} ({step.text})"
    if isinstance(error, OutOfTime):
        error = OutOfTime(
            f"the script took longer than {stage.timeout:g} s; the worker was killed",
            hint="a kernel that never ends, or a limit (--timeout) that is too short",
        )
    return error.at(file=script.origin, step=where)


# --- in the worker -------------------------------------------------------------------------------


def _player(selectors: Sequence[Selector], images: Mapping[str, Image], trace: bool) -> Player:
    from cudarun.session.context_player import Player

    return Player(selectors, images, trace=trace)


def _labels(player: Player) -> tuple[str, ...]:
    return tuple(device.label for device in player.devices)


def _play(step: Step, player: Player) -> StepReport:
    return player.play(step)
