"""The check of this machine, with remedies: ``cudarun devices --doctor``.

Files and environment variables are read here; everything that loads one of NVIDIA's libraries runs
in a separate process, which may crash or hang.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.base.bindings import Version, toolkit_installation
from cudarun.base.records import dataclass
from cudarun.model.devices import DoctorFinding, DoctorReport
from cudarun.session.devices import probes
from cudarun.session.driver.visibility import VARIABLE, gpus_listed
from cudarun.session.workers.pool import call_in_worker
from cudarun.session.workers.worker import Answer

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import Compiler

_OLDEST_DRIVER = (12, 0)  # CUDA driver API: libraries (cuLibrary*) since 12.0
_PATIENCE = 60.0  # seconds for each process, without a time limit
_NVIDIA = "0x10de"  # PCI vendor id
_INSTALL = "install NVIDIA's driver from your distribution or https://www.nvidia.com/drivers"
_CONTAINER = "start the container with GPUs: docker run --gpus all"
_BY_CPU = "without a GPU, -d cpu runs PTX on the emulated device"
_TARGET = "CUDARUN_CPU_TARGET"
_REINSTALL = "pip install --force-reinstall llvmlite"

# CUDA driver API, enum CUresult: frequent errors of cuInit and cuDevicePrimaryCtxRetain.
_REMEDIES = {
    2: "another process uses the GPU's memory: nvidia-smi lists processes",
    34: "the toolkit's stub library is loaded instead of the driver: remove …/lib64/stubs from "
    "LD_LIBRARY_PATH",
    46: "another process uses the GPU exclusively, or its compute mode is prohibited: nvidia-smi "
    "-q -d COMPUTE",
    100: "the driver finds no GPU: see nvidia-smi and dmesg; " + _CONTAINER,
    101: "this driver does not support the GPU",
    214: "the GPU has an uncorrectable memory error: see nvidia-smi -q -d ECC; reset it or restart",
    802: "with NVSwitch, start nvidia-fabricmanager of the driver's version",
    803: "libcuda and the kernel module have different versions: restart, or reload the module",
    804: "the forward-compatibility package does not support this GPU: remove …/compat from "
    "LD_LIBRARY_PATH",
    999: "load the module nvidia-uvm (modprobe nvidia-uvm), or restart; see dmesg",
}


@dataclass(frozen=True, slots=True)
class DevicePaths:
    """The paths where the kernel lists its devices."""

    dev: Path = Path("/dev")
    pci: Path = Path("/sys/bus/pci/devices")


def check_machine(timeout: float | None = None) -> DoctorReport:
    """Check everything that a launch on a GPU needs, and everything else that cudarun needs.

    Args:
        timeout: Seconds for each process.
    """
    machine = DevicePaths()
    limit = _PATIENCE if timeout is None else timeout
    loaded: Answer[probes.DriverLibrary | str] = call_in_worker(probes.load_driver, limit)
    driver = loaded.value.version if isinstance(loaded.value, probes.DriverLibrary) else None
    installed = _installed("cuda-bindings")
    nvrtc = call_in_worker(probes.load_nvrtc, limit)
    nvjitlink = call_in_worker(probes.load_nvjitlink, limit)
    emulator: Answer[int] = call_in_worker(probes.start_emulator, limit)
    return DoctorReport(
        (
            hardware(machine),
            device_nodes(machine),
            visible_devices(os.environ.get(VARIABLE), len(_nodes(machine))),
            library(loaded),
            bindings(installed, driver),
            *(_started(call_in_worker(probes.start_driver, limit)) if driver else ()),
            toolkit_part("NVRTC", "CUDA source", nvrtc, driver, installed),
            toolkit_part("nvJitLink", "linking without a GPU", nvjitlink, driver, installed),
            emulated(emulator),
            *((compiler(call_in_worker(probes.load_compiler, limit)),) if emulator.value else ()),
        )
    )


# --- files and variables -------------------------------------------------------------------------


def hardware(machine: DevicePaths) -> DoctorFinding:
    """Check that there is a GPU in the machine."""
    vendors = machine.pci.glob("*/vendor")
    found = [vendor.parent.name for vendor in vendors if _text(vendor).strip() == _NVIDIA]
    if found:
        says = f"NVIDIA devices on PCI: {', '.join(sorted(found))}"
        return DoctorFinding("hardware", "well", says)
    if (machine.dev / "dxg").exists():
        return DoctorFinding("hardware", "well", "a Windows GPU via /dev/dxg")
    return DoctorFinding("hardware", "note", "no NVIDIA device on PCI", _BY_CPU)


def device_nodes(machine: DevicePaths) -> DoctorFinding:
    """Check that this user may open the device nodes that the driver opens."""
    subject = "device nodes"
    if (machine.dev / "dxg").exists():
        return DoctorFinding(subject, "well", "/dev/dxg of WSL")
    gpus = _nodes(machine)
    if not gpus:
        remedy = f"load the driver's kernel module (modprobe nvidia); {_CONTAINER}"
        return DoctorFinding(subject, "wrong", f"no {machine.dev}/nvidia0", remedy)
    nodes = [machine.dev / "nvidiactl", machine.dev / "nvidia-uvm", *gpus]
    missing = [node for node in nodes if not node.exists()]
    if missing:
        remedy = f"create them with nvidia-modprobe -u -c 0; {_CONTAINER}"
        return DoctorFinding(subject, "wrong", f"missing: {_listed(missing)}", remedy)
    closed = [node for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        groups = ", ".join(sorted({_group(node) for node in closed}))
        remedy = f"join the group {groups}, or make them readable and writable for all"
        return DoctorFinding(subject, "wrong", f"no permission to open {_listed(closed)}", remedy)
    says = f"{len(gpus)} GPU device files, all readable and writable"
    return DoctorFinding(subject, "well", says)


def visible_devices(listed: str | None, nodes: int) -> DoctorFinding:
    """Check the GPUs that ``CUDA_VISIBLE_DEVICES`` makes visible.

    Args:
        listed: The value; ``None`` if it is not set.
        nodes: The number of GPUs; 0 if unknown.
    """
    if listed is None:
        return DoctorFinding(VARIABLE, "well", "not set: every GPU is visible")
    items = [item.strip() for item in listed.split(",")]
    highest = max(int(item) if item.isdecimal() else 0 for item in items)
    shown = gpus_listed(listed, nodes or len(items) + highest + 1)
    if not shown:
        return DoctorFinding(VARIABLE, "wrong", f"'{listed}' hides every GPU", f"unset {VARIABLE}")
    if len(shown) < len(items):
        says = f"'{items[len(shown)]}' is not a GPU: this entry and all later ones are ignored"
        return DoctorFinding(VARIABLE, "note", says, f"{VARIABLE}={','.join(shown)} is equivalent")
    return DoctorFinding(VARIABLE, "well", f"visible: {', '.join(shown)}")


# --- libraries -----------------------------------------------------------------------------------


def library(loaded: Answer[probes.DriverLibrary | str]) -> DoctorFinding:
    """Check that libcuda can be loaded."""
    subject, remedy = "driver library", _INSTALL
    match loaded.value:
        case None:
            says = f"libcuda.so.1: {loaded.error}"
        case str(why) if "No such file" in why:  # dlerror(3) has only a text
            says, remedy = "libcuda.so.1 was not found", f"{_INSTALL}; {_CONTAINER}"
        case str(why):
            says = f"libcuda.so.1 cannot be loaded: {why}"
            remedy = f"remove it from LD_LIBRARY_PATH, or {_INSTALL}"
        case probes.DriverLibrary(path, result, _) if result != 0:
            says = f"{path}: cuDriverGetVersion: error {result}"
            remedy = _REMEDIES.get(result, _INSTALL)
        case probes.DriverLibrary(path, _, number) if number < _OLDEST_DRIVER:
            says = f"{path}: CUDA {_dotted(number)}; {_dotted(_OLDEST_DRIVER)} is required"
        case probes.DriverLibrary(path, _, number):
            return DoctorFinding(subject, "well", f"{path}, CUDA {_dotted(number)}")
    return DoctorFinding(subject, "wrong", says, remedy)


def bindings(installed: Version | None, driver: Version | None) -> DoctorFinding:
    """Check that the bindings match the driver's version."""
    subject = "cuda-bindings"
    if installed is None:
        return DoctorFinding(subject, "wrong", "not installed", "pip install cuda-python")
    if driver is not None and installed[0] > driver[0] >= _OLDEST_DRIVER[0]:
        says = f"{_dotted(installed)} is for drivers of CUDA {installed[0]}"
        remedy = f"update the driver, or pip install 'cuda-python=={driver[0]}.*'"
        return DoctorFinding(subject, "note", says, remedy)
    return DoctorFinding(subject, "well", _dotted(installed))


