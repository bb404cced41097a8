"""``cudarun load`` on the emulated device: verdicts, what is inside, and both ways in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.limits import at_a_limit
from tests.commands.notes import BY_ORDER
from tests.images.golden_files import archive, fatbin_of_ptx, golden
from tests.support.toolkit import without_driver

if TYPE_CHECKING:
    from conftest import Run

SAXPY, MANAGED = "samples/saxpy.ptx", "samples/managed.ptx"
CPU = ("-d", "cpu")


def saxpy() -> str:
    root = Path(__file__).resolve().parents[2]
    return (root / SAXPY).read_text()


def loads(run: Run, *args: str, code: int = 0, **how: Any) -> Any:
    """The outcomes in the document."""
    ran = run("load", *args, "--json", **how)
    assert ran.code == code, ran.err
    assert ran.document["schema"] == "cudarun/load/1"
    assert ran.document["exit_code"] == code
    return ran.document["outcomes"]


# --- what is inside ------------------------------------------------------------------------------


def test_a_kernel_and_its_attributes(run: Run) -> None:
    [outcome] = loads(run, SAXPY, *CPU, "--block", "256")
    assert (outcome["verdict"], outcome["label"]) == ("loaded", "cpu")
    [result] = outcome["results"]
    [kernel] = result["kernels"]
    assert kernel["name"] == kernel["demangled"] == "saxpy"
    assert [(p["offset"], p["size"]) for p in kernel["parameters"]] == [
        (0, 4), (8, 8), (16, 8), (24, 4),
    ]  # fmt: skip
    assert kernel["shared_bytes"] == kernel["const_bytes"] == 0
    assert kernel["max_threads"] == 1024
    assert (kernel["binary_version"], kernel["ptx_version"]) == (90, 75)
    assert kernel["is_loaded"] is True
    assert kernel["is_estimated"] is True
    assert kernel["occupancy"]["block"] == [256, 1, 1]
    assert kernel["occupancy"]["threads"] == 256 * kernel["occupancy"]["blocks"]


def test_variables_with_their_addresses(run: Run) -> None:
    [outcome] = loads(run, MANAGED, *CPU)
    found = {v["name"]: v for v in outcome["results"][0]["variables"]}
    assert set(found) == {"counter", "hits"}
    assert found["counter"]["managed"]
    assert not found["hits"]["managed"]
    assert all(v["address"] for v in found.values())
    assert [v["size"] for v in found.values()] == [4, 4]


@pytest.mark.parametrize("via", ["library", "module"])
def test_lazily(run: Run, via: str) -> None:
    [outcome] = loads(run, SAXPY, *CPU, "--lazy", "--via", via)
    assert outcome["results"][0]["kernels"][0]["is_loaded"] is False


def test_the_table(run: Run) -> None:
    ran = run("load", SAXPY, *CPU, "--block", "256")
    assert ran.code == 0
    assert re.sub(r"\d+\.\d ms", "… ms", ran.out) == (
        "loaded samples/saxpy.ptx  on cpu (cudarun emulated device)\n"
        "  cuLibrary: 4 calls, … ms; kernels: 3 calls, … ms; device memory: 0 B\n"
        "saxpy\n"
        "  parameters   0:4 f32, 8:8 u64, 16:8 u64, 24:4 u32\n"
        "  uses         16 registers (estimated), 0 B shared, 0 B const, 0 B local; "
        "of compute_75\n"
        "  block        at most 1024 threads, occupancy (estimated) 100%, 8 × 256 per "
        "multiprocessor\n"
        "  cudarun launch samples/saxpy.ptx -d cpu --threads 1024 f32:1 'f32[1024]:iota' "
        "'f32[1024]:zeros' i32:1024\n"
    )
    assert ran.err == ""


def test_a_buffer_of_structs_has_room_for_their_members(run: Run, tmp_path: Path) -> None:
    (tmp_path / "move.ptx").write_text(
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry _Z4moveP8ParticlePKfPi(.param .u64 p, .param .u64 q, .param .u64 r) {\n"
        ".reg .b64 %rd<7>; .reg .f32 %f; .reg .f64 %fd;\n"
        "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [r];\n"
        "ld.global.f32 %f, [%rd2+4]; st.global.f32 [%rd1+4], %f; st.global.f32 [%rd3+4], %f;\n"
        "ld.global.f64 %fd, [%rd1+16]; ret; }\n"
    )
    ran = run("load", str(tmp_path / "move.ptx"), *CPU)
    assert "'p=u8[24576]:zeros' 'q=f32[1024]:iota' 'r=i32[1024]'" in ran.out


def test_the_table_of_two_ways(run: Run) -> None:
    ran = run("load", MANAGED, *CPU, "--via", "both")
    masked = re.sub(r"0x\w+", "0x…", re.sub(r"\d+\.\d\d +", "… ", ran.out))
    assert re.sub(r" {2,}", "  ", masked).splitlines() == [
        "loaded samples/managed.ptx  on cpu (cudarun emulated device)",
        "API  loaded  calls  ms  kernels  calls  ms  memory",
        "cuLibrary  in a context  4  … 1  3  … 4 B",
        "cuModule  in a context  1  … 1  4  … 4 B",
        "bump",
        "  parameters  0:4 u32",
        "  uses  16 registers (estimated), 0 B shared, 0 B const, 0 B local; of compute_75",
        "  block  at most 1024 threads",
        "  library  CUkernel 0x…, CUfunction 0x…",
        "  module  CUfunction 0x…",
        "  cudarun launch samples/managed.ptx -d cpu --threads 1024 i32:1024",
        "variable  space  size  type  address",
        "counter  managed  4  u32  0x…",
        "hits  global  4  u32  0x…",
    ]


def test_what_is_refused_has_no_table(run: Run, put: Any) -> None:
    ran = run("load", put("facts.cubin"), *CPU)
    assert ran.out == "refused facts.cubin  on cpu (cudarun emulated device)\n"


def test_a_long_line_of_source_is_clipped_around_its_place(run: Run, put: Any) -> None:
    words = "add.s32 %r1, %r1, 1; " * 30
    text = saxpy().replace("ret;", f"{words}bra nowhere; {words}ret;")
    ran = run("load", put("long.ptx", text.encode()), *CPU)
    source, caret = (line for line in ran.err.splitlines() if " | " in line)
    assert len(source) == len("    62 | ") + 160
    assert source[caret.index("^") :].startswith("nowhere")


def test_quietly_only_the_verdicts(run: Run) -> None:
    ran = run("load", SAXPY, MANAGED, *CPU, "-q")
    assert ran.out == (
        "loaded samples/saxpy.ptx  on cpu (cudarun emulated device)\n"
        "loaded samples/managed.ptx  on cpu (cudarun emulated device)\n"
    )


# --- the ways ------------------------------------------------------------------------------------


def test_both_ways_side_by_side(run: Run) -> None:
    [outcome] = loads(run, MANAGED, *CPU, "--via", "both")
    [result] = outcome["results"]
    library, module = result["ways"]
    assert (library["via"], module["via"]) == ("library", "module")
    assert result["differences"] == []
    assert [h["name"] for h in library["handles"]] == [h["name"] for h in module["handles"]]
    assert all(handle["kernel"] for handle in library["handles"])
    assert all(handle["kernel"] is None for handle in module["handles"])
    # cuModuleLoadDataEx alone loads a module; a library wants its kernels named as well.
    assert module["load_calls"] == 1
    assert library["load_calls"] > 1


def test_a_module_alone(run: Run) -> None:
    [outcome] = loads(run, SAXPY, *CPU, "--via", "module")
    assert [way["via"] for way in outcome["results"][0]["ways"]] == ["module"]


def test_a_library_enters_contexts_made_later(run: Run) -> None:
    two = {"CUDARUN_CPU_DEVICES": "2"}
    outcomes = loads(run, MANAGED, "-d", "cpu:all", "--together", env=two)
    ways = [outcome["results"][0]["ways"][0] for outcome in outcomes]
    assert [outcome["label"] for outcome in outcomes] == ["cpu", "cpu:1"]
    assert all(way["before_contexts"] for way in ways)
    one, other = (way["handles"][0] for way in ways)
    assert one["kernel"] == other["kernel"]  # the same CUkernel everywhere
    assert one["function"] != other["function"]


def test_each_device_by_itself(run: Run) -> None:
    outcomes = loads(run, SAXPY, "-d", "cpu:all", env={"CUDARUN_CPU_DEVICES": "2"})
    assert [outcome["label"] for outcome in outcomes] == ["cpu", "cpu:1"]
    assert not outcomes[0]["results"][0]["ways"][0]["before_contexts"]


def test_the_verbose_log(run: Run) -> None:
    [outcome] = loads(run, SAXPY, *CPU, "--verbose")
    log = outcome["results"][0]["ways"][0]["info_log"]
    assert "ptxas info    : Compiling entry function 'saxpy' for 'sm_90a'" in log


@pytest.mark.parametrize("via", ["library", "module"])
def test_a_device_refuses_an_option(run: Run, via: str) -> None:
    ran = run("load", SAXPY, *CPU, "--via", via, "--max-registers", "32", "-q")
    assert (ran.code, ran.err) == (
        2,
        "error: --max-registers: the emulated device does not allocate registers "
        f"(CUDA_ERROR_NOT_SUPPORTED, 801)\n  in file {SAXPY}, device cpu\n",
    )


@pytest.mark.parametrize("via", ["library", "module"])
def test_code_for_another_architecture_is_explained(run: Run, via: str) -> None:
    ran = run("load", SAXPY, *CPU, "--via", via, "--target", "sm_80", "-q")
    assert ran.code == 4
    assert "device kernel image is invalid (CUDA_ERROR_INVALID_SOURCE, 300)" in ran.err
    assert ran.err.endswith(
        "--target sm_80 compiles for sm_80, which does not run on sm_90 "
        "(cudarun emulated device).\n"
        "hint: remove --target: the driver compiles for the device\n"
    )


def test_more_threads_per_block_than_there_are(run: Run) -> None:
    assert run("load", SAXPY, *CPU, "--via", "both", "--threads-per-block", "4096").code == 0


def test_an_option_that_changes_nothing_says_so(run: Run) -> None:
    [outcome] = loads(run, SAXPY, *CPU, "-O", "0", "--cache-mode", "cg", "-g", "--lineinfo")
    assert outcome["results"][0]["ways"][0]["info_log"] == (
        "ptxas info    : CU_JIT_OPTIMIZATION_LEVEL has no effect: the emulated device does not "
        "optimize PTX\n"
        "ptxas info    : CU_JIT_CACHE_MODE has no effect: the emulated device has no caches"
    )


# --- what other files there are ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["tiny.fatbin", "tiny.o", "tiny_rdc.o", "tiny_zstd.fatbin", "tiny_lz4.fatbin"]
)
def test_the_ptx_inside_a_fatbin(run: Run, put: Any, name: str) -> None:
    [outcome] = loads(run, put(name), *CPU)
    assert [kernel["name"] for kernel in outcome["results"][0]["kernels"]] == ["tiny"]


def test_each_fatbin_of_a_library(run: Run, put: Any) -> None:
    library = archive((b"a.o/", golden("tiny.o")), (b"b.o/", golden("tiny_rdc.o")))
    [outcome] = loads(run, put("both.a", library), *CPU)
    assert [result["image"] for result in outcome["results"]] == ["both.a:1", "both.a:2"]
    assert [result["fatbin"] for result in outcome["results"]] == [1, 2]
    assert [result["verdict"] for result in outcome["results"]] == ["loaded", "loaded"]
    rows = run("load", "both.a", *CPU).out.splitlines()
    assert rows[0] == "loaded both.a  on cpu (cudarun emulated device)"
    assert rows[1].split() == ["fatbin", "target", "verdict", "kernels", "ms", "memory"]
    assert [row.split()[:4] for row in rows[2:]] == [
        ["1", "compute_80", "loaded", "1"], ["2", "compute_80", "loaded", "1"],
    ]  # fmt: skip
    assert "  parameters   " in run("load", "both.a", *CPU, "-v").out


def test_each_fatbin_has_its_own_verdict(run: Run, put: Any) -> None:
    broken = saxpy().replace("fma.rn.f32", "fma.rn.f3x")
    put("program", executable(saxpy(), broken, saxpy().replace("saxpy", "other")))
    [outcome] = loads(run, "program", *CPU, code=4)
    assert outcome["verdict"] == "refused"
    assert [(r["fatbin"], r["verdict"], len(r["kernels"])) for r in outcome["results"]] == [
        (2, "loaded", 1), (3, "refused", 0), (4, "loaded", 1),
    ]  # fmt: skip
    assert outcome["results"][1]["error"]["diagnostics"][0]["line"] == 51
    ran = run("load", "program", *CPU)
    reason = "refused fatbin 3: cuLibraryGetKernel: a PTX JIT compilation failed"
    assert f"{reason} (CUDA_ERROR_INVALID_PTX, 218)" in ran.out


def test_one_kernel_of_a_library(run: Run, put: Any) -> None:
    put("program", executable(saxpy(), saxpy().replace("saxpy", "other")))
    [outcome] = loads(run, "program", *CPU, "-k", "other")
    [result] = outcome["results"]
    assert (result["fatbin"], [kernel["name"] for kernel in result["kernels"]]) == (3, ["other"])
    [outcome] = loads(run, "program", *CPU, "-k", "nothing", code=2)
    assert outcome["error"]["message"] == "program has no kernel 'nothing'"
    [outcome] = loads(run, SAXPY, *CPU, "-k", "saxpy")
    assert [kernel["name"] for kernel in outcome["results"][0]["kernels"]] == ["saxpy"]
    loads(run, SAXPY, *CPU, "-k", "nothing", code=2)


def executable(*texts: str) -> bytes:
    """As executables are: a fatbin without code, of the C library's start, before the others."""
    empty = ".version 8.0\n.target sm_75\n.address_size 64\n"
    fatbins = [fatbin_of_ptx(text.encode()) for text in (empty, *texts)]
    return archive(*((b"%d/" % number, data) for number, data in enumerate(fatbins)))


