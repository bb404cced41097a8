"""One unimplemented place refuses the kernels that reach it, and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

CPU = ("-d", "cpu")
HEAD = """\
.version 8.6
.target sm_90
.address_size 64
.func helper(.reg .b64 %p)
{
    multimem.st.relaxed.sys.global.u64 [%p], %p;
    ret;
}
"""
GOOD = """\
.visible .entry good(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    st.global.u32 [%a], 7;
    ret;
}
"""
BAD = """\
.visible .entry bad()
{
    .reg .b32 %v;
    multimem.red.relaxed.sys.global.add.u32 [%v], %v;
    ret;
}
.visible .entry calling(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    call helper, (%a);
    ret;
}
"""
MULTICAST = (
    "instruction 'multimem.red.relaxed.sys.global.add.u32' is not implemented by the emulated "
    "device"
)
INSTRUCTION = (
    "instruction 'multimem.st.relaxed.sys.global.u64' is not implemented by the emulated device"
)


@pytest.fixture
def mixed(tmp_path: Path) -> str:
    (tmp_path / "mixed.ptx").write_text(HEAD + GOOD + BAD)
    return "mixed.ptx"


@pytest.mark.parametrize("via", ["library", "module", "both"])
def test_load_lists_the_kernels_that_cannot_run(run: Run, mixed: str, via: str) -> None:
    ran = run("load", *CPU, mixed, "--via", via, "--json")
    assert ran.code == 4
    document = json.loads(ran.out)
    ((result,),) = [outcome["results"] for outcome in document["outcomes"]]
    assert [kernel["name"] for kernel in result["kernels"]] == ["good"]
    assert {kernel["name"]: kernel["reasons"] for kernel in result["refusals"]} == {
        "bad": [f"line 19: {MULTICAST}"],
        "calling": [f"line 6: {INSTRUCTION}"],
    }
    assert "2 of 3 kernels cannot run on this device: bad, calling" in document["error"]["message"]


def test_the_table_has_the_reasons(run: Run, mixed: str) -> None:
    ran = run("load", *CPU, mixed)
    assert ran.code == 4
    assert f"cannot run bad\n  line 19: {MULTICAST}\n" in ran.out
    assert f"cannot run calling\n  line 6: {INSTRUCTION}\n" in ran.out


def test_another_kernel_runs(run: Run, mixed: str) -> None:
    ran = run("launch", *CPU, mixed, "-k", "good", "--threads", "1", "out=u32[1]", "--print", "out")
    assert ran.code == 0
    assert "out = [7]" in ran.out


def test_a_refused_kernel_has_its_own_reasons(run: Run, mixed: str) -> None:
    ran = run("launch", *CPU, mixed, "-k", "bad", "--threads", "1")
    assert ran.code == 4
    assert f"mixed.ptx:19:5: error: {MULTICAST}" in ran.err
    assert "multimem.st" not in ran.err


def test_without_a_kernel_that_runs_the_image_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.ptx").write_text(HEAD + BAD)
    ran = run("load", *CPU, "bad.ptx")
    assert ran.code == 4
    assert MULTICAST in ran.err
    assert INSTRUCTION in ran.err


def test_invalid_ptx_refuses_the_image(run: Run, tmp_path: Path) -> None:
    invalid = BAD.replace(
        "multimem.red.relaxed.sys.global.add.u32 [%v], %v", "mov.u32 %v, %nothing"
    )
    (tmp_path / "invalid.ptx").write_text(HEAD + GOOD + invalid)
    ran = run("launch", *CPU, "invalid.ptx", "-k", "good", "--threads", "1", "out=u32[1]")
    assert ran.code == 4
    assert "Unknown symbol '%nothing'" in ran.err
