"""Tests of the descriptions of kernels."""

from __future__ import annotations

import io

from rich.console import Console

from cudarun.model.images import KernelReport
from cudarun.report.image_contents import show_kernels


def test_labels_are_dim_and_their_texts_are_not() -> None:
    """A label beside a text is dim; the text is as any other."""
    printed = io.StringIO()
    out = Console(file=printed, width=80, force_terminal=True, color_system="standard")
    show_kernels([KernelReport("k", "k", (), registers=16)], out)
    assert "\x1b[2m  parameters   \x1b[0mnone\n" in printed.getvalue()
