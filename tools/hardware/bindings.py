"""Programs written for cuda-python, on the GPU and with the emulator in the bindings' place."""

from __future__ import annotations

from collections.abc import Iterator

from tools.hardware.bench import Bench, Check, pytest_checks


def checks(bench: Bench) -> Iterator[Check]:
    """Run the programs' tests."""
    gpu = {} if bench.is_emulated else {"CUDARUN_BINDINGS_DEVICE": bench.device}
    tests = [f"tests/emulator/test_{name}.py" for name in ("cuda_python", "running_programs")]
    yield from pytest_checks(bench, *tests, **gpu)
