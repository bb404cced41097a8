"""What is wrong with a PTX text, in the words of ptxas, and the error that carries it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cudarun.errors import ImageRefused
from cudarun.ptx.tree import Position
from cudarun.records import dataclass

Severity = Literal["fatal", "error", "warning", "info"]
"""As ptxas grades them: a ``fatal`` one ends the reading, an ``error`` lets it go on."""


@dataclass(frozen=True, slots=True)
class PtxDiagnostic:
    """One complaint about one place: ``Parsing error near '.xx': syntax error``."""

    position: Position
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"line {self.position.line}; {self.severity:<8}: {self.message}"


class PtxError(ImageRefused):
    """The PTX text is not accepted: all the complaints, in the order of the text.

    ``log`` holds them as the log of a driver's just-in-time compiler would.

    Args:
        diagnostics: At least one.
        hint: What the user can do about it.
        file: The file that the text came from.
    """

    kind = "PtxError"

    def __init__(
        self,
        diagnostics: Iterable[PtxDiagnostic],
        *,
        hint: str | None = None,
        file: str | None = None,
    ) -> None:
        self.diagnostics = tuple(diagnostics)
        first, *others = self.diagnostics
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(
            f"PTX line {first.position.line}: {first.message}{more}",
            hint=hint,
            log=ptxas_log(self.diagnostics),
            file=file,
        )


def ptxas_log(diagnostics: Iterable[PtxDiagnostic], origin: str = "application ptx input") -> str:
    """The complaints as ptxas writes them, one to a line, with its closing line after errors."""
    lines = []
    aborted = False
    for diagnostic in diagnostics:
        lines.append(f"ptxas {origin}, {diagnostic}")
        aborted |= diagnostic.severity in ("fatal", "error")
    if aborted:
        lines.append("ptxas fatal   : Ptx assembly aborted due to errors")
    return "\n".join(lines)
