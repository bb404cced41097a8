"""Errors as JSON documents have them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from cudarun.base.records import beside, dataclass, derived
from cudarun.diagnostics.entries import Diagnosed

if TYPE_CHECKING:
    from cudarun.base.errors import CudarunError, ErrorKind
    from cudarun.base.fault_place import FaultPlace
    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.model.detectors import LaunchFinding, LaunchStatistics
    from cudarun.model.launch import KernelEngine


@dataclass(frozen=True, slots=True)
class CudaResult:
    """A result of a driver call.

    Attributes:
        name: The name of the ``CUresult``, such as CUDA_ERROR_INVALID_VALUE.
        number: Its number.
    """

    name: str
    number: int


@dataclass(frozen=True, slots=True)
class LocatedPtxDiagnostic:
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


@dataclass(frozen=True, slots=True)
class DescribedError:
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
        device: The device, as for ``--device``.
        step: The step of a script.
        diagnostics: The log, in its parts.
        explanation: Why an image was refused.
    """

    kind: ErrorKind
    exit_code: int
    message: str
    cuda: CudaResult | None = field(metadata=beside("cuda"))
    hint: str | None = field(metadata=beside("hint"))
    log: str | None = field(metadata=beside("log"))
    places: tuple[FaultPlace, ...] | None = field(metadata=beside("places"))
    warnings: tuple[Diagnostic, ...] | None = field(metadata=beside("warnings"))
    findings: tuple[LaunchFinding, ...] | None = field(metadata=beside("findings"))
    statistics: LaunchStatistics | None = field(metadata=beside("statistics"))
    engines: tuple[KernelEngine, ...] | None = field(metadata=beside("engines"))
    file: str | None = field(metadata=beside("file"))
    kernel: str | None = field(metadata=beside("kernel"))
    argument: str | None = field(metadata=beside("argument"))
    device: str | None = field(metadata=beside("device"))
    step: str | None = field(metadata=beside("step"))
    diagnostics: tuple[Diagnostic, ...] | tuple[LocatedPtxDiagnostic, ...] | None = field(
        metadata=beside("diagnostics")
    )
    explanation: str | None = field(metadata=beside("explanation"))


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
