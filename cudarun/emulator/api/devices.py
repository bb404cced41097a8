"""Errors, initialization, version, devices: driver API, sections 6.2 to 6.5, and peer queries."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import re

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import query
from cudarun.emulator.api.handles import DeviceHandle
from cudarun.emulator.host.addresses import c_string, padded_name
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_member, refuse_if
from cudarun.emulator.host.runtime_errors import host_error

DRIVER_VERSION = 13000
_P2P_ACCESS = (2, 3)  # CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, …_NATIVE_ATOMIC_SUPPORTED
_PCI_BUS_ID = re.compile(
    r"(?:([0-9a-f]+):)?([0-9a-f]+):([0-9a-f]+)(?:\.([0-7]))?", re.ASCII | re.IGNORECASE
)
_P2P_ATTRIBUTES = range(1, 5)


@query(before_init=True)
def cuInit(Flags: int) -> None:
    """Create the emulated devices; ``CUDARUN_CPU_DEVICES`` sets their number."""
    refuse_if(Flags != 0, "Flags must be 0")
    process.initialize()


@query(before_init=True)
def cuDriverGetVersion() -> int:
    """Return the CUDA version of the driver that is emulated."""
    return DRIVER_VERSION


@query(before_init=True)
def cuGetErrorName(error: cuda.CUresult) -> bytes:
    """Return the name of a result, ``CUDA_ERROR_…``, as bytes."""
    return str(enum_member(cuda.CUresult, error).name).encode()


@query(before_init=True)
def cuGetErrorString(error: cuda.CUresult) -> bytes:
    """Return the description of a result, as bytes."""
    result = enum_member(cuda.CUresult, error)
    known = host_error(int(result))
    return (str(result.name) if known is None else known[1]).encode()


@query()
def cuDeviceGet(ordinal: int) -> cuda.CUdevice:
    """Return the device with an index."""
    return cuda.CUdevice(process.device(ordinal).ordinal)


@query()
def cuDeviceGetCount() -> int:
    """Return the number of emulated devices."""
    return len(process.devices)


@query()
def cuDeviceGetName(length: int, dev: DeviceHandle) -> bytes:
    """Return the device's name in ``length`` bytes: NUL-terminated, then spaces."""
    return padded_name(dev.name, length)


@query()
def cuDeviceGetUuid(dev: DeviceHandle) -> cuda.CUuuid:
    """Return the 16 bytes that identify the device; the same in every process."""
    import hashlib  # few programs ask

    uuid = cuda.CUuuid()
    own = hashlib.sha256(f"{dev.name} {dev.ordinal}".encode()).digest()[:16]
    ctypes.memmove(uuid.getPtr(), own, 16)
    return uuid


@query()
def cuDeviceTotalMem(dev: DeviceHandle) -> int:
    """Return the number of bytes that the device can allocate."""
    return dev.memory.capacity


@query()
def cuDeviceGetAttribute(attrib: cuda.CUdevice_attribute, dev: DeviceHandle) -> int:
    """Return the value of a ``CUdevice_attribute``."""
    return dev.attribute(attrib)


@query()
def cuDeviceComputeCapability(dev: DeviceHandle) -> tuple[int, int]:
    """Return the major and the minor compute capability."""
    major, minor = divmod(dev.profile.architecture, 10)
    return major, minor


@query()
def cuDeviceGetPCIBusId(length: int, dev: DeviceHandle) -> bytes:
    """Return ``domain:bus:device.function`` in ``length`` bytes."""
    return padded_name("{:04X}:{:02X}:{:02X}.0".format(*dev.pci), length)


@query()
def cuDeviceGetByPCIBusId(pciBusId: bytes) -> cuda.CUdevice:
    """Return the device at a PCI address; domain and function may be omitted."""
    text = c_string(pciBusId)
    match = _PCI_BUS_ID.fullmatch(text)
    if match is None:
        raise Refusal("INVALID_VALUE", f"'{text}' is not a PCI bus id")
    address = tuple(int(part or "0", 16) for part in match.groups())
    for device in process.devices:
        if address == (*device.pci, 0):
            return cuda.CUdevice(device.ordinal)
    raise Refusal("INVALID_DEVICE", f"no device has the PCI bus id {text}")


@query()
def cuDeviceCanAccessPeer(dev: DeviceHandle, peerDev: DeviceHandle) -> int:
    """Return 1: every emulated device can access the memory of every other."""
    return int(dev is not peerDev)


@query()
def cuDeviceGetP2PAttribute(
    attrib: cuda.CUdevice_P2PAttribute, srcDevice: DeviceHandle, dstDevice: DeviceHandle
) -> int:
    """Return an attribute of the link between two different devices."""
    refuse_if(srcDevice is dstDevice, "both devices are the same", "INVALID_DEVICE")
    refuse_if(int(attrib) not in _P2P_ATTRIBUTES, f"{int(attrib)} is not a CUdevice_P2PAttribute")
    return int(int(attrib) in _P2P_ACCESS)
