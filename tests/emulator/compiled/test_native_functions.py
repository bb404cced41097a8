"""The functions in C, and the assembly that is made of them: `python -m tools.generate_runtime`."""

from __future__ import annotations

import pytest

from tools.generate_runtime import TARGET, assembly, digest


def test_the_assembly_is_of_these_sources_and_this_layout() -> None:
    assert digest() in TARGET.read_text().partition("\n")[0]


def test_the_compiler_makes_this_assembly() -> None:
    pytest.importorskip("ziglang", reason="its clang is not installed")
    assert TARGET.read_text() == assembly()
