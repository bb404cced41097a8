"""The machine of a run: its host name and cores, and the identity of each initialized device.

Workers describe their devices as soon as the driver is initialized, and `add` keeps what they
describe, so that the identity of a device is known even if its worker dies later.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """The properties that tell one device from all others."""

    label: str  # the device as for ``--device``, such as 0, cpu or cpu:1
    index: int  # the driver's ordinal
    uuid: str  # the UUID, as nvidia-smi writes it
    pci_bus_id: str  # the PCI bus id
    name: str  # the name of its kind
    serial: str | None  # the serial number of the board; ``None`` where NVML does not report one
    driver_version: tuple[int, int]  # the CUDA version of the driver


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine of a run."""

    host: str  # its name in its network
    # The devices that were initialized, also those without a result.
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


# --- processor cores -----------------------------------------------------------------------------


_GROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def available_cores(groups: Path = _GROUPS, membership: Path = _MEMBERSHIP) -> int:
    """Return the number of cores, by the affinity and the quotas of the control groups.

    ``docker run --cpus 1.5`` is a quota: two cores.

    Args:
        groups: The folder of the control groups (cgroups(7)), of version 1 or 2.
        membership: The file that names those of this process.
    """
    quotas = [max(math.ceil(quota), 1) for quota in _quotas(groups, membership)]
    return min([len(os.sched_getaffinity(0)), *quotas])


def _quotas(groups: Path, membership: Path) -> Iterator[float]:
    """Yield the quotas of the groups of this process, and of those that contain them."""
    lines = []
    with suppress(OSError):
        lines = membership.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root = groups
        elif "cpu" in controllers.split(","):
            root = groups / "cpu"
        else:
            continue
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):  # a container may see its own group as the root
            with suppress(OSError, ValueError):  # no file, or no limit
                files: tuple[str, ...] = ("cpu.max",)
                if not (root / folder / files[0]).exists():
                    files = ("cpu.cfs_quota_us", "cpu.cfs_period_us")  # version 1
                texts = [(root / folder / name).read_text() for name in files]
                quota, period = map(int, " ".join(texts).split())
                if quota > 0:
                    yield quota / period
