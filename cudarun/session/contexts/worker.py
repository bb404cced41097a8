"""The execution of a context script in a worker: its threads, its steps, and the stacks after each.

Every thread of a script is an operating system thread that lives until the worker ends, because the
driver has a stack of contexts per thread. The steps still run one after the other: a script
specifies an order of calls, not a race.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from cudarun.arguments.packing import BufferSpec
from cudarun.base.records import derived
from cudarun.images.reader import read_image
from cudarun.model.checks import failure_lines
from cudarun.model.contexts import StackEntry, StepReport, ThreadStack, Verdict
from cudarun.session.contexts.answers import CallAnswer, NotRun, NotSupported, ScriptContexts
from cudarun.session.contexts.script import ANY, NameReference, Step, short_name
from cudarun.session.contexts.steps import Steps
from cudarun.session.contexts.verbs import BUILTIN
from cudarun.session.driver.calls import FAULTS, Driver
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.devices import Device
from cudarun.session.driver.drivers import DriverChoice
from cudarun.session.driver.selection import Selector
from cudarun.session.image.image import Image
from cudarun.session.workers.progress import Progress
from cudarun.session.workers.session import Session

T = TypeVar("T")

_OPERATORS = {"==": operator.eq, "!=": operator.ne, ">=": operator.ge, "<=": operator.le}


class BareSession(Session):
    """A session whose work creates its own contexts."""

    def enter(self, device: Device) -> None:
        """Make no context current."""

    def prepared(self, image: Image) -> Image:
        """Return the image as the driver accepts it: source compiled, a host object opened."""
        from cudarun.session.load.preparation import prepare

        return prepare(self.driver, image, self.devices)


class ScriptThread:
    """A thread that runs functions on request, and has a stack of contexts in the driver."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stack: list[int] = []  # at the last inspection, the current context last
        self._executor = ThreadPoolExecutor(1, name)

    def call(self, function: Callable[[], T]) -> T:
        """Call ``function`` in the thread; return its value or raise its exception."""
        return self._executor.submit(function).result()


