"""Variables of the image in ``cudarun launch``: ``--set``, and expressions that name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from conftest import Run

SOURCE = """
.version 7.0
.target sm_80
.address_size 64

.const .align 4 .b8 coef[20];
.global .align 4 .u32 counter;
.global .align 4 .f32 weights[3] = {0f3F800000, 0f40000000, 0f40400000};
.global .attribute(.managed) .align 4 .s32 flag;
.global .align 4 .u32 _ZN2ns5totalE = 3;

.visible .entry conv(.param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<3>;
    ld.param.u64 %rd1, [y];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p, %r2, %r1;
    @%p ret;
    mul.wide.u32 %rd2, %r2, 4;
    mov.u64 %rd3, coef;
    add.s64 %rd3, %rd3, %rd2;
    ld.const.f32 %f1, [%rd3];
    add.s64 %rd4, %rd1, %rd2;
    st.global.f32 [%rd4], %f1;
    red.global.add.u32 [counter], 1;
    ld.global.u32 %r3, [flag];
    red.global.add.u32 [_ZN2ns5totalE], %r3;
    ret;
}

.visible .entry clear(.param .u64 weights)
{
    .reg .b64 %rd;
    ld.param.u64 %rd, [weights];
    st.global.u32 [%rd], 0;
    ret;
}
"""
COEFFICIENTS = "coef=f32[5]:[1,2,3,2,1]"


@pytest.fixture(autouse=True)
def image(tmp_path: Path) -> None:
    (tmp_path / "conv.ptx").write_text(SOURCE)


def launch(*words: str) -> tuple[str, ...]:
    geometry = ("--threads", "5", "--block", "5")
    image = ("conv.ptx", "-k", "conv", "-d", "cpu")
    return ("launch", *image, *geometry, "y=f32[n]", "n=u32:5", *words)


def test_variables_are_written_before_the_launch_and_read_after_it(run: Run) -> None:
    ran = run(
        *launch("--set", COEFFICIENTS, "--set", "ns::total=10", "--set", "flag=7"),
        *("--check", "y == coef", "--check", "counter == 5", "--check", "flag == 7"),
        *("--check", 'symbol("ns::total") == old(symbol("ns::total")) + 5*flag'),
        *("--check", 'old(symbol("ns::total")) == 10', "--print", "weights[1:]"),
        *("--print", 'symbol("_ZN2ns5totalE", i32)'),
    )  # fmt: skip
    assert (ran.code, ran.out.splitlines()[1:3]) == (
        0,
        ["weights[1:] = [2. 3.]", 'symbol("_ZN2ns5totalE", i32) = 45'],
    )


def test_outputs_of_variables(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.arange(5, dtype=np.float32))
    ran = run(
        *launch("--set", "coef=@c.npy", "--save", "coef=out.npy", "--save", "counter=n.npy"),
        *("--expect", "coef=@c.npy", "--show", "coef=plot"),
    )
    assert ran.code == 0, ran.err
    assert np.array_equal(np.load(tmp_path / "out.npy"), np.arange(5, dtype=np.float32))
    assert np.load(tmp_path / "n.npy") == 5


def test_an_argument_precedes_a_variable_of_its_name(run: Run) -> None:
    ran = run(
        "launch", "conv.ptx", "-k", "clear", "-d", "cpu", "--threads", "1", "weights=f32[2]:ones",
        "--set", "weights=f32[3]:5",
        "--check", "weights == [0, 1]", "--check", 'symbol("weights") == [5, 5, 5]',
    )  # fmt: skip
    assert ran.code == 0, ran.out + ran.err


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("weights=f32[3]:[4,5,6]", "[4, 5, 6]"),
        ("weights=float3:4,5,6", "[4, 5, 6]"),
        ("weights=f32*3:4,5,6", "[4, 5, 6]"),
        ("weights={f32:4, f32:5, f32:6}", None),
        ("weights=bytes:000080400000a0400000c040", "[4, 5, 6]"),
        ("weights=u8[12]:zeros", None),
    ],
)
def test_forms_of_values(run: Run, value: str, expected: str | None) -> None:
    check = () if expected is None else ("--check", f"weights == {expected}")
    ran = run(*launch("--set", value, *check, "--print", 'symbol("weights", f32)'))
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "coff=1"], "--set: coff=1: conv.ptx does not contain this variable"),
        (["--set", "coef=f32[4]:1"], "--set: coef has 20 bytes; coef=f32[4]:1 has 16"),
        (["--set", "coef=1"], "--set: the image does not contain the type of coef"),
        (["--set", "weights=1"], "--set: weights has 3 elements; 1 is one value"),
        (["--set", "counter=f32[1]"], "--set: f32[1] has no initializer"),
        (["--set", "counter=1.5"], "--set: counter: "),
        (["--set", "counter=1", "--set", "counter=2"], "--set: counter is set twice"),
        (["--set", "counter=&flag"], "--set: counter: an address is 8 bytes, not 4"),
        (["--set", "counter"], "--set: expected NAME=VALUE"),
        (["--print", "coef"], "the image does not contain the type of coef (20 bytes)"),
        (["--print", 'symbol("counter", f64)'], "counter has 4 bytes, not a multiple of f64"),
        (["--print", 'symbol("conter")'], 'symbol("conter"): conv.ptx does not contain'),
        (["--print", "symbol(counter)"], "symbol requires the name of a variable in quotes"),
        (["--print", 'symbol("counter", float9)'], "expected a scalar type, such as f32"),
    ],
)
def test_refusals(run: Run, words: list[str], message: str) -> None:
    ran = run(*launch(*words))
    assert ran.code == 2
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert message in errors[0]


def test_every_timed_run_starts_with_the_same_variables(run: Run) -> None:
    ran = run(*launch("--repeat", "3", "--warmup", "2", "--check", "counter == 5"))
    assert ran.code == 0, ran.out + ran.err


def test_the_plan_and_json_list_variables(run: Run) -> None:
    ran = run(*launch("--set", COEFFICIENTS, "--dry-run"))
    assert ran.out.splitlines()[-2:] == [
        "memory  space  size  type    value",
        "coef    const  20    f32[5]  [1, 2, 3, 2, 1]",
    ]
    document = run(*launch("--set", "ns::total=1", "--print", "counter", "--json")).document
    variables = document["outcomes"][0]["result"]["memory"]
    assert [(v["name"], v["symbol"], v["value"]) for v in variables] == [
        ("ns::total", "_ZN2ns5totalE", "1"),
        ("counter", "counter", None),
    ]


def test_variables_in_specs(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "c.npy", np.ones(5, np.float32))
    (tmp_path / "deep").mkdir()
    words = ("--set", "coef=@c.npy", "--set", "counter=u32:2", "--check", "counter == 7")
    ran = run(*launch(*words, "--write-spec", "deep/kept.toml"))
    assert ran.code == 0, ran.err
    text = (tmp_path / "deep" / "kept.toml").read_text()
    assert 'set = ["coef=@../c.npy", "counter=u32:2"]' in text
    assert run("launch", "--spec", "deep/kept.toml", "-d", "cpu").code == 0
    (tmp_path / "deep" / "conv.ptx").write_text(SOURCE)
    (tmp_path / "deep" / "kept.toml").write_text(text.replace("../conv.ptx", "conv.ptx"))
    ran = run("launch", "--spec", "deep/kept.toml", "-d", "cpu", "--confine", "deep")
    assert ran.code == 2
    assert "c.npy" in ran.err


def test_the_address_of_a_variable_by_its_cpp_name(run: Run) -> None:
    ran = run(
        "launch", "conv.ptx", "-k", "clear", "-d", "cpu", "--threads", "1", "&ns::total",
        "--check", 'symbol("ns::total") == 0', "--check", 'old(symbol("ns::total")) == 3',
    )  # fmt: skip
    assert ran.code == 0, ran.out + ran.err


def test_the_reference_device_gets_the_same_variables(run: Run) -> None:
    ran = run(*launch("--set", "coef=f32[5]:rand", "--reference", "cpu", "--check", "y == coef"))
    assert ran.code == 0, ran.err
    assert "PASS coef as on cpu" in ran.out


POINTERS = """
.version 7.0
.target sm_80
.address_size 64

