"""The reports of ``devices`` and ``devices --doctor``, and the device of other reports."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A device as the driver describes it; sizes in bytes."""

    label: str  # the device as for ``--device``, such as 0, cpu or cpu:1
    index: int  # the driver's ordinal
    name: str  # its name
    uuid: str  # its UUID
    pci_bus_id: str  # its PCI bus id
    compute_capability: tuple[int, int]  # major and minor
    multiprocessors: int  # the number of multiprocessors
    memory_free: int | None  # free memory; ``None`` where the driver was not asked
    memory_total: int  # all memory
    driver_version: tuple[int, int]  # the CUDA version of the driver
    ptx_version: tuple[int, int] | None  # the newest PTX that the driver compiles
    peers: tuple[int, ...] = ()  # the ordinals of the devices whose memory it can access


@dataclass(frozen=True, slots=True)
class DevicesReport:
    """The devices of a machine."""

    tag: ClassVar[Literal["devices"]] = "devices"

    devices: tuple[DeviceInfo, ...]  # the chosen devices, in order
    # By the device's label, each CUdevice_attribute by its name without CU_DEVICE_ATTRIBUTE_;
    # ``None`` where the driver does not know it. Empty without ``--attributes``.
    attributes: dict[str, dict[str, int | None]] = field(default_factory=dict)
    # Why there is no GPU, where emulated devices are listed instead; else ``None``.
    no_gpu: str | None = None

    exit_code: ClassVar[ExitCode] = ExitCode.OK
    """A failure is an error, and then there is no report."""


State = Literal["well", "note", "wrong"]


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A part of the machine that was examined."""

    subject: str  # the part
    state: State  # ``well``; note, which keeps no GPU from working; or wrong, which does
    says: str  # what was found
    remedy: str = ""  # what to do about it; empty where all is well


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The report of ``devices --doctor``."""

    tag: ClassVar[Literal["devices-doctor"]] = "devices-doctor"

    findings: tuple[DoctorFinding, ...]  # all parts that were examined, in order

    @property
    def exit_code(self) -> ExitCode:
        """3 if a finding keeps GPUs from working."""
        wrong = any(finding.state == "wrong" for finding in self.findings)
        return ExitCode.NO_DEVICE if wrong else ExitCode.OK
