"""A refused image, with the located diagnostics of the compiler or linker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.base.errors import ImageRefused
from cudarun.diagnostics.entries import Diagnostic

if TYPE_CHECKING:
    from typing import Unpack

    from cudarun.base.errors import ErrorContext


class Diagnosed(ImageRefused):
    """A refusal with a parsed log; the text of the log is in ``log``.

    Args:
        what: The description of what happened, without the subjects.
        diagnostics: The complaints, with their source lines.
        explanation: Why, in plain words.
        hint: What the user can do about it.
        cuda: The driver's result, as ``(name, number)``.
        log: The log in full.
        context: The context of the operation.
    """

    def __init__(
        self,
        what: str,
        *,
        diagnostics: Sequence[Diagnostic] = (),
        explanation: str | None = None,
        hint: str | None = None,
        cuda: tuple[str, int] | None = None,
        log: str | None = None,
        **context: Unpack[ErrorContext],
    ) -> None:
        super().__init__(what, hint=hint, cuda=cuda, log=log, **context)
        self.diagnostics = tuple(diagnostics)
        self.explanation = explanation
