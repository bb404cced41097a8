"""NVRTC and the linker library of programs on the emulated device."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.toolkit import needs_nvjitlink, needs_nvrtc

PROGRAM = Path(__file__).with_name("compilers.py")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

REFUSALS = [
    "INCOMPATIBLE_OPTIONS",
    "0",
    "INCORRECT_INPUT_TYPE",
    "bad input: code is not of its type",
    "INVALID_INPUT",
    "INVALID_INPUT",
    "INTERNAL",
    "True",
    "INTERNAL",
]


@needs_nvrtc
@needs_nvjitlink
@needs_gcc
def test_kernels_that_a_program_compiles_and_links() -> None:
    command = [sys.executable, "-m", "cudarun", "exec", "--", sys.executable, str(PROGRAM)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    undefined = "error   : Undefined reference to '_Z5twicei' in 'input0'"
    assert ran.stdout.splitlines() == ["41", undefined, "41", "42", "41", "40", "41", *REFUSALS], (
        ran.stderr
    )
    assert ran.returncode == 0, ran.stderr


RUNTIME = """
from cuda.bindings import runtime
error, address = runtime.cudaMalloc(64)
print(int(error), runtime.cudaDeviceSynchronize()[0].name, runtime.cudaMalloc(1 << 60)[0].name)
print(runtime.cudaGetDeviceProperties(0)[1].name.decode())
"""


@needs_gcc
@pytest.mark.skipif(
    find_spec("cuda.bindings._internal.runtime") is None, reason="needs bindings of CUDA 13"
)
def test_the_runtime_that_is_a_part_of_the_bindings() -> None:
    command = [sys.executable, "-m", "cudarun", "exec", "--", sys.executable, "-c", RUNTIME]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = ["0 cudaSuccess cudaErrorMemoryAllocation", "cudarun emulated device"]
    assert ran.stdout.splitlines() == found, ran.stderr


TRITON = """
"$TRITON_PTXAS_PATH" --version | grep -o "release [0-9.]*"
"$TRITON_PTXAS_PATH" -lineinfo -v --gpu-name=sm_90a "$1" -o code.cubin && cmp "$1" code.cubin
test -e "$TRITON_LIBCUDA_PATH/libcuda.so.1"
"""


@needs_gcc
def test_triton_gets_its_ptx_as_machine_code(tmp_path: Path) -> None:
    (tmp_path / "code.ptx").write_text(".version 8.0\n")
    command = [sys.executable, "-m", "cudarun", "exec", "--", "sh", "-ec", TRITON, "sh", "code.ptx"]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ran.stdout, ran.returncode) == ("release 13.0\n", 0), ran.stderr
