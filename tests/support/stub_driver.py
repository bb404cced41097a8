"""A stub of ``libcuda.so.1`` and a program that launches kernels with it, compiled once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "session" / "record" / "stub"
PTX = STUB / "kernels.ptx"


def build_stub(folder: Path) -> Path:
    """Return a folder with ``libcuda.so.1`` and ``program``; processes that race build it twice."""
    built = folder / "record-stub"
    if not built.exists():
        own = folder / f"record-stub-{os.getpid()}"
        own.mkdir()
        library = (
            "-shared",
            "-fPIC",
            "-Wl,-soname,libcuda.so.1,-Bsymbolic",
            STUB / "libcuda.c",
            STUB / "graphs.c",
            "-lm",
        )
        for output, words in (("libcuda.so.1", library), ("program", (STUB / "program.c",))):
            command = ["cc", "-O1", "-w", "-o", own / output, *words, "-ldl", "-lpthread"]
            subprocess.run(command, check=True)
        try:
            own.rename(built)
        except OSError:  # another process was first
            return own
    return built
