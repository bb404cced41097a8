"""A session over the emulated device, in a process of its own for each test module's needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudarun.emulator.host.process import process
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.progress import Progress
from cudarun.session.workers.session import Session
from cudarun.session.workers.worker import WorkerSpec
from tests.support.processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def unused_driver() -> None:
    """Workers are forked: what other tests of this process made of the emulator is not theirs."""
    process.reset()


def open_session(progress: Progress) -> Session:
    return Session(Target(parse_devices("cpu")), parse_devices("cpu"), progress=progress)


@pytest.fixture
def in_session(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Session], Any]], Any]:
    """Run a module-level function with a session, in a worker as the commands do."""
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "1")

    def run(task: Callable[[Session], Any]) -> Any:
        with WorkerPool() as pool:
            return pool.call(WorkerSpec(open_session), task, PATIENCE).unwrap()

    return run


@pytest.fixture
def sample() -> Callable[[str], Image]:
    """An image of `samples/`."""
    return lambda name: Image(name, (ROOT / "samples" / name).read_bytes())
