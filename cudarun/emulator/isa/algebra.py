"""Lane functions over numbers modulo a prime, in place of those of the instruction tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cudarun.base.residues import inverse, of_integers, opaque, representative
from cudarun.emulator.code import (
    ConstantUse,
    FunctionCode,
    Lanewise,
    Operation,
    RegisterUse,
    SinkUse,
    SymbolUse,
    Use,
    slots_of,
)
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import element
from cudarun.emulator.numerics.special_values import extreme_of
from cudarun.emulator.numerics.temporaries import temporaries_of, with_temporaries
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words

Compute = Callable[..., Array]

_UNCHANGED = frozenset({"mov", "ld", "ldu", "st", "selp", "shfl", "prmt"})
_RING: dict[str, Compute] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: representative(a * b) + c,
    "mad": lambda a, b, c: representative(a * b) + c,
    "neg": lambda a: -a,
    "div": lambda a, b: a * inverse(b),
    "rcp": inverse,
}
_FUNCTIONS = frozenset({"sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})
_LIMITS = {"sat": (0.0, 1.0), "relu": (0.0, np.inf)}
_FRACTION = 23  # bits of f32
_LARGEST_INTEGER = 255  # that a conversion to integers keeps: indices are such numbers
_EXACT_TESTS = frozenset({"eq", "ne", "equ", "neu", "num", "nan"})
_FORMATS = frozenset({"f16", "bf16", "f32", "f64"})


def in_residues(operation: Lanewise, opcode: str, words: Words) -> Lanewise:
    """Return an operation on numbers modulo the prime.

    It is opaque if it is no arithmetic: then its result depends on the representatives of its
    operands, and is the same for the same operands only.
    """
    sources = tuple(map(_float_format, operation.sources))
    targets = tuple(map(_float_format, operation.destinations))
    if opcode in _UNCHANGED or not any((*sources, *targets)):
        return operation
    limits = next((_LIMITS[word] for word in _LIMITS if words.get(word)), None)
    target = targets[0] if targets else ""
    compute = _RING.get(opcode)
    if opcode == "cvt" and not words.get("irnd"):
        compute = _converted(operation.sources, sources)
        target = target or ("f32" if words.get("tf32") else "")
    elif opcode in _FUNCTIONS:
        of_turns = f"{opcode}.2pi" if words.get("2pi") else opcode
        compute = _opaque(of_turns, operation.function, sources[0])
    elif opcode in ("min", "max"):
        compute = partial(extreme_of, opcode, words)
    elif opcode == "abs":
        compute = np.abs
    if compute is None or not target:
        if not any(sources):
            return operation
        prepare = algebra.as_format
        if words.get("irnd"):
            prepare = partial(_rounded, words["irnd"])
        elif words.get("cmp"):
            prepare = _in_order
        function = _of_representatives(operation.function, sources, prepare)
        return replace(operation, function=function, is_opaque=words.get("cmp") not in _EXACT_TESTS)
    is_opaque = limits is not None or (opcode not in _RING and opcode != "cvt")
    function = _stored(compute, sources, target, limits)
    return replace(operation, function=function, is_opaque=is_opaque)


def hash_exponents(code: FunctionCode) -> None:
    """Replace the shift of a number's bits to an exponent, as in ``expf``, by an opaque function.

    The lower bits of representatives are zeros, so that the shift would lose the number.
    """
    floats: set[int] = set()
    for operation in code.operations:
        is_copy = isinstance(operation, Lanewise) and operation.name == "mov.b32"
        copied = is_copy and not floats.isdisjoint(slots_of(operation.sources))
        floats |= {
            use.slot
            for use in operation.destinations
            if isinstance(use, RegisterUse) and (copied or _float_format(use) == "f32")
        }
    for block in code.blocks:
        block.operations = [_without_shift(each, floats) for each in block.operations]


def _without_shift(operation: Operation, floats: set[int]) -> Operation:
    match operation:
        case Lanewise(sources=(RegisterUse(slot), ConstantUse(count)), name="shl.b32"):
            if slot in floats and count.tolist() == [_FRACTION]:
                return replace(operation, function=_exponent, is_opaque=True)
    return operation


def _exponent(a: Array, count: Array, d: Array) -> None:
    numbers = opaque("exponent", algebra.load(a.view(np.float32), "f32"))
    np.copyto(d, algebra.store(numbers, "f32").view(d.dtype))


def _float_format(use: Use) -> str:
    """Return the format of the numbers of an operand; empty if they are none of the prime's."""
    match use:
        case ConstantUse(value):
            return {"f4": "f32", "f8": "f64"}.get(value.dtype.str[1:], "")
        case SymbolUse() | SinkUse():
            return ""
    name = element(use.type)
    return name if use.type.kind is TypeKind.FLOAT and name in _FORMATS else ""


