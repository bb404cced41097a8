"""The engines of the emulated device in the report of a launch."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from cudarun.model.launch import DeviceOutcome, KernelEngine, LaunchReport
from cudarun.report.launch_tables import show_launch
from cudarun.report.renderer import TableStyle
from tests.model.test_documents import RESULT

MISSING = "llvmlite is not installed (pip install 'cudarun[fast]')"


def shown(engine: KernelEngine, milliseconds: float) -> list[str]:
    """The lines of a report that name an engine."""
    result = replace(RESULT, engines=(engine,), milliseconds=milliseconds)
    report = LaunchReport("x.ptx", None, (DeviceOutcome("cpu", result, None, None, None),))
    out = io.StringIO()
    show_launch(report, Console(file=out, width=200), TableStyle())
    return [line for line in out.getvalue().splitlines() if line.startswith("k: ")]


@pytest.mark.parametrize(
    ("engine", "milliseconds", "lines"),
    [
        (KernelEngine("_Z1kv", "k", "interpret", MISSING, is_default=True), 10, []),
        (
            KernelEngine("_Z1kv", "k", "interpret", MISSING, is_default=True),
            9e3,
            [f"interpreted: {MISSING}"],
        ),
        (KernelEngine("_Z1kv", "k", "interpret", MISSING), 10, [f"interpreted: {MISSING}"]),
        (KernelEngine("_Z1kv", "k", "compile", None, is_default=True), 9e3, []),
        (KernelEngine("_Z1kv", "k", "compile", None), 10, ["compiled"]),
    ],
)
def test_engines_are_named_where_they_were_selected_or_are_slow(
    engine: KernelEngine, milliseconds: float, lines: list[str]
) -> None:
    assert shown(engine, milliseconds) == [f"k: {line}" for line in lines]
