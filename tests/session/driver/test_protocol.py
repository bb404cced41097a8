"""The session's driver calls have signatures that type checkers hold it to."""

from __future__ import annotations

import importlib
import inspect

import pytest

from cudarun.emulator.api.calls import CALLS
from tools import generate_driver_protocol as generator

NAMES = sorted(generator.members())


def test_the_protocol_is_up_to_date() -> None:
    text = generator.TARGET.read_text()
    assert text == generator.document(), "run tools/generate_driver_protocol.py"


@pytest.mark.parametrize("module", ["cuda.bindings.driver", "cudarun.emulator.driver"])
def test_both_drivers_have_what_is_in_it(module: str) -> None:
    driver = importlib.import_module(module)
    assert [name for name in NAMES if not hasattr(driver, name)] == []


def test_calls_and_types_are_in_it() -> None:
    assert {"cuInit", "cuLaunchKernel", "cuMemAlloc", "CUjit_option"} <= set(NAMES)
    assert "cudaGetDevice" not in NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name in CALLS])
def test_every_parameter_and_value_has_a_type(name: str) -> None:
    signature = inspect.signature(inspect.unwrap(CALLS[name]))
    empty = inspect.Parameter.empty
    annotations = [parameter.annotation for parameter in signature.parameters.values()]
    assert empty not in [*annotations, signature.return_annotation]
