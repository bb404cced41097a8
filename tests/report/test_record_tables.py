"""The lines of ``record``."""

from __future__ import annotations

import pytest

from cudarun.model.record import RecordedFile, RecordReport
from cudarun.report.console import console
from cudarun.report.record_tables import show_recordings
from cudarun.report.renderer import TableStyle


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1023, "1023 B"),
        (8000, "7.81 KiB"),
        (1000 << 10, "0.977 MiB"),
        (1010 << 20, "0.986 GiB"),
        (3 << 30, "3 GiB"),
    ],
)
def test_sizes_have_three_digits_and_no_exponent(
    capsys: pytest.CaptureFixture[str], count: int, text: str
) -> None:
    file = RecordedFile("x", "k", "k()", 1, (1, 1, 1), (1, 1, 1), 1, count, count, True, 0)
    show_recordings(RecordReport(0, (file,)), console(None), TableStyle())
    assert f", {text} of memory in 1 range, file of {text}\n" in capsys.readouterr().err
