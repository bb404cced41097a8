"""A stub of ``libcuda.so.1`` and a program that launches kernels with it."""

from __future__ import annotations

import subprocess
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "session" / "record" / "stub"
PTX = STUB / "kernels.ptx"


def build_stub(folder: Path) -> None:
    """Build ``libcuda.so.1`` and ``program`` in a folder."""
    library = (
        "-shared",
        "-fPIC",
        "-Wl,-soname,libcuda.so.1,-Bsymbolic",
        STUB / "libcuda.c",
        STUB / "graphs.c",
        "-lm",
    )
    for output, words in (("libcuda.so.1", library), ("program", (STUB / "program.c",))):
        command = ["cc", "-O1", "-w", "-o", folder / output, *words, "-ldl", "-lpthread"]
        subprocess.run(command, check=True)