def test_fatbins_without_code_do_not_count(run: Run, put: Any) -> None:
    [outcome] = loads(run, put("program", executable(saxpy())), *CPU)
    [result] = outcome["results"]
    assert (result["image"], len(result["kernels"])) == ("program", 1)
    [outcome] = loads(run, put("two", executable(saxpy(), saxpy())), *CPU)
    assert [result["image"] for result in outcome["results"]] == ["two:2", "two:3"]


def test_a_launch_out_of_an_executable(run: Run, put: Any) -> None:
    """The types of scalars come from the PTX inside."""
    ran = run(
        "launch", put("program", executable(saxpy())), *CPU, "--threads", "8", "--block", "8",
        "2.5", "f32[n]:iota", "f32[n]:ones", "n=8", "--check", "p2 == 2.5*p1 + 1",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, BY_ORDER)


def test_a_launch_of_a_kernel_of_one_of_several_fatbins(run: Run, put: Any) -> None:
    put("program", executable(saxpy(), saxpy().replace("saxpy", "other"), saxpy()))
    arguments = ("--threads", "8", "2.5", "f32[n]:iota", "f32[n]:ones", "n=8")
    check = ("--check", "p2 == 2.5*p1 + 1")
    ran = run("launch", "program", *CPU, "-k", "other", *arguments, *check)
    assert (ran.code, ran.err) == (0, BY_ORDER)
    ran = run("launch", "program", *CPU, "-k", "saxpy", *arguments, *check)
    assert ran.code == 0
    assert "program contains the kernel in several fatbins; 2 is used, not 4" in ran.err
    ran = run("launch", "program", *CPU, *arguments)
    assert ran.code == 2
    assert ran.err.startswith("error: program contains 3 fatbins\n")
    ran = run("launch", "program", "--dry-run", "-k", "other", *arguments)
    assert (ran.code, ran.out.splitlines()[0].split()[0]) == (0, "other")


