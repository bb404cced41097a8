"""The documents of ``ctx show``, ``ctx run`` and ``ctx verify``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import ErrorRecord, Head


class ContextRecord(TypedDict):
    """The contexts of a device.

    Attributes:
        device: The device, as for --device.
        name: Its name.
        primary_active: Whether the primary context was active at first.
        primary_flags: Its flags at first, as for --ctx-flags.
        current_before: Whether a context was current at first.
        made: The context that the rest is about: primary or new.
        flags: Its flags.
        api_version: Its API version.
        limits: Its limits, by name; null where the device has no such limit.
        cache_config: Its cache preference.
        stream_priorities: The least and the greatest priority of a stream.
        milliseconds: The time to create it.
        another_milliseconds: The time to create one more.
        another_bytes: The device memory that one more takes.
    """

    device: str
    name: str
    primary_active: bool
    primary_flags: list[str]
    current_before: bool
    made: str
    flags: list[str]
    api_version: int
    limits: dict[str, int | None]
    cache_config: str
    stream_priorities: tuple[int, int]
    milliseconds: float
    another_milliseconds: float
    another_bytes: int


class ContextOutcomeRecord(TypedDict):
    """The contexts of a device, or why they are not known.

    Attributes:
        device: The device, as for --device.
        info: Its contexts; null where there is an error.
        error: The error.
    """

    device: str
    info: ContextRecord | None
    error: ErrorRecord | None


class ContextsDocument(Head):
    """The contexts of devices.

    Attributes:
        schema: The schema of this document.
        outcomes: One for each device, in order.
    """

    schema: Literal["cudarun/ctx-show/1"]
    outcomes: list[ContextOutcomeRecord]


class StackEntryRecord(TypedDict):
    """A context on a thread's stack.

    Attributes:
        name: The name of the context.
        alive: Whether it was neither destroyed nor released.
    """

    name: str
    alive: bool


class ThreadStackRecord(TypedDict):
    """The context stack of a thread.

    Attributes:
        thread: The thread.
        contexts: Its contexts, the current one first.
    """

    thread: str
    contexts: list[StackEntryRecord]


class StepRecord(TypedDict):
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
        expected: What the script expects; null where it expects nothing.
        verdict: ok or, of an expectation, passed or failed; error without one; not supported by the
            driver; or not run, because something that it needs was never made.
        milliseconds: The time of the call.
        reason: Why it was not run or is not supported, or the driver's log.
        stacks: The stacks of all threads after it.
        floating: The contexts on no stack after it.
    """

    number: int
    line: int
    thread: str
    text: str
    call: str
    result: str
    code: int | None
    value: str | None
    expected: str | None
    verdict: Literal["ok", "passed", "error", "failed", "not supported", "not run"]
    milliseconds: float | None
    reason: str | None
    stacks: list[ThreadStackRecord]
    floating: list[str]


class ScriptDocument(Head):
    """A script of driver calls.

    Attributes:
        schema: The schema of this document.
        script: The file; null where the script was on the command line.
        devices: The devices that dev=0, dev=1, … are.
        steps: The steps that ran.
        output: What kernels printed.
    """

    schema: Literal["cudarun/ctx-run/1"]
    script: str | None
    devices: list[str]
    steps: list[StepRecord]
    output: str


class FactOutcomeRecord(TypedDict):
    """A fact, tried on a device.

    Attributes:
        device: The device, as for --device.
        verdict: The result.
        reason: Why.
        steps: The steps of its script.
    """

    device: str
    verdict: Literal["passed", "failed", "not supported"]
    reason: str | None
    steps: list[StepRecord]


class FactRecord(TypedDict):
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
    outcomes: list[FactOutcomeRecord]


class VerifyDocument(Head):
    """Facts about contexts, tried on devices.

    Attributes:
        schema: The schema of this document.
        devices: The devices; empty with --list.
        facts: The facts, in order.
    """

    schema: Literal["cudarun/ctx-verify/1"]
    devices: list[str]
    facts: list[FactRecord]
