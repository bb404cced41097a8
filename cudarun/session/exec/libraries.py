"""The libraries of CUDA for the program, which marshal its calls to the server."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from cudarun.programs import prototypes
from cudarun.programs.report import CLIENT
from cudarun.session.workers.c_library import build_libraries

ASSEMBLER = "ptxas"  # what takes the place of ptxas, beside the libraries

AUDIT = "libcudarun_audit.so"  # the library that has the loader find the others

_SOURCES = Path(__file__).parent / "native"
_EXPORTED = re.compile(r"\b(cu(?:da)?[A-Z]\w+)[(,]")
_LINKERS = {12: "libnvJitLink.so.12", 13: "libnvJitLink.so.13"}
_MANAGEMENT = "libnvidia-ml.so.1"
_RUNTIMES = {"cudart12": ("libcudart.so.12", 12090), "cudart13": ("libcudart.so.13", 13000)}


def build_cuda_libraries(folder: Path) -> None:
    """Build the libraries of CUDA in a folder; `RequestError` if they cannot be built."""
    tables = [prototypes.table_path(each) for each in (*prototypes.LIBRARIES, "nvml")]
    sources = [*sorted(_SOURCES.glob("*.[ch]")), *tables, Path(prototypes.__file__), Path(__file__)]
    build_libraries(folder, "exec", sources, lambda: _options(folder))
    shutil.copy(_SOURCES / "ptxas.sh", folder / ASSEMBLER)
    (folder / ASSEMBLER).chmod(0o700)


def _options(folder: Path) -> Mapping[str, Sequence[str]]:
    """Return the options of each library; write its generated sources."""
    client = os.fspath(folder / CLIENT)
    linked, generated = (client, "-Wl,-rpath,$ORIGIN"), _generated(folder, "cuda", "driver.c")
    made: dict[str, Sequence[str]] = {
        CLIENT: (_source("client.c"), _source("launches.c"), f"-Wl,-soname,{CLIENT}"),
        AUDIT: (_source("audit.c"),),
        "libcudarun_python.so": (_source("python.c"),),
        "libcuda.so.1": (generated, _source("driver.c"), *linked, "-Wl,-soname,libcuda.so.1"),
    }
    driver = os.fspath(folder / "libcuda.so.1")
    # A row for each function of NVML that is not supported.
    (folder / "nvml").mkdir()
    names = prototypes.table_path("nvml").read_text().split()
    rows = "".join(f"UNSUPPORTED({each})\n" for each in names)
    (folder / "nvml" / "names.inc").write_text(rows)
    options = (f"-I{folder / 'nvml'}", f"-Wl,-soname,{_MANAGEMENT}")
    made[_MANAGEMENT] = (_source("nvml.c"), driver, *linked, *options)
    for table, (name, version) in _RUNTIMES.items():
        generated, defined = _generated(folder, table, "runtime.c"), f"-DRUNTIME_VERSION={version}"
        made[name] = (generated, defined, _source("runtime.c"), *linked, _named(folder, name))
    for major, name in _LINKERS.items():
        defined = f"-DLINKER_VERSION={major}"
        made[name] = (defined, _source("nvjitlink.c"), *linked, _named(folder, name))
    return made


def _named(folder: Path, name: str) -> str:
    """Return the option for a library whose functions have its name as their version."""
    symbols = folder / f"{name}.versions"
    symbols.write_text(f"{name} {{ global: *; }};\n")
    return f"-Wl,-soname,{name},--version-script,{symbols}"


def _source(name: str) -> str:
    return os.fspath(_SOURCES / name)


def _generated(folder: Path, table: str, source: str) -> str:
    """Write the generated part of a library's source; return the option for its folder."""
    include = folder / table
    include.mkdir()
    own = set(_EXPORTED.findall((_SOURCES / source).read_text()))
    (include / "calls.inc").write_text(prototypes.c_calls(table, own))
    (include / "errors.inc").write_text(prototypes.c_errors(table))
    (include / "procedures.inc").write_text(prototypes.c_procedures())
    return f"-I{include}"