def toolkit_part(
    name: str,
    purpose: str,
    asked: Answer[Version],
    driver: Version | None,
    installed: Version | None,
) -> DoctorFinding:
    """Check that a part of the toolkit is installed, and no newer than the driver.

    Args:
        asked: Its version, or the reason that there is none.
        driver: The CUDA version of the driver; ``None`` without a driver.
        installed: The version of the bindings.
    """
    found = asked.value
    if found is None:
        remedy = toolkit_installation(installed)
        return DoctorFinding(name, "note", f"{purpose}: {asked.error}", remedy)
    if driver is None or found <= driver:
        return DoctorFinding(name, "well", _dotted(found))
    says = f"{_dotted(found)} is newer than the driver's CUDA {_dotted(driver)}"
    if found[0] == driver[0]:
        says += ": it can generate SASS, but not PTX, for this driver"
        return DoctorFinding(name, "well", says)
    remedy = f"update the driver, or in a separate environment: {toolkit_installation(driver)}"
    return DoctorFinding(name, "note", f"{says}; the driver may refuse its output", remedy)


def emulated(asked: Answer[int]) -> DoctorFinding:
    """Check that ``-d cpu`` works."""
    if asked.value is None:
        why = asked.error.log if asked.error and asked.error.log else str(asked.error)
        remedy = (asked.error and asked.error.hint) or "unset CUDARUN_CPU_DEVICES"
        return DoctorFinding("device cpu", "wrong", why, remedy)
    return DoctorFinding("device cpu", "well", f"{asked.value} emulated, PTX only")


