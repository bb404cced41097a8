"""The tables of ``devices`` and ``devices --doctor``."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.diagnostics.refusals import version_text
from cudarun.model.devices import DevicesReport, DoctorReport
from cudarun.report.console import NOTE, FittingTable, print_line
from cudarun.report.renderer import TableStyle

_MARKS = {"well": ("ok", "green"), "note": ("note", "yellow"), "wrong": ("WRONG", "red bold")}


def show_devices(report: DevicesReport, out: Console, style: TableStyle) -> None:
    """Print a row per device, the peer access of several devices, and the attributes."""
    if not style.quiet:
        _show_devices(report, out)
    if report.attributes:
        rows = FittingTable("attribute", *report.attributes, numbers=True)
        for name in next(iter(report.attributes.values())):
            values = (values[name] for values in report.attributes.values())
            rows.add_row(name, *("?" if value is None else value for value in values))
        out.print(rows)


def _show_devices(report: DevicesReport, out: Console) -> None:
    rows = FittingTable("device", "name", "cc", "SMs", "free/total GiB", "PCI", "driver", "PTX")
    for device in report.devices:
        versions = device.driver_version, device.ptx_version
        free = "?" if device.memory_free is None else f"{device.memory_free / 2**30:.1f}"
        memory = f"{free}/{device.memory_total / 2**30:.1f}"
        hardware = device.multiprocessors, memory, device.pci_bus_id
        capability = version_text(device.compute_capability)
        rows.add_row(device.label, device.name, capability, *hardware, *map(version_text, versions))
    out.print(rows)
    for device in report.devices:
        print_line(out, f"{device.label}: {device.uuid}")
    if len(report.devices) > 1:
        rows = FittingTable("peer access", *(device.label for device in report.devices))
        for device in report.devices:
            reach = ("yes" if each.index in device.peers else "no" for each in report.devices)
            pairs = zip(report.devices, reach, strict=True)
            rows.add_row(device.label, *("-" if each is device else word for each, word in pairs))
        out.print(rows)
    if report.no_gpu is not None:
        reason = "'cudarun devices --doctor' shows the reason"
        print_line(out, NOTE, f"no GPU: {report.no_gpu}; {reason}")


# --- doctor ------------------------------------------------------------------------------------


def show_doctor(report: DoctorReport, out: Console, style: TableStyle) -> None:
    """Print a row for each finding, and its remedy; with ``quiet`` only of problems and notes."""
    rows = FittingTable("", "", "", show_header=False)
    for finding in report.findings:
        if style.quiet and finding.state == "well":
            continue
        rows.add_row(Text(*_MARKS[finding.state]), finding.subject, finding.says)
        if finding.remedy:
            rows.add_row("", "", Text.assemble(("fix: ", "cyan bold"), finding.remedy))
    out.print(rows)
