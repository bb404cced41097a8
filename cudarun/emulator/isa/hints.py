"""Instructions without an observable effect: time, profiling, launch dependencies, cache policies.

A launch starts when its dependencies have ended, so ``griddepcontrol`` never waits. Policies are
the words that the compiler of CUDA 13.0 makes; nothing reads them.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.isa.approximations import of_unit
from cudarun.emulator.isa.form import InstructionForm, computed, form
from cudarun.emulator.isa.move import copy
from cudarun.emulator.machine.transfers import GridDependency, NoEffect
from cudarun.emulator.numerics import special_functions as unit
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.words import Words

_FIRST = {
    "L2::evict_last": 4,
    "L2::evict_normal": 6,
    "L2::evict_first": 2,
    "L2::evict_unchanged": 0,
}
_SECOND = {"": 0, "L2::evict_first": 1, "L2::evict_unchanged": 0}
_FRACTIONAL, _RANGE = 0x10, 0x18
_KIND, _AMOUNT, _START, _COUNT = 56, 52, 44, 37  # the lowest bits of fields
_BLOCKS = 127  # a range has at most so many, of at least 4 KiB
_LEAST_SHIFT = 12
_FRACTIONS = np.float32(15.99)


def _priorities(words: Words) -> int:
    return _FIRST[words["first"]] + _SECOND[words["second"]]


@computed
def _fractional(words: Words, *fraction: Array) -> Array:
    kind, amount = _FRACTIONAL + _priorities(words), np.array(15, np.uint64)
    if fraction:
        sixteenths = np.nan_to_num(fraction[0] * _FRACTIONS, nan=0.0)
        amount = np.clip(sixteenths, 0, 2.0**32 - 256).astype(np.uint64) & np.uint64(15)
    found: Array = np.uint64(kind << _KIND) | amount << np.uint64(_AMOUNT)
    return found


@computed
def _range(words: Words, a: Array, primary: Array, total: Array) -> Array:
    """Divide the whole range into at most 128 blocks; the primary range is counted in them.

    The logarithm is that of the special function unit, as in ptxas's code.
    """
    kind, offset = _RANGE + _priorities(words), np.uint64(words.offsets[0] & ((1 << 64) - 1))
    size = of_unit(unit.logarithm, np.maximum(total, 1).astype(np.float32))
    shift = np.maximum(np.ceil(size).astype(np.int64) - 7, _LEAST_SHIFT).astype(np.uint64)
    start = a.astype(np.uint64) + offset
    last = primary.astype(np.uint64) + (np.uint64(1) << shift) - np.uint64(1)
    end = start + (last & np.uint64(0xFFFFFFFF))
    count = np.minimum((end >> shift) - (start >> shift), np.uint64(_BLOCKS))
    found = np.uint64(kind << _KIND) | (shift - np.uint64(_LEAST_SHIFT)) << np.uint64(_AMOUNT)
    found = found | (start >> shift & np.uint64(_BLOCKS)) << np.uint64(_START)
    found = found | count << np.uint64(_COUNT)
    return np.where(total == 0, np.uint64(_RANGE << _KIND), found)


FORMS: tuple[InstructionForm, ...] = (
    form("nanosleep.u32  t", action=NoEffect, writes=0),
    form("pmevent  n:int", action=NoEffect),
    form("pmevent.mask  n:int", action=NoEffect),
    form("griddepcontrol.what", action=GridDependency, what="launch_dependents wait"),
    form("discard.global.L2  [a], n:int", action=NoEffect),
    form("discard.L2  [a], n:int", action=NoEffect),
    form("applypriority{.global}.L2::evict_normal  [a], n:int", action=NoEffect),
    form("createpolicy.fractional.first{.second}.b64  d, ?fraction:f32", make=_fractional,
         first=" ".join(_FIRST), second=" ".join(filter(None, _SECOND))),
    form("createpolicy.range{.global}.first{.second}.b64  d, [a], primary:u32, total:u32",
         make=_range, first=" ".join(_FIRST), second=" ".join(filter(None, _SECOND))),
    form("createpolicy.cvt.L2.b64  d, a", copy),
    form("setmaxnreg.what.sync.aligned.u32  n:int", action=NoEffect, what="inc dec"),
)  # fmt: skip
