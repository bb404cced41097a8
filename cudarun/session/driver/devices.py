"""Devices: the resolution of a request's devices to the driver's handles, and descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cudarun.base.errors import NoDevice, RequestError
from cudarun.base.machine import DeviceIdentity
from cudarun.base.records import dataclass, derived, replace
from cudarun.images.versions import Version, newest_ptx
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.selection import DriverName, Selector

if TYPE_CHECKING:  # a session initializes the driver before it needs these
    from cuda.bindings import driver as cuda

    from cudarun.model.devices import DeviceInfo
    from cudarun.session.driver.visibility import VisibleDevices


_PREFIX = "CU_DEVICE_ATTRIBUTE_"


@dataclass(frozen=True, slots=True)
class Device:
    """One device of an initialized driver."""

    label: str
    index: int
    handle: cuda.CUdevice


def driver_of(selectors: Sequence[Selector]) -> DriverName:
    """Return the driver that all selectors belong to."""
    [name] = {selector.driver for selector in selectors}
    return name


def resolve(
    driver: Driver, selectors: Sequence[Selector], shown: VisibleDevices | None = None
) -> list[Device]:
    """Return the selected devices, in order, each once."""
    count = driver.cuDeviceGetCount()
    if shown is not None:
        known = enumerate(shown.indices)
        return [Device(str(index), index, driver.cuDeviceGet(nth)) for nth, index in known]
    found = [index for selector in selectors for index in _indices(driver, selector, count)]
    name, profile = driver_of(selectors), selectors[0].profile
    return [
        Device(str(Selector(name, "index", str(index), profile)), index, driver.cuDeviceGet(index))
        for index in dict.fromkeys(found)
    ]


def _indices(driver: Driver, selector: Selector, count: int) -> list[int]:
    everything = range(count)
    if selector.by == "all":
        found = list(everything)
    elif selector.by == "index":
        found = [index for index in everything if index == int(selector.value)]
    elif selector.by == "pci":
        wanted = _bus(selector.value)  # whose domain and function may be missing or shortened
        found = [n for n in everything if _bus(_pci(driver, driver.cuDeviceGet(n))) == wanted]
    else:
        start = selector.value.lower().removeprefix("gpu-")
        uuids = [uuid_of(driver, driver.cuDeviceGet(n)).lower() for n in everything]
        found = [n for n in everything if uuids[n].removeprefix("gpu-").startswith(start)]
        if len(found) > 1:
            raise RequestError(f"{selector} matches {len(found)} UUIDs", option="--device")
    if not found:
        raise NoDevice(
            f"no device {selector}: the driver reports {count}",
            hint="list devices with 'cudarun devices'; CUDA_VISIBLE_DEVICES can hide some"
            if selector.driver == "cuda"
            else "CUDARUN_CPU_DEVICES sets the number of emulated devices",
        )
    return found


def describe(driver: Driver, device: Device) -> DeviceInfo:
    """Describe a device; ``memory_free`` is known only with a current context on it."""
    status, *memory = driver.attempt("cuMemGetInfo")
    return replace(_facts(driver, device), memory_free=memory[0] if status == 0 else None)


@lru_cache  # one launch in a process follows the other
def _facts(driver: Driver, device: Device) -> DeviceInfo:
    from cudarun.model.devices import DeviceInfo

    return derived(
        DeviceInfo,
        device,
        name=name_of(driver, device.handle),
        uuid=uuid_of(driver, device.handle),
        pci_bus_id=_pci(driver, device.handle),
        compute_capability=divmod(architecture_of(driver, device.handle), 10),
        multiprocessors=attribute_of(driver, device.handle, "MULTIPROCESSOR_COUNT"),
        memory_free=None,
        memory_total=driver.cuDeviceTotalMem(device.handle),
        driver_version=cuda_of(driver),
        ptx_version=newest_ptx_of(driver),
    )


def identify(driver: Driver, device: Device) -> DeviceIdentity:
    """Return the identity of a device; it needs no context."""
    from cudarun.session.driver.nvml import serial_of  # only documents need it

    uuid = uuid_of(driver, device.handle)
    return derived(
        DeviceIdentity,
        device,
        uuid=uuid,
        pci_bus_id=_pci(driver, device.handle),
        name=name_of(driver, device.handle),
        serial=serial_of(uuid) if driver.traits.measures_device else None,
        driver_version=cuda_of(driver),
    )


def name_of(driver: Driver, handle: cuda.CUdevice) -> str:
    """Return the name of a device."""
    return _text(driver.cuDeviceGetName(256, handle))


def attribute_of(driver: Driver, handle: cuda.CUdevice, name: str) -> int:
    """Return a ``CUdevice_attribute`` of a device."""
    attribute = getattr(driver.CUdevice_attribute, _PREFIX + name)
    return int(driver.cuDeviceGetAttribute(attribute, handle))


def architecture_of(driver: Driver, handle: cuda.CUdevice) -> int:
    """Return 90 for compute capability 9.0."""
    major, minor = (
        attribute_of(driver, handle, f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR")
    )
    return 10 * major + minor


def newest_ptx_of(driver: Driver) -> Version | None:
    """Return the newest PTX that a driver accepts; ``None`` if it is not known."""
    own = driver.traits.newest_ptx
    return own() if own else newest_ptx(cuda_of(driver))


def cuda_of(driver: Driver) -> Version:
    """Return the CUDA version of a driver."""
    return driver.version // 1000, driver.version % 1000 // 10


def peers_of(driver: Driver, device: Device) -> tuple[int, ...]:
    """Return the visible devices whose memory this device can access."""
    return tuple(
        other
        for other in range(driver.cuDeviceGetCount())
        if other != device.index
        and driver.cuDeviceCanAccessPeer(device.handle, driver.cuDeviceGet(other))
    )


def attributes_of(driver: Driver, device: Device) -> dict[str, int | None]:
    """Return every known ``CUdevice_attribute``; ``None`` if the driver does not know it."""
    found: dict[str, int | None] = {}
    for attribute in driver.CUdevice_attribute:
        if attribute.name != f"{_PREFIX}MAX":  # the end of the list
            result, *value = driver.attempt("cuDeviceGetAttribute", attribute, device.handle)
            found[attribute.name.removeprefix(_PREFIX)] = int(value[0]) if result == 0 else None
    return found


def uuid_of(driver: Driver, handle: cuda.CUdevice) -> str:
    """Return a device's UUID as nvidia-smi writes it."""
    raw = bytes(driver.cuDeviceGetUuid(handle).bytes).hex()
    return f"GPU-{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:]}"


def _pci(driver: Driver, handle: cuda.CUdevice) -> str:
    return _text(driver.cuDeviceGetPCIBusId(64, handle))


def _bus(text: str) -> tuple[int, int, int, int]:
    address, _, function = text.partition(".")
    *domain, bus, slot = address.split(":")
    return (int(domain[0], 16) if domain else 0, int(bus, 16), int(slot, 16), int(function or 0))


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")
