"""Long PTX texts: a launch on ``cpu`` compiles its kernel only, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.ptx.parser import SHORT
from tests.images.golden_files import fatbin_of_ptx

if TYPE_CHECKING:
    from tests.commands.conftest import Run

HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
GOOD = """\
.visible .entry good(.param .u64 out)
{
    .reg .b64 %a;
    ld.param.u64 %a, [out];
    st.global.u32 [%a], 7;
    ret;
}
"""
BAD = ".visible .entry bad()\n{{\n    .reg .b32 %v;\n    {}\n    ret;\n}}\n"
FILLER = f"// {'-' * 96}\n" * (SHORT // 100 + 1)
ERRORS = {
    "add.u32 %v, %v, %w;": "Unknown symbol '%w'",
    "add.u32 %v %v;": "Parsing error near '%v': syntax error",
    "frobnicate.u32 %v;": "Not a name of any known instruction: 'frobnicate'",
}
LAUNCH = ("launch", "mixed.ptx", "--threads", "1", "-k", "good", "out=u32[1]")
CPU = ("-d", "cpu")


def mixed(folder: Path, instruction: str, filler: str = FILLER) -> None:
    (folder / "mixed.ptx").write_text(HEAD + filler + GOOD + BAD.format(instruction))


@pytest.mark.parametrize("instruction", ERRORS)
def test_a_kernel_of_a_long_text_is_launched_and_others_are_not_checked(
    run: Run, tmp_path: Path, instruction: str
) -> None:
    mixed(tmp_path, instruction)
    ran = run(*LAUNCH, *CPU, "--check", "out[0] == 7", "-v")
    assert ran.code == 0
    assert "1 other kernel of mixed.ptx is not compiled or checked" in ran.err
    assert "not compiled" not in run(*LAUNCH, *CPU).err
    other = run("launch", "mixed.ptx", *CPU, "--threads", "1", "-k", "bad")
    assert other.code == 4
    assert ERRORS[instruction] in other.err
    line = (HEAD + FILLER + GOOD + BAD).count("\n") - 2
    assert f"mixed.ptx:{line}:" in other.err
    loaded = run("load", "mixed.ptx", *CPU)
    assert loaded.code == 4
    assert ERRORS[instruction] in loaded.out + loaded.err


@pytest.mark.parametrize("instruction", ERRORS)
def test_a_short_text_is_checked_as_a_whole_as_by_a_gpu(
    run: Run, tmp_path: Path, instruction: str
) -> None:
    mixed(tmp_path, instruction, filler="")
    ran = run(*LAUNCH, *CPU)
    assert ran.code == 4
    assert ERRORS[instruction] in ran.err


def test_a_dry_run_of_a_long_text_says_that_it_reads_declarations(run: Run, tmp_path: Path) -> None:
    mixed(tmp_path, "add.u32 %v %v;")
    ran = run(*LAUNCH, "--dry-run")
    assert ran.code == 0
    assert (
        "note: only the declarations of mixed.ptx were checked, not the code of its kernels: see "
        "cudarun load" in " ".join(ran.err.split())
    )
    mixed(tmp_path, "add.u32 %v, %v, %v;", filler="")
    assert "only the declarations" not in run(*LAUNCH, "--dry-run").err


def test_a_dry_run_reports_errors_of_a_short_text_in_any_file(run: Run, tmp_path: Path) -> None:
    mixed(tmp_path, "add.u32 %v %v;", filler="")
    text = (tmp_path / "mixed.ptx").read_bytes()
    (tmp_path / "mixed.fatbin").write_bytes(fatbin_of_ptx(text))
    assembly = 'asm volatile("add.u32 %0 %0;" :: "r"(1));'
    source = f'extern "C" __global__ void good(unsigned *out) {{ {assembly} }}'
    (tmp_path / "mixed.cu").write_text(source)
    for name in ("mixed.ptx", "mixed.fatbin", "mixed.cu"):
        ran = run("launch", name, *LAUNCH[2:], "--dry-run")
        assert ran.code == 4, name
        assert "syntax error" in ran.err
        assert f"in file {name}" in ran.err


def test_of_a_long_text_in_a_fatbin_only_the_launched_kernel_is_checked(
    run: Run, tmp_path: Path
) -> None:
    mixed(tmp_path, "add.u32 %v %v;")
    text = (tmp_path / "mixed.ptx").read_bytes()
    (tmp_path / "mixed.fatbin").write_bytes(fatbin_of_ptx(text))
    arguments = ("launch", "mixed.fatbin", *LAUNCH[2:])
    dry = run(*arguments, "--dry-run")
    assert dry.code == 0
    assert "only the declarations of mixed.fatbin" in " ".join(dry.err.split())
    assert run(*arguments, *CPU, "--check", "out[0] == 7").code == 0


@pytest.mark.parametrize("filler", [FILLER, ""])
def test_an_unknown_kernel_is_refused_before_a_driver_is_initialized(
    run: Run, tmp_path: Path, filler: str
) -> None:
    mixed(tmp_path, "ret;", filler)
    ran = run("launch", "mixed.ptx", "--threads", "1", "-k", "goot", *CPU)
    assert ran.code == 2
    assert ran.err.splitlines()[:2] == [
        "error: mixed.ptx has no kernel 'goot'",
        "hint: did you mean 'good'? kernels:",
    ]


def test_a_hint_lists_a_few_of_many_kernels(run: Run, tmp_path: Path) -> None:
    kernels = "".join(f".visible .entry kernel_{n}() {{ ret; }}\n" for n in range(100))
    (tmp_path / "mixed.ptx").write_text(HEAD + kernels)
    ran = run("launch", "mixed.ptx", "--threads", "1", "-k", "kernel_x", *CPU)
    lines = ran.err.splitlines()
    assert ran.code == 2
    assert lines[-1] == "  and 80 others: cudarun load --offline mixed.ptx"
    assert len(lines) == 23


def test_a_missing_argument_of_a_long_text_is_suggested(run: Run, tmp_path: Path) -> None:
    mixed(tmp_path, "add.u32 %v %v;")
    ran = run("launch", "mixed.ptx", *CPU, "--threads", "1", "-k", "good")
    assert ran.code == 2
    assert "cudarun launch mixed.ptx -k good -d cpu --threads 1 'out=i32[1024]'" in ran.err


def test_the_cases_of_a_spec_share_a_long_text(run: Run, tmp_path: Path) -> None:
    mixed(tmp_path, "add.u32 %v %v;")
    case = (
        '[[launch]]\nname = "{0}"\nimage = "mixed.ptx"\nkernel = "{1}"\nthreads = 1\n'
        'args = [{2}]\ncheck = ["{3}"]\n'
    )
    cases = [
        ("one", "good", "'out=u32[1]'", "out[0] == 7"),
        ("two", "good", "'out=u32[2]'", "out[0] != 8"),
    ]
    (tmp_path / "s.toml").write_text("".join(case.format(*each) for each in cases))
    ran = run("launch", "--spec", "s.toml", *CPU)
    assert ran.code == 0, ran.err
