"""The places of CUDA's programs and headers: toolkits, and NVIDIA's wheels."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_HOMES = ("CUDA_HOME", "CUDA_PATH")
_DEFAULT_HOME = "/usr/local/cuda"


def find_program(name: str, folder: str = "bin") -> str | None:
    """Return the path of a program: on PATH, in a toolkit, in a wheel; ``None`` for none.

    Args:
        folder: Its folder in a wheel; in a toolkit it can also be in ``bin``.
    """
    toolkits = [home / each for home in toolkits_installed() for each in ("bin", folder)]
    folders = map(os.fspath, (*toolkits, *wheel_folders(folder)))
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *folders]))


def toolkits_installed() -> list[Path]:
    """Return the folders in which a toolkit can be: ``CUDA_HOME``'s, and the default one."""
    homes = (*(os.environ.get(name) for name in _HOMES), _DEFAULT_HOME)
    return [Path(home) for home in homes if home]


def wheel_folders(name: str) -> list[Path]:
    """Return the folders of a name in NVIDIA's wheels."""
    return [
        path for entry in sys.path for path in sorted(Path(entry or ".").glob(f"nvidia/*/{name}"))
    ]
