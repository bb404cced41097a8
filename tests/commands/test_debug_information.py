"""Names and types from debug information (``nvcc -G``) in `launch`, `load` and `ctx`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.images.fatbin import read_entries
from cudarun.images.kinds import ImageKind
from tests.commands.notes import BY_ORDER
from tests.images.golden_files import golden

if TYPE_CHECKING:
    from conftest import Ran, Run

SETTINGS = "settings={f32:2, i32:0, i32:50, f32[n]:ones, u32:1}"
GOOD = ("n=100", "y=f32[n]", SETTINGS, "x=f32[n]:iota")
CHECKS = ("--check", "y[:50] == -(2*x[:50] + 1)", "--print", "y[:3]")

Launch = Callable[..., "Ran"]


@pytest.fixture
def launch(run: Run, tmp_path: Path) -> Launch:
    """Launch ``apply`` of a golden image: a cubin is only planned, a fatbin runs on `cpu`."""

    def launch(image: str, *arguments: str, kernel: str = "apply", threads: str = "n") -> Ran:
        (tmp_path / image).write_bytes(golden(image))
        where = ("--dry-run",) if image.endswith(".cubin") else ("-d", "cpu")
        return run("launch", image, *where, "-k", kernel, "--threads", threads, *arguments)

    return launch


CUBINS = ["debug.cubin", "debug_cuda12.cubin", "debug_linked.cubin"]
IMAGES = [*CUBINS, "debug.fatbin"]


@pytest.mark.parametrize("image", CUBINS)
def test_a_plan_binds_by_name(launch: Launch, image: str) -> None:
    ran = launch(image, *GOOD)
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split()[:5] for line in ran.out.splitlines()[2:]]
    names = [row[4] if row[3].isdigit() else row[3] for row in rows[:-1]]
    assert names == ["y", "x", "settings", *(f"settings.{i}" for i in range(5)), "n"]
    assert rows[-1] == ["parameter", "buffer:", "52", "bytes"]


def test_a_launch_binds_by_name(launch: Launch) -> None:
    ran = launch("debug.fatbin", *GOOD, *CHECKS)
    assert (ran.code, ran.err) == (0, "")
    assert "y[:3] = [-1. -3. -5.]" in ran.out
    assert "PASS" in ran.out


@pytest.mark.parametrize("image", IMAGES)
def test_an_unknown_name_is_refused(launch: Launch, image: str) -> None:
    ran = launch(image, *[each.replace("settings", "setting") for each in GOOD])
    assert ran.code == 2
    assert "error: apply has no parameter 'setting'" in ran.err
    assert "did you mean settings? its parameters are y, x, settings, n" in ran.err


@pytest.mark.parametrize("image", IMAGES)
def test_another_element_type_is_refused_and_the_hint_passes(launch: Launch, image: str) -> None:
    ran = launch(image, *GOOD[:-1], "x=f64[n]:iota")
    assert ran.code == 2
    assert "error: apply: x is float const* in the kernel, got f64[100]" in ran.err
    [hint] = [line for line in ran.err.splitlines() if line.startswith("hint: pass ")]
    arguments = shlex.split(hint.removeprefix("hint: pass "))
    assert launch(image, *GOOD[:-1], *arguments).code == 0


@pytest.mark.parametrize("image", IMAGES)
def test_a_struct_with_other_members_is_refused(launch: Launch, image: str) -> None:
    wrong = [each.replace("i32:50", "f32:50") for each in GOOD]
    ran = launch(image, *wrong)
    assert ran.code == 2
    assert "^ range.end at offset 8 is i32, not f32" in ran.err
    wrong = [each.replace("f32[n]:ones", "f64[n]:ones") for each in GOOD]
    ran = launch(image, *wrong)
    assert ran.code == 2
    assert "settings.bias is float const* in the kernel, got f64[100]" in ran.err


def test_the_command_for_missing_arguments_runs(launch: Launch, run: Run) -> None:
    ran = launch("debug.fatbin", "x=f32[n]:ones", "n=64")
    assert ran.code == 2
    [command] = [line for line in ran.err.splitlines() if line.startswith("cudarun launch")]
    assert "settings={scale=f32:1, range={begin=i32:" in command
    assert "bias=f32[n]:iota, mode=u32:0}" in command
    program, *words = shlex.split(command)
    assert program == "cudarun"
    assert run(*words, "-q").code == 0


def test_numbers_get_the_types_of_a_template(launch: Launch) -> None:
    arguments = ("count=8", "value=2.5", "out=f64[count]")
    ran = launch(
        "debug.fatbin", *arguments, "--check", "out == 2.5",
        kernel="ns::fill<double>", threads="count",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")
    ran = launch(
        "debug_linked.cubin", "sum=f64[1]", "pair={i32:1, f64:2}", kernel="more", threads="1"
    )
    assert (ran.code, ran.err) == (0, "")


# --- load ----------------------------------------------------------------------------------------

PARAMETERS = "0:8 float* y, 8:8 float const* x, 16:32 Settings settings, 48:4 unsigned int n\n"


@pytest.mark.parametrize(
    ("image", "options"),
    [
        *((image, ("--offline", "-v")) for image in IMAGES),
        ("debug.fatbin", ("-d", "cpu", "-v")),
        ("debug.fatbin", ("-d", "cpu", "--via", "both")),
    ],
)
def test_load_lists_names_and_types(
    run: Run, tmp_path: Path, image: str, options: tuple[str, ...]
) -> None:
    (tmp_path / image).write_bytes(golden(image))
    ran = run("load", image, *options)
    assert ran.code == 0
    assert f"  parameters   {PARAMETERS}" in ran.out
    assert "  parameters   0:8 double* out, 8:8 double value, 16:4 int count\n" in ran.out
    assert "differs" not in ran.out


# --- without names -------------------------------------------------------------------------------


def test_line_tables_alone_bind_by_order(launch: Launch) -> None:
    ordered = ("y=f32[n]", "x=f32[n]", SETTINGS, "n=i32:100")
    ran = launch("debug_lineinfo.cubin", *ordered)
    assert (ran.code, ran.err) == (0, BY_ORDER)


@pytest.fixture
def damaged(tmp_path: Path) -> str:
    """An image whose debug information has a version that does not exist."""
    data = bytearray(golden("debug.cubin"))
    at = data.index(b"\x02\0\0\0\0\0\x08\x01lgenfe: EDG")
    data[at] = 77
    (tmp_path / "damaged.cubin").write_bytes(data)
    return "damaged.cubin"


NOT_READ = "note: the debug information cannot be read: no parameter names\n"


def test_damaged_debug_information(run: Run, damaged: str) -> None:
    how = ("launch", damaged, "--dry-run", "-k", "apply", "--threads", "n")
    ran = run(*how, "y=f32[n]", "x=f64[n]", SETTINGS, "n=i32:100")
    assert (ran.code, ran.err) == (0, NOT_READ + BY_ORDER)
    assert run(*how, *GOOD).code == 2  # the order is another
    ran = run("load", "--offline", damaged)
    assert (ran.code, ran.err) == (0, NOT_READ)
    [file] = run("load", "--offline", damaged, "--json").document["files"]
    assert [each["message"] for each in file["diagnostics"]] == [NOT_READ[6:-1]]


def test_parameters_that_the_compiler_leaves_out(launch: Launch) -> None:
    ran = launch("debug.cubin", "range={i32:0, i32:4}", "n=i32:4", kernel="constant", threads="1")
    note = "note: constant: the debug information is not used: it has 1 of 2 parameters\n"
    assert (ran.code, ran.err) == (0, note + BY_ORDER)


def test_scripts_of_contexts_bind_by_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "debug.ptx").write_bytes(debug_ptx())
    script = (
        "create A; module M debug.ptx; function F M._ZN2ns4fillIfEEvPT_S1_i; alloc P 16; "
        "write P f32*4:0,0,0,0; launch F P count=3 value=2 grid=1 block=4; sync; "
        "read P f32*4 == 2,2,2,0"
    )
    ran = run("ctx", "run", script, "-d", "cpu")
    assert (ran.code, ran.err) == (0, "")


def debug_ptx() -> bytes:
    """The PTX of the fatbin, with debug information."""
    entries = read_entries(golden("debug.fatbin"), "x")
    return next(each.content("x") for each in entries if each.kind is ImageKind.PTX)


def test_the_debugger_reads_variables_and_ptx_of_a_fatbin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "debug.fatbin").write_bytes(golden("debug.fatbin"))
    settings = "settings={scale=f32:2,range={begin=0,end=32},bias=f32[64]:ones,mode=1}"
    words = ("y=f32[n]:zeros", "x=f32[n]:iota", settings, "n=32", "--threads", "n")
    commands = "break debug.cu:31; c; print settings.range; print x[i + 2]; list ptx"
    ran = run("debug", "debug.fatbin", "-k", "apply", *words, "-x", commands)
    assert ran.code == 0
    assert "{begin = 0, end = 32}" in ran.out
    assert "x[i + 2] = 2.0" in ran.out
    assert "->" in ran.out.rpartition("list ptx")[2]
