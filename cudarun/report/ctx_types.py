"""What ``cudarun ctx`` found, as plain data."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.errors import CudarunError, ExitCode, worst
from cudarun.records import dataclass

# --- ctx run -------------------------------------------------------------------------------------

Verdict = Literal["ok", "held", "failed", "broken", "not supported", "not run"]
"""What is to be thought of a step: it succeeded, or came to what was expected (``held``); it failed
and nobody expected it, or did not come to what was expected (``broken``); the driver has no such
call, or what the step is about was never made."""


@dataclass(frozen=True, slots=True)
class StackEntry:
    """A context on a thread's stack, by its name; dead when it was destroyed or released."""

    name: str
    alive: bool


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """The contexts of a thread, the current one first."""

    thread: str
    contexts: tuple[StackEntry, ...]


@dataclass(frozen=True, slots=True)
class StepReport:
    """One step and what came of it.

    Attributes:
        number: From 1.
        line: Its line in the script, from 1.
        thread: Where it ran.
        text: As written, with its thread and what is expected.
        call: The driver's or the runtime's function; empty where none was called.
        result: Name of its result, ``CUDA_ERROR_INVALID_CONTEXT``; empty where there is none.
        code: Its number.
        value: What it gave, as text: a context's name, a number, an address, data.
        expected: What the script expects, as written; ``None`` where it does not say.
        verdict: See `Verdict`.
        milliseconds: How long the call took.
        reason: Why it was not run or is not supported, or the driver's log of a failure.
        stacks: Every thread's stack after the step, in the order in which the threads began.
        floating: The living contexts that are on no stack.
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
        """1 where an expectation was not met, 5 where something failed that nobody expected to."""
        if self.verdict in ("ok", "held"):
            return ExitCode.OK
        return ExitCode.CHECK_FAILED if self.verdict == "broken" else ExitCode.DEVICE_FAILED


@dataclass(frozen=True, slots=True)
class ScriptReport:
    """The answer of ``cudarun ctx run``.

    Attributes:
        script: The file it is from; ``None`` where it stood on the command line.
        devices: The labels of the devices that ``dev=0``, ``dev=1``, … are.
        steps: Those that came to something, in order.
        error: Why the script ended before its end: time, the worker's death, an unusable launch.
        output: What kernels printed, where it was captured.
    """

    tag: ClassVar[Literal["ctx-run"]] = "ctx-run"

    script: str | None
    devices: tuple[str, ...]
    steps: tuple[StepReport, ...]
    error: CudarunError | None = None
    output: str = ""

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all steps, and of what ended the script."""
        codes = [step.exit_code for step in self.steps]
        return max([*codes, self.error.exit_code if self.error else ExitCode.OK])


# --- ctx verify ----------------------------------------------------------------------------------

FactVerdict = Literal["held", "broken", "not supported"]


@dataclass(frozen=True, slots=True)
class FactOnDevice:
    """A fact tried on a device: the verdict, why, and every step of its script."""

    device: str
    verdict: FactVerdict
    reason: str | None
    steps: tuple[StepReport, ...]


@dataclass(frozen=True, slots=True)
class FactReport:
    """A fact about contexts.

    Attributes:
        name: What it is called.
        sentence: What is learned.
        note: Where drivers or bindings differ.
        script: What was run, in the language of ``ctx run``.
        outcomes: One for each device, in the order of `VerifyReport.devices`.
    """

    name: str
    sentence: str
    note: str | None
    script: str
    outcomes: tuple[FactOnDevice, ...]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The answer of ``cudarun ctx verify``: what was tried on which devices."""

    tag: ClassVar[Literal["ctx-verify"]] = "ctx-verify"

    devices: tuple[str, ...]
    facts: tuple[FactReport, ...]

    def count(self, verdict: FactVerdict) -> int:
        """How many times a verdict was given, over all facts and devices."""
        return sum(outcome.verdict == verdict for fact in self.facts for outcome in fact.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """1 where a fact is broken."""
        return ExitCode.CHECK_FAILED if self.count("broken") else ExitCode.OK


# --- ctx show ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ContextInfo:
    """The contexts of one device: as found, and as made.

    Attributes:
        device: Its label.
        name: The device's own name.
        primary_active: Whether the primary context was active before anything was made.
        primary_flags: Its flags then, in the words of ``--ctx-flags``.
        current_before: Whether a context was current then.
        made: The context that the rest is about: ``primary`` or ``new``.
        flags: Its flags.
        api_version: ``cuCtxGetApiVersion``.
        limits: By name; ``None`` where the device has no such limit.
        cache_config: Its preference.
        stream_priorities: Least and greatest.
        milliseconds: What making it took.
        another_milliseconds: What making one more beside it took.
        another_bytes: Device memory that the one more took.
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
    """What came of looking at one device: its contexts, or why they cannot be told."""

    device: str
    info: ContextInfo | None
    error: CudarunError | None


@dataclass(frozen=True, slots=True)
class ContextsReport:
    """The answer of ``cudarun ctx show``, a device after the other."""

    tag: ClassVar[Literal["ctx-show"]] = "ctx-show"

    outcomes: tuple[ContextOutcome, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst of all."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """That of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
