"""Arithmetic, bit for bit: every operation over the same numbers, against exact references.

Integers are computed with Python's, floating point with fractions that are rounded once.
"""

import ctypes
import itertools
import math
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

HEADER = b".version 8.0\n.target sm_70\n.address_size 64\n"
MASK = {32: 0xFFFFFFFF, 64: 0xFFFFFFFFFFFFFFFF}
NAN = {32: 0x7FFFFFFF, 64: 0x7FF8000000000000}
ITEMS = 256


@dataclass(frozen=True)
class Operation:
    """One PTX statement on ``%x %y %z`` into ``%w``, and what it must give, as bits."""

    name: str
    text: str
    reference: Callable[[int, int, int], int | None]  # None: any NaN
    bits: int = 32
    floating: bool = False


# --- references ----------------------------------------------------------------------------------


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def integer(name: str, text: str, reference: Callable[..., int], bits: int = 32) -> Operation:
    def wrapped(x: int, y: int, z: int) -> int:
        return reference(x, y, z) & MASK[bits]

    return Operation(name, text, wrapped, bits)


def divided(x: int, y: int) -> int:
    """Towards zero."""
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def number(value: int, bits: int) -> float:
    return struct.unpack("<f" if bits == 32 else "<d", value.to_bytes(bits // 8, "little"))[0]


def rounded(exact: Fraction, bits: int, mode: str, *, negative_zero: bool = False) -> int:
    """The bits of an exact number, rounded once: ``rn``, ``rz``, ``rp`` or ``rm``."""
    digits, least, bias = (24, -149, 127) if bits == 32 else (53, -1074, 1023)
    sign = exact < 0 or (exact == 0 and negative_zero)
    magnitude = abs(exact)
    if magnitude == 0:
        return int(sign) << bits - 1
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - digits + 1, least)
    whole, rest = divmod(magnitude, unit)
    up = {
        "rn": rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1),
        "rz": False,
        "rp": rest > 0 and not sign,
        "rm": rest > 0 and sign,
    }[mode]
    result = (whole + up) * unit
    largest = (2 - Fraction(2) ** (1 - digits)) * Fraction(2) ** bias
    if result > largest:
        infinite = mode == "rn" or mode == ("rm" if sign else "rp")
        result = math.inf if infinite else largest
    pattern = struct.pack("<f" if bits == 32 else "<d", float(result))
    return int.from_bytes(pattern, "little") | int(sign) << bits - 1


def floating(
    name: str, text: str, exact: Callable[..., Fraction], bits: int, mode: str, operands: int
) -> Operation:
    """An operation whose result is a rational number, for operands that are numbers."""

    def reference(*patterns: int) -> int | None:
        values = [number(pattern, bits) for pattern in patterns[:operands]]
        if not all(map(math.isfinite, values)):
            return special(name, values, bits)
        try:
            result = exact(*map(Fraction, values))
        except ZeroDivisionError:
            return special(name, values, bits)
        return rounded(result, bits, mode, negative_zero=zero_is_negative(name, values, mode))

    return Operation(name, text, reference, bits, floating=True)


def zero_is_negative(name: str, values: list[float], mode: str) -> bool:
    """The sign of a result that is exactly zero (IEEE 754, 6.3)."""
    signs = [math.copysign(1, value) < 0 for value in values]
    if name.startswith("add"):
        return signs[0] if signs[0] == signs[1] else mode == "rm"
    if name.startswith("fma"):
        product = signs[0] != signs[1]
        return product if product == signs[2] else mode == "rm"
    return signs[0] != signs[1]


def special(name: str, values: list[float], bits: int) -> int | None:
    """Infinities, NaN and division by zero: as numpy has them, one NaN for all."""
    kind = np.float32 if bits == 32 else np.float64
    with np.errstate(all="ignore"):
        x, y, *z = map(kind, values)
        if name.startswith("add"):
            result = x + y
        elif name.startswith("mul"):
            result = x * y
        elif name.startswith("div"):
            result = x / y
        else:
            product = kind(np.inf) * np.sign(x) * np.sign(y) if np.isinf([x, y]).any() else kind(1)
            result = product + z[0]
    if np.isnan(result):
        return NAN[32] if bits == 32 else None
    return int.from_bytes(result.tobytes(), "little")


