"""The shape of errors, in every document and alone in one."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from cudarun.report.schemas.detectors import DetectorFindingRecord, StatisticsRecord
from cudarun.report.schemas.engines import KernelEngineRecord
from cudarun.report.schemas.values import Extent, Version


class CudaResultRecord(TypedDict):
    """A result of a driver call.

    Attributes:
        name: The name of the ``CUresult``, such as CUDA_ERROR_INVALID_VALUE.
        number: Its number.
    """

    name: str
    number: int


class DiagnosticRecord(TypedDict):
    """A diagnostic of a compiler or linker, or a note of cudarun.

    Attributes:
        tool: The program that reported it.
        severity: The severity by that program.
        message: Its text.
        file: The input that it is about.
        line: The line, from 1.
        column: The column, from 1.
        width: The number of characters from there.
        source: The text of the line.
    """

    tool: Literal["ptxas", "nvlink", "nvJitLink", "NVRTC", "nvcc", "cudarun"]
    severity: Literal["fatal", "error", "warning", "info", "note"]
    message: str
    file: str | None
    line: int | None
    column: int | None
    width: int
    source: str | None


class PtxDiagnosticRecord(TypedDict):
    """A diagnostic of cudarun's own PTX parser.

    Attributes:
        line: The line, from 1.
        column: The column, from 1.
        severity: The severity as ptxas grades it.
        message: Its text.
    """

    line: int
    column: int
    severity: Literal["fatal", "error", "warning", "info"]
    message: str


class FaultPlaceRecord(TypedDict):
    """The place of a fault of the emulated device, or of threads in a hang.

    Attributes:
        state: What the threads do, in the words of the report; empty for a fault.
        threads: The number of threads.
        block: The block of the first one.
        thread: The first one in its block.
        ptx_line: The line of the PTX.
        ptx: The instruction.
        file: The source file; null without line information, as its line.
        line: The line of the source.
        buffer: The buffer that was nearest to an invalid address; null where none was.
        element: The element there.
    """

    state: str
    threads: int
    block: Extent
    thread: Extent
    ptx_line: int | None
    ptx: str | None
    file: str | None
    line: int | None
    buffer: str | None
    element: int | None


class ErrorRecord(TypedDict):
    """An error.

    Attributes:
        kind: The class of error, which decides the exit code.
        exit_code: The exit code of the class.
        message: The operation and what happened.
        cuda: The driver's result.
        hint: What to do about it.
        log: A compiler's, linker's or driver's log, or a fault report.
        places: The places in the report of a fault or a hang of the emulated device.
        warnings: Diagnostics from before the error.
        findings: What detectors found before the error.
        statistics: What was counted before the error.
        engines: The engines that ran kernels of an emulated device before the error.
        file: The file.
        kernel: The kernel.
        argument: The argument of the kernel.
        device: The device, as for --device.
        step: The step of a script.
        diagnostics: The log, in its parts.
        explanation: Why an image was refused.
    """

    kind: Literal[
        "ArgumentSyntaxError",
        "CheckFailed",
        "DeviceFailed",
        "ExpectationFailed",
        "ImageRefused",
        "InternalError",
        "Interrupted",
        "NoDevice",
        "OutOfTime",
        "PtxError",
        "RequestError",
        "WorkerDied",
    ]
    exit_code: int
    message: str
    cuda: NotRequired[CudaResultRecord]
    hint: NotRequired[str]
    log: NotRequired[str]
    places: NotRequired[list[FaultPlaceRecord]]
    warnings: NotRequired[list[DiagnosticRecord]]
    findings: NotRequired[list[DetectorFindingRecord]]
    statistics: NotRequired[StatisticsRecord]
    engines: NotRequired[list[KernelEngineRecord]]
    file: NotRequired[str]
    kernel: NotRequired[str]
    argument: NotRequired[str]
    device: NotRequired[str]
    step: NotRequired[str]
    diagnostics: NotRequired[list[DiagnosticRecord] | list[PtxDiagnosticRecord]]
    explanation: NotRequired[str]


class IdentityRecord(TypedDict):
    """The properties that tell one device from all others.

    Attributes:
        label: The device as for --device, such as 0, cpu or cpu:1.
        index: The driver's ordinal.
        uuid: The UUID, as nvidia-smi writes it.
        pci_bus_id: The PCI bus id.
        name: The name of its kind.
        serial: The serial number of the board; null where NVML does not report one.
        driver_version: The CUDA version of the driver.
    """

    label: str
    index: int
    uuid: str
    pci_bus_id: str
    name: str
    serial: str | None
    driver_version: Version


class MachineRecord(TypedDict):
    """The machine of a run.

    Attributes:
        host: Its name in its network.
        devices: The devices that were initialized, also those without a result.
    """

    host: str
    devices: list[IdentityRecord]


class Head(TypedDict):
    """The fields that every document has.

    Attributes:
        exit_code: The exit code of the process.
        error: The error that the exit code is of; null where nothing but a check failed.
        machine: The machine and its devices.
    """

    exit_code: int
    error: ErrorRecord | None
    machine: MachineRecord


class ErrorDocument(TypedDict):
    """The document of a command that ended in an error before there was a report.

    Attributes:
        schema: The schema of the command's documents.
        exit_code: The exit code of the process.
        error: The error.
        machine: The machine and its devices.
    """

    schema: str
    exit_code: int
    error: ErrorRecord
    machine: MachineRecord
