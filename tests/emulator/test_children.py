"""Grids that kernels launch: detectors, statistics, faults, and parents that wait for children.

The kernels are ``children/grids.cu``. What a GPU does, too, is in ``tests/conformance``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudarun.emulator import driver as cuda
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.engines import AUTO, Engines
from cudarun.emulator.host.jit import compile_text
from cudarun.emulator.host.process import Process, process
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support.tiers import eager

TEXT = (Path(__file__).parent / "children" / "grids.ptx").read_text()
WORDS = 16


def value(answer: Any) -> Any:
    result, *values = answer
    assert result == cuda.CUresult.CUDA_SUCCESS
    return values[0] if values else None


Run = Callable[..., list[int]]


@pytest.fixture
def run(fresh_process: Process) -> Run:
    """Launch a kernel on two buffers; return the words of the second."""
    value(cuda.cuInit(0))
    value(cuda.cuCtxCreate(None, 0, 0))
    module = value(cuda.cuModuleLoadData(TEXT.encode() + b"\0"))
    buffers = [value(cuda.cuMemAlloc(4 * WORDS)) for _ in range(2)]

    def launch(name: str, *, blocks: int = 1) -> list[int]:
        for buffer in buffers:
            value(cuda.cuMemsetD32(buffer, 0, WORDS))
        kernel = value(cuda.cuModuleGetFunction(module, name.encode()))
        arguments = tuple(map(int, buffers)), (ctypes.c_uint64,) * 2
        value(cuda.cuLaunchKernel(kernel, blocks, 1, 1, 1, 1, 1, 0, 0, arguments, 0))
        value(cuda.cuCtxSynchronize())
        found = (ctypes.c_uint32 * WORDS)()
        value(cuda.cuMemcpyDtoH(ctypes.addressof(found), buffers[1], 4 * WORDS))
        return [*found]

    return launch


# --- detectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["fine", "one_stream", "tail_ok", "nested_ok", "same", "waits"])
def test_what_is_ordered_is_no_race(run: Run, kernel: str) -> None:
    cuda.start_detectors(("race",), count=False)
    run(kernel)
    findings, _ = cuda.stop_detectors()
    assert findings == []


@pytest.mark.parametrize(
    ("kernel", "kinds", "count"),
    [
        ("after", ["store", "store"], 1),
        ("reads_after", ["load", "store"], 1),
        ("forgotten", ["store", "load"], 4),
        ("two_streams", ["store", "load"], 4),
        ("nested_bad", ["store", "load"], 4),
        ("atomics", ["atomic operation", "store"], 1),
    ],
)
def test_races_of_grids(run: Run, kernel: str, kinds: list[str], count: int) -> None:
    cuda.start_detectors(("race",), count=False)
    run(kernel)
    (finding,), _ = cuda.stop_detectors()
    assert [place.access for place in finding.places] == kinds
    assert finding.count == count
    assert finding.kernel == ("get" if kinds[1] == "load" else "put")


def test_blocks_have_streams_of_their_own(run: Run) -> None:
    cuda.start_detectors(("race",), count=False)
    run("blocks", blocks=2)
    (finding,), _ = cuda.stop_detectors()
    assert finding.count == 4


def test_values_of_the_runtime_count_as_initialized(run: Run) -> None:
    cuda.start_detectors(("uninit",), count=False)
    run("two_streams")
    findings, _ = cuda.stop_detectors()
    assert findings == []


def test_statistics_include_children(run: Run) -> None:
    cuda.start_detectors((), count=True)
    run("middle")
    _, statistics = cuda.stop_detectors()
    assert statistics is not None
    # a pointer and a number by the parent's thread, and the numbers of four threads
    assert statistics.traffic["global"].written_bytes == 8 + 4 + 4 * 4


# --- running -------------------------------------------------------------------------------------


def test_a_parent_can_wait_for_its_child(run: Run) -> None:
    assert run("waits")[0] == 1


def test_children_are_compiled(run: Run, fresh_process: Process) -> None:
    pytest.importorskip("llvmlite")
    wanted = run("fine")
    fresh_process.engines = Engines(AUTO, tiers=eager())
    for _ in range(2):
        assert run("fine") == wanted
    engines = {note.kernel: note.engine for note in cuda.engine_notes()}
    assert engines == {"fine": "interpret", "put": "compile", "get": "compile"}


def test_the_fault_of_a_child_names_both_kernels(run: Run) -> None:
    with pytest.raises(AssertionError):
        run("faulty")
    assert process.fault is not None
    first, *_, last = process.fault.report.split("\n")
    assert first == "kernel beyond: illegal address in a 4-byte store"
    assert last == "  launched by kernel faulty"


def test_no_parameters_are_left_in_memory(run: Run) -> None:
    run("fine")
    used = process.devices[0].memory.used
    run("fine")
    assert process.devices[0].memory.used == used


# --- modules -------------------------------------------------------------------------------------


def test_a_parent_does_not_have_the_shared_memory_of_its_children() -> None:
    kernels = compile_text(TEXT).program.kernels
    assert kernels["large"].static_shared == 4096
    assert kernels["small"].static_shared == 0


def test_a_parent_cannot_run_without_its_children() -> None:
    text = TEXT.replace("bar.sync \t0;", "multimem.red.relaxed.sys.global.add.u32;")
    assert text != TEXT
    kernels = compile_module(parse(text)).kernels
    assert [name for name in kernels if kernels[name].unimplemented] == ["large", "small"]


def test_a_kernel_of_another_module_is_no_child() -> None:
    declared = ".extern .entry elsewhere(.param .u64 p);\n.visible .entry large("
    text = TEXT.replace(".visible .entry large(", declared)
    text = text.replace("bar.sync \t0;", "mov.u64 %rd1, elsewhere;")
    assert ", elsewhere;" in text
    assert ".extern .entry" in text
    kernels = compile_module(parse(text)).kernels
    assert "large" in kernels
    assert "elsewhere" not in kernels


def test_functions_are_declared_as_the_device_has_them() -> None:
    text = TEXT.replace(
        "\t.param .align 4 .b8 __cudaCDP2GetParameterBufferV2_param_1[12]",
        "\t.param .align 4 .b8 __cudaCDP2GetParameterBufferV2_param_1[8]",
    ).replace("param1[12]", "param1[8]")
    assert text != TEXT
    with pytest.raises(PtxError, match="Arguments mismatch for instruction 'call'"):
        compile_text(text)


def test_other_functions_are_not_provided() -> None:
    text = TEXT.replace("__cudaCDP2StreamCreateWithFlags", "cudaDeviceSynchronize")
    with pytest.raises(PtxError, match="Unresolved extern function 'cudaDeviceSynchronize'"):
        compile_text(text)
