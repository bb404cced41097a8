"""The tables of the functions of the CUDA libraries."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cudarun.programs.prototypes import LIBRARIES, read_table, table_path
from cudarun.session.compile.toolkit import find_program
from cudarun.session.exec import libraries
from tools.generate_cuda_prototypes import driver_table, runtime_table

_CUDA = 13000


def _toolkit() -> Path | None:
    """The folder of the toolkit of the tables, if it is installed with its headers."""
    nvcc = find_program("nvcc")
    folders = [Path(os.path.realpath(nvcc)).parent.parent] if nvcc else []
    for folder in (*folders, Path("/usr/local/cuda")):
        header = folder / "include" / "cuda.h"
        if header.exists() and re.search(rf"#define CUDA_VERSION {_CUDA}\b", header.read_text()):
            return folder
    return None


TOOLKIT = _toolkit()


@pytest.mark.skipif(TOOLKIT is None, reason="needs the headers of CUDA 13.0")
def test_tables_are_those_of_the_headers() -> None:
    """If not: python -m tools.generate_cuda_prototypes /usr/local/cuda."""
    assert TOOLKIT is not None
    assert _calls(runtime_table(TOOLKIT, "13")) == _calls(table_path("cudart13").read_text())
    assert _calls(driver_table(TOOLKIT)) == _calls(table_path("cuda").read_text())


def _calls(table: str) -> list[str]:
    """The lines of a table but those of errors, which differ by the version of the bindings."""
    return [line for line in table.splitlines() if not line.startswith("error ")]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_parameter_has_a_type_with_a_size(library: str) -> None:
    for call in read_table(library).calls:
        for each in call.parameters:
            assert each.size or each.type in ("void", "char"), call.name
            assert each.stars or each.size, call.name


def test_slots_of_structures_by_value() -> None:
    [call] = (each for each in read_table("cudart13").calls if each.name == "cudaLaunchKernel")
    slots = [(each.name, each.slot, each.c_type) for each in call.parameters]
    assert slots == [
        ("func", 0, "void *"),
        ("gridDim", 1, "struct s12"),
        ("blockDim", 3, "struct s12"),
        ("args", 5, "void *"),
        ("sharedMem", 6, "uint64_t"),
        ("stream", 7, "void *"),
    ]


def test_forms_of_driver_functions_by_version() -> None:
    since = {(base, version): name for version, base, name in read_table("cuda").since}
    assert since["cuMemAlloc", 3020] == "cuMemAlloc_v2"
    assert since["cuCtxCreate", 12050] == "cuCtxCreate_v4"


def test_the_management_library_has_each_function_once() -> None:
    source = (Path(libraries.__file__).parent / "native" / "nvml.c").read_text()
    own = set(re.findall(r"EXPORT [\w *]*?\b(nvml\w+)\(", source))
    own |= set(re.findall(r"FIXED\((nvml\w+)", source))
    names = table_path("nvml").read_text().split()
    assert names == sorted(set(names))
    assert not own & set(names)
    cynvml = pytest.importorskip("cuda.bindings.cynvml")
    declared = {each for each in cynvml.__pyx_capi__ if each.startswith("nvml")}
    assert declared <= own | set(names)
