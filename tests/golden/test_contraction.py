"""Products and sums are fused where ptxas fuses them, in random functions."""

from __future__ import annotations

import pytest

from tests.golden.contraction import BITS, emulated, recorded


@pytest.mark.parametrize("kind", BITS)
def test_as_ptxas(kind: str) -> None:
    """If it fails: ``python -m tools.record_contraction --compare``."""
    functions = [each for each in recorded() if each.kind == kind]
    compared = 0
    for function, lanes in zip(functions, emulated(functions), strict=True):
        for got, expected in zip(lanes, function.results, strict=True):
            assert expected in (None, got), function.text
            compared += expected is not None
    assert compared > 4 * len(functions)
