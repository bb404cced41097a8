"""The reports of ``ctx``."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import dataclass

# --- ctx run -------------------------------------------------------------------------------------

Verdict = Literal["ok", "passed", "error", "failed", "not supported", "not run"]
"""The verdict on a step: it succeeded (``ok``), met its expectation (``passed``) or did not
(``failed``), failed without one (``error``), is not supported by the driver, or needs an object
that was never made."""


@dataclass(frozen=True, slots=True)
class StackEntry:
    """A context on a thread's stack.

    Attributes:
        name: The name of the context.
        alive: Whether it was neither destroyed nor released.
    """

    name: str
    alive: bool


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """The context stack of a thread.

    Attributes:
        thread: The thread.
        contexts: Its contexts, the current one first.
    """

    thread: str
    contexts: tuple[StackEntry, ...]


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step of a script.

    Attributes:
        number: Its number, from 1.
        line: Its line, from 1.
        thread: The thread that it ran on.
        text: Its text.
        call: The function that it called; empty where there is none.
        result: The name of its result; empty where there is none.
        code: The number of its result.
        value: Its value, as text.
        expected: What the script expects; ``None`` where it expects nothing.
        verdict: ok or, of an expectation, passed or failed; error without one; not supported by the
            driver; or not run, because something that it needs was never made.
        milliseconds: The time of the call.
        reason: Why it was not run or is not supported, or the driver's log.
        stacks: The stacks of all threads after it.
        floating: The contexts on no stack after it.
    """

    tag: ClassVar[Literal["step"]] = "step"

    number: int
    line: int
    thread: str
    text: str
    call: str
    result: str
    code: int | None
    value: str | None
    expected: str | None
    verdict: Verdict
    milliseconds: float | None
    reason: str | None
    stacks: tuple[ThreadStack, ...]
    floating: tuple[str, ...]

    @property
    def exit_code(self) -> ExitCode:
        """1 for a step that did not meet its expectation, 5 for one that failed without one."""
        if self.verdict in ("ok", "passed"):
            return ExitCode.OK
        return ExitCode.CHECK_FAILED if self.verdict == "failed" else ExitCode.DEVICE_FAILED


@dataclass(frozen=True, slots=True)
class ScriptReport:
    """A script of driver calls.

    Attributes:
        script: The file; ``None`` where the script was on the command line.
        devices: The devices that dev=0, dev=1, … are.
        steps: The steps that ran.
        error: The error that the exit code is of; ``None`` where nothing but a check failed.
        output: What kernels printed.
    """

    tag: ClassVar[Literal["ctx-run"]] = "ctx-run"

    script: str | None
    devices: tuple[str, ...]
    steps: tuple[StepReport, ...]
    error: CudarunError | None = None
    output: str = ""

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all steps and of the error."""
        codes = [step.exit_code for step in self.steps]
        return max([*codes, self.error.exit_code if self.error else ExitCode.OK])


# --- ctx verify ----------------------------------------------------------------------------------

FactVerdict = Literal["passed", "failed", "not supported"]


@dataclass(frozen=True, slots=True)
class FactOnDevice:
    """A fact, tried on a device.

    Attributes:
        device: The device, as for ``--device``.
        verdict: The result.
        reason: Why.
        steps: The steps of its script.
    """

    device: str
    verdict: FactVerdict
    reason: str | None
    steps: tuple[StepReport, ...]


@dataclass(frozen=True, slots=True)
class FactReport:
    """A documented fact about contexts.

    Attributes:
        name: Its name.
        sentence: The fact.
        note: Where drivers or bindings differ.
        script: Its script, as for ctx run.
        outcomes: One for each device of the document.
    """

    name: str
    sentence: str
    note: str | None
    script: str
    outcomes: tuple[FactOnDevice, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Facts about contexts, tried on devices.

    Attributes:
        devices: The devices; empty with ``--list``.
        facts: The facts, in order.
    """

    tag: ClassVar[Literal["ctx-verify"]] = "ctx-verify"

    devices: tuple[str, ...]
    facts: tuple[FactReport, ...]

    def count(self, verdict: FactVerdict) -> int:
        """Return the number of outcomes with a verdict, over all facts and devices."""
        return sum(outcome.verdict == verdict for fact in self.facts for outcome in fact.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """1 if a fact failed."""
        return ExitCode.CHECK_FAILED if self.count("failed") else ExitCode.OK


# --- ctx show ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContextInfo:
    """The contexts of a device.

    Attributes:
        device: The device, as for ``--device``.
        name: Its name.
        primary_active: Whether the primary context was active at first.
        primary_flags: Its flags at first, as for ``--ctx-flags``.
        current_before: Whether a context was current at first.
        made: The context that the rest is about: primary or new.
        flags: Its flags.
        api_version: Its API version.
        limits: Its limits, by name; ``None`` where the device has no such limit.
        cache_config: Its cache preference.
        stream_priorities: The least and the greatest priority of a stream.
        milliseconds: The time to create it.
        another_milliseconds: The time to create one more.
        another_bytes: The device memory that one more takes.
    """

    device: str
    name: str
    primary_active: bool
    primary_flags: tuple[str, ...]
    current_before: bool
    made: str
    flags: tuple[str, ...]
    api_version: int
    limits: dict[str, int | None]
    cache_config: str
    stream_priorities: tuple[int, int]
    milliseconds: float
    another_milliseconds: float
    another_bytes: int


@dataclass(frozen=True, slots=True)
class ContextOutcome:
    """The contexts of a device, or why they are not known.

    Attributes:
        device: The device, as for ``--device``.
        info: Its contexts; ``None`` where there is an error.
        error: The error.
    """

    device: str
    info: ContextInfo | None
    error: CudarunError | None


@dataclass(frozen=True, slots=True)
class ContextsReport:
    """The contexts of devices.

    Attributes:
        outcomes: One for each device, in order.
    """

    tag: ClassVar[Literal["ctx-show"]] = "ctx-show"

    outcomes: tuple[ContextOutcome, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all devices."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
