"""A kernel that runs for long reports the states of its threads."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from cudarun.session.workers import deadline


def test_no_report_interrupts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states of many threads take longer than the interval between looks at the clock."""
    monkeypatch.setattr(deadline, "_LONG", 0.0)
    monkeypatch.setattr(deadline, "_LOOKING", 0.01)
    events: list[str] = []

    def thread_states() -> tuple[str, tuple[()]] | None:
        events.append("begin")
        if len(events) < 20:  # more would recurse without an end
            end = time.process_time() + 0.1
            while time.process_time() < end:
                pass
        events.append("end")
        return ("states", ()) if len(events) > 2 else None

    driver = SimpleNamespace(traits=SimpleNamespace(thread_states=thread_states))
    progress = SimpleNamespace(add_states=events.append)
    with deadline.stopped_after_timeout(driver, progress):  # type: ignore[arg-type]
        while "states" not in events:
            pass
    assert events == ["begin", "end", "begin", "end", "states"]