def test_stdin(run: Run) -> None:
    [outcome] = loads(run, "-", *CPU, stdin=saxpy().encode())
    assert (outcome["image"], outcome["verdict"]) == ("<stdin>", "loaded")


# --- refusals ------------------------------------------------------------------------------------

REFUSED = "cuLibraryGetKernel: a PTX JIT compilation failed (CUDA_ERROR_INVALID_PTX, 218)"


def refused(run: Run, *args: str, says: str, code: int = 4, **how: Any) -> None:
    """A verdict on stdout, and on stderr exactly this."""
    ran = run("load", *args, "-q", **how)
    assert ran.err == says
    assert ran.code == code


def test_machine_code(run: Run, put: Any) -> None:
    refused(
        run, put("facts.cubin"), *CPU,
        says="error: facts.cubin: cuLibraryGetKernel: no kernel image is available for execution "
        "on the device (CUDA_ERROR_NO_BINARY_FOR_GPU, 209)\n"
        "  in device cpu\n"
        "  | a cubin contains SASS; the emulated device runs PTX only\n"
        "The cubin contains SASS (sm_90) and no PTX; the emulated device runs PTX only.\n"
        "hint: pass its PTX, or embed PTX: nvcc -gencode arch=compute_80,code=compute_80\n",
    )  # fmt: skip


