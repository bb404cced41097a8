"""The size of the console comes from the environment, unless no program could use it."""

from __future__ import annotations

import pytest

from cudarun.report.console import console


@pytest.mark.parametrize(("value", "width"), [("70", 70), ("9" * 5000, None), ("abc", None)])
def test_the_width_of_a_terminal(
    monkeypatch: pytest.MonkeyPatch, value: str, width: int | None
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("LINES", value)
    monkeypatch.delenv("COLUMNS", raising=False)
    without = console(None).width
    monkeypatch.setenv("COLUMNS", value)
    assert console(None).width == (width or without)
