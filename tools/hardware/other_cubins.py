"""Cubins of saxpy as NVRTC and CuPy make them, for the chapters on launches and images.

::

    python -m tools.hardware.other_cubins nvrtc OUT.cubin [--arch sm_90]
    python -m tools.hardware.other_cubins cupy OUT.cubin

Exit status 3 where what is to make them is not installed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "samples" / "saxpy.cu"


def by_nvrtc(architecture: str) -> bytes:
    """Compile with NVRTC through cuda.bindings."""
    from cuda.bindings import nvrtc

    def call(name: str, *args: object) -> object:
        result, *values = getattr(nvrtc, name)(*args)
        if result != 0:
            raise OSError(f"{name}: {result.name}")
        return values[0] if values else None

    program = call("nvrtcCreateProgram", SOURCE.read_bytes(), b"saxpy.cu", 0, [], [])
    option = f"--gpu-architecture={architecture}".encode()
    call("nvrtcCompileProgram", program, 1, [option])
    cubin = bytearray(call("nvrtcGetCUBINSize", program))  # type: ignore[call-overload]
    call("nvrtcGetCUBIN", program, cubin)
    return bytes(cubin)


def by_cupy() -> bytes:
    """Take what CuPy compiled for a ``RawModule`` from its cache folder."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUPY_CACHE_DIR"] = folder
        import cupy

        cupy.RawModule(code=SOURCE.read_text(), backend="nvrtc").get_function("saxpy")
        [cached] = Path(folder).glob("*.cubin")
        data = cached.read_bytes()
    return data[data.index(b"\x7fELF") :]  # CuPy puts a checksum before it


def main() -> int:
    """Write the cubin that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("maker", choices=["nvrtc", "cupy"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--arch", default="sm_90", help="default: sm_90")
    options = parser.parse_args()
    try:
        data = by_nvrtc(options.arch) if options.maker == "nvrtc" else by_cupy()
    except ImportError as error:
        print(f"other_cubins: {error}", file=sys.stderr)
        return 3
    except RuntimeError as error:
        if "found" not in str(error):  # the library that the bindings open is not there
            raise
        print(f"other_cubins: {error}", file=sys.stderr)
        return 3
    options.out.write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
