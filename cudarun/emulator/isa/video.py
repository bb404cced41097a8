"""SIMD video instructions on two halves or four bytes of a word (PTX manual 9.7.18.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.isa.compare import INTEGER_TESTS
from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import contiguous
from cudarun.emulator.numerics.temporaries import Function
from cudarun.emulator.words import Words

Operation = Callable[[Array, Array], Array]


def _average(a: Array, b: Array) -> Array:
    """Return the mean, rounded away from zero."""
    total = a + b
    return (total + (total >= 0)) >> 1


OPERATIONS: dict[str, Operation] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vavrg": _average,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}
COMPARISONS: dict[str, Operation] = {
    name: INTEGER_TESTS[name] for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def _parts(word: Array, count: int, kind: str) -> Array:
    """Return the parts of words along a new axis, extended by ``kind`` (``"u32"``, ``"s32"``)."""
    dtype = np.dtype(f"{'i' if kind == 's32' else 'u'}{4 // count}")
    return contiguous(word).view(dtype).reshape(len(word), count).astype(np.int32)


def _chosen(a: Array, b: Array, count: int, kind: str, selector: str) -> Array:
    """Return the parts of ``a`` and ``b`` that a selector names; the last is the lowest."""
    both = np.concatenate([_parts(a, count, kind), _parts(b, count, kind)], axis=1)
    return both[:, [int(part) for part in selector[:0:-1]]]


# The default selectors, by the number of parts.
_DEFAULTS = {2: (("a", "h10"), ("b", "h32")), 4: (("a", "b3210"), ("b", "b7654"))}
_MASKS = {2: "h0 h1 h10", 4: "b0 b1 b10 b2 b20 b21 b210 b3 b30 b31 b310 b32 b320 b321 b3210"}
_SELECTORS = {2: "hxy", 4: "bxyzw"}  # x, y, … are from 0 to 3, or to 7


def _simd(count: int, operate: Operation, words: Words) -> Function:
    """Return the operation on all parts at once, packed into one word, or added to ``c``."""
    first, second = words["atype"], words["btype"]
    smallest, largest = -1 << (32 // count - 1), (1 << (32 // count - 1)) - 1
    if words.get("dtype") != "s32":
        smallest, largest = 0, (1 << 32 // count) - 1

    asel, bsel = (words.selectors.get(name, default) for name, default in _DEFAULTS[count])
    mask = [int(part) for part in words.selectors.get("d", "")[1:]] or list(range(count))

    def function(a: Array, b: Array, c: Array, d: Array) -> None:
        left, right = _chosen(a, b, count, first, asel), _chosen(a, b, count, second, bsel)
        result = operate(left, right).astype(np.int32)[:, mask]
        if words.get("add"):
            total = c.view(np.uint32) + result.sum(axis=1, dtype=np.int32).view(np.uint32)
            d[...] = total.view(d.dtype)
            return
        if words.get("sat"):
            result = np.clip(result, smallest, largest)
        narrow = _parts(c, count, "u32").astype(f"u{4 // count}")
        narrow[:, mask] = result.astype(narrow.dtype)  # keeps the lowest bits
        d[...] = narrow.view(d.dtype).reshape(len(d))

    return function


def _comparison(count: int, words: Words) -> Function:
    return _simd(count, COMPARISONS[words["cmp"]], words)


def _rows() -> Iterator[InstructionForm]:
    kinds: Keywords = dict.fromkeys(("dtype", "atype", "btype"), "u32 s32")
    operands = "d{.mask}:dtype, a{.asel}:atype, b{.bsel}:btype, c:dtype"
    for count in (2, 4):
        parts = _SELECTORS[count]
        kinds |= {"mask": _MASKS[count], "asel": parts, "bsel": parts}
        for name, operate in OPERATIONS.items():
            make = partial(_simd, count, operate)
            head = f"{name}{count}.dtype.atype.btype"
            yield form(f"{head}{{.sat}}  {operands}", make=make, **kinds)
            yield form(f"{head}.add  {operands}", make=make, **kinds)
        compared = operands.replace(":dtype", ":u32")
        yield form(f"vset{count}.atype.btype.cmp{{.add}}  {compared}", cmp=" ".join(COMPARISONS),
                   make=partial(_comparison, count), **kinds)  # fmt: skip


FORMS: tuple[InstructionForm, ...] = tuple(_rows())