def compiler(asked: Answer[Compiler]) -> DoctorFinding:
    """Check that kernels of ``-d cpu`` can be compiled, and for which processor."""
    subject, found = "llvmlite", asked.value
    target = os.environ.get(_TARGET)
    if found is None:
        says = f"kernels of device cpu cannot be compiled: {asked.error}"
        return DoctorFinding(subject, "note", says, _REINSTALL)
    if not found.version:
        says = "not installed: device cpu interprets all kernels"
        return DoctorFinding(subject, "note", says, "pip install 'cudarun[fast]'")
    if found.missing:
        says = f"{found.version}: device cpu interprets all kernels: no {found.missing} for "
        says += f"{_TARGET}={target}" if target else f"processor {found.processor}"
        return DoctorFinding(subject, "note", says, f"unset {_TARGET}" if target else "")
    chosen = f" ({_TARGET})" if target else ""
    says = f"{found.version} compiles for {found.processor} with {found.vectors}{chosen}"
    return DoctorFinding(subject, "well", says)


def _started(asked: Answer[list[tuple[str, str, int, str]]]) -> Iterator[DoctorFinding]:
    """Check that the driver initializes, and that a context can be created on each device."""
    if asked.value is None:
        yield DoctorFinding("cuInit", "wrong", str(asked.error), "see dmesg; restart")
    for subject, name, number, well in asked.value or ():
        if number == 0:
            yield DoctorFinding(subject, "well", well)
        else:
            remedy = _REMEDIES.get(number, "see dmesg")
            yield DoctorFinding(subject, "wrong", f"{name}, {number}", remedy)


# --- helpers -------------------------------------------------------------------------------------


def _nodes(machine: DevicePaths) -> list[Path]:
    """Return ``/dev/nvidia0`` and so on."""
    nodes = machine.dev.glob("nvidia*")
    return sorted(node for node in nodes if node.name.removeprefix("nvidia").isdecimal())


def _installed(package: str) -> Version | None:
    try:
        major, minor, *_rest = version(package).split(".")
    except PackageNotFoundError:
        return None
    return int(major), int(minor)


def _group(node: Path) -> str:
    try:
        return node.group()
    except KeyError:  # the group has only a number
        return str(node.stat().st_gid)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _listed(paths: list[Path]) -> str:
    return ", ".join(map(str, paths))


def _dotted(number: Version) -> str:
    return f"{number[0]}.{number[1]}"
