"""The doctor: each finding from files, values and libraries as a machine could have them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError, WorkerDied
from cudarun.emulator.engines import Compiler
from cudarun.model.devices import DoctorFinding, State
from cudarun.session.devices import doctor
from cudarun.session.devices.doctor import DevicePaths
from cudarun.session.devices.probes import DriverLibrary, load_compiler
from cudarun.session.workers.worker import Answer
from tests.support.processes import PATIENCE


@pytest.fixture
def machine(tmp_path: Path) -> DevicePaths:
    """One with two GPUs."""
    dev, pci = tmp_path / "dev", tmp_path / "pci"
    dev.mkdir()
    for name in ("nvidiactl", "nvidia-uvm", "nvidia0", "nvidia1"):
        (dev / name).touch()
    for address, vendor in (("0000:01:00.0", "0x10de"), ("0000:00:1f.0", "0x8086")):
        (pci / address).mkdir(parents=True)
        (pci / address / "vendor").write_text(f"{vendor}\n")
    return DevicePaths(dev, pci)


def test_a_machine_with_gpus(machine: DevicePaths) -> None:
    assert doctor.hardware(machine) == DoctorFinding(
        "hardware", "well", "NVIDIA devices on PCI: 0000:01:00.0"
    )
    assert doctor.device_nodes(machine).says == "2 GPU device files, all readable and writable"


def test_a_machine_without(tmp_path: Path) -> None:
    bare = DevicePaths(tmp_path, tmp_path)
    assert doctor.hardware(bare).state == "note"
    nodes = doctor.device_nodes(bare)
    assert (nodes.state, nodes.says) == ("wrong", f"no {tmp_path}/nvidia0")
    assert "modprobe nvidia" in nodes.remedy


def test_windows_shows_its_gpu_in_another_way(tmp_path: Path) -> None:
    (tmp_path / "dxg").touch()
    machine = DevicePaths(tmp_path, tmp_path)
    assert doctor.hardware(machine).state == doctor.device_nodes(machine).state == "well"


def test_a_node_that_is_missing(machine: DevicePaths) -> None:
    (machine.dev / "nvidia-uvm").unlink()
    found = doctor.device_nodes(machine)
    assert (found.state, found.says) == ("wrong", f"missing: {machine.dev}/nvidia-uvm")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_node_that_is_not_ours(machine: DevicePaths) -> None:
    (machine.dev / "nvidia1").chmod(0o400)
    found = doctor.device_nodes(machine)
    assert (found.state, found.says) == ("wrong", f"no permission to open {machine.dev}/nvidia1")
    assert (machine.dev / "nvidia1").group() in found.remedy


@pytest.mark.parametrize(
    ("listed", "nodes", "state", "says"),
    [
        (None, 2, "well", "not set: every GPU is visible"),
        ("1,0", 2, "well", "visible: 1, 0"),
        ("GPU-ab12", 2, "well", "visible: GPU-ab12"),
        ("7", 0, "well", "visible: 7"),  # nobody knows how many there are
        ("", 2, "wrong", "'' hides every GPU"),
        ("-1", 2, "wrong", "'-1' hides every GPU"),
        ("2", 2, "wrong", "'2' hides every GPU"),
        ("NoDevFiles", 2, "wrong", "'NoDevFiles' hides every GPU"),
        ("0,x,1", 2, "note", "'x' is not a GPU: this entry and all later ones are ignored"),
    ],
)
def test_what_a_variable_hides(listed: str | None, nodes: int, state: str, says: str) -> None:
    found = doctor.visible_devices(listed, nodes)
    assert (found.state, found.says) == (state, says)
    assert bool(found.remedy) == (state != "well")


@pytest.mark.parametrize(
    ("bindings", "driver", "state"),
    [
        ((13, 4), (13, 0), "well"),
        ((12, 9), (13, 0), "well"),
        ((13, 4), None, "well"),
        ((13, 4), (12, 4), "note"),
        (None, (13, 0), "wrong"),
    ],
)
def test_bindings_for_a_newer_driver(
    bindings: tuple[int, int] | None, driver: tuple[int, int] | None, state: str
) -> None:
    found = doctor.bindings(bindings, driver)
    assert found.state == state
    assert ("cuda-python==12.*" in found.remedy) == (state == "note")


@pytest.mark.parametrize(
    ("part", "driver", "state", "says"),
    [
        ((13, 0), (13, 0), "well", "13.0"),
        ((13, 5), None, "well", "13.5"),
        ((13, 5), (13, 0), "well", "it can generate SASS"),
        ((13, 0), (12, 9), "note", "13.0 is newer than the driver's CUDA 12.9"),
    ],
)
def test_a_part_of_the_toolkit(
    part: tuple[int, int], driver: tuple[int, int] | None, state: str, says: str
) -> None:
    found = doctor.toolkit_part("NVRTC", "CUDA source", Answer(part, None), driver, (13, 0))
    assert found.state == state
    assert says in found.says
    assert ("'nvidia-cuda-nvrtc-cu12>=12.9'" in found.remedy) == (state == "note")


@pytest.mark.parametrize(
    ("bindings", "package"),
    [
        ((12, 9), "nvidia-nvjitlink-cu12>=12.9"),
        ((13, 0), "nvidia-nvjitlink>=13.0"),
        (None, "nvidia-nvjitlink>=13.0"),
    ],
)
def test_a_part_that_is_not_there(bindings: tuple[int, int] | None, package: str) -> None:
    asked: Answer[tuple[int, int]] = Answer(None, RequestError("nvJitLink is not installed"))
    found = doctor.toolkit_part("nvJitLink", "linking without a GPU", asked, (13, 0), bindings)
    assert found.says == "linking without a GPU: nvJitLink is not installed"
    assert found.remedy.startswith("pip install ")
    assert found.remedy.endswith(f" '{package}'")


def test_a_driver_too_old() -> None:
    found = doctor.library(Answer(DriverLibrary("/lib/libcuda.so.1", 0, (11, 8)), None))
    assert (found.state, found.says) == (
        "wrong", "/lib/libcuda.so.1: CUDA 11.8; 12.0 is required",
    )  # fmt: skip


# --- libraries that are loaded -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "target", "finding"),
    [
        (
            Compiler("0.50.0", "znver4", "AVX-512"),
            None,
            ("well", "0.50.0 compiles for znver4 with AVX-512", ""),
        ),
        (
            Compiler("0.50.0", "neoverse-v2", "Neon"),
            None,
            ("well", "0.50.0 compiles for neoverse-v2 with Neon", ""),
        ),
        (
            Compiler("0.50.0", "x86-64-v3", "AVX2"),
            "x86-64-v3",
            ("well", "0.50.0 compiles for x86-64-v3 with AVX2 (CUDARUN_CPU_TARGET)", ""),
        ),
        (
            Compiler(""),
            None,
            (
                "note",
                "not installed: device cpu interprets all kernels",
                "pip install 'cudarun[fast]'",
            ),
        ),
        (
            Compiler("0.50.0", "nehalem", missing="avx2"),
            None,
            (
                "note",
                "0.50.0: device cpu interprets all kernels: no avx2 for processor nehalem",
                "",
            ),
        ),
        (
            Compiler("0.50.0", "x86-64-v4", missing="avx512f"),
            "x86-64-v4",
            (
                "note",
                "0.50.0: device cpu interprets all kernels: no avx512f for "
                "CUDARUN_CPU_TARGET=x86-64-v4",
                "unset CUDARUN_CPU_TARGET",
            ),
        ),
    ],
)
def test_the_compiler_of_device_cpu(
    found: Compiler,
    target: str | None,
    finding: tuple[State, str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDARUN_CPU_TARGET", raising=False)
    if target is not None:
        monkeypatch.setenv("CUDARUN_CPU_TARGET", target)
    assert doctor.compiler(Answer(found, None)) == DoctorFinding("llvmlite", *finding)


def test_a_compiler_that_cannot_be_loaded() -> None:
    error = WorkerDied("internal error: OSError: libllvmlite.so: no such file")
    found = doctor.compiler(Answer(None, error))
    assert found.state == "note"
    assert found.says == f"kernels of device cpu cannot be compiled: {error}"


def test_the_compiler_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("CUDARUN_CPU_TARGET", "x86-64-v3")
    found = load_compiler(None)
    assert found.version == version("llvmlite")
    assert (found.processor, found.vectors) == ("x86-64-v3", "AVX2")


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void) {
    FILE *log = fopen(getenv("LOADED_IN"), "a");
    fprintf(log, "%d\\n", getpid());
    fclose(log);
}
int cuDriverGetVersion(int *version) { *version = VERSION; return RESULT; }
int cuInit(unsigned flags) { END; return 0; }
"""