def _numbers(values: Array, number_format: str) -> Array:
    return algebra.load(values, number_format) if number_format else values


def _stored(
    compute: Compute, sources: Sequence[str], target: str, limits: tuple[float, float] | None
) -> Callable[..., None]:
    """Return the lane function that computes with representatives, clamped to limits."""

    def operate(*arguments: Array) -> None:
        *given, d = arguments[: len(sources) + 1]
        numbers = map(_numbers, given, sources)
        with np.errstate(invalid="ignore", over="ignore"):
            result = representative(compute(*numbers))
        if limits is not None:
            result = np.clip(result, *limits)
        stored = algebra.store(result, target)
        np.copyto(d, stored.view(d.dtype) if d.dtype.kind != "f" else stored)

    return operate


def _of_representatives(
    function: Callable[..., object], sources: Sequence[str], prepare: Callable[[Array, str], Array]
) -> Callable[..., None]:
    """Return the instruction's own function, of the representatives of its operands.

    Args:
        prepare: Returns representatives in the format of an operand.
    """

    def operate(*arguments: Array) -> None:
        given = [
            prepare(algebra.load(value, name), name).view(value.dtype) if name else value
            for value, name in zip(arguments, sources, strict=False)
        ]
        function(*given, *arguments[len(sources) :])

    return with_temporaries(operate, temporaries_of(function))


def _rounded(direction: str, numbers: Array, number_format: str) -> Array:
    """Return integers in a format: the small ones of numbers, of others opaque ones.

    Rounding could not keep them all: every representative is an integer.
    """
    is_kept = ~(np.abs(numbers) > _LARGEST_INTEGER) | np.isinf(numbers)
    return algebra.as_format(np.where(is_kept, numbers, opaque(direction, numbers)), number_format)


def _in_order(numbers: Array, number_format: str) -> Array:
    """Return values in a format that are in the order of representatives."""
    found = algebra.as_format(numbers, number_format)
    if number_format != "bf16":
        return found
    magnitudes = np.where(np.isfinite(numbers), np.abs(numbers), 0.0).astype(np.uint16)
    bits = np.where(numbers < 0, np.uint16(0x8000), np.uint16(0)) | magnitudes
    return np.where(np.isfinite(numbers), bits, found)


def _converted(uses: Sequence[Use], sources: Sequence[str]) -> Compute | None:
    """Return a conversion to floats, which changes no number; ``None`` for another one."""
    match uses:
        case (_, _) if all(sources):
            return lambda upper, lower: np.stack(np.broadcast_arrays(lower, upper), axis=1)
        case (_,) if all(sources):
            return lambda a: a
        case (ConstantUse(value),) if value.dtype.kind in "iu":
            return of_integers
        case (RegisterUse(type=Type(kind=TypeKind.SIGNED | TypeKind.UNSIGNED, elements=1)),):
            return of_integers
    return None


def _opaque(name: str, function: Callable[..., object], source: str) -> Compute:
    """Return a function without an image; of infinities, NaN and zero it has its usual values."""

    def compute(a: Array) -> Array:
        given = algebra.as_format(a, source)
        usual = np.empty_like(given)
        scratch = [np.empty_like(given, each) for each in temporaries_of(function)]
        function(given, usual, *scratch)
        plain = algebra.load(usual, source)
        known = ~np.isfinite(a) | ((a == 0) & np.isfinite(plain))
        hashed = inverse(opaque("sqrt", a)) if name == "rsqrt" else opaque(name, a)
        return np.where(known, plain, hashed)

    return compute
