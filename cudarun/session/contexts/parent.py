"""Context scripts in the parent, which sends one step at a time to a worker.

So the completed steps are known when one never returns, and a script can continue in a new process
after a fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.errors import OutOfTime, RequestError
from cudarun.base.records import derived
from cudarun.model.contexts import ScriptReport, StepReport
from cudarun.session.contexts.script import Script, Step
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import require_one_process
from cudarun.session.image.image import Image
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.worker import Answer, WorkerSpec

if TYPE_CHECKING:  # only a worker needs it
    from cudarun.session.contexts.worker import ScriptRunner
    from cudarun.session.workers.progress import Progress

T = TypeVar("T")
StepCallback = Callable[[StepReport], object]


def run_script(
    script: Script,
    target: Target,
    images: Mapping[str, Image],
    shown: StepCallback = lambda step: None,
) -> ScriptReport:
    """Run a script, step by step, in one process or as many as it requests."""
    with WorkerPool() as pool:
        return ScriptWorker(pool, target, images).run(script, shown)


class ScriptWorker:
    """A worker that starts to initialize the driver immediately, for one script."""

    def __init__(self, pool: WorkerPool, target: Target, images: Mapping[str, Image]) -> None:
        require_one_process(target.devices)
        self._pool = pool
        self._timeout = target.timeout

        def start(progress: Progress) -> ScriptRunner:
            """Initialize the driver, in the worker."""
            from cudarun.session.contexts.worker import ScriptRunner

            return ScriptRunner(target.devices, images, trace=target.trace, progress=progress)

        self._spec = WorkerSpec(
            start, capture=target.capture, verbose=target.verbose, escape=target.escape
        )
        self._deadline: float | None = None
        self._worker = pool.acquire(self._spec)

    def run(self, script: Script, shown: StepCallback = lambda step: None) -> ScriptReport:
        """Run the script and end the worker; arguments and errors are those of `run_script`."""
        try:
            return self._run(script, shown)
        finally:
            self._pool.discard(self._worker)

    def _run(self, script: Script, shown: StepCallback) -> ScriptReport:
        labels = self._ask(_labels).unwrap()
        if script.devices > len(labels):
            raise RequestError(
                f"the script uses dev={script.devices - 1}, but only {len(labels)} "
                f"device{'s are' if len(labels) > 1 else ' is'} selected ({', '.join(labels)})",
                hint="select devices with -d 0,1 or -d all",
            )
        if self._timeout is not None:
            self._deadline = time.monotonic() + self._timeout
        done: list[StepReport] = []
        output = ""
        for step in script.steps:
            if step.verb == "new-process":
                report = self._new_process(step)
            else:
                answer = self._ask(methodcaller("run", step))
                output += answer.output
                error = answer.error
                if isinstance(error, OutOfTime):
                    error = OutOfTime(
                        f"the script timed out after {self._timeout:g} s (--timeout "
                        f"{self._timeout:g}); the worker was killed",
                        hint="check the kernel for an endless loop, or raise --timeout",
                    )
                if error is not None:
                    error.at(file=script.origin, step=f"{step.number} ({step.text})")
                    return ScriptReport(script.origin, labels, tuple(done), error, output)
                report = answer.unwrap()
            done.append(report)
            shown(report)
        return ScriptReport(script.origin, labels, tuple(done), None, output)

    def _ask(self, task: Callable[[ScriptRunner], T]) -> Answer[T]:
        """Run a task in the worker within the remaining time."""
        left = self._timeout
        if self._deadline is not None:
            left = max(0.0, self._deadline - time.monotonic())
        self._worker.submit(task, left)
        [answer] = self._pool.gather([self._worker])
        return answer

    def _new_process(self, step: Step) -> StepReport:
        """End the process and start another: a step without a driver call."""
        self._pool.discard(self._worker)
        self._worker = self._pool.acquire(self._spec)
        if self._deadline is not None:  # the new process's start-up time does not count
            before = time.monotonic()
            self._ask(_labels)
            self._deadline += time.monotonic() - before
        return derived(
            StepReport, step, call="", result="", code=None, value=None, expected=None,
            verdict="ok", milliseconds=None, reason=None, stacks=(), floating=(),
        )  # fmt: skip


def _labels(runner: ScriptRunner) -> tuple[str, ...]:
    return tuple(device.label for device in runner.devices)
