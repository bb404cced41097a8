"""The start of a session: no two threads import at the same time."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from cudarun.emulator import driver as emulator
from cudarun.emulator.host.process import process
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.workers import session
from cudarun.session.workers.session import Session


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_imports_follow_one_another(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The driver's module first, then what tasks need; of a GPU beside cuInit, and no longer."""
    process.reset()
    events: list[str] = []
    initialized = threading.Event()
    choose = session.choose_driver

    def chosen(*_: str) -> Any:
        events.append("driver")
        return choose("cpu")

    def prefetch() -> None:
        events.append("prefetch begins")
        if name == "cuda":
            assert initialized.wait(60)
        events.append("prefetch ends")

    def initialize(flags: int) -> Any:
        events.append("cuInit")
        initialized.set()
        return original(flags)

    def resolve(*arguments: Any) -> Any:
        events.append("devices")
        return original_resolve(*arguments)

    original, original_resolve = emulator.cuInit, session.resolve
    monkeypatch.setattr(emulator, "cuInit", initialize)
    monkeypatch.setattr(session, "choose_driver", chosen)
    monkeypatch.setattr(session, "driver_of", lambda selectors: name)
    monkeypatch.setattr(session, "preinitialize", lambda **options: None)
    monkeypatch.setattr(session, "resolve", resolve)
    Session(Target(parse_devices("cpu"), narrow=False), parse_devices("cpu"), prefetch=prefetch)
    process.reset()
    assert (events[0], events[-1]) == ("driver", "devices")
    assert events.index("driver") < events.index("prefetch begins")
    assert events.index("prefetch ends") < events.index("devices")
    if name == "cpu":
        assert events.index("prefetch ends") < events.index("cuInit")


@pytest.mark.parametrize("trace", [False, True])
def test_the_block_of_a_kept_worker(monkeypatch: pytest.MonkeyPatch, trace: bool) -> None:
    """On a GPU, it allocates a block that remains; a trace has only the calls of tasks."""
    process.reset()
    target = Target(parse_devices("cpu"), narrow=False, trace=trace)
    kept = Session(target, parse_devices("cpu"))
    calls: list[str] = []
    attempt = kept.driver.attempt

    def noted(name: str, *rest: Any) -> Any:
        calls.append(name)
        return attempt(name, *rest)

    monkeypatch.setattr(kept.driver, "traits", replace(kept.driver.traits, renew=bool))
    monkeypatch.setattr(kept.driver, "attempt", noted)
    for _ in range(2):
        kept.settle()
        kept.release()
    process.reset()
    assert calls.count("cuMemAlloc") == (0 if trace else 1)
