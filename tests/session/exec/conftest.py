"""Programs on the emulated device: built by gcc, with what nvcc would have written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cudarun.session.exec.libraries import build_cuda_libraries
from tests.images.golden_files import fatbin_of_ptx
from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH
from tests.support.shared_folders import made_once

HERE = Path(__file__).parent
GCC = shutil.which("gcc")

Exec = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the libraries of CUDA, the programs, and a cache that has the libraries."""
    return made_once(tmp_path_factory, "exec", _build)


def _build(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        use_cache(patch, folder)
        libraries = folder / "libraries"
        libraries.mkdir()
        build_cuda_libraries(libraries)
    image = fatbin_of_ptx((HERE / "kernels.ptx").read_bytes() + b"\0")
    (folder / "image.inc").write_text(", ".join(map(str, image)))
    for version in (12, 13):
        command = [str(GCC), "-O1", f"-I{folder}", str(HERE / "program.c"), "-pthread"]
        linked = [f"-L{libraries}", f"-l:libcudart.so.{version}", "-l:libcudarun_client.so"]
        # RPATH, which LD_LIBRARY_PATH would not replace, leads nowhere.
        command += ["-o", str(folder / f"program{version}"), "-Wl,-rpath,/nowhere,--as-needed"]
        subprocess.run([*command, *linked], check=True)


def use_cache(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let commands use the cache of such a folder."""
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    for name in ("CUDA_CACHE_DISABLE", "CUDARUN_CACHE"):
        patch.delenv(name, raising=False)


@pytest.fixture
def cached(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands find the libraries in their cache."""
    use_cache(monkeypatch, built)


@pytest.fixture
def program(built: Path, cached: None) -> Exec:
    """Runs the program with options of exec before what it does."""

    def run(
        *words: str, cuda: int = 13, through: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        *options, what = words
        command = ["exec", *options, "--", *through, str(built / f"program{cuda}"), what]
        environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
        code, out, err = run_command(command, Path.cwd(), environment)
        return subprocess.CompletedProcess(command, code, out.decode(), err.decode())

    return run
