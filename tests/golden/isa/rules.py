"""How near two results must be: equal bits, or what the manual says of an approximation.

A rule is ``"exact"``, ``"exact or NaN"`` (any NaN for any other), ``"2 ulp"``,
``"2^-22.5 relative"`` or ``"2^-20.5 absolute"``. The recorded value may be as far from the true
one as the manual allows, and ours is rounded: so one unit in the last place is added to each.
Infinities and zeros for numbers are far away; NaN agrees with any NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tests.golden.isa.inputs import LANES, values

Array = npt.NDArray[Any]

_FLOATS: dict[str, tuple[Any, int]] = {
    "f16": (np.float16, 10), "f32": (np.float32, 23), "f64": (np.float64, 52),
    "bf16": (ml_dtypes.bfloat16, 7),
}  # fmt: skip

# Manual 9.7.3 and 9.7.4: the error of each approximation, by opcode and type.
_APPROXIMATE = {
    ("div", "f32"): "2 ulp",
    ("rcp", "f32"): "1 ulp",
    ("rcp", "f64"): "2^-20 relative",
    ("sqrt", "f32"): "2^-23 relative",
    ("rsqrt", "f32"): "2^-22.9 relative",
    ("rsqrt", "f64"): "2^-20 relative",
    ("sin", "f32"): "2^-20.5 absolute",
    ("cos", "f32"): "2^-20.5 absolute",
    ("lg2", "f32"): "2^-22 either",
    ("ex2", "f32"): "2 ulp",
    ("ex2", "f16"): "2^-9.9 relative",
    ("ex2", "bf16"): "2^-7 relative",
    ("tanh", "f32"): "2^-11 relative",
    ("tanh", "f16"): "2^-10.987 absolute",
    ("tanh", "bf16"): "2^-8 relative",
}


def rule_of(opcode: str, words: dict[str, str]) -> str:
    """The rule of an instruction by its opcode and words."""
    if not {"approx", "full"} & set(words.values()):
        return "exact"
    return _APPROXIMATE[opcode, words["type"].removesuffix("x2")]


def distant(rule: str, result: str, expected: Array, got: Array) -> Array:
    """Which lanes are too far apart.

    Args:
        rule: One of the above.
        result: The type of the result.
        expected: The recorded results, as unsigned integers.
        got: The ones to judge.
    """
    different = np.asarray(expected != got)
    if rule == "exact" or not different.any():
        return different
    dtype, digits = _FLOATS[result.removesuffix("x2")]
    shape = (len(expected), -1)
    wide = [
        np.ascontiguousarray(bits).view(dtype).reshape(shape).astype(np.float64)
        for bits in (expected, got)
    ]
    with np.errstate(all="ignore"):
        if rule == "exact or NaN":
            return different & ~(np.isnan(wide[0]) & np.isnan(wide[1])).all(axis=1)
        apart = np.abs(wide[0] - wide[1]) > _allowed(rule, wide[0], digits)
        strange = ~np.isfinite(wide[0]) | ~np.isfinite(wide[1])
    same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
    return np.asarray((np.where(strange, ~same, apart)).any(axis=1))


def _allowed(rule: str, value: Array, digits: int) -> Array:
    size, unit = rule.split()
    magnitude = np.abs(value)
    smallest = np.finfo(np.float32).tiny if digits < 52 else np.finfo(np.float64).tiny
    ulp = np.exp2(np.floor(np.log2(np.maximum(magnitude, smallest))) - digits)
    if unit == "ulp":
        return (float(size) + 1) * ulp
    bound = 2.0 ** float(size.removeprefix("2^"))
    if unit == "either":  # lg2: absolute about 1, relative elsewhere
        return bound * np.maximum(magnitude, 1) + ulp
    return bound * (magnitude if unit == "relative" else 1) + ulp


def shown(
    name: str, text: str, sources: tuple[str, ...], lanes: Array, expected: Array, got: Array
) -> Iterator[str]:
    """The first differences of a case in words: what was given, recorded, and found."""
    yield f"{name}: {len(lanes)} of {len(expected)} lanes differ    {text}"
    given = [values(pool, place) for place, pool in enumerate(sources)]
    for lane in lanes[:4]:
        inputs = ", ".join(f"{int(value[lane % LANES]):#x}" for value in given)
        yield (
            f"    lane {lane}: ({inputs}) gave {int(got[lane]):#x}, "
            f"recorded {int(expected[lane]):#x}"
        )
