"""``cudarun link``: the emulated device's linker and nvJitLink, and what neither may do."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cudarun.base.bindings import installed_version
from tests.images.golden_files import archive, golden
from tests.support.toolkit import needs_nvjitlink, without_driver

if TYPE_CHECKING:
    from conftest import Run

MAIN, LIB = "samples/link/main.ptx", "samples/link/lib.ptx"
CPU = ("-d", "cpu")
SM_90 = ("--arch", "sm_90")

nvjitlink_13 = pytest.mark.skipif(installed_version() < (13, 0), reason="the files are CUDA 13's")


def link(run: Run, *args: str, code: int = 0) -> Any:
    """The document."""
    ran = run("link", *args, "--json")
    assert ran.code == code, ran.err
    assert ran.document["schema"] == "cudarun/link/1"
    return ran.document


def refused(run: Run, *args: str, says: str, code: int = 4) -> None:
    """No output, and on stderr exactly this."""
    ran = run("link", *args)
    assert ran.err == says
    assert ran.out == ""
    assert ran.code == code


# --- links that succeed --------------------------------------------------------------------------


def test_on_the_emulated_device(run: Run, tmp_path: Path) -> None:
    done = link(run, MAIN, LIB, "-o", "out.ptx", *CPU)
    assert (done["kind"], done["target"]) == ("PTX", "sm_90")
    assert done["linker"] == "the driver's linker, CUDA 13.0"
    assert [kernel["name"] for kernel in done["kernels"]] == ["weigh"]
    assert done["size"] == (tmp_path / "out.ptx").stat().st_size
    assert [given["name"] for given in done["inputs"]] == [MAIN, LIB]


def test_the_log_of_the_emulated_device(run: Run) -> None:
    log = link(run, MAIN, LIB, "-o", "out.ptx", *CPU, "--verbose")["info_log"]
    assert "ptxas info    : Compiling entry function 'weigh' for 'sm_90a'" in log


def test_what_was_linked_runs(run: Run) -> None:
    assert run("link", MAIN, LIB, "-o", "out.ptx", *CPU).code == 0
    launch = run(
        "launch", "out.ptx", *CPU, "--threads", "1000",
        "in=f32[n]:iota", "out=f32[n]", "n=i32:1000", "--check", "out == in*3 + 3",
    )  # fmt: skip
    assert launch.code == 0, launch.err


@without_driver
@needs_nvjitlink
def test_with_no_gpu_nvjitlink_links(run: Run, tmp_path: Path) -> None:
    done = link(run, MAIN, LIB, "-o", "out.cubin", *SM_90)
    assert (done["kind"], done["target"]) == ("cubin", "sm_90")
    assert done["linker"].startswith("nvJitLink ")
    [file] = run("load", "--offline", "out.cubin", "--json").document["files"]
    assert [kernel["name"] for kernel in file["kernels"]] == ["weigh"]
    assert file["is_relocatable"] is False
    assert file["externs"] == []


@without_driver
@needs_nvjitlink
def test_the_order_does_not_matter(run: Run) -> None:
    assert link(run, LIB, MAIN, "-o", "out.cubin", *SM_90)["kernels"][0]["name"] == "weigh"


@without_driver
@needs_nvjitlink
def test_cuda_sources(run: Run) -> None:
    sources = ("samples/link/main.cu", "samples/link/lib.cu")
    assert link(run, *sources, "-o", "a.cubin", *SM_90)["kernels"][0]["name"] == "weigh"
    whole = link(run, *sources, "-o", "b.cubin", *SM_90, "--lto")
    assert whole["kernels"][0]["name"] == "weigh"
    on_cpu = link(run, *sources, "-o", "c.ptx", *CPU)
    assert [p["type"] for p in on_cpu["kernels"][0]["parameters"]] == ["u64", "u64", "u32"]


def test_the_name_of_a_cubin_that_is_none_is_noted(run: Run) -> None:
    sources = ("samples/link/main.ptx", "samples/link/lib.ptx")
    assert "note: the file is PTX: " in run("link", *sources, "-o", "a.cubin", *CPU).out
    assert "note:" not in run("link", *sources, "-o", "a.ptx", *CPU).out


@without_driver
@needs_nvjitlink
def test_objects_and_libraries(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.o").write_bytes(golden("tiny_rdc.o"))
    (tmp_path / "tiny.a").write_bytes(archive((b"tiny.o/", golden("tiny_rdc.o"))))
    done = link(run, "tiny.o", "-o", "out.cubin", "--arch", "sm_80")
    assert [kernel["name"] for kernel in done["kernels"]] == ["tiny"]
    again = link(run, MAIN, LIB, "tiny.a", "-o", "out.cubin", "--arch", "sm_80", "--force")
    assert again["kernels"]


@without_driver
@needs_nvjitlink
@nvjitlink_13
def test_the_ptx_in_a_library(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.a").write_bytes(archive((b"tiny.o/", golden("tiny_rdc.o"))))
    assert link(run, MAIN, LIB, "tiny.a", "-o", "out.cubin", *SM_90)["kernels"]


@without_driver
@needs_nvjitlink
def test_the_linkers_log(run: Run) -> None:
    log = link(run, MAIN, LIB, "-o", "out.cubin", *SM_90, "--verbose")["info_log"]
    assert "ptxas info    : Compiling entry function 'weigh' for 'sm_90'" in log


@without_driver
@needs_nvjitlink
def test_warnings(run: Run) -> None:
    ran = run("link", MAIN, LIB, "-o", "out.cubin", *SM_90, "--max-registers", "8", "-q")
    assert ran.err == (
        "warning: For profile sm_90 adjusting per thread register count of 8 to lower bound of 24\n"
    )


def test_loading_the_result(run: Run) -> None:
    done = link(run, MAIN, LIB, "-o", "out.ptx", *CPU, "--load")
    [outcome] = done["loads"]
    assert (outcome["image"], outcome["verdict"]) == ("out.ptx", "loaded")


@needs_nvjitlink
def test_loading_a_result_that_the_device_does_not_take(run: Run) -> None:
    args = (MAIN, LIB, "-o", "out.cubin", "--linker", "nvjitlink", *SM_90, *CPU, "--load")
    [outcome] = link(run, *args, code=4)["loads"]
    assert outcome["verdict"] == "refused"


def test_as_text(run: Run) -> None:
    ran = run("link", MAIN, LIB, "-o", "out.ptx", *CPU)
    first, *lines = ran.out.splitlines()
    assert first.startswith("linked out.ptx  PTX for sm_90, ")
    assert ", by the driver's linker, CUDA 13.0 in " in first
    assert lines[:2] == [
        f"  from {MAIN}  PTX, {size(MAIN)} bytes",
        f"  from {LIB}  PTX, {size(LIB)} bytes",
    ]


def size(name: str) -> int:
    return (Path(__file__).resolve().parents[2] / name).stat().st_size


# --- symbols -------------------------------------------------------------------------------------


def lines_of(err: str, word: str) -> list[str]:
    return [line for line in err.splitlines() if word in line]


@without_driver
@needs_nvjitlink
def test_a_symbol_that_is_defined_nowhere_with_nvjitlink(run: Run) -> None:
    ran = run("link", MAIN, "-o", "out.cubin", *SM_90)
    assert ran.code == 4
    assert "Undefined reference to '_Z8weightedf' in 'samples/link/main.ptx'" in ran.err
    assert "| .extern .global .align 4 .f32 weight;" in ran.err
    assert (
        "'weighted(float)' (_Z8weightedf), 'weight' are used here but defined in no input"
        in ran.err
    )


@without_driver
@pytest.mark.parametrize(
    "where", [CPU, pytest.param(SM_90, marks=needs_nvjitlink)], ids=["driver", "nvjitlink"]
)
def test_a_symbol_that_is_defined_twice(run: Run, tmp_path: Path, where: tuple[str, ...]) -> None:
    (tmp_path / "again.ptx").symlink_to(tmp_path / LIB)
    ran = run("link", MAIN, LIB, "again.ptx", "-o", "out", *where)
    assert ran.code == 4
    assert "multiple definition of 'weighted(float)' (_Z8weightedf), 'weight'" in ran.err
    errors = lines_of(ran.err, ": error: multiple definition")
    notes = lines_of(ran.err, "is first defined here")
    assert [line.split(":")[0] for line in errors] == ["again.ptx", "again.ptx"]
    assert [line.split(":")[0] for line in notes] == [LIB, LIB]
    assert not (tmp_path / "out").exists()


@needs_nvjitlink
@nvjitlink_13
def test_twice_in_lto_ir_is_the_linkers_to_say(run: Run, tmp_path: Path) -> None:
    for name in ("a.ltoir", "b.ltoir"):
        (tmp_path / name).write_bytes(golden("tiny.ltoir"))
    ran = run("link", "a.ltoir", "b.ltoir", "-o", "out", "--arch", "sm_80", "--lto")
    assert ran.code == 4
    assert "b.ltoir: error: Linking globals named 'tiny'" in ran.err
    assert "'tiny' is defined in more than one input" in ran.err


# --- other refusals ------------------------------------------------------------------------------


@without_driver
@needs_nvjitlink
def test_broken_ptx(run: Run, tmp_path: Path) -> None:
    text = (tmp_path / LIB).read_text().replace("mul.f32", "mul.xx.f32")
    (tmp_path / "broken.ptx").write_text(text)
    line = text[: text.index("mul.xx")].count("\n") + 1
    refused(
        run, MAIN, "broken.ptx", "-o", "out.cubin", *SM_90,
        says="error: broken.ptx: the linker does not accept it: nvJitLink: ERROR_PTX_COMPILE (4)\n"
        f"broken.ptx:{line}:5: error: Unknown modifier '.xx'\n"
        f"{line:6d} |  mul.xx.f32  %f3, %f2, %f1;\n"
        "       |     ^~~\n",
    )  # fmt: skip


@without_driver
@needs_nvjitlink
def test_a_cubin_for_another_architecture(run: Run, tmp_path: Path) -> None:
    (tmp_path / "wants.cubin").write_bytes(golden("wants.cubin"))
    ran = run("link", "wants.cubin", "-o", "out.cubin", "--arch", "sm_80")
    assert ran.code == 4
    assert "The cubin has code for sm_90, not for sm_80 (nvJitLink " in ran.err


@without_driver
@needs_nvjitlink
def test_an_object_with_nothing_to_link(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.o").write_bytes(golden("tiny.o"))
    refused(
        run, "tiny.o", "-o", "out.cubin", "--arch", "sm_80",
        says="error: no input in tiny.o can be linked for sm_80\n"
        "hint: compile relocatable code for this architecture: nvcc -rdc=true\n",
    )  # fmt: skip


def test_which_code_of_a_fatbin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tiny.fatbin").write_bytes(golden("tiny.fatbin"))
    report = link(run, "tiny.fatbin", "-o", "out", *CPU)
    assert [kernel["name"] for kernel in report["kernels"]] == ["tiny"]


# --- the output ----------------------------------------------------------------------------------


def test_nothing_is_written_when_it_fails(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out.ptx").write_text("precious")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert run("link", MAIN, "-o", "out.ptx", *CPU, "--force").code == 4
    assert (tmp_path / "out.ptx").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_the_output_is_replaced_by_force(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.ptx"
    out.write_text("old")
    refused(
        run, MAIN, LIB, "-o", "out.ptx", *CPU, code=2,
        says="error: --output: out.ptx exists\nhint: replace it with --force\n",
    )  # fmt: skip
    assert out.read_text() == "old"
    assert run("link", MAIN, LIB, "-o", "out.ptx", *CPU, "--force").code == 0
    assert out.read_text().startswith("// linked by cudarun")
    assert stat.S_IMODE(out.stat().st_mode) & 0o600 == 0o600


def test_what_a_symbolic_link_leads_to_is_replaced(run: Run, tmp_path: Path) -> None:
    (tmp_path / "real.ptx").write_text("old")
    (tmp_path / "out.ptx").symlink_to("real.ptx")
    assert run("link", MAIN, LIB, "-o", "out.ptx", *CPU, "--force").code == 0
    assert (tmp_path / "out.ptx").is_symlink()
    assert (tmp_path / "real.ptx").read_text().startswith("// linked by cudarun")


def test_a_device_is_written_to_and_stays_one(run: Run) -> None:
    assert run("link", MAIN, LIB, "-o", "/dev/null", *CPU).code == 0
    assert Path("/dev/null").is_char_device()