class ScriptRunner:
    """The state of a script in its worker.

    Args:
        selectors: The devices ``dev=0``, ``dev=1``, ….
        images: The files that the script loads; source and host objects are converted to images.
        trace: Log every driver call of the script on stderr.
    """

    def __init__(
        self,
        selectors: Sequence[Selector],
        images: Mapping[str, Image],
        *,
        trace: bool = False,
        progress: Progress | None = None,
    ) -> None:
        target = Target(tuple(selectors), trace=trace, narrow=False)
        session = BareSession(target, selectors, progress=progress)
        self.driver = session.driver
        self.devices = session.devices
        # Inspection of the stacks is not part of the script, so it is not traced.
        self._untraced = Driver(DriverChoice(self.driver.module, self.driver.traits))
        self._contexts = ScriptContexts(self._untraced, self.devices)
        ready = {name: session.prepared(image) for name, image in images.items()}
        data = Path(__file__).with_name("builtin.ptx").read_bytes()
        ready[BUILTIN] = Image("builtin", data, read_image(data, "builtin"))
        self._steps = Steps(self.driver, self._contexts, ready, trace=trace)
        self._threads: dict[str, ScriptThread] = {}
        self._faulted = False

    def run(self, step: Step) -> StepReport:
        """Run a step and inspect every thread's stack."""
        thread = self._threads.get(step.thread)
        if thread is None:
            thread = self._threads[step.thread] = ScriptThread(step.thread)
        method = self._steps.method(step.verb)
        try:
            answer = thread.call(lambda: method(**step.operands))
            self._faulted = self._faulted or int(answer.result) in FAULTS
            for each in self._threads.values():
                own = step if each is thread and answer.succeeded else None
                each.stack = each.call(partial(self._inspect_stack, each.stack, own))
            if answer.succeeded and step.label is not None:
                self._steps.keep(step.label, answer.value)
            verdict = self._verdict(step, answer)
        except NotSupported as missing:
            return self._report(step, None, "not supported", str(missing))
        except NotRun as reason:
            return self._report(step, None, "not run", str(reason))
        return self._report(step, answer, verdict, self._reason(answer, verdict))

    # --- verdicts ---

    def _verdict(self, step: Step, answer: CallAnswer) -> Verdict:
        expected = step.expected
        if expected is None:
            return "ok" if answer.succeeded else "error"
        if not expected.admits(short_name(answer.result.name)):
            return "failed"
        if not expected.operator:
            return "passed"
        operand = expected.operand
        if isinstance(operand, NameReference):
            operand = self._steps.value_of(operand.text)
        elif isinstance(operand, BufferSpec):
            operand = self._steps.data_of(operand, {})
        elif operand is None:
            operand = 0  # no context
        return "passed" if _OPERATORS[expected.operator](answer.value, operand) else "failed"

    def _reason(self, answer: CallAnswer, verdict: Verdict) -> str | None:
        """Return the driver's explanation of an unexpected failure."""
        if verdict in ("ok", "passed") or answer.succeeded:
            return None
        if not answer.call.startswith("cu") or answer.call.startswith("cuda"):
            return None
        return answer.log or self.driver.failure(answer.call, answer.result).log

    def _report(
        self, step: Step, answer: CallAnswer | None, verdict: Verdict, reason: str | None
    ) -> StepReport:
        if answer is None and step.expected is not None and ANY in step.expected.results:
            verdict = "passed"  # even a step that cannot be carried out is expected
        contexts = self._contexts
        stacks = tuple(
            ThreadStack(
                thread.name,
                tuple(
                    StackEntry(contexts.name(handle), contexts.is_alive(handle))
                    for handle in reversed(thread.stack)
                ),
            )
            for thread in self._threads.values()
        )
        mismatches = failure_lines(answer.check) if answer and answer.check else ()
        on_stacks = {handle for thread in self._threads.values() for handle in thread.stack}
        floating = [each for each in contexts.names if each not in on_stacks]
        return derived(
            StepReport,
            step,
            call=answer.call if answer else "",
            result=answer.result.name if answer else "",
            code=int(answer.result) if answer else None,
            value=answer.text if answer else None,
            expected=step.expected.text if step.expected else None,
            verdict=verdict,
            milliseconds=answer.milliseconds if answer else None,
            reason="\n".join([*(reason or "").splitlines(), *mismatches]) or None,
            stacks=stacks,
            floating=tuple(map(contexts.name, filter(contexts.is_alive, floating))),
        )

    # --- stacks ---

    def _inspect_stack(self, before: list[int], own: Step | None) -> list[int]:
        """Return the thread's contexts, the current one last, by popping and pushing them back.

        A destroyed context can be popped but not pushed back, and after a fault any call may
        fail. The contexts below such a one are taken from the last inspection. A context that the
        driver does not accept back is off the stack, and is shown as such.

        Args:
            before: The stack at the last inspection.
            own: The step that has just succeeded on this thread; ``None`` if it ran on another.
        """
        driver = self._untraced
        popped: list[int] = []
        while True:
            _, context = driver.attempt("cuCtxGetCurrent")
            top = int(context or 0)
            if top == 0:
                below: list[int] = []
                break
            if self._faulted or not self._contexts.can_be_pushed(top):
                below = _last_seen(before, top, None if popped else own)
                break
            driver.cuCtxPopCurrent()
            popped.append(top)
        for handle in reversed(popped):
            result, *_ = driver.attempt("cuCtxPushCurrent", driver.CUcontext(handle))
            if int(result) == 0:
                below.append(handle)
        return below


def _last_seen(before: list[int], top: int, own: Step | None) -> list[int]:
    """Return a stack that ends with ``top`` and cannot be inspected, from its state before a step.

    Args:
        before: The stack before the step.
        own: The step, if it succeeded on this thread and nothing was pushed above ``top``.
    """
    verb = own.verb if own else ""
    if verb == "pop" or (own and verb == "set" and own.operands["context"] is None):
        now = before[:-1]
    elif verb == "set":
        now = [*before[:-1], top]
    elif verb in ("push", "create"):
        now = [*before, top]
    else:
        now = [*before]  # the caller extends it
    while now and now[-1] != top:
        now = now[:-1]
    return now or [top]