def test_half_a_cubin(run: Run, put: Any) -> None:
    refused(
        run, put("half.cubin", golden("facts.cubin")[:2000]), *CPU,
        says="error: half.cubin: not a cubin: the section table extends past the end of the file\n"
        "  in device cpu\n"
        "The cubin is damaged: the section table extends past the end of the file.\n"
        "hint: rebuild the file, or copy it again: it may be truncated\n",
    )  # fmt: skip


def test_lto_ir(run: Run, put: Any) -> None:
    refused(
        run, put("tiny.ltoir"), *CPU,
        says="error: tiny.ltoir: LTO-IR must be linked before it can be loaded\n"
        "  in device cpu\n"
        "LTO-IR contains no SASS or PTX; the driver neither loads nor links it.\n"
        "hint: link it with nvJitLink: cudarun link --linker nvjitlink --lto\n",
    )  # fmt: skip


def test_one_bad_file_does_not_spoil_the_others(run: Run, put: Any) -> None:
    outcomes = loads(run, put("empty", b""), SAXPY, put("half.cubin", b"\x7fELF"), *CPU, code=4)
    assert [outcome["verdict"] for outcome in outcomes] == ["refused", "loaded", "refused"]


def test_both_ways_of_a_broken_image(run: Run, put: Any) -> None:
    broken = put("broken.ptx", saxpy().replace("fma.rn.f32", "fma.rn.f3x").encode())
    [outcome] = loads(run, broken, *CPU, "--via", "both", code=4)
    errors = [way["error"]["cuda"]["number"] for way in outcome["results"][0]["ways"]]
    assert errors == [218, 218]


