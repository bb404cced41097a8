"""The documents of ``devices`` and ``devices --doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head

if TYPE_CHECKING:
    from cudarun.report.device_types import (
        DeviceInfo,
        DevicesReport,
    )
    from cudarun.report.doctor_types import DoctorReport
    from cudarun.report.schemas.devices import DeviceRecord, DevicesDocument, DoctorDocument


def devices_document(report: DevicesReport) -> DevicesDocument:
    """Return the document of ``devices``."""
    return {
        "schema": "cudarun/devices/1",
        **head(report.exit_code, None),
        "devices": [device_record(device) for device in report.devices],
        "attributes": report.attributes,
        "no_gpu": None if report.no_gpu is None else str(report.no_gpu),
    }


def device_record(device: DeviceInfo) -> DeviceRecord:
    """Return a device."""
    return {
        "label": device.label,
        "index": device.index,
        "name": device.name,
        "uuid": device.uuid,
        "pci_bus_id": device.pci_bus_id,
        "compute_capability": device.compute_capability,
        "multiprocessors": device.multiprocessors,
        "memory_free": device.memory_free,
        "memory_total": device.memory_total,
        "driver_version": device.driver_version,
        "ptx_version": device.ptx_version,
        "peers": [*device.peers],
    }


def doctor_document(report: DoctorReport) -> DoctorDocument:
    """Return the document of ``devices --doctor``."""
    return {
        "schema": "cudarun/devices-doctor/1",
        **head(report.exit_code, None),
        "findings": [
            {
                "subject": finding.subject,
                "state": finding.state,
                "says": finding.says,
                "remedy": finding.remedy,
            }
            for finding in report.findings
        ],
    }