.global .align 8 .b8 table[16];
.global .align 8 .b8 task[16];
.const .align 8 .u64 one;
.const .align 4 .f32 unset[2];
.const .align 4 .f32 other[2];
.const .align 4 .u32 given = 1;

.func (.param .b32 result) first_of_unset();

.visible .entry sum(.param .u64 y)
{
    .reg .b64 %rd<6>;
    .reg .f32 %f<6>;
    .reg .b32 %n;
    .param .b32 got;
    ld.param.u64 %rd0, [y];
    ld.global.u64 %rd1, [table + 8];
    ld.global.f32 %f1, [%rd1];
    ld.global.u64 %rd2, [task];
    ld.global.f32 %f2, [%rd2];
    ld.const.u64 %rd3, [one];
    ld.global.f32 %f3, [%rd3];
    ld.const.u32 %n, [given];
    call.uni (got), first_of_unset, ();
    ld.param.f32 %f4, [got];
    add.f32 %f1, %f1, %f2;
    add.f32 %f1, %f1, %f3;
    add.f32 %f1, %f1, %f4;
    st.global.f32 [%rd0], %f1;
    ret;
}

.func (.param .b32 result) first_of_unset()
{
    .reg .f32 %f;
    ld.const.f32 %f, [unset];
    st.param.f32 [result], %f;
    ret;
}
"""


def test_addresses_as_values_and_constants_that_nobody_sets(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ptx").write_text(POINTERS)
    words = (
        "launch",
        "p.ptx",
        "-d",
        "cpu",
        "--threads",
        "1",
        "y=f32[1]",
        "--buffer",
        "a=f32[2]:[3,5]",
    )
    table = ("--set", "table=ptr[2]:[&a, &a[1]]", "--set", "task={p=f32[1]:20, n=i32:1}")
    ran = run(*words, *table, "--set", "one=&a[1]", "--check", "y == 30", "--print", "task.p")
    assert ran.code == 0, ran.out + ran.err
    assert "task.p = [20.]" in ran.out
    told = "note: sum reads the constant unset, which is zero: --set 'unset=…' sets it (8 bytes)"
    assert [line for line in ran.err.splitlines() if "constant" in line] == [told]
    ran = run(*words, *table, "--set", "one=&table", "--set", "unset=f32[2]:1", "--dry-run")
    assert ran.code == 0, ran.err
    assert "constant" not in ran.out + ran.err
    assert "task.p" in ran.out
    ran = run(*words, "--set", "one=&a[3]")
    assert "error: --set: &a[3] is out of bounds: a has 2 elements" in ran.err


def test_a_plan_knows_the_constants_that_earlier_steps_set(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ptx").write_text(POINTERS)
    first = ("launch", "p.ptx", "-d", "cpu", "--dry-run", "--threads", "1", "y=f32[1]")
    first += ("--set", "table=ptr[2]:[&y, &y]", "--set", "task={p=f32[1]:20, n=i32:1}")
    later = ("--then", "--threads", "1", "y")
    assert "sum reads the constant unset" in run(*first, *later).err
    first += ("--set", "one=&y", "--set", "unset=f32[2]:1")
    ran = run(*first, *later)
    assert ran.code == 0, ran.err
    assert "constant" not in ran.out + ran.err