def test_the_error_in_the_document(run: Run, put: Any) -> None:
    broken = put("broken.ptx", saxpy().replace("fma.rn.f32", "fma.rn.f3x").encode())
    [outcome] = loads(run, broken, *CPU, code=4)
    error = outcome["error"]
    assert error["kind"] == "ImageRefused"
    assert error["cuda"] == {"name": "CUDA_ERROR_INVALID_PTX", "number": 218}
    assert error["log"].startswith("ptxas application ptx input, line 51; error   : ")
    [diagnostic] = error["diagnostics"]
    assert (diagnostic["file"], diagnostic["line"], diagnostic["column"]) == ("broken.ptx", 51, 8)


@without_driver
def test_no_gpu(run: Run) -> None:
    [outcome] = loads(run, SAXPY, "-d", "0", code=3)
    assert outcome["verdict"] == "failed"
    assert outcome["error"]["hint"].endswith("-d cpu selects the emulated device")


def test_a_worker_that_is_killed_does_not_spoil_the_next(run: Run, tmp_path: Path) -> None:
    """A source that includes a pipe into which nothing is written: no compiler ends with it."""
    os.mkfifo(tmp_path / "pipe.h")
    source = tmp_path / "waits.cu"
    source.write_text('#include "pipe.h"\n__global__ void k() {}\n')
    ran, _ = at_a_limit(
        lambda limit: run("load", source.name, SAXPY, *CPU, "--json", "--timeout", f"{limit}"),
        lambda ran: ran.document["outcomes"][1]["verdict"] == "loaded",
    )
    assert ran.code == 6, ran.err
    assert [outcome["verdict"] for outcome in ran.document["outcomes"]] == ["killed", "loaded"]


def test_a_file_name_that_is_no_utf8(run: Run, tmp_path: Path) -> None:
    name = os.fsdecode(b"saxpy\xff.ptx")
    (tmp_path / name).write_bytes(Path("samples/saxpy.ptx").read_bytes())
    assert run("load", name, "-d", "cpu").code == 0
