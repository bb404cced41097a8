"""Errors in a PTX text, in the words of ptxas, and the exception that carries them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.ptx.tree import Position

Severity = Literal["fatal", "error", "warning", "info"]
"""The severities of ptxas: a ``fatal`` error ends the parse, others do not."""


@dataclass(frozen=True, slots=True)
class PtxDiagnostic:
    """One diagnostic with its position: ``Parsing error near '.xx': syntax error``."""

    position: Position
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"line {self.position.line}; {self.severity:<8}: {self.message}"


class PtxError(ImageRefused):
    """The PTX text is invalid; all diagnostics, in the order of the text.

    ``log`` has them in the format of the driver's just-in-time compiler.

    Args:
        diagnostics: At least one.
    """

    kind = "PtxError"

    def __init__(
        self,
        diagnostics: Iterable[PtxDiagnostic],
        *,
        hint: str | None = None,
        file: str | None = None,
    ) -> None:
        self.diagnostics = in_order(diagnostics)
        first, *others = self.diagnostics
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(
            f"PTX line {first.position.line}: {first.message}{more}",
            hint=hint,
            log=ptxas_log(self.diagnostics),
            file=file,
        )


def in_order(diagnostics: Iterable[PtxDiagnostic]) -> tuple[PtxDiagnostic, ...]:
    """Return diagnostics in the order of the text."""
    return tuple(sorted(diagnostics, key=lambda each: each.position.line))


def ptxas_log(diagnostics: Iterable[PtxDiagnostic], origin: str = "application ptx input") -> str:
    """Return diagnostics in ptxas's format, one per line, with its closing line after errors."""
    lines = []
    aborted = False
    for diagnostic in diagnostics:
        lines.append(f"ptxas {origin}, {diagnostic}")
        aborted |= diagnostic.severity in ("fatal", "error")
    if aborted:
        lines.append("ptxas fatal   : Ptx assembly aborted due to errors")
    return "\n".join(lines)
