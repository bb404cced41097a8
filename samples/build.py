"""Compile every sample's ``.cu`` to the ``.ptx`` that is committed beside it.

The compiler is NVRTC 12.0, so that the PTX (ISA 8.0, sm_75) loads on the driver of any CUDA 12 or
later. It comes from PyPI and needs no GPU and no CUDA toolkit::

    python -m venv /tmp/nvrtc
    /tmp/nvrtc/bin/pip install nvidia-cuda-nvrtc-cu12==12.0.140
    python samples/build.py --nvrtc /tmp/nvrtc/lib/python3*/site-packages/nvidia/cuda_nvrtc/lib

``--check`` writes nothing and fails when a committed ``.ptx`` is not what its source compiles to.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import sys
from pathlib import Path

SAMPLES = Path(__file__).parent
NVRTC_VERSION = (12, 0)

# From C++11 on NVRTC 12.0 includes <nv/target> in every program and emits its constants: forty
# lines that no sample needs.
OPTIONS = ["--std=c++03", "-lineinfo"]

ARCHITECTURE = "compute_75"
NEWER = {"clusters.cu": "compute_90", "tma_window.cu": "compute_90"}
"""Samples of what older devices have not."""

RELOCATABLE = "link"
"""In this folder are parts of programs, which leave symbols to each other."""

_SUCCESS = 0


class Nvrtc:
    """The few calls of NVRTC (manual: https://docs.nvidia.com/cuda/nvrtc) that compiling takes."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def version(self) -> tuple[int, int]:
        """Major and minor version of the library."""
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def ptx(self, source: str, name: str, *, relocatable: bool = False) -> str:
        """Compile ``source``; ``name`` is what its ``.loc`` lines refer to.

        Raises:
            ValueError: It does not compile, or not without warnings; the text is the log.
        """
        program = ctypes.c_void_p()
        self._call(
            "nvrtcCreateProgram",
            ctypes.byref(program),
            source.encode(),
            name.encode(),
            0,
            None,
            None,
        )
        try:
            words = [*OPTIONS, f"--gpu-architecture={NEWER.get(name, ARCHITECTURE)}"]
            words += ["--relocatable-device-code=true"] if relocatable else []
            options = (ctypes.c_char_p * len(words))(*map(str.encode, words))
            result = self._library.nvrtcCompileProgram(program, len(words), options)
            log = self._text("ProgramLog", program)
            if result != _SUCCESS or log.strip():
                raise ValueError(log)
            # NVRTC puts the working directory before names, also that of its own header.
            ptx = self._text("PTX", program).replace(f'"{os.getcwd()}/', '"')
            return _numbered_from_0(ptx)
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _text(self, what: str, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{what}", program, buffer)
        return buffer.value.decode()

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != _SUCCESS:
            raise OSError(f"{name}: {self._library.nvrtcGetErrorString(result).decode()}")


def _numbered_from_0(ptx: str) -> str:
    """The comments that number calls, which NVRTC counts through all that it compiles."""
    numbers = dict.fromkeys(re.findall(r"// callseq (\d+)", ptx))
    new = {old: str(index) for index, old in enumerate(numbers)}
    return re.sub(r"(?<=// callseq )\d+", lambda match: new[match[0]], ptx)


def find_nvrtc(given: str | None) -> str | None:
    """The library's path: ``--nvrtc`` (the file or its folder), the loader's search path, or None.

    Raises:
        FileNotFoundError: ``--nvrtc`` names neither.
    """
    if given is None:
        return _loadable("libnvrtc.so.12")
    path = Path(given)
    if path.is_dir():
        path = path / "libnvrtc.so.12"
    if not path.exists():
        raise FileNotFoundError(f"--nvrtc: no such file: {path}")
    return os.fspath(path.resolve())


def _loadable(name: str) -> str | None:
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    return name


def main() -> int:
    """Build or check what the command line names; 1 when something failed, 3 without NVRTC."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nvrtc", metavar="PATH", help="libnvrtc.so.12, or the folder it is in")
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    parser.add_argument("name", nargs="*", help="samples to build, without suffix; default: all")
    arguments = parser.parse_args()

    path = find_nvrtc(arguments.nvrtc)
    if path is None:
        print("build.py: no libnvrtc.so.12 found; see --nvrtc", file=sys.stderr)
        return 3
    nvrtc = Nvrtc(path)
    if nvrtc.version() != NVRTC_VERSION:
        print(
            "build.py: the samples are built with NVRTC {}.{}, this is {}.{}".format(
                *NVRTC_VERSION, *nvrtc.version()
            ),
            file=sys.stderr,
        )
        return 3

    failures = 0
    for source in sorted(SAMPLES.rglob("*.cu")):
        if arguments.name and source.stem not in arguments.name:
            continue
        target = source.with_suffix(".ptx")
        try:
            relocatable = source.parent.name == RELOCATABLE
            ptx = nvrtc.ptx(source.read_text(), source.name, relocatable=relocatable)
        except ValueError as error:
            print(f"{source.name}:\n{error}", file=sys.stderr)
            failures += 1
            continue
        if arguments.check:
            stale = not target.exists() or target.read_text() != ptx
            failures += stale
            print(f"{'STALE' if stale else 'ok   '}  {target.name}")
        else:
            target.write_text(ptx)
            print(f"wrote  {target.name}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
