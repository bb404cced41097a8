"""Approximations over all inputs: the device's results are those of the emulated device.

All 2^32 inputs of each function of f32 with and without ``.ftz``, all halves, and 10^8 random
operands of ``div``, of functions of f64, and of products about 2^-126 with ``.ftz``, which decide
when a result is tiny. Both devices run the same kernels, the emulated one compiled code on all
cores. Where a sum of 65,536 inputs differs, the inputs are listed. The results are kept as
``approximations.xz``, to be committed as ``tests/golden/approximations-h200.xz``.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator import driver as emulator
from tests.golden import approximations
from tests.golden.approximations import FORMS, HALVES, Form, Runner
from tools.hardware.bench import Bench, Check, check

Array = npt.NDArray[Any]

_SHOWN = 3  # inputs of a failed check
_STEP = 1 << 12


def checks(bench: Bench) -> Iterator[Check]:
    """Compare form by form; without a GPU some blocks, on both engines."""
    device = emulated = Runner(emulator)
    if not bench.is_emulated:
        device = Runner(importlib.import_module("cuda.bindings.driver"), bench.ordinal)
    sums: dict[str, Array] = {}
    halves: dict[str, Array] = {}
    for form in FORMS.values():
        if not bench.wants(form.name):
            continue
        started = time.perf_counter()
        kept = halves if form in HALVES else sums
        step = _STEP if bench.is_emulated else 1
        emulator.select_engine("interpret" if bench.is_emulated else "compile")
        kept[form.name] = _results(device, form, step)
        emulator.select_engine("compile")
        different = step * np.flatnonzero(kept[form.name] != _results(emulated, form, step))
        detail = "\n".join(_listed(device, emulated, form, different))
        yield check(form.name, not detail, detail, time.perf_counter() - started)
    if not bench.is_emulated:
        approximations.write(bench.out / "approximations.xz", device.device, sums, halves)


def _results(runner: Runner, form: Form, step: int) -> Array:
    return runner.list(form)[:, 2] if form in HALVES else runner.sums(form, step)


def _listed(device: Runner, emulated: Runner, form: Form, different: Array) -> Iterator[str]:
    """Yield the first inputs of the first block with other results."""
    if not len(different):
        return
    block = 0 if form in HALVES else int(different[0])
    rows, others = device.list(form, block), emulated.list(form, block)
    lanes = np.flatnonzero((rows != others).any(axis=1))
    yield f"{len(different)} of {form.blocks} blocks; block {block}: {len(lanes)} inputs, such as"
    for lane in lanes[:_SHOWN]:
        *given, got = (hex(word) for word in rows[lane].tolist())
        yield f"{', '.join(given)} gave {got}, emulated {others[lane, 2]:#x}"
