"""The driver calls of the emulated device, asked of the GPU's driver."""

from __future__ import annotations

from collections.abc import Iterator

from tools.hardware.bench import Bench, Check, pytest_checks


def checks(bench: Bench) -> Iterator[Check]:
    """Run the conformance suite over the driver."""
    driver = "emulator" if bench.is_emulated else "cuda"
    yield from pytest_checks(bench, "tests/conformance", "--driver", driver)