def floating_operations() -> list[Operation]:
    found = []
    for bits in (32, 64):
        kind = f"f{bits}"
        for mode in ("rn", "rz", "rp", "rm"):
            found += [
                floating(
                    f"{word}_{mode}_{kind}",
                    f"{word}.{mode}.{kind} %w, {operands};",
                    exact,
                    bits,
                    mode,
                    count,
                )
                for word, operands, exact, count in (
                    ("add", "%x, %y", lambda x, y: x + y, 2),
                    ("mul", "%x, %y", lambda x, y: x * y, 2),
                    ("div", "%x, %y", lambda x, y: x / y, 2),
                    ("fma", "%x, %y, %z", lambda x, y, z: x * y + z, 3),
                )
            ]
    return found


def square_root(bits: int) -> Operation:
    kind = np.float32 if bits == 32 else np.float64

    def reference(x: int, _y: int, _z: int) -> int | None:
        with np.errstate(all="ignore"):
            root = np.sqrt(kind(number(x, bits)))
        if np.isnan(root):
            return NAN[32] if bits == 32 else None
        return int.from_bytes(root.tobytes(), "little")

    return Operation(f"sqrt_f{bits}", f"sqrt.rn.f{bits} %w, %x;", reference, bits, floating=True)


def converted(name: str, text: str, reference: Callable[[float], int]) -> Operation:
    """A float to an integer: NaN gives 0, and what is too large the nearest there is."""

    def wrapped(x: int, _y: int, _z: int) -> int:
        value = number(x, 32)
        return (0 if math.isnan(value) else reference(value)) & MASK[32]

    return Operation(name, text, wrapped, floating=True)


def clamped(value: float, low: int, high: int, to_integer: Callable[[float], int]) -> int:
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(to_integer(value), low), high)


S32 = (-(2**31), 2**31 - 1)
U32 = (0, 2**32 - 1)


def s(value: int) -> int:
    return signed(value, 32)


