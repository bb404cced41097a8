"""Derive the coefficients of the special function unit from recordings, or check those there are.

::

    python -m tools.derive_approximations --driver cuda            # record, derive, and compare
    python -m tools.derive_approximations --driver cuda --write    # replace the coefficients
    python -m tools.derive_approximations --driver cpu --only ex2  # does this tool find them again?

A recording has the results of an instruction for all 2^23 fractions of one exponent field. Its
digest is in ``cudarun/emulator/numerics/special_functions.txt``, with the coefficients. Each result
bounds the sum that the unit truncates. For each row, all C1 and C2 about a least-squares fit are
tried: C0 has an interval for each pair, mostly an empty one. Exit status 1 if a row has no
solution, or several, or if a digest or a row differs from that file.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics import special_functions as unit
from tests.golden.approximations import FORMS, INPUTS, Runner

Array = npt.NDArray[Any]
Samples = tuple[Array, Array, Array, Array]  # the row, x, and the least and the greatest sum

DRIVERS = {"cpu": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}
TABLE = Path(unit.__file__).with_suffix(".txt")
RECORDINGS = {
    "rcp": [("rcp.approx.ftz.f32", 127)],
    "rsqrt": [("rsqrt.approx.ftz.f32", 127), ("rsqrt.approx.ftz.f32", 128)],
    "sqrt": [("sqrt.approx.ftz.f32", 127), ("sqrt.approx.ftz.f32", 128)],
    "ex2": [("ex2.approx.ftz.f32", 127)],
    "lg2": [("lg2.approx.ftz.f32", 126)],
    "sin": [("sin.approx.f32", 127), ("cos.approx.f32", 126), ("cos.approx.f32", 127)],
    "tanh": [("tanh.approx.f32", exponent) for exponent in range(119, 130)],
}
_HIDDEN, _FRACTION = 1 << 23, (1 << 23) - 1
_SLOPES, _CURVATURES = 60, 44  # how far from the fit C1 and C2 are sought
_COARSE = 257  # one of so many samples is tried first
_TURN = np.float64(np.uint32(0x3E22F983).view(np.float32))


def main() -> int:
    """Record, derive and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--driver", choices=DRIVERS, required=True)
    parser.add_argument("--only", nargs="+", choices=RECORDINGS, default=list(RECORDINGS))
    parser.add_argument("--write", action="store_true", help="replace the coefficients")
    options = parser.parse_args()
    if options.write and (options.driver != "cuda" or options.only != list(RECORDINGS)):
        parser.error("--write: coefficients are those of hardware, of all functions")
    runner = Runner(importlib.import_module(DRIVERS[options.driver]))
    known, kept = unit.coefficients(), TABLE.read_text()
    found, origins, wrong = {}, {}, False
    for name in options.only:
        recordings: list[tuple[str, int, Array]] = []
        origins[name] = []
        for instruction, exponent in RECORDINGS[name]:
            results = recorded(runner, instruction, exponent)
            digest = hashlib.sha256(results.astype("<u4").tobytes()).hexdigest()
            origins[name].append(f"# {instruction} {exponent}: {runner.device}, sha256 {digest}")
            print(f"{origins[name][-1]}, as known: {digest in kept}", flush=True)
            wrong |= not (digest in kept or options.write)
            recordings.append((instruction, exponent, results))
        rows = [list(each) for each in derived(name, recordings)]
        found[name] = [each[0] for each in rows if len(each) == 1]
        same = np.array_equal(found[name], known[name])
        print(f"{name}: {len(rows)} rows, {sum(map(len, rows))} solutions, as known: {same}")
        wrong |= len(found[name]) != len(rows) or not (same or options.write)
    if options.write and not wrong:
        TABLE.write_text(_text(kept, found, origins))
    return 1 if wrong else 0


