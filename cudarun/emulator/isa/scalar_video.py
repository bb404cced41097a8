"""Scalar video instructions: on a word, half or byte of each operand (PTX manual 9.7.18.1).

GPUs from Maxwell on have no such instructions; ptxas emulates them. For sm_90, in CUDA 13.0, some
of the emulations do not follow the manual: ``vadd.u32.u32.u32.sat`` wraps, a negative sum saturated
to a byte is 127, ``.h1`` of the destination takes the upper half of the result, ``.min`` and
``.max`` compare results extended to 64 bits. The functions here compute what an H200 does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, computed, form
from cudarun.emulator.isa.video import COMPARISONS, OPERATIONS, Operation
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_SIGN34, _MASK34 = 1 << 33, (1 << 34) - 1
_PARTS = "b0 b1 b2 b3 h0 h1"
_WHERE: Keywords = {"asel": _PARTS, "bsel": _PARTS}
_KINDS: Keywords = dict.fromkeys(("dtype", "atype", "btype"), "u32 s32")

_OPERATIONS = {name: each for name, each in OPERATIONS.items() if name != "vavrg"}
_SECOND: dict[str, Operation] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _place(selector: str) -> tuple[int, int]:
    """Return the first bit and the width of a selected part; the whole word without a selector."""
    if not selector:
        return 0, 32
    bits = 8 if selector[0] == "b" else 16
    return int(selector[1]) * bits, bits


def _part(word: Array, kind: str, selector: str = "") -> Array:
    """Return the selected part of words, extended by ``kind`` (``"u32"``, ``"s32"``) to 64 bits."""
    start, bits = _place(selector)
    value = word.view(np.uint32).astype(np.int64) >> start & (1 << bits) - 1
    sign = 1 << bits - 1 if kind == "s32" else 0
    return (value ^ sign) - sign


def _scalar(
    operate: Operation, words: Words, saturate: Callable[[Array], Array], *, wide: bool
) -> Function:
    """Return the operation, with a second one with ``c``, or a merge of its result into ``c``.

    Args:
        operate: The first operation, on 64-bit integers.
        words: The matched words.
        saturate: The saturation of its results.
        wide: ``.min`` and ``.max`` compare all 64 bits of the first result, not its low word.
    """
    chosen = words.selectors
    start, bits = _place(chosen.get("d", ""))
    replaced = (1 << bits) - 1 << start
    moved = 0 if bits == 16 else start  # ptxas merges the upper half of a result into .h1
    second = _second(words.get("op2", ""), wide=wide, signed=words.get("dtype") == "s32")

    def function(a: Array, b: Array, *c: Array) -> Array:
        result = operate(
            _part(a, words["atype"], chosen.get("a", "")),
            _part(b, words.get("btype", "u32"), chosen.get("b", "")),
        ).astype(np.int64)
        if words.get("sat"):
            result = saturate(result)
        if second is not None:
            result = second(result, c[0])
        elif "d" in chosen:
            result = _part(c[0], "u32") & ~replaced | result << moved & replaced
        return result

    return result_of(function)


def _second(name: str, *, wide: bool, signed: bool) -> Operation | None:
    """Return the second operation with ``c``.

    For ``.u32``, ``.min`` and ``.max`` compare unsigned numbers of 64 bits.
    """
    if not name:
        return None

    def operate(result: Array, c: Array) -> Array:
        if not wide:
            result = result.astype(np.int32).astype(np.int64)
        addend = _part(c, "s32" if signed else "u32")
        if signed or name == "add":
            return _SECOND[name](result, addend)
        combined = _SECOND[name](result.view(np.uint64), addend.view(np.uint64))
        return combined.view(np.int64)

    return operate


def _arithmetic(name: str, words: Words) -> Function:
    """Return a sum, difference, distance, minimum or maximum."""
    signed = words["dtype"] == "s32"
    _, bits = _place(words.selectors.get("d", ""))
    largest = (1 << bits - signed) - 1

    def saturate(result: Array) -> Array:
        """Saturate: to ``.u32`` large results wrap, to a part negative ones are the largest."""
        if bits < 32:
            return np.where(result >> 32 != 0, largest, np.minimum(result, largest))
        return np.clip(result, -1 << 31, largest) if signed else np.maximum(result, 0)

    return _scalar(_OPERATIONS[name], words, saturate, wide=name not in ("vadd", "vsub"))


def _comparison(words: Words) -> Function:
    return _scalar(COMPARISONS[words["cmp"]], words, np.copy, wide=False)


def _shift(ufunc: Operation, words: Words) -> Function:
    lowest, highest = _range(signed=words["dtype"] == "s32")

    def shift(a: Array, b: Array) -> Array:
        return ufunc(a, np.minimum(b, 32) if words["mode"] == "clamp" else b & 31)

    def saturate(result: Array) -> Array:
        """Saturate the low 34 bits, which have a sign, to a word, also for a part of one."""
        found: Array = np.clip(((result & _MASK34) ^ _SIGN34) - _SIGN34, lowest, highest)
        return found

    return _scalar(shift, words, saturate, wide=not words.get("sat"))


def _range(*, signed: bool) -> tuple[int, int]:
    return (-1 << 31, (1 << 31) - 1) if signed else (0, (1 << 32) - 1)


@computed
def _multiply_add(words: Words, a: Array, b: Array, c: Array) -> Array:
    """Return ``(a * b) + c`` in 64 bits, with ``a``, ``b`` and ``c`` as signed words like ptxas.

    Their types define how parts of words are extended, and whether the result is signed.
    """
    chosen, minus = words.selectors, words.negative
    negated = ("a" in minus) != ("b" in minus)
    signed = "s32" in (words["atype"], words["btype"]) or negated or "c" in minus
    scale = int(words["scale"].removeprefix("shr") or 0)
    left = _part(a, words["atype"], chosen.get("a", "")).astype(np.int32)
    right = _part(b, words["btype"], chosen.get("b", "")).astype(np.int32)
    product, addend = left.astype(np.int64) * right, _part(c, "s32")
    total = (-product if negated else product) + (-addend if "c" in minus else addend)
    total += bool(words["po"])
    total = total >> scale if signed else (total.view(np.uint64) >> scale).view(np.int64)
    return np.clip(total, *_range(signed=signed)) if words["sat"] else total


def _rows() -> Iterator[InstructionForm]:
    sources = "a{.asel}:atype, b{.bsel}:btype"
    for name in _OPERATIONS:
        make = partial(_arithmetic, name)
        yield from _scalars(f"{name}.dtype.atype.btype", sources, make, **_KINDS)
    kinds: Keywords = {"dtype": "u32 s32", "atype": "u32 s32", "mode": "clamp wrap"}
    for name, ufunc in (("vshl", np.left_shift), ("vshr", np.right_shift)):
        shifted = sources.replace("btype", "u32")
        yield from _scalars(
            f"{name}.dtype.atype.u32.mode", shifted, partial(_shift, ufunc), **kinds
        )
    negated = "{-}a{.asel}:atype, {-}b{.bsel}:btype, {-}c:dtype"
    yield form(f"vmad.dtype.atype.btype{{.po}}{{.sat}}{{.scale}}  d:dtype, {negated}",
               make=_multiply_add, scale="shr7 shr15", **_KINDS, **_WHERE)  # fmt: skip
    compared: Keywords = {
        "atype": "u32 s32",
        "btype": "u32 s32",
        "cmp": " ".join(COMPARISONS),
    }
    yield form(f"vset.atype.btype.cmp  d{{.dsel}}:u32, {sources}, ?c:u32",
               make=_comparison, dsel=_PARTS, **compared, **_WHERE)  # fmt: skip
    yield form(f"vset.atype.btype.cmp.op2  d:u32, {sources}, c:u32",
               make=_comparison, op2=" ".join(_SECOND), **compared, **_WHERE)  # fmt: skip


def _scalars(
    head: str, sources: str, make: Callable[[Words], Function], **kinds: str
) -> Iterator[InstructionForm]:
    words: Keywords = {"make": make, **kinds, **_WHERE}
    yield form(f"{head}  d{{.dsel}}:dtype, {sources}, ?c:dtype", dsel=_PARTS, **words)
    yield form(f"{head}.sat  d{{.dsel}}:dtype, {sources}, ?c:dtype", dsel=_PARTS, **words)
    yield form(f"{head}{{.sat}}.op2  d:dtype, {sources}, c:dtype", op2="add min max", **words)


FORMS: tuple[InstructionForm, ...] = tuple(_rows())
# Modifiers after the types.
_OWN_WORDS: dict[str, str] = {
    **dict.fromkeys(_OPERATIONS, "sat add min max"),
    **dict.fromkeys(("vshl", "vshr"), "sat add min max clamp wrap"),
    "vmad": "sat po shr7 shr15",
    "vset": f"add min max {' '.join(COMPARISONS)}",
}


def illegal_video(opcode: str, words: tuple[str, ...]) -> str | None:
    """Return ptxas's message for a scalar video instruction that is not PTX, or ``None``."""
    kinds = [word for word in words if word in TYPES]
    if len(kinds) != (2 if opcode == "vset" else 3) or not {*kinds} <= {"u32", "s32"}:
        return f"Unexpected instruction types specified for '{opcode}'"
    for word in words:
        if word not in kinds and word not in _OWN_WORDS[opcode].split():
            return f"Illegal modifier '.{word}' for instruction '{opcode}'"
    if opcode in ("vshl", "vshr"):
        if not {"clamp", "wrap"} & {*words}:
            return f"Clamp modifier required for instruction '{opcode}'"
        if kinds[2] != "u32":
            return "Operation requires .u32 type"
    if opcode == "vset" and not {*COMPARISONS} & {*words}:
        return "Comparison modifier required for instruction 'vset'"
    return None
