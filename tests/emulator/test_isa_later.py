"""Arithmetic of architectures after Hopper, on both engines, against fractions and integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.device import Device, run_lanes
from tests.emulator.reference import (
    FORMATS,
    added,
    bits_of_all,
    clamp,
    flush,
    fused,
    multiplied,
    one_nan,
)
from tests.support.tiers import eager

HEADER = ".version 9.5\n.target sm_120a\n.address_size 64\n"
COUNT = 256
F32 = FORMATS["f32"]
Array = npt.NDArray[np.generic]

OPERATIONS: dict[str, tuple[int, Callable[..., int]]] = {
    "add": (2, added),
    "sub": (2, lambda fmt, a, b, mode: added(fmt, a, b ^ fmt.sign, mode)),
    "mul": (2, multiplied),
    "fma": (3, fused),
}


@pytest.fixture(params=[INTERPRET, COMPILE])
def lanes(request: pytest.FixtureRequest) -> Callable[..., list[Array]]:
    """`run_lanes` for sm_120a with one of the engines."""
    if request.param == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    engines = Engines(request.param, in_order=True, tiers=eager())
    return partial(run_lanes, header=HEADER, execute=partial(execute, engines=engines))


def numbers(count: int) -> list[Array]:
    return [bits_of_all(F32, 2 * COUNT, seed) for seed in range(count)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_packed(lanes: Callable[..., list[Array]], name: str) -> None:
    """Each half of the register is an operation of its own, in every rounding."""
    arity, reference = OPERATIONS[name]
    values = numbers(arity)
    sources = {letter: each.view("u8") for letter, each in zip("abc", values, strict=False)}
    modes = ("rn", "rz", "rm", "rp")
    names = ", ".join(f"%{letter}" for letter in sources)
    text = " ".join(f"{name}.{mode}.f32x2 %{mode}, {names};" for mode in modes)
    got = lanes(text, sources, dict.fromkeys(modes, "u8"))
    for mode, each in zip(modes, got, strict=True):
        for lane, bits in enumerate(each.view("u4")):
            operands = [int(source[lane]) for source in values]
            assert one_nan(F32, int(bits)) == reference(F32, *operands, mode), (mode, lane)


def test_packed_is_as_single(lanes: Callable[..., list[Array]]) -> None:
    """With ``.ftz`` the halves are those of the recorded ``f32`` instructions."""
    a, b, c = numbers(3)
    sources = {"a": a.view("u8"), "b": b.view("u8"), "c": c.view("u8")}
    single = {"a": a, "b": b, "c": c}
    forms = {"add": "%a, %b", "sub": "%a, %b", "mul": "%a, %b", "fma": "%a, %b, %c"}
    for packed, width, given in ((".f32x2", "u8", sources), (".f32", "u4", single)):
        text = " ".join(f"{n}.rn.ftz{packed} %r{n}, {operands};" for n, operands in forms.items())
        results = lanes(text, given, {f"r{name}": width for name in forms})
        got = [each.view("u4").tolist() for each in results]
        if packed == ".f32x2":
            wanted = got
    assert got == wanted


@pytest.mark.parametrize("subtracts", [False, True])
def test_packed_products_are_fused(lanes: Callable[..., list[Array]], subtracts: bool) -> None:
    """As ptxas does: without a rounding modifier, a product and a sum are one ``fma``."""
    a, b, c = numbers(3)
    sources = {"a": a.view("u8"), "b": b.view("u8"), "c": c.view("u8")}
    last = "sub.f32x2 %d, %c, %d;" if subtracts else "add.f32x2 %d, %d, %c;"
    (got,) = lanes(f"mul.f32x2 %d, %a, %b; {last}", sources, {"d": "u8"})
    for lane, bits in enumerate(got.view("u4")):
        first = int(a[lane]) ^ (F32.sign if subtracts else 0)
        expected = fused(F32, first, int(b[lane]), int(c[lane]))
        assert one_nan(F32, int(bits)) == one_nan(F32, expected), lane


@pytest.mark.parametrize("narrow", ["f16", "bf16"])
def test_mixed_precision(lanes: Callable[..., list[Array]], narrow: str) -> None:
    """Operands of 16 bits are widened, then one operation of f32 is rounded."""
    half = FORMATS[narrow]
    a, b, c = (bits_of_all(fmt, COUNT, seed) for seed, fmt in enumerate((half, half, F32)))
    text = f"""
        add.rz.f32.{narrow} %sum, %a, %c; sub.rp.f32.{narrow} %less, %a, %c;
        fma.rn.f32.{narrow} %fused, %a, %b, %c; fma.rm.sat.f32.{narrow} %one, %a, %b, %c;"""
    results = dict.fromkeys(("sum", "less", "fused", "one"), "u4")
    got = lanes(text, {"a": a, "b": b, "c": c}, results)

    def wide(bits: int) -> int:
        if half.is_nan(bits):
            return F32.nan
        sign = F32.sign if bits & half.sign else 0
        if half.is_infinite(bits):
            return sign | F32.infinity
        return F32.rounded(half.value(bits), negative_zero=bool(sign))

    for lane in range(COUNT):
        x, y, z = wide(int(a[lane])), wide(int(b[lane])), int(c[lane])
        expected = (
            added(F32, x, z, "rz"),
            added(F32, x, z ^ F32.sign, "rp"),
            fused(F32, x, y, z),
            clamp(F32, fused(F32, x, y, z, "rm")),
        )
        assert tuple(one_nan(F32, int(each[lane])) for each in got) == expected, lane


def _extreme(pick: Callable[..., int], values: list[int], *, nan: bool) -> int:
    """The ``min`` or ``max`` of the bits of f32 numbers."""
    ordered = [-(v ^ F32.sign) - 1 if v & F32.sign else v for v in values if not F32.is_nan(v)]
    if not ordered or (nan and len(ordered) < len(values)):
        return F32.nan
    best = pick(ordered)
    return best if best >= 0 else -(best + 1) ^ F32.sign


@pytest.mark.parametrize("op", ["min", "max"])
def test_three_inputs(lanes: Callable[..., list[Array]], op: str) -> None:
    values = [bits_of_all(F32, COUNT, seed) for seed in range(3)]
    ways = ("", ".NaN", ".abs", ".ftz.NaN.abs")
    text = " ".join(f"{op}{way}.f32 %r{n}, %a, %b, %c;" for n, way in enumerate(ways))
    got = lanes(text, dict(zip("abc", values, strict=True)), {f"r{n}": "u4" for n in range(4)})
    for way, each in zip(ways, got, strict=True):
        for lane in range(COUNT):
            given = [int(v[lane]) for v in values]
            if "ftz" in way:
                given = [flush(F32, v) for v in given]
            if "abs" in way:
                given = [v & ~F32.sign for v in given]
            expected = _extreme(min if op == "min" else max, given, nan="NaN" in way)
            assert one_nan(F32, int(each[lane])) == expected, (way, lane, given)


@pytest.mark.parametrize("op", ["min", "max"])
def test_reductions_of_numbers(lanes: Callable[..., list[Array]], op: str) -> None:
    """Groups of lanes with and without NaN, and with both zeros."""
    values = np.linspace(-5, 9, 64).astype("f4")
    values[[3, 40]] = np.nan
    values[33:48] = np.nan
    values[48:64:2], values[49:64:2] = 0.0, -0.0
    mask = np.where(np.arange(64) % 32 < 16, 0xFFFF, 0xFFFF0000).astype("u4")
    ways = ("", ".NaN", ".abs", ".abs.NaN")
    header = HEADER.replace("sm_120a", "sm_100a")
    text = "mov.b32 %f, %a;" + " ".join(
        f"redux.sync.{op}{way}.f32 %g, %f, %b; mov.b32 %r{n}, %g;" for n, way in enumerate(ways)
    )
    text = f"{{ .reg .f32 %f, %g; {text} }}"
    sources = {"a": values.view("u4"), "b": mask}
    got = lanes(text, sources, {f"r{n}": "u4" for n in range(4)}, header=header)
    for way, each in zip(ways, got, strict=True):
        for group in range(4):
            part = values[16 * group : 16 * group + 16].view("u4")
            given = [int(v) & ~F32.sign if "abs" in way else int(v) for v in part]
            expected = _extreme(min if op == "min" else max, given, nan="NaN" in way)
            assert set(each[16 * group : 16 * group + 16].tolist()) == {expected}, (way, group)


def test_bytes(lanes: Callable[..., list[Array]]) -> None:
    a, b = (np.random.default_rng(seed).integers(0, 2**32, COUNT, "u4") for seed in range(2))
    operations: dict[str, Callable[[int, int], int]] = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "min": min,
        "max": max,
    }
    limits = {"u8x4": (0, 255), "s8x4": (-128, 127), "u16x2": (0, 65535), "s16x2": (-32768, 32767),
              "u32": (0, 2**32 - 1)}  # fmt: skip
    forms = [(op, "", kind) for op in operations for kind in ("u8x4", "s8x4")]
    forms += [("add", ".sat", kind) for kind in limits]
    forms += [("sub", ".sat", kind) for kind in ("u8x4", "s8x4")]
    forms += [(op, ".relu", "s8x4") for op in ("min", "max")]
    text = " ".join(f"{op}{how}.{kind} %r{n}, %a, %b;" for n, (op, how, kind) in enumerate(forms))
    text += " neg.s8x4 %minus, %a;"
    results = dict.fromkeys((*(f"r{n}" for n in range(len(forms))), "minus"), "u4")
    *got, minus = lanes(text, {"a": a, "b": b}, results)
    assert np.array_equal(minus.view("i1"), -a.view("i1"))
    for (op, how, kind), each in zip(forms, got, strict=True):
        size = {"8x4": 1, "6x2": 2, "32": 4}[kind[-3:] if "x" in kind else kind[1:]]
        dtype = f"{'i' if kind[0] == 's' else 'u'}{size}"
        for x, y, z in zip(a.view(dtype), b.view(dtype), each.view(dtype), strict=True):
            exact = operations[op](int(x), int(y))
            if how == ".sat":
                exact = min(max(exact, limits[kind][0]), limits[kind][1])
            elif how == ".relu":
                exact = max(exact, 0)
            assert (exact - int(z)) % (1 << 8 * size) == 0, (op, how, kind, x, y, z)


def test_products_without_carry(lanes: Callable[..., list[Array]]) -> None:
    a, b, c = (np.random.default_rng(seed).integers(0, 2**64, 64, "u8") for seed in range(3))
    low, high = lanes("clmad.lo.u64 %l, %a, %b, %c; clmad.hi.u64 %h, %a, %b, %c;",
                      {"a": a, "b": b, "c": c}, {"l": "u8", "h": "u8"})  # fmt: skip
    for lane in range(64):
        total = 0
        for place in range(64):
            total ^= (int(a[lane]) << place) * (int(b[lane]) >> place & 1)
        assert int(low[lane]) == (total ^ int(c[lane])) % 2**64
        assert int(high[lane]) == total >> 64 ^ int(c[lane])


def test_turns(lanes: Callable[..., list[Array]]) -> None:
    """The sine and cosine of eighths of a turn."""
    turns = np.arange(-16, 17, dtype="f4") / 8
    text = "sin.approx.ftz.2pi.f32 %s, %a; cos.approx.ftz.2pi.f32 %c, %a;"
    sine, cosine = lanes(text, {"a": turns.view("u4")}, {"s": "u4", "c": "u4"})
    assert np.allclose(sine.view("f4"), np.sin(2 * np.pi * turns), atol=1e-6)
    assert np.allclose(cosine.view("f4"), np.cos(2 * np.pi * turns), atol=1e-6)


@pytest.mark.parametrize("engine", [INTERPRET, COMPILE])
@pytest.mark.parametrize("vector", ["v8.b32", "v4.b64"])
def test_accesses_of_256_bits(vector: str, engine: str) -> None:
    """A lane copies the 32 bytes at its address, and again without the first element."""
    if engine == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    count, width = int(vector[1]), vector[-3:]
    names = [f"%e{n}" for n in range(count)]
    text = f"""{HEADER}.visible .entry copy(.param .u64 from, .param .u64 to) {{
        .reg .{width} {", ".join(names)}; .reg .u64 %a, %b, %w; .reg .u32 %t;
        mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 32;
        ld.param.u64 %a, [from]; ld.param.u64 %b, [to];
        add.u64 %a, %a, %w; mad.wide.u32 %b, %t, 64, %b;
        ld.global.nc.L1::no_allocate.L2::evict_last.{vector} {{{", ".join(names)}}}, [%a];
        st.global.L2::evict_first.{vector} [%b], {{{", ".join(names)}}};
        st.relaxed.gpu.global.{vector} [%b+32], {{{", ".join(["_", *names[1:]])}}}; }}"""
    engines = Engines(engine, in_order=True, tiers=eager())
    device = Device(text, execute=partial(execute, engines=engines))
    values = np.arange(8 * 32, dtype="u4") + 1
    source, target = device.buffer(values), device.buffer(np.zeros(16 * 32, "u4"))
    device.launch("copy", (1,), (32,), source, target)
    got = device.read(target, "u4", 16 * 32).reshape(32, 2, 8)
    assert np.array_equal(got[:, 0], values.reshape(32, 8))
    left_out = 8 // count
    assert not got[:, 1, :left_out].any()
    assert np.array_equal(got[:, 1, left_out:], values.reshape(32, 8)[:, left_out:])
    with pytest.raises(DeviceFault, match="misaligned"):
        device.launch("copy", (1,), (1,), source + 16, target)


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("st.shared.v8.b32 [%a], {%t, _, %t, %t, %t, %t, %t, _};", "global state space expected"),
        ("st.v8.u32 [%a], {%t, _, %a, %t, %t, %t, %t, %t};", "Incompatible elements"),
    ],
)
def test_a_store_without_some_elements_is_checked_as_a_whole(store: str, message: str) -> None:
    text = f"{HEADER}.visible .entry k() {{ .reg .u64 %a; .reg .u32 %t; {store} }}"
    with pytest.raises(PtxError, match=message):
        compile_module(parse(text))
