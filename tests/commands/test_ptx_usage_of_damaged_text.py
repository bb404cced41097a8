"""The use of parameters in PTX that parses but is not valid, and of 128 bits."""

from __future__ import annotations

import pytest

from cudarun.base.errors import ExitCode
from cudarun.images.ptx_usage import KernelUsages
from tests.commands.conftest import Run
from tests.support.processes import ROOT

KERNEL = """
.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a)
{{
    .reg .u64 %a; .reg .u32 %r;
    {}
    ret;
}}
"""


@pytest.mark.parametrize(
    "line", ["ld.param.u64 %a;", "ld.param.u64 %a, [a], %r;", "mov.u32;", "ld.param.u64;"]
)
def test_instructions_with_other_operands(line: str) -> None:
    usage = KernelUsages(KERNEL.format(line).encode()).of("k")
    assert usage is not None
    assert usage.pointers == {}


def test_a_command_is_suggested_for_elements_of_128_bits(run: Run) -> None:
    ran = run("load", "--offline", str(ROOT / "tests/emulator/isa/b128.ptx"))
    assert (ran.code, ran.err) == (ExitCode.OK, "")
    assert "'d=u8[" in ran.out
