"""What the bindings of CUDA 12.9 and of CUDA 13 do not have in common, whichever are installed."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cuda.bindings import driver
from cuda.bindings.driver import CUjit_option
from cuda.pathfinder import DynamicLibNotFoundError

from cudarun.base import bindings
from cudarun.emulator.host.refusal import Refusal, enum_field
from tests.support.processes import PATIENCE

OLD = SimpleNamespace(cuCtxCreate=None, cuCtxCreate_v4=None)
NEW = SimpleNamespace(cuCtxCreate=None, cuKernelGetParamCount=None)


def test_the_installed_version() -> None:
    major, minor = bindings.installed_version()
    assert 1000 * major + 10 * minor == driver.CUDA_VERSION


@pytest.mark.parametrize(
    ("version", "extra"), [((12, 9), "toolkit12"), ((13, 0), "toolkit"), (None, "toolkit")]
)
def test_the_extra_with_nvrtc(version: tuple[int, int] | None, extra: str) -> None:
    """The hint names the packages of the extra, which any pip finds."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    extras = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    command = shlex.split(bindings.toolkit_installation(version))
    assert command == ["pip", "install", *extras[extra]]


def test_options_since_cuda_13() -> None:
    names = [option.name for option in bindings.newer_jit_options()]
    newer = ["CU_JIT_SPLIT_COMPILE", "CU_JIT_BINARY_LOADER_THREAD_COUNT"]
    assert names == (newer if bindings.installed_version() >= (13, 0) else [])
    assert all(isinstance(option, CUjit_option) for option in bindings.newer_jit_options())


@pytest.mark.parametrize(("api", "expected"), [(OLD, (8, 3)), (NEW, (None, 8, 3))])
def test_the_arguments_of_a_context(api: Any, expected: tuple[object, ...]) -> None:
    assert bindings.context_arguments(api, 8, 3) == expected


def test_the_arguments_of_a_context_are_as_documented() -> None:
    arguments = bindings.context_arguments(driver, 0, 0)
    signature = (driver.cuCtxCreate.__doc__ or "").splitlines()[0]
    assert len(arguments) == signature.count(",") + 1


@pytest.mark.parametrize(
    ("structure", "field"),
    [(driver.CUDA_MEMCPY2D(), "srcMemoryType"), (SimpleNamespace(kind=None), "kind")],
)
def test_an_enumeration_that_is_not_set(structure: Any, field: str) -> None:
    with pytest.raises(Refusal, match=f"{field} has no valid value"):
        enum_field(structure, field)


@pytest.mark.parametrize(
    ("error", "is_missing"),
    [
        (DynamicLibNotFoundError('Failure finding "libnvrtc.so.13"'), True),
        (RuntimeError("Failed to dlopen libcuda.so.1"), True),
        (RuntimeError("something else"), False),
        (ValueError("Failed to dlopen libcuda.so.1"), False),
    ],
)
def test_a_library_that_is_not_there(error: Exception, is_missing: bool) -> None:
    assert bindings.is_missing_library(error) == is_missing


def test_parameters_are_counted_since_cuda_13_2() -> None:
    assert bindings.counting_call(NEW, "cuKernelGetParamInfo") == "cuKernelGetParamCount"
    assert bindings.counting_call(NEW, "cuFuncGetParamInfo") is None
    assert bindings.counting_call(OLD, "cuKernelGetParamInfo") is None


_WITHOUT_SEARCH = """
import sys
from cudarun.base.bindings import import_driver_types, is_missing_library
import_driver_types()
from cuda.bindings import driver
assert driver.CUresult(1).name == "CUDA_ERROR_INVALID_VALUE"
print("cuda.pathfinder" in sys.modules)
try:
    driver.cuInit(0)  # which looks for libcuda
except Exception as error:
    assert is_missing_library(error), error
from cuda.bindings import runtime
print(runtime.cudaGetErrorName(runtime.cudaError_t.cudaErrorInvalidValue)[1].decode())
"""


def test_types_are_imported_without_the_search_for_libraries() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_SEARCH], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.split() == ["False", "cudaErrorInvalidValue"], done.stderr
