"""Programs that answer tasks: a line of JSON each."""

from __future__ import annotations

import sys

from cudarun.session.workers.line_program import LineProgram
from tests.support.processes import PATIENCE

_PROGRAM = """
import json, socket, time
stream = socket.socket(fileno=0).makefile("rw")
for _ in range(2):
    time.sleep(0.2)
    stream.write(json.dumps({"size": len(stream.readline())}) + "\\n")
    stream.flush()
"""


def test_a_program_that_reads_slowly() -> None:
    """The time limit of a large task is its own, and not that between two looks of the last."""
    looks: list[None] = []
    with LineProgram([sys.executable, "-c", _PROGRAM]) as program:
        assert program.call({}, PATIENCE, lambda: looks.append(None)) == {"size": 3}
        assert program.call({"text": "x" * 4_000_000}, PATIENCE)["size"] > 4_000_000
    assert looks
