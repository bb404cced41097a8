"""Commands print what the transcripts of ``transcripts/`` show, and end with that exit code."""

from __future__ import annotations

import pytest

from tests.support.toolkit import needs_nvjitlink, without_driver
from tools.generate_transcripts import TRANSCRIPTS, replayed, sessions

MARKS = {"link": (needs_nvjitlink, without_driver), "without_driver": (without_driver,)}
SESSIONS = [
    pytest.param(commands, text, id=f"{path.stem}-{number}", marks=MARKS.get(path.stem, ()))
    for path in TRANSCRIPTS
    for number, (commands, text) in enumerate(sessions(path.read_text().rstrip("\n")), start=1)
    if commands
]


@pytest.mark.parametrize(("commands", "text"), SESSIONS)
def test_what_a_command_prints(commands: str, text: str) -> None:
    assert replayed(commands) == text, "run python -m tools.generate_transcripts"


def test_there_are_transcripts() -> None:
    assert len(SESSIONS) > 100
