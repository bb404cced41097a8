"""Compilation of the C programs that the benchmarks here compare with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def compile_c_program(source: str, target: Path) -> bool:
    """Build a program of this folder with the C compiler, else with nvcc.

    Args:
        source: Its file name.
        target: The executable.

    Returns:
        Whether one of them could; else their messages are on stderr.
    """
    file, program = os.fspath(HERE / source), os.fspath(target)
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    # The library is named in full: where only the driver is installed there is no libcuda.so.
    library = "-l:libcuda.so.1"
    attempts = [
        ["cc", "-O2", f"-I{toolkit}/include", file, "-o", program, library],
        ["nvcc", "-O2", "-cudart", "none", file, "-o", program, library],
    ]
    complaints = []
    for attempt in attempts:
        if shutil.which(attempt[0]) is not None:
            done = subprocess.run(attempt, capture_output=True, text=True)
            if done.returncode == 0:
                return True
            complaints.append(done.stderr)
    print("\n".join(complaints), file=sys.stderr)
    return False
