"""Headers of the C and C++ standard libraries for NVRTC, which has none.

Kernels are written for nvcc, which has the host compiler's headers, and most files start with
``#include <cstdio>`` or ``<cstdint>``. The device part of such a header is either built into NVRTC
(``printf``, ``assert``, ``memcpy``, ``malloc``) or in libcu++, CUDA's own standard library, as
``cuda::std``. The files in ``include`` refer to these. Host-only headers (``<vector>``,
``<iostream>``) are missing, because their contents cannot run on the device.

The headers are passed to ``nvrtcCreateProgram``, https://docs.nvidia.com/cuda/nvrtc, "Basic Usage".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "include"


def standard_headers(folders: Iterable[str]) -> dict[str, str]:
    """Return the name and text of each header that none of the folders has.

    Args:
        folders: The folders that NVRTC searches; a header in one of them takes precedence.
    """
    paths = [Path(folder) for folder in folders]
    return {
        name: text
        for name, text in _headers().items()
        if not any((path / name).is_file() for path in paths)
    }


@cache
def _headers() -> dict[str, str]:
    files = sorted(path for path in _FOLDER.rglob("*") if path.is_file())
    return {path.relative_to(_FOLDER).as_posix(): path.read_text() for path in files}
