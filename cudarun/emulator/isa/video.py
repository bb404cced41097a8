"""SIMD video instructions on two halves or four bytes of a word (PTX manual 9.7.19).

Refused for now: the selections and masks of operands (``a.b7654``, ``d.h1``), and the scalar
instructions (``vadd``, ``vmad``, ``vset``, …). Compilers write neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.isa.form import Form, Function, Words, form

Array = npt.NDArray[Any]
Operation = Callable[[Array, Array], Array]


def _average(a: Array, b: Array) -> Array:
    """The mean, where it lies between two numbers the one farther from zero."""
    total = a + b
    mean: Array = (total + (total >= 0)) >> 1
    return mean


def _apart(a: Array, b: Array) -> Array:
    distance: Array = np.abs(a - b)
    return distance


_OPERATIONS: dict[str, Operation] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": _average,
    "vabsdiff": _apart,
    "vmin": np.minimum,
    "vmax": np.maximum,
}
_COMPARISONS: dict[str, Operation] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _parts(word: Array, count: int, kind: str) -> Array:
    """The parts of words along a new axis, extended by ``kind`` (``"u32"``, ``"s32"``)."""
    dtype = np.dtype(f"{'i' if kind == 's32' else 'u'}{4 // count}")
    return np.ascontiguousarray(word).view(dtype).reshape(len(word), count).astype(np.int32)


def _simd(count: int, operate: Operation, words: Words) -> Function:
    """All parts at once, then put into one word, or added to ``c``."""
    first, second = words["atype"], words["btype"]
    smallest, largest = -1 << (32 // count - 1), (1 << (32 // count - 1)) - 1
    if words.get("dtype") != "s32":
        smallest, largest = 0, (1 << 32 // count) - 1

    def function(a: Array, b: Array, c: Array, d: Array) -> None:
        result = operate(_parts(a, count, first), _parts(b, count, second)).astype(np.int32)
        if words.get("add"):
            total = c.view(np.uint32) + result.sum(axis=1, dtype=np.int32).view(np.uint32)
            d[...] = total.view(d.dtype)
            return
        if words.get("sat"):
            result = np.clip(result, smallest, largest)
        narrow = result.astype(f"u{4 // count}")  # keeps the lowest bits
        d[...] = narrow.view(d.dtype).reshape(len(d))

    return function


def _arithmetic(name: str, count: int) -> Callable[[Words], Function]:
    return lambda words: _simd(count, _OPERATIONS[name], words)


def _comparison(count: int) -> Callable[[Words], Function]:
    return lambda words: _simd(count, _COMPARISONS[words["cmp"]], words)


def _rows() -> Iterator[Form]:
    kinds: dict[str, Any] = dict.fromkeys(("dtype", "atype", "btype"), "u32 s32")
    operands = "d:dtype, a:atype, b:btype, c:dtype"
    for count in (2, 4):
        for name in _OPERATIONS:
            make = _arithmetic(name, count)
            head = f"{name}{count}.dtype.atype.btype"
            yield form(f"{head}{{.sat}}  {operands}", make=make, **kinds)
            yield form(f"{head}.add  {operands}", make=make, **kinds)
        yield form(f"vset{count}.atype.btype.cmp{{.add}}  d:u32, a:atype, b:btype, c:u32",
                   make=_comparison(count), cmp=" ".join(_COMPARISONS), atype="u32 s32",
                   btype="u32 s32")  # fmt: skip


FORMS: tuple[Form, ...] = tuple(_rows())
