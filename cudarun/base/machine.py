"""The machine of a run: its host name, and the identity of each device that a worker initialized.

Workers describe their devices as soon as the driver is initialized, and `add` keeps what they
describe, so that the identity of a device is known even if its worker dies later.
"""

from __future__ import annotations

from cudarun.base.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """The properties that tell one device from all others.

    Attributes:
        label: The device as for ``--device``, such as 0, cpu or cpu:1.
        index: The driver's ordinal.
        uuid: The UUID, as nvidia-smi writes it.
        pci_bus_id: The PCI bus id.
        name: The name of its kind.
        serial: The serial number of the board; ``None`` where NVML does not report one.
        driver_version: The CUDA version of the driver.
    """

    label: str
    index: int
    uuid: str
    pci_bus_id: str
    name: str
    serial: str | None
    driver_version: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of a run.

    Attributes:
        host: Its name in its network.
        devices: The devices that were initialized, also those without a result.
    """

    host: str
    devices: tuple[DeviceIdentity, ...]


_devices: dict[str, DeviceIdentity] = {}


def host() -> str:
    """Return the name of this machine in its network."""
    import socket  # only documents need it

    return socket.gethostname()


def add(devices: Iterable[DeviceIdentity]) -> None:
    """Record devices that a worker of this process has initialized."""
    for device in devices:
        _devices[device.label] = device


def clear() -> None:
    """Forget the devices, before this process runs another command."""
    _devices.clear()


def devices() -> tuple[DeviceIdentity, ...]:
    """Return the devices that the workers of this process have initialized so far."""
    return tuple(_devices.values())


def device(label: str) -> DeviceIdentity | None:
    """Return the device with a label; ``None`` if no worker has initialized it."""
    return _devices.get(label)
