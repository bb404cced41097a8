"""The stub of the bindings, ``stubs/cuda/bindings/driver.pyi``, says what they have."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from cuda.bindings import driver as bindings

STUB = Path(__file__).resolve().parent.parent / "stubs" / "cuda" / "bindings" / "driver.pyi"
CLASSES = {
    node.name: [
        item.targets[0].id
        for item in node.body
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name)
    ]
    for node in ast.parse(STUB.read_text()).body
    if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
}


@pytest.mark.skipif(bindings.CUDA_VERSION < 13000, reason="the stub is of CUDA 13's bindings")
@pytest.mark.parametrize("name", CLASSES)
def test_the_bindings_have_it(name: str) -> None:
    found = getattr(bindings, name)
    assert [member for member in CLASSES[name] if not hasattr(found, member)] == []
    assert hasattr(found, "__int__") or not CLASSES[name]


def test_classes_are_found() -> None:
    assert {"CUcontext", "CUresult", "CUlaunchConfig"} <= set(CLASSES)
    assert "CU_LIMIT_STACK_SIZE" in CLASSES["CUlimit"]
