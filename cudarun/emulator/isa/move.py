"""``mov`` and address conversion (PTX manual 9.7.9), without memory accesses."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, computed, form
from cudarun.emulator.machine.spaces import RANK_SHIFT, WINDOW_BYTES, WINDOWS, InGlobalOrConst
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function
from cudarun.emulator.words import Words

_WINDOWED = "shared shared::cta shared::cluster local param param::entry"
_SPACES = f"{_WINDOWED} global const"


def copy(a: Array, d: Array) -> None:
    """Copy ``d = a``."""
    np.copyto(d, a, casting="unsafe")


def copy_all(*arrays: Array) -> None:
    """Copy the first half of the arrays to the second half, as if at once."""
    half = len(arrays) // 2
    values = [a.copy() for a in arrays[:half]]
    for value, target in zip(values, arrays[half:], strict=True):
        np.copyto(target, value, casting="unsafe")


def _pack(*arrays: Array) -> None:
    """Pack ``mov.b64 d, {a, b}``: the first element is the lowest."""
    *parts, d = arrays
    values = [part.copy() for part in parts]
    target = d.view(values[0].dtype).reshape(len(d), -1)
    for place, value in enumerate(values):
        target[:, place] = value


def _unpack(a: Array, *targets: Array) -> None:
    """Unpack ``mov.b64 {d, e}, a``."""
    source = a.copy()
    parts = source.reshape(len(source), -1).view(targets[0].dtype)
    for place, target in enumerate(targets):
        target[...] = parts[:, place]


def _window(words: Words) -> int:
    return WINDOWS.get(words["space"].removesuffix("::entry"), 0)


def _cvta(words: Words) -> Function:
    base = _window(words)
    sign = -1 if words.get("to") else 1
    if base == 0:
        return copy

    def convert(a: Array, d: Array) -> None:
        np.add(a, np.array((sign * base) % (1 << 8 * d.itemsize), dtype=d.dtype), out=d)

    return convert


@computed
def _isspacep(words: Words, a: Array, *ranks: Array) -> Array:
    """Return ``isspacep``; an address of another block of a cluster is not in ``shared::cta``.

    The second operand is the rank of the block, where addresses have ranks.
    """
    offset, size = a - np.uint64(_window(words)), WINDOW_BYTES
    if ranks:
        size = 1 << RANK_SHIFT
        offset = offset - (ranks[0].astype(np.uint64) << np.uint64(RANK_SHIFT))
    return offset < np.uint64(size)


FORMS: tuple[InstructionForm, ...] = (
    form("mov.type  d, a", copy, type="pred b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f32 f64"),
    form("mov.vec.type  {d}, {a}", copy_all, vec="v2 v4",
         type="b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"),
    form("mov.type  d, {a:part}", _pack, type="b16 b32 b64 b128"),
    form("mov.type  {d:part}, a", _unpack, type="b16 b32 b64 b128"),
    form("cvta.space.type  d, a", make=_cvta, space=_SPACES, type="u64"),
    form("cvta.to.space.type  d, a", make=_cvta, space=_SPACES, type="u64"),
    form("isspacep.space  p:pred, a:u64", make=_isspacep, space=_WINDOWED),
    form("isspacep.space  p:pred, a:u64", action=InGlobalOrConst, space="global const"),
)  # fmt: skip
