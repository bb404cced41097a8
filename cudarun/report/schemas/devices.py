"""The documents of ``devices`` and ``devices --doctor``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import Head
from cudarun.report.schemas.values import Version


class DeviceRecord(TypedDict):
    """A device as the driver describes it; sizes in bytes.

    Attributes:
        label: The device as for --device, such as 0, cpu or cpu:1.
        index: The driver's ordinal.
        name: Its name.
        uuid: Its UUID.
        pci_bus_id: Its PCI bus id.
        compute_capability: Major and minor.
        multiprocessors: The number of multiprocessors.
        memory_free: Free memory; null where the driver was not asked.
        memory_total: All memory.
        driver_version: The CUDA version of the driver.
        ptx_version: The newest PTX that the driver compiles.
        peers: The ordinals of the devices whose memory it can access.
    """

    label: str
    index: int
    name: str
    uuid: str
    pci_bus_id: str
    compute_capability: Version
    multiprocessors: int
    memory_free: int | None
    memory_total: int
    driver_version: Version
    ptx_version: Version | None
    peers: list[int]


class DevicesDocument(Head):
    """The devices of a machine.

    Attributes:
        schema: The schema of this document.
        devices: The chosen devices, in order.
        attributes: By the device's label, each CUdevice_attribute by its name without
            CU_DEVICE_ATTRIBUTE_; null where the driver does not know it. Empty without
            --attributes.
        no_gpu: Why there is no GPU, where emulated devices are listed instead; else null.
    """

    schema: Literal["cudarun/devices/1"]
    devices: list[DeviceRecord]
    attributes: dict[str, dict[str, int | None]]
    no_gpu: str | None


class DoctorFindingRecord(TypedDict):
    """A part of the machine that was examined.

    Attributes:
        subject: The part.
        state: well; note, which keeps no GPU from working; or wrong, which does.
        says: What was found.
        remedy: What to do about it; empty where all is well.
    """

    subject: str
    state: Literal["well", "note", "wrong"]
    says: str
    remedy: str


class DoctorDocument(Head):
    """The report of ``devices --doctor``.

    Attributes:
        schema: The schema of this document.
        findings: All parts that were examined, in order.
    """

    schema: Literal["cudarun/devices-doctor/1"]
    findings: list[DoctorFindingRecord]
