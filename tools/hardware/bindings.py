"""Programs written for cuda-python, on the GPU and with the emulator in the bindings' place."""

from __future__ import annotations

from collections.abc import Iterator

from tools.hardware.bench import Bench, Check, pytest_checks


def checks(bench: Bench) -> Iterator[Check]:
    """Run the programs' tests."""
    gpu = {} if bench.is_emulated else {"CUDARUN_BINDINGS_DEVICE": bench.device}
    yield from pytest_checks(bench, "tests/emulator/test_cuda_python.py", **gpu)