OPERATIONS = [
    integer("add_u32", "add.u32 %w, %x, %y;", lambda x, y, z: x + y),
    integer("sub_s32", "sub.s32 %w, %x, %y;", lambda x, y, z: x - y),
    integer("mul_lo", "mul.lo.u32 %w, %x, %y;", lambda x, y, z: x * y),
    integer("mul_hi_u32", "mul.hi.u32 %w, %x, %y;", lambda x, y, z: x * y >> 32),
    integer("mul_hi_s32", "mul.hi.s32 %w, %x, %y;", lambda x, y, z: s(x) * s(y) >> 32),
    integer("mad_lo", "mad.lo.s32 %w, %x, %y, %z;", lambda x, y, z: x * y + z),
    integer("div_u32", "or.b32 %y, %y, 1; div.u32 %w, %x, %y;", lambda x, y, z: x // (y | 1)),
    integer("rem_u32", "or.b32 %y, %y, 1; rem.u32 %w, %x, %y;", lambda x, y, z: x % (y | 1)),
    integer(
        "div_s32",
        "and.b32 %y, %y, 65535; or.b32 %y, %y, 1; div.s32 %w, %x, %y;",
        lambda x, y, z: divided(s(x), (y & 65535) | 1),
    ),
    integer(
        "rem_s32",
        "and.b32 %y, %y, 65535; or.b32 %y, %y, 1; rem.s32 %w, %x, %y;",
        lambda x, y, z: s(x) - divided(s(x), (y & 65535) | 1) * ((y & 65535) | 1),
    ),
    integer("min_s32", "min.s32 %w, %x, %y;", lambda x, y, z: min(s(x), s(y))),
    integer("max_u32", "max.u32 %w, %x, %y;", lambda x, y, z: max(x, y)),
    integer("abs_s32", "abs.s32 %w, %x;", lambda x, y, z: abs(s(x))),
    integer("neg_s32", "neg.s32 %w, %x;", lambda x, y, z: -x),
    integer("and_b32", "and.b32 %w, %x, %y;", lambda x, y, z: x & y),
    integer("xor_b32", "xor.b32 %w, %x, %y;", lambda x, y, z: x ^ y),
    integer("not_b32", "not.b32 %w, %x;", lambda x, y, z: ~x),
    integer("lop3", "lop3.b32 %w, %x, %y, %z, 0xE8;", lambda x, y, z: (x & y) | (x & z) | (y & z)),
    integer("shl", "shl.b32 %w, %x, %y;", lambda x, y, z: x << min(y, 32)),
    integer("shr_u32", "shr.u32 %w, %x, %y;", lambda x, y, z: x >> min(y, 32)),
    integer("shr_s32", "shr.s32 %w, %x, %y;", lambda x, y, z: s(x) >> min(y, 31)),
    integer("popc", "popc.b32 %w, %x;", lambda x, y, z: x.bit_count()),
    integer("clz", "clz.b32 %w, %x;", lambda x, y, z: 32 - x.bit_length()),
    integer("brev", "brev.b32 %w, %x;", lambda x, y, z: int(f"{x:032b}"[::-1], 2)),
    integer(
        "prmt",
        "prmt.b32 %w, %x, %y, 0x5140;",
        lambda x, y, z: (
            (x & 0xFF) | (y & 0xFF) << 8 | (x >> 8 & 0xFF) << 16 | (y >> 8 & 0xFF) << 24
        ),
    ),
    integer(
        "selp",
        "setp.lt.s32 %p, %x, %y; selp.b32 %w, %x, %z, %p;",
        lambda x, y, z: x if s(x) < s(y) else z,
    ),
    integer("mul_lo_u64", "mul.lo.u64 %w, %x, %y;", lambda x, y, z: x * y, 64),
    integer("mul_hi_u64", "mul.hi.u64 %w, %x, %y;", lambda x, y, z: x * y >> 64, 64),
    integer(
        "mad_wide",
        "cvt.u32.u64 %s, %x; cvt.u32.u64 %t, %y; mad.wide.s32 %w, %s, %t, %z;",
        lambda x, y, z: s(x & MASK[32]) * s(y & MASK[32]) + z,
        64,
    ),
    *floating_operations(),
    square_root(32),
    square_root(64),
    converted("cvt_rzi_s32", "cvt.rzi.s32.f32 %w, %x;", lambda v: clamped(v, *S32, int)),
    converted("cvt_rni_s32", "cvt.rni.s32.f32 %w, %x;", lambda v: clamped(v, *S32, round)),
    converted("cvt_rmi_u32", "cvt.rmi.u32.f32 %w, %x;", lambda v: clamped(v, *U32, math.floor)),
    Operation(
        "cvt_rn_f32_s32",
        "cvt.rn.f32.s32 %w, %x;",
        lambda x, y, z: rounded(Fraction(s(x)), 32, "rn"),
    ),
]


# --- the numbers ---------------------------------------------------------------------------------


def numbers(bits: int, *, floating: bool) -> list[tuple[int, int, int]]:
    """Triples of bit patterns: the edges with each other, then random ones."""
    if floating:
        packing = "<f" if bits == 32 else "<d"
        least = 1.401298464324817e-45 if bits == 32 else 5e-324
        values = [0.0, -0.0, 1.0, -1.5, least, 3e38, -3e38, math.inf, -math.inf, 0.1]
        edges = [int.from_bytes(struct.pack(packing, value), "little") for value in values]
    else:
        edges = [0, 1, 2, MASK[bits], 1 << bits - 1, (1 << bits - 1) - 1, 31, 32, 33]
    pairs = [
        (x, y, edges[(i + j) % len(edges)])
        for i, x in enumerate(edges)
        for j, y in enumerate(edges)
    ]
    chance = random.Random(bits)
    while len(pairs) < ITEMS:
        triple = tuple(chance.getrandbits(bits) for _ in range(3))
        if floating and any(math.isnan(number(value, bits)) for value in triple):
            continue
        pairs.append(triple)
    return pairs[:ITEMS]


QUIET = 1 << 51
NUMBERS_OR_NAN = [0, 0x3FF0 << 48, 0x7FF0 << 48, 0xFFF0 << 48]
NUMBERS_OR_NAN += [0x7FF8_0000_0000_ABCD, 0xFFFC_0000_0000_1234]  # quiet
NUMBERS_OR_NAN += [0x7FF0_0000_0000_777A, 0xFFF0_0000_0005_4321]  # signaling
NAN_OPERATIONS = {
    "nan_add": ("add.rn.f64 %w, %x, %y;", "yx"),
    "nan_add_rz": ("add.rz.f64 %w, %x, %y;", "yx"),
    "nan_sub": ("sub.rn.f64 %w, %x, %y;", "yx"),
    "nan_mul": ("mul.rn.f64 %w, %x, %y;", "yx"),
    "nan_div": ("div.rn.f64 %w, %x, %y;", "xy"),
    "nan_fma": ("fma.rn.f64 %w, %x, %y, %z;", "yzx"),
    "nan_fma_rz": ("fma.rz.f64 %w, %x, %y, %z;", "yzx"),
    "nan_min": ("min.f64 %w, %x, %y;", "yx"),
    "nan_max": ("max.f64 %w, %x, %y;", "yx"),
}  # the first of these operands that is NaN is the result


@pytest.fixture(scope="module")
def module_text(request: pytest.FixtureRequest) -> bytes:
    template = (request.path.parent / "ptx" / "operation.ptx").read_text()
    operations = [(each.name, each.text, each.bits) for each in OPERATIONS]
    operations += [(name, text, 64) for name, (text, _) in NAN_OPERATIONS.items()]
    kernels = [
        template.replace("NAME", name)
        .replace("BITS", str(bits))
        .replace("    OPERATION\n", f"    {text}\n")
        for name, text, bits in operations
    ]
    return HEADER + "".join(kernels).encode() + b"\0"


def results(cuda: Any, text: bytes, name: str, given: list[tuple[int, int, int]]) -> list[int]:
    """The bits that an operation gives for each triple."""
    cells = np.zeros((len(given), 4), np.uint64)
    cells[:, :3] = np.array(given, dtype=np.uint64)
    address = cuda.cuMemAlloc(cells.nbytes)
    cuda.cuMemcpyHtoD(address, cells, cells.nbytes)
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text), name.encode())
    cuda.launch(function, (int(address),), (ctypes.c_void_p,), block=(len(given), 1, 1))
    cuda.cuMemcpyDtoH(cells, address, cells.nbytes)
    return [int(each) for each in cells[:, 3]]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_bit_for_bit(cuda: Any, context: Any, module_text: bytes, operation: Operation) -> None:
    given = numbers(operation.bits, floating=operation.floating)
    found = results(cuda, module_text, operation.name, given)
    wrong = [
        f"{x:#x}, {y:#x}, {z:#x}: {got:#x}, not {expected if expected is None else hex(expected)}"
        for (x, y, z), got in zip(given, found, strict=True)
        for expected in [operation.reference(x, y, z)]
        if (got != expected if expected is not None else not math.isnan(number(got, 64)))
    ]
    assert not wrong


@pytest.mark.parametrize("name", NAN_OPERATIONS)
def test_one_of_several_nan(cuda: Any, context: Any, module_text: bytes, name: str) -> None:
    given = list(itertools.product(NUMBERS_OR_NAN, repeat=3))
    keeps_numbers = name in ("nan_min", "nan_max")
    for triple, got in zip(given, results(cuda, module_text, name, given), strict=True):
        bits = dict(zip("xyz", triple, strict=True))
        nan = [bits[each] for each in NAN_OPERATIONS[name][1] if math.isnan(number(bits[each], 64))]
        if nan and not (keeps_numbers and len(nan) == 1):
            assert got == nan[0] | QUIET, [hex(each) for each in triple]
