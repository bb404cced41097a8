"""``--assert``: conditions over the instructions that ran, and the resources of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

import cudarun
from cudarun.arguments.assertions import parse_assertion
from cudarun.base.errors import RequestError
from cudarun.session.launch.assertions import sass_counts

if TYPE_CHECKING:
    from conftest import Ran, Run

ROOT = Path(__file__).resolve().parents[2]
TILED = (
    *("launch", "samples/matmul.ptx", "-k", "matmul_tiled", "-d", "cpu", "--threads", "32x32"),
    *("--block", "16x16", "a=f32[32,32]", "b=f32[32,32]", "c=f32[32,32]", "32", "32", "32"),
)
SASS = """
//--------------------- .text.first --------------------------
first:
.text.first:
        /*0000*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;
        /*0010*/              @!P0 STL.64 [R1], R2 ;
        /*0020*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0030*/                   EXIT ;
.L_x_0:
        /*0040*/                   BRA `(.L_x_0);
        /*0050*/                   NOP;

//--------------------- .text.second --------------------------
.text.second:
        /*0000*/              @UP1 LDG.E.128 R0, [R2.64] ;
"""


def asserted(run: Run, *conditions: str) -> Ran:
    return run(*TILED, *(word for each in conditions for word in ("--assert", each)))


def test_true_conditions_pass(run: Run) -> None:
    # 4 blocks of 8 warps, 2 tiles: 16 products each.
    conditions = (
        *("fma == 1024", "fma.rn.f32 == 1024", "bar.sync == 128", "ld.shared.f32 >= 2048"),
        *("mma == 0", "wgmma < 1", "local_bytes == 0", "shared_bytes == 2048", "registers > 8"),
        *("bank_conflicts == 0", "divergent_branches == 0", "st.global <= 32", "ex2 != 1"),
    )
    ran = asserted(run, *conditions)
    assert ran.code == 0, ran.out
    assert [line for line in ran.out.splitlines() if line.startswith("PASS")] == [
        f"PASS {each}" for each in conditions
    ]


def test_a_false_condition_is_a_failed_check(run: Run) -> None:
    ran = asserted(run, "mma > 0", "fma > 0")
    assert ran.code == 1
    assert "FAIL mma > 0\n  got 0, expected > 0\nPASS fma > 0\n" in ran.out
    document = run(*TILED, "--assert", "mma > 0", "--json").document
    [check] = document["outcomes"][0]["result"]["checks"]
    assert (check["expression"], check["passed"]) == ("mma > 0", False)
    brief = run(*TILED, "--assert", "mma > 0", "--format", "brief")
    assert "mma > 0" in brief.out


def test_the_statistics_are_only_shown_on_request(run: Run) -> None:
    assert "warp branches" not in asserted(run, "fma > 0").out
    assert "warp branches" in run(*TILED, "--assert", "fma > 0", "--stats").out


def test_other_schedules_only_compare(run: Run) -> None:
    ran = run(*TILED, "--assert", "fma == 1024", "--schedules", "2")  # warps execute in parts there
    assert ran.code == 0, ran.out
    assert "PASS fma == 1024" in ran.out


def test_resources_need_no_counts(run: Run) -> None:
    pytest.importorskip("llvmlite")
    assert run(*TILED, "--assert", "registers > 0", "--cpu-engine", "compile").code == 0
    assert run(*TILED, "--assert", "registers > 0", "--repeat", "2").code == 0


def test_a_spec_and_the_python_api_have_assertions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        '[[launch]]\nname = "a"\nimage = "samples/saxpy.ptx"\nthreads = 8\n'
        'args = ["2.0", "x=f32[8]:ones", "y=f32[8]:ones", "8"]\nassert = "fma > 100"\n'
    )
    ran = run("launch", "--spec", "s.toml", "-d", "cpu", "--junit", "r.xml")
    assert ran.code == 1
    assert "failed: fma > 100" in ran.out
    [failure] = ElementTree.parse(tmp_path / "r.xml").findall(".//failure")
    assert "fma > 100" in f"{failure.get('message')}{failure.text}"
    with pytest.raises(cudarun.WrongResult, match="fma > 100"):
        cudarun.launch(
            ROOT / "samples" / "saxpy.ptx", args=[2.0, "f32[8]:ones", "f32[8]:ones", 8],
            threads=8, device="cpu", asserts="fma > 100",
        )  # fmt: skip


# --- machine code ---------------------------------------------------------------------------------


def test_instructions_of_one_kernel_are_counted_in_machine_code() -> None:
    found = dict.fromkeys(("IMAD.MOV.U32", "STL.64", "HMMA.16816.F32", "EXIT", "BRA", "NOP"), 1)
    assert sass_counts(SASS, "first") == found
    assert sass_counts(SASS, "second") == {"LDG.E.128": 1}
    assert not sass_counts(SASS, "third")


@pytest.mark.parametrize("text", ["", "a >", "> 3", "a = 3", "a > b", "a > -1", "3 > a"])
def test_a_condition_compares_a_name_with_a_number(text: str) -> None:
    with pytest.raises(RequestError, match="is not NAME COMPARISON NUMBER"):
        parse_assertion(text)
