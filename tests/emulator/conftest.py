"""What the tests of the emulator share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudarun.emulator.host.process import Process, process


@pytest.fixture
def fresh_process() -> Iterator[Process]:
    """The emulated driver as a new process finds it, before ``cuInit``."""
    process.reset()
    yield process
    process.reset()
