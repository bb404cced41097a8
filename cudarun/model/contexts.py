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
    """A context on a thread's stack."""

    name: str  # the name of the context
    alive: bool  # whether it was neither destroyed nor released


@dataclass(frozen=True, slots=True)
class ThreadStack:
    """The context stack of a thread."""

    thread: str  # the thread
    contexts: tuple[StackEntry, ...]  # its contexts, the current one first


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step of a script."""

    tag: ClassVar[Literal["step"]] = "step"

    number: int  # its number, from 1
    line: int  # its line, from 1
    thread: str  # the thread that it ran on
    text: str  # its text
    call: str  # the function that it called; empty where there is none
    result: str  # the name of its result; empty where there is none
    code: int | None  # the number of its result
    value: str | None  # its value, as text
    expected: str | None  # what the script expects; ``None`` where it expects nothing
    # ``ok`` or, of an expectation, passed or failed; error without one; not supported by the
    # driver; or not run, because something that it needs was never made.
    verdict: Verdict
    milliseconds: float | None  # the time of the call
    reason: str | None  # why it was not run or is not supported, or the driver's log
    stacks: tuple[ThreadStack, ...]  # the stacks of all threads after it
    floating: tuple[str, ...]  # the contexts on no stack after it

    @property
    def exit_code(self) -> ExitCode:
        """1 for a step that did not meet its expectation, 5 for one that failed without one."""
        if self.verdict in ("ok", "passed"):
            return ExitCode.OK
        return ExitCode.CHECK_FAILED if self.verdict == "failed" else ExitCode.DEVICE_FAILED


@dataclass(frozen=True, slots=True)
class ScriptReport:
    """A script of driver calls."""

    tag: ClassVar[Literal["ctx-run"]] = "ctx-run"

    script: str | None  # the file; ``None`` where the script was on the command line
    devices: tuple[str, ...]  # the devices that dev=0, dev=1, … are
    steps: tuple[StepReport, ...]  # the steps that ran
    # The error that the exit code is of; ``None`` where nothing but a check failed.
    error: CudarunError | None = None
    output: str = ""  # what kernels printed

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all steps and of the error."""
        codes = [step.exit_code for step in self.steps]
        return max([*codes, self.error.exit_code if self.error else ExitCode.OK])


# --- ctx verify ----------------------------------------------------------------------------------

FactVerdict = Literal["passed", "failed", "not supported"]


@dataclass(frozen=True, slots=True)
class FactOnDevice:
    """A fact, tried on a device."""

    device: str  # the device, as for ``--device``
    verdict: FactVerdict  # the result
    reason: str | None  # why
    steps: tuple[StepReport, ...]  # the steps of its script


@dataclass(frozen=True, slots=True)
class FactReport:
    """A documented fact about contexts."""

    name: str  # its name
    sentence: str  # the fact
    note: str | None  # where drivers or bindings differ
    script: str  # its script, as for ctx run
    outcomes: tuple[FactOnDevice, ...]  # one for each device of the document


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Facts about contexts, tried on devices."""

    tag: ClassVar[Literal["ctx-verify"]] = "ctx-verify"

    devices: tuple[str, ...]  # the devices; empty with ``--list``
    facts: tuple[FactReport, ...]  # the facts, in order

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
    """The contexts of a device."""

    device: str  # the device, as for ``--device``
    name: str  # its name
    primary_active: bool  # whether the primary context was active at first
    primary_flags: tuple[str, ...]  # its flags at first, as for ``--ctx-flags``
    current_before: bool  # whether a context was current at first
    made: str  # the context that the rest is about: primary or new
    flags: tuple[str, ...]  # its flags
    api_version: int  # its API version
    # Its limits, by name; ``None`` where the device has no such limit.
    limits: dict[str, int | None]
    cache_config: str  # its cache preference
    stream_priorities: tuple[int, int]  # the least and the greatest priority of a stream
    milliseconds: float  # the time to create it
    another_milliseconds: float  # the time to create one more
    another_bytes: int  # the device memory that one more takes


@dataclass(frozen=True, slots=True)
class ContextOutcome:
    """The contexts of a device, or why they are not known."""

    device: str  # the device, as for ``--device``
    info: ContextInfo | None  # its contexts; ``None`` where there is an error
    error: CudarunError | None  # the error


@dataclass(frozen=True, slots=True)
class ContextsReport:
    """The contexts of devices."""

    tag: ClassVar[Literal["ctx-show"]] = "ctx-show"

    outcomes: tuple[ContextOutcome, ...]  # one for each device, in order

    @property
    def error(self) -> CudarunError | None:
        """The worst error of all devices."""
        return worst(outcome.error for outcome in self.outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the worst error."""
        return self.error.exit_code if self.error else ExitCode.OK
