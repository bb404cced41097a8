"""``--algebra``: kernels that compute the same formula in another order agree exactly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Ran, Run

ROOT = Path(__file__).resolve().parents[2]
HONEST = ("honest_atomic", "honest_scratch", "honest_serial", "honest_shared", "honest_shuffle")
CENTER = (
    *("-d", "cpu", "--algebra", "--grid", "rows", "--block", "64", "x=f32[rows,columns]:rand"),
    *("y=f32[rows,columns]", "rows=i32:3", "columns=i32:400"),
)
MEAN = "y == (old(x).T - mean(old(x), axis=1)).T"
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
# y and z of x by two functions of the same values.
TWO = """
.visible .entry one(.param .u64 x, .param .u64 y) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<9>; .reg .b16 %h<4>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
    ld.global.f32 %f1, [%rd1];
"""
END = "    st.global.f32 [%rd2], %f8;\n    ret;\n}\n"


def center(run: Run, name: str, *options: str) -> Ran:
    return run("launch", f"samples/judge/{name}.ptx", *CENTER, *options)


@pytest.fixture
def compare(run: Run, tmp_path: Path) -> Callable[..., Ran]:
    """Launch a kernel, and another one as its baseline: both compute %f8 of %f1."""

    def compare(one: str, other: str, device: str = "cpu") -> Ran:
        kernels = f"{TWO}{one}{END}{TWO.replace('entry one', 'entry other')}{other}{END}"
        head = HEAD if device == "cpu" else HEAD.replace("sm_90", "sm_100a")
        (tmp_path / "k.ptx").write_text(head + kernels)
        return run(
            *("launch", "k.ptx", "-k", "one", "--baseline", ":other", "-d", device, "--algebra"),
            *("--block", "64", "x=f32[64]:randn", "y=f32[64]"),
        )

    return compare


# --- the judge's samples --------------------------------------------------------------------------


@pytest.mark.parametrize("name", HONEST)
def test_honest_kernels_agree_with_the_formula_and_with_one_another(run: Run, name: str) -> None:
    ran = center(run, name, "--check", MEAN, "--baseline", "samples/judge/honest_serial.ptx")
    assert ran.code == 0, ran.out
    assert f"PASS {MEAN}\n" in ran.out  # without a tolerance


@pytest.mark.parametrize("name", ["tolerance", "shrinks"])
@pytest.mark.parametrize(
    "expected", [("--check", MEAN), ("--baseline", "samples/judge/honest_shuffle.ptx")]
)
def test_a_kernel_that_computes_something_else_fails(
    run: Run, name: str, expected: tuple[str, str]
) -> None:
    assert center(run, name, *expected, "--rtol", "1", "--atol", "1").code == 1


def test_the_judge_with_algebra_needs_no_tolerance(run: Run) -> None:
    ran = run(
        *("launch", "--spec", "samples/judge/judge.toml", "-d", "cpu", "-q", "--algebra"),
        *("--candidate", "samples/judge/honest_atomic.ptx"),
        *("--candidate", "samples/judge/tolerance.ptx"),
        *("--candidate", "samples/judge/shrinks.ptx"),
    )
    assert "passed  samples/judge/honest_atomic.ptx  8 of 8 cases passed" in ran.out
    assert "failed  samples/judge/tolerance.ptx" in ran.out
    assert "failed  samples/judge/shrinks.ptx  7 of 8 cases passed; long rows" in ran.out


# --- instructions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fma.rn.f32 %f8, %f1, %f1, %f1;", "add.f32 %f2, %f1, 0f3F800000; mul.f32 %f8, %f2, %f1;"),
        ("div.rn.f32 %f8, %f1, 0f40400000;", "mul.f32 %f8, %f1, 0f3EAAAAAB;"),
        (
            "add.f32 %f2, %f1, 0f40A00000; div.full.f32 %f8, %f1, %f2;",
            "add.f32 %f2, %f1, 0f40A00000; rcp.approx.ftz.f32 %f3, %f2; mul.f32 %f8, %f3, %f1;",
        ),
        ("neg.f32 %f8, %f1;", "sub.ftz.f32 %f8, 0f00000000, %f1;"),
        (
            "cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h1; add.f32 %f8, %f2, %f1;",
            "add.f32 %f8, %f1, %f1;",
        ),
        (
            "cvt.rn.bf16.f32 %h1, %f1; mov.b32 %r2, {0, %h1}; mov.b32 %f8, %r2;",
            "mul.f32 %f8, %f1, 0f3F800000;",
        ),
        (
            "cvt.rn.bf16x2.f32 %r2, %f1, 0f3F000000; add.rn.bf16x2 %r2, %r2, %r2; "
            "mov.b32 {%h1, %h2}, %r2; cvt.f32.bf16 %f8, %h2;",
            "add.f32 %f8, %f1, %f1;",
        ),
        ("cvta.to.global.u64 %rd2, %rd2; cvt.rn.f32.u32 %f2, %r1; add.f32 %f8, %f2, %f2;",
         "shl.b32 %r2, %r1, 1; cvt.rn.f32.s32 %f8, %r2;"),
        ("max.f32 %f8, %f1, 0f3F800000;",
         "setp_gt"),
        ("sqrt.approx.f32 %f2, %f1; rcp.rn.f32 %f8, %f2;", "rsqrt.approx.ftz.f32 %f8, %f1;"),
        ("ex2.approx.f32 %f8, %f1;", "mul.f32 %f2, %f1, 0f40000000; mul.f32 %f2, %f2, 0f3F000000; "
         "ex2.approx.ftz.f32 %f8, %f2;"),
        ("cvt.rna.tf32.f32 %r2, %f1; mov.b32 %f8, %r2;", "add.f32 %f8, %f1, 0f00000000;"),
        ("cvt.rn.bf16.f32 %h1, %f1; mov.b16 %h2, 0x3f80; max.bf16 %h3, %h1, %h2; "
         "abs.bf16 %h3, %h3; cvt.f32.bf16 %f8, %h3;",
         ".reg .pred %p1; cvt.rn.bf16.f32 %h1, %f1; mov.b16 %h2, 0x3f80; "
         "setp.gt.bf16 %p1, %h1, %h2; selp.b16 %h3, %h1, %h2, %p1; cvt.f32.bf16 %f2, %h3; "
         "abs.f32 %f8, %f2;"),
        ("cvt.rni.f32.f32 %f8, %f1;", "cvt.rni.s32.f32 %r2, %f1; cvt.rn.f32.s32 %f8, %r2;"),
    ],
)  # fmt: skip
def test_other_orders_agree(compare: Callable[..., Ran], one: str, other: str) -> None:
    if other == "setp_gt":
        other = (
            ".reg .pred %p1; mul.f32 %f2, %f1, 0f3F800000; setp.gt.f32 %p1, %f1, 0f3F800000; "
            "selp.f32 %f8, %f2, 0f3F800000, %p1;"
        )
    ran = compare(one, other)
    is_third = "0f40400000" in one  # 1/3 is no f32: the rounded constant is another number
    assert ran.code == int(is_third), ran.out


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mul.f32 %f8, %f1, %f1;", "add.f32 %f8, %f1, %f1;"),
        ("sin.approx.f32 %f8, %f1;", "cos.approx.f32 %f8, %f1;"),
        ("cvt.rni.f32.f32 %f8, %f1;", "mov.f32 %f8, %f1;"),
        ("cvt.rzi.s32.f32 %r2, %f1; cvt.rn.f32.s32 %f8, %r2;", "mov.f32 %f8, %f1;"),
        ("ex2.approx.f32 %f8, %f1;", "add.f32 %f2, %f1, %f1; ex2.approx.f32 %f8, %f2;"),
        ("mov.b32 %r2, %f1; mul.f32 %f8, %f1, 0f3F800000;",
         "mul.f32 %f2, %f1, 0f3F800000; mov.b32 %r2, %f2; and.b32 %r2, %r2, 0xffffff00; "
         "mov.b32 %f8, %r2;"),
        ("mul.f32 %f2, %f1, 0f3F800000; mov.b32 %r2, %f2; shl.b32 %r2, %r2, 23; mov.b32 %f8, %r2;",
         "mov.f32 %f8, 0f00000000;"),
    ],
)  # fmt: skip
def test_other_formulas_do_not_agree(compare: Callable[..., Ran], one: str, other: str) -> None:
    ran = compare(one, other)
    assert ran.code == 1
    assert "FAIL y as by other\n" in ran.out


def test_what_is_no_arithmetic_is_named(compare: Callable[..., Ran]) -> None:
    ran = compare("ex2.approx.f32 %f2, %f1; max.f32 %f8, %f2, %f1;", "mov.f32 %f8, %f1;")
    assert "one: not arithmetic modulo a prime: ex2.approx.f32, max.f32\n" in ran.err


def test_small_integers_are_rounded_to_themselves(compare: Callable[..., Ran]) -> None:
    ran = compare(
        "cvt.rn.f32.u32 %f2, %r1; mul.f32 %f2, %f2, 0f3FC00000; add.f32 %f2, %f2, %f2; "
        "cvt.rmi.s32.f32 %r2, %f2; cvt.rn.f32.s32 %f8, %r2;",
        "mul.lo.u32 %r2, %r1, 3; cvt.rn.f32.u32 %f8, %r2;",
    )
    assert ran.code == 0, ran.out


def test_all_steps_compute_modulo_the_prime(run: Run) -> None:
    ran = run(
        *("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "8", "a=f32:0.1"),
        *("x=f32[8]:randn", "y=f32[8]:randn", "8", "--check", "y == a*x + old(y)", "--then"),
        *("--threads", "8", "a", "x", "y", "8", "--check", "y == 2*a*x + old(y)", "--algebra"),
    )
    assert ran.code == 0, ran.out


def test_reductions_over_warps_use_the_order_of_max(compare: Callable[..., Ran]) -> None:
    steps = "".join(
        f"shfl.sync.bfly.b32 %f3, %f8, {lanes}, 31, -1; max.f32 %f8, %f8, %f3; "
        for lanes in (16, 8, 4, 2, 1)
    )
    ran = compare("redux.sync.max.f32 %f8, %f1, -1;", f"mov.f32 %f8, %f1; {steps}", "cpu@b200")
    assert ran.code == 0, ran.out


def test_infinities_remain(compare: Callable[..., Ran]) -> None:
    minus = "0fFF800000"
    ran = compare(
        f"max.f32 %f2, %f1, {minus}; add.f32 %f3, {minus}, %f1; ex2.approx.f32 %f3, %f3; "
        "add.f32 %f8, %f2, %f3;",
        "mul.f32 %f8, %f1, 0f3F800000;",
    )
    assert ran.code == 0, ran.out


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("mma", "product_pipelined"), ("mma", "gram_double"), ("mma", "product_narrow")],
)
def test_tensor_cores_compute_the_formula(run: Run, name: str, kernel: str) -> None:
    spec = ROOT / "tests" / "programs" / f"{name}.toml"
    ran = run("launch", "--spec", str(spec), "-d", "cpu", "--algebra", "--filter", kernel)
    assert ran.code == 0, ran.out


def test_tiles_agree_with_rows(run: Run) -> None:
    ran = run(
        *("launch", "samples/matmul.ptx", "-k", "matmul_tiled", "--baseline", ":matmul_naive"),
        *("-d", "cpu", "--algebra", "--threads", "20x20", "--block", "16x16"),
        *("a=f32[20,30]:randn", "b=f32[30,20]:randn", "c=f32[20,20]", "20", "20", "30"),
        *("--check", "c == a @ b", "--stateless", "--detect", "race"),
    )
    assert ran.code == 0, ran.out


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--expect", "y=@y.npy"), "--expect has no meaning with numbers modulo a prime"),
        (("--repeat", "3"), "--repeat has no meaning with numbers modulo a prime"),
        (("--reference", "0"), "--reference on a GPU has no meaning with numbers modulo a prime"),
        (("--cpu-engine", "compile"), "--cpu-engine compile has no meaning"),
        (("-d", "0"), "device 0 is a GPU"),
        (("--check", "y == exp(x)"), "exp is not arithmetic modulo a prime"),
        (("--check", "y == x % 2"), "'%' of floats is not arithmetic modulo a prime"),
    ],
)
def test_what_has_no_meaning_is_refused(
    run: Run, tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "y.npy").write_bytes(b"")
    ran = center(run, "honest_serial", *options)
    assert ran.code == 2
    assert reason in ran.err
