"""Errors as JSON documents have them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from cudarun.base.records import beside, dataclass, derived
from cudarun.diagnostics.entries import Diagnosed, Diagnostic

if TYPE_CHECKING:
    from cudarun.base.errors import CudarunError, ErrorKind
    from cudarun.base.fault_place import FaultPlace
    from cudarun.model.detectors import LaunchFinding, LaunchStatistics
    from cudarun.model.launch import KernelEngine


@dataclass(frozen=True, slots=True)
class CudaResult:
    """A result of a driver call."""

    name: str  # the name of the ``CUresult``, such as CUDA_ERROR_INVALID_VALUE
    number: int  # its number


@dataclass(frozen=True, slots=True)
class LocatedPtxDiagnostic:
    """A diagnostic of cudarun's own PTX parser."""

    line: int  # the line, from 1
    column: int  # the column, from 1
    severity: Literal["fatal", "error", "warning", "info"]  # the severity as ptxas grades it
    message: str  # its text


@dataclass(frozen=True, slots=True)
class DescribedError:
    """An error."""

    kind: ErrorKind  # the class of error, which decides the exit code
    exit_code: int  # the exit code of the class
    message: str  # the operation and what happened
    cuda: CudaResult | None = field(metadata=beside("cuda"))  # the driver's result
    hint: str | None = field(metadata=beside("hint"))  # what to do about it
    # A compiler's, linker's or driver's log, or a fault report.
    log: str | None = field(metadata=beside("log"))
    # The places in the report of a fault or a hang of the emulated device.
    places: tuple[FaultPlace, ...] | None = field(metadata=beside("places"))
    # Diagnostics from before the error.
    warnings: tuple[Diagnostic, ...] | None = field(metadata=beside("warnings"))
    # What detectors found before the error.
    findings: tuple[LaunchFinding, ...] | None = field(metadata=beside("findings"))
    # What was counted before the error.
    statistics: LaunchStatistics | None = field(metadata=beside("statistics"))
    # The engines that ran kernels of an emulated device before the error.
    engines: tuple[KernelEngine, ...] | None = field(metadata=beside("engines"))
    file: str | None = field(metadata=beside("file"))  # the file
    kernel: str | None = field(metadata=beside("kernel"))  # the kernel
    argument: str | None = field(metadata=beside("argument"))  # the argument of the kernel
    device: str | None = field(metadata=beside("device"))  # the device, as for ``--device``
    step: str | None = field(metadata=beside("step"))  # the step of a script
    # The log, in its parts.
    diagnostics: tuple[Diagnostic, ...] | tuple[LocatedPtxDiagnostic, ...] | None = field(
        metadata=beside("diagnostics")
    )
    explanation: str | None = field(metadata=beside("explanation"))  # why an image was refused


def described(error: CudarunError) -> DescribedError:
    """Return the fields of an error."""
    places = ("file", "kernel", "argument", "device", "step")
    return derived(
        DescribedError,
        error,
        **{place: error.context.get(place) for place in places},
        cuda=None if error.cuda is None else CudaResult(*error.cuda),
        log=error.log or None,
        places=error.places or None,
        warnings=error.warnings or None,
        findings=error.findings or None,
        engines=error.engines or None,
        diagnostics=_diagnostics(error),
        explanation=(error.explanation or None) if isinstance(error, Diagnosed) else None,
    )


def _diagnostics(
    error: CudarunError,
) -> tuple[Diagnostic, ...] | tuple[LocatedPtxDiagnostic, ...] | None:
    if isinstance(error, Diagnosed):
        return error.diagnostics
    if error.kind != "PtxError":
        return None
    from cudarun.ptx.errors import PtxError  # which no other error needs

    assert isinstance(error, PtxError)
    return tuple(
        LocatedPtxDiagnostic(each.position.line, each.position.column, each.severity, each.message)
        for each in error.diagnostics
    )