def _text(
    kept: str, found: dict[str, list[tuple[int, int, int]]], origins: dict[str, list[str]]
) -> str:
    lines = [kept.partition("\n\n")[0]]
    for name, rows in found.items():
        lines += ["", f"[{name}]", *origins[name], *(" ".join(map(str, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def recorded(runner: Runner, instruction: str, exponent: int) -> Array:
    """Return the results for all fractions of one exponent field."""
    form, blocks = FORMS[instruction], _HIDDEN // INPUTS
    return np.concatenate(
        [runner.list(form, exponent * blocks + block)[:, 2] for block in range(blocks)]
    ).astype(np.int64)


# --- from results to sums ------------------------------------------------------------------------


def samples(name: str, instruction: str, exponent: int, results: Array) -> Samples:
    """Return what a recording tells of the sums of a function."""
    fraction = np.arange(_HIDDEN)
    bits = unit.FORMATS[name][0]
    if name in ("rcp", "rsqrt", "sqrt", "ex2"):
        shift = {"rcp": 15, "rsqrt": 16, "sqrt": 17, "ex2": 15}[name]
        least = {"rcp": 125, "rsqrt": 125, "sqrt": 126, "ex2": 127}[name] << 23
        argument = fraction | (exponent == 128) << 23
        low = results - least << shift
        high = low + (1 << shift) - 1
        used = (argument != 0) | (name != "rsqrt")  # a power of 4 is exact
    elif name == "lg2":  # between -1 and 0, as the complement
        low, high = _in_units(results & 0x7FFFFFFF, 36)
        low, high = ((1 << 36) - 1 - high) << 2, (((1 << 36) - 1 - low) << 2) + 3
        argument, used = fraction, results != 0
    elif name == "sin":
        angle = (fraction | exponent << 23).astype(np.uint32).view(np.float32)
        fixed = np.floor(angle.astype(np.float64) * _TURN * 2.0**25).astype(np.int64)
        quadrant = (fixed >> 23) + instruction.startswith("cos")
        argument = np.where(quadrant & 1, ~fixed, fixed) & _FRACTION
        low, high = _in_units(results & 0x7FFFFFFF, 37)
        used = results & 0x7FFFFFFF != 0
    else:
        place = exponent - 119
        count, first = unit.TANH_BITS[place], (1 << unit.TANH_BITS[:place]).sum()
        argument = (first << 17) + (fraction << count >> 6)
        low, high = _in_units(results, int(unit.TANH_POINT[place]))
        used = fraction & (1 << 6 - count) - 1 == 0  # the unit drops these bits
    chosen = [each[used] for each in (argument >> bits, argument & (1 << bits) - 1, low, high)]
    return chosen[0], chosen[1], chosen[2], chosen[3]


def _in_units(results: Array, point: int) -> tuple[Array, Array]:
    """Return the least and the greatest fixed-point number that becomes an f32 by truncation."""
    shift = (results >> 23) - 150 + point
    significand = results & _FRACTION | _HIDDEN
    left, right = np.maximum(shift, 0), np.maximum(-shift, 0)
    low = significand << left >> right
    return low, low + (1 << left) - 1


# --- from sums to coefficients -------------------------------------------------------------------


def derived(
    name: str, recordings: list[tuple[str, int, Array]]
) -> Iterator[Iterator[tuple[int, int, int]]]:
    """Yield for each row all of its solutions."""
    parts = [samples(name, *each) for each in recordings]
    rows, *others = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    ends = np.flatnonzero(np.diff(rows[order], append=-1)) + 1
    for chosen in np.split(order, ends[:-1]):
        yield solutions(name, *(each[chosen] for each in others))


def solutions(name: str, x: Array, low: Array, high: Array) -> Iterator[tuple[int, int, int]]:
    """Yield the coefficients with which every sum is in its interval."""
    _, shift, square_shift, bias, doubled = unit.FORMATS[name]
    square = unit.squares().take(x << doubled) << square_shift
    columns = np.stack([np.ones(len(x)), x, square], axis=1) / (1.0, x.max(), square.max())
    fit = np.linalg.lstsq(columns, (low + high) / 2, rcond=None)[0]
    slopes = round(fit[1] / x.max()) + np.arange(-_SLOPES, _SLOPES + 1)
    some = slice(None, None, _COARSE)
    for curvature in round(fit[2] / square.max()) + np.arange(-_CURVATURES, _CURVATURES + 1):
        least, most = low - curvature * square, high - curvature * square
        coarse = slopes[:, None] * x[some]
        able = (least[some] - coarse).max(axis=1) <= (most[some] - coarse).min(axis=1)
        for slope in slopes[able]:
            first, last = (least - slope * x).max() - bias, (most - slope * x).min() - bias
            for start in range(-(-first >> shift), (last >> shift) + 1):
                yield int(start), int(slope), int(curvature)


if __name__ == "__main__":
    sys.exit(main())