def driver_library(folder: Path, **defined: str) -> dict[str, str]:
    """Compile a libcuda.so.1, and the environment in which it is found."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler")
    words = {"VERSION": "13000", "RESULT": "0", "END": "_exit(3)"} | defined
    options = [f"-D{name}={value}" for name, value in words.items()]
    subprocess.run(
        [compiler, "-shared", "-fPIC", *options, "-xc", "-", "-o", folder / "libcuda.so.1"],
        input=DRIVER, text=True, check=True,
    )  # fmt: skip
    return {"LD_LIBRARY_PATH": str(folder), "LOADED_IN": str(folder / "loaded")}


@pytest.mark.parametrize("words", [("devices", "--doctor"), ("--version",)])
def test_no_driver_is_loaded_in_our_own_process(tmp_path: Path, words: tuple[str, ...]) -> None:
    env = os.environ | driver_library(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "cudarun", *words], env=env, stdout=subprocess.PIPE, text=True
    )
    out, _ = process.communicate(timeout=PATIENCE)
    loaded_in = {int(line) for line in (tmp_path / "loaded").read_text().split()}
    assert "13.0" in out
    assert loaded_in
    assert process.pid not in loaded_in


def test_a_driver_that_dies_while_it_starts(tmp_path: Path) -> None:
    found = _diagnosed(driver_library(tmp_path))
    assert any(line.startswith("WRONG  cuInit") for line in found)


def test_a_stub_of_the_toolkit(tmp_path: Path) -> None:
    found = _diagnosed(driver_library(tmp_path, RESULT="34"))
    [line] = [line for line in found if "driver library" in line]
    assert line.endswith("libcuda.so.1: cuDriverGetVersion: error 34")
    assert any("remove …/lib64/stubs from LD_LIBRARY_PATH" in line for line in found)


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_text("nothing")
    found = _diagnosed({"LD_LIBRARY_PATH": str(tmp_path)})
    [line] = [line for line in found if "driver library" in line]
    assert "libcuda.so.1 cannot be loaded: " in line


def _diagnosed(env: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", "devices", "--doctor"],
        env=os.environ | env, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "")
    return [line.rstrip() for line in done.stdout.splitlines()]
