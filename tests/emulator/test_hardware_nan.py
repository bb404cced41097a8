"""The NaN of f64 are the hardware's, whatever the processor's own are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cudarun.emulator.isa import floating
from cudarun.emulator.machine.atomics import combination
from cudarun.emulator.numerics.special_values import saturate, with_hardware_nan
from cudarun.emulator.numerics.types import TYPES

FIRST, SECOND, SIGNALING = 0x7FF8_0000_0000_0005, 0xFFF8_0000_0000_0006, 0x7FF0_0000_0000_0003
DEFAULT, QUIETED = 0xFFF8 << 48, SIGNALING | 1 << 51
ONE, INFINITE, NEGATIVE = 0x3FF0 << 48, 0x7FF0 << 48, 0xFFF0 << 48


def numbers(*bits: int) -> np.ndarray:
    return np.array(bits, np.uint64).view(np.float64)


def bits(a: np.ndarray) -> list[int]:
    return [int(each) for each in a.view(np.uint64)]


def test_the_first_operand_wins() -> None:
    a = numbers(FIRST, ONE, SECOND, SIGNALING, INFINITE, ONE)
    b = numbers(SIGNALING, SIGNALING, FIRST, FIRST, NEGATIVE, ONE)
    result = numbers(DEFAULT ^ 1 << 63, *[FIRST] * 3, DEFAULT ^ 1 << 63, ONE)  # of a processor
    expected = [FIRST, QUIETED, SECOND, QUIETED, DEFAULT, ONE]
    with np.errstate(all="ignore"):
        assert bits(with_hardware_nan(result, a, b)) == expected


@pytest.mark.parametrize(
    ("operation", "order", "sources", "expected"),
    [
        (np.add, "ba", [[FIRST, INFINITE], [SIGNALING, NEGATIVE]], [QUIETED, DEFAULT]),
        (np.divide, "ab", [[0, ONE], [0, SIGNALING]], [DEFAULT, QUIETED]),
        (np.sqrt, "a", [[NEGATIVE, SIGNALING]], [DEFAULT, QUIETED]),
    ],
)
def test_operations_where_the_processor_has_others(
    operation: Callable[..., object],
    order: str,
    sources: list[list[int]],
    expected: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(floating, "IS_X86", False)
    function = floating._with_nan(operation, len(sources), order)
    given = [numbers(*each) for each in sources]
    with np.errstate(all="ignore"):
        function(*given, given[0], np.empty(2))  # the destination is a source
    assert bits(given[0]) == expected


def test_atomic_sums() -> None:
    stored, value = numbers(INFINITE, SIGNALING, ONE), numbers(NEGATIVE, FIRST, SIGNALING)
    with np.errstate(all="ignore"):
        unit, code = (
            combination("add", TYPES["f64"], adder)(stored, value) for adder in ("f64", "")
        )
    assert bits(unit) == [DEFAULT, SIGNALING, SIGNALING]
    assert bits(code) == [DEFAULT, QUIETED, QUIETED]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_saturation(kind: type[np.floating]) -> None:
    signaling = {4: 0x7F80_0001, 8: SIGNALING}[np.dtype(kind).itemsize]
    d = np.array([-0.0, 0.25, 2, -np.inf, np.inf, np.nan, 0], kind)
    d.view(f"u{d.itemsize}")[-1] = signaling
    saturate(d)
    assert d.tolist() == [0, 0.25, 1, 0, 1, 0, 0]
    assert not np.signbit(d).any()
