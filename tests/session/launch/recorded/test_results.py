"""The comparison of a replay with recorded results: bits, and floats that are stored as bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.commands.recorded_request import recorded_launch
from cudarun.session.driver.transfers import ChunkSink
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.recorded.memory import MovedVariables, recorded_buffers
from cudarun.session.launch.recorded.results import _tolerance_note, compare_recorded
from cudarun.session.launch.step_request import LaunchStep
from cudarun.session.recording.archive import RecordingWriter
from cudarun.session.recording.manifest import Manifest, RecordedRange
from tests.support.stub_driver import PTX

VALUES = np.array([1.5, np.nan, -2, 0], np.float32)


@pytest.fixture
def recorded(tmp_path: Path) -> LaunchStep:
    """A recording whose only range has words of 32 bits."""
    path = tmp_path / "x.cudarun"
    with open(path, "wb") as file:
        writer = RecordingWriter(file)
        after = tuple(writer.pieces(VALUES.tobytes()))
        memory = RecordedRange("m0", 1 << 20, 16, (), after, type="u32")
        manifest = Manifest("scale", (1, 1, 1), (1, 1, 1), ranges=(memory,), shrunk=True)
        writer.finish(manifest, PTX.read_bytes(), None)
    return recorded_launch(str(path)).last


class _Copied:
    """Buffers after a launch, of which only the contents are compared."""

    moved = MovedVariables()

    def __init__(self, step: LaunchStep, got: np.ndarray) -> None:
        self.specs = recorded_buffers(step)
        self._got = got.view(np.uint32)

    def deliver(self, name: str, take: ChunkSink) -> None:
        take(self._got[:1], 0)
        take(self._got[1:], 1)

    def array(self, name: str) -> np.ndarray:
        return self._got


def _passes(step: LaunchStep, got: np.ndarray) -> bool:
    [check] = compare_recorded(step, cast("Buffers", _Copied(step, got)))
    assert step.image.recording is not None
    note = _tolerance_note(step.image.recording.manifest, step.tolerance, [check])
    assert (note is not None) == (not check.passed and step.tolerance.rtol is None)
    return check.passed


def test_words_are_compared_as_floats_with_a_tolerance(recorded: LaunchStep) -> None:
    tolerant = replace(recorded, tolerance=Tolerance(rtol=1e-5))
    near, far = VALUES * np.float32(1 + 2e-7), VALUES * np.float32(1.01)
    assert _passes(recorded, VALUES)
    assert not _passes(recorded, near)
    assert _passes(tolerant, near)
    assert not _passes(tolerant, far)
