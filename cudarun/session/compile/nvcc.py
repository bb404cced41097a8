"""nvcc as a compiler of CUDA source (https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc).

nvcc reads files: the source is written to a folder of its own, under its name (``#line``), followed
by the kernels to be instantiated. A device variable holds the address of each, so that the PTX has
its mangled name; the variables are then removed.

Compiling takes seconds, so results are cached by everything that they depend on: the preprocessed
text, the options, and the versions of nvcc and of the host compiler, which the preprocessor tells.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cudarun.base.cache import ResultCache, cache_folder
from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.diagnostics.entries import Diagnostic, located
from cudarun.diagnostics.log_parser import parse_log
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.images.versions import Version
from cudarun.session.compile.task import (
    NAME_EXPRESSIONS,
    VERSIONS,
    VERSIONS_LINE,
    CompileTask,
    with_relative_files,
)
from cudarun.session.compile.toolkit import find_program
from cudarun.session.image.diagnosis import diagnose
from cudarun.session.image.image import Image
from cudarun.session.workers.program import run_compiler, temporary_folder

NVCC_INSTALLATION = (
    "it is part of the CUDA toolkit, and available as pip install nvidia-cuda-nvcc "
    "nvidia-cuda-cccl; searched PATH, CUDA_HOME and /usr/local/cuda"
)
_FLAGS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN")  # nvcc's own variables

_PREPROCESSING = "__CUDARUN_PREPROCESSING__"
_VARIABLE = "__cudarun_kernel_"

_FATAL = re.compile(r"^nvcc fatal +: *(.*)$", re.MULTILINE)
_NO_HOST_COMPILER = "host compiler"
_OF_ARCHITECTURE = "gpu architecture"


class NvccCompiler:
    """nvcc, for one source; `RequestError` if nvcc is not installed."""

    def __init__(self, task: CompileTask) -> None:
        program = find_program("nvcc")
        if program is None:
            raise RequestError(
                "nvcc is not installed",
                hint=f"{NVCC_INSTALLATION}; NVRTC compiles files without host code",
                option="--compiler",
            )
        self.version: Version | None = None  # the version of nvcc, once it has run
        self._program = program
        self._task = task
        self._cache = ResultCache(cache_folder("nvcc"))

    def compile(self, instantiate: Sequence[str] = ()) -> Image:
        """Compile, with the instantiation of name expressions."""
        with temporary_folder() as folder:
            (Path(folder) / "kernel.cu").write_bytes(self._text(instantiate))
            text = self._preprocessed(folder)
            flags = (os.environ.get(name, "") for name in _FLAGS)
            key = self._task.key([*self._options(), *flags], instantiate, text)
            parts = self._cache.load(key)
            if parts is None:
                parts = self._compiled(folder)
                self._cache.store(key, parts)
        ptx, names = _without_variables(parts.get("ptx", b""))
        lowered = {name: names[index] for index, name in enumerate(instantiate) if index in names}
        warnings = self._diagnostics(parts["log"].decode(errors="replace"))
        data = ptx if self._task.form == "PTX" else parts["code"]
        return self._task.result(data, ptx, warnings, lowered)

    # --- the text ---

    def _text(self, instantiate: Sequence[str]) -> bytes:
        lines = [
            self._task.text,
            f'#line 1 "{NAME_EXPRESSIONS}"'.encode(),
            *(
                b"__device__ auto %s%d = %s;" % (_VARIABLE.encode(), index, os.fsencode(name))
                for index, name in enumerate(instantiate)
            ),
            f"#ifdef {_PREPROCESSING}".encode(),
            VERSIONS,
            b"#endif\n",
        ]
        origin = os.fsencode(self._task.source.origin).replace(b"\\", b"\\\\")
        return b'#line 1 "%s"\n' % origin.replace(b'"', b'\\"') + b"\n".join(lines)

    def _options(self) -> Iterator[str]:
        """Yield the options; nvcc splits values at commas that are not escaped."""
        yield from self._task.arguments(escaped=lambda value: value.replace(",", "\\,"))
        yield from self._task.options.options

    def _preprocessed(self, folder: str) -> bytes:
        """Return the preprocessed text, which ends with the compilers' versions."""
        output = Path(folder) / "kernel.ii"
        self._run(folder, "kernel.cu", output.name, f"-D{_PREPROCESSING}", "--preprocess")
        text = output.read_bytes()
        if versions := VERSIONS_LINE.search(text):
            self.version = int(versions[1]), int(versions[2])
        return text.replace(os.fsencode(folder), b"")

    # --- the program ---

    def _compiled(self, folder: str) -> dict[str, bytes]:
        """Compile; return nvcc's log, the PTX and, for other forms than PTX, the code."""
        directory = Path(folder)
        if self._task.form == "LTOIR":
            log = self._run(folder, "kernel.cu", "kernel.ltoir", "-dlto", "--ltoir")
            return {"log": log.encode(), "code": (directory / "kernel.ltoir").read_bytes()}
        log = self._run(folder, "kernel.cu", "kernel.ptx", "--ptx")
        ptx = with_relative_files((directory / "kernel.ptx").read_bytes())
        if self._task.form == "PTX":
            return {"log": log.encode(), "ptx": ptx}
        (directory / "kernel.ptx").write_bytes(_without_variables(ptx)[0])
        log += self._run(folder, "kernel.ptx", "kernel.cubin", "--cubin")
        code = (directory / "kernel.cubin").read_bytes()
        return {"log": log.encode(), "ptx": ptx, "code": code}

    def _run(self, folder: str, source: str, result: str, *stage: str) -> str:
        """Run nvcc on a file of the folder; return its log.

        The time limit is the worker's.
        """
        command = [
            *(self._program, *self._options(), *stage),
            *("-o", os.path.join(folder, result), os.path.join(folder, source)),
        ]
        # LC_ALL: gcc translates its messages.
        status, log = run_compiler(command, TMPDIR=folder, LC_ALL="C")
        log = log.replace(f"{folder}/", "")
        if status != 0:
            raise self._refusal(log.strip(), status)
        return log

    # --- diagnostics ---

    def _refusal(self, log: str, status: int | None) -> CudarunError:
        source, target = self._task.source, self._task.target
        diagnostics = self._diagnostics(log)
        fatal = _FATAL.search(log)
        if fatal is not None and not any(d.is_serious and d.line for d in diagnostics):
            if _NO_HOST_COMPILER in fatal[1]:
                return RequestError(
                    "nvcc did not find a host compiler",
                    hint="install g++, or select one: --compile-option --compiler-bindir=PATH",
                    log=log,
                    origin=source.origin,
                )
            return RequestError(
                f"nvcc: {fatal[1]}",
                hint="list the supported architectures: nvcc --list-gpu-arch"
                if _OF_ARCHITECTURE in fatal[1]
                else None,
                origin=source.origin,
            )
        tool = LoadTarget("nvcc", target.number, cuda=self.version)
        what = "nvcc: the source does not compile"
        if not diagnostics:
            what = f"nvcc ended with status {status}"
        refused = ImageRefused(what, log=log or None, origin=source.origin)
        diagnosed = diagnose(refused, [source], tool)
        diagnosed.diagnostics = diagnostics
        return diagnosed

    def _diagnostics(self, log: str) -> tuple[Diagnostic, ...]:
        """Parse the log; its lines of source are replaced by the source's own."""
        text = self._task.text.decode("latin-1")
        lines = text.split("\n")
        found = [
            _of_device_compiler(each, lines if each.file == self._task.source.origin else [])
            if each.tool == "NVRTC"
            else each
            for each in parse_log(log)
        ]
        return tuple(located(found, {self._task.source.origin: text}))


def _of_device_compiler(found: Diagnostic, lines: Sequence[str]) -> Diagnostic:
    """Return a diagnostic of nvcc's device compiler, whose form is NVRTC's.

    It shows the preprocessed line, in which columns differ. The column is that of the same word in
    the source's own line, if it is there once.
    """
    found = replace(found, tool="nvcc")
    if found.source is None or found.column is None or not 0 < (found.line or 0) <= len(lines):
        return found
    own = lines[(found.line or 0) - 1]
    word = re.match(r"\w+", found.source[found.column - 1 :])
    columns = [each.start() + 1 for each in re.finditer(rf"\b{word[0]}\b", own)] if word else []
    column = columns[0] if len(columns) == 1 else None
    return replace(found, source=None, column=column)


def _without_variables(ptx: bytes) -> tuple[bytes, dict[int, str]]:
    """Remove the variables with the addresses of kernels; return the kernels' mangled names."""
    names = {}
    pattern = rf"^(?:\.visible )?\.global \.align 8 \.u64 {_VARIABLE}(\d+) = ([\w$]+);\n"
    for match in re.finditer(pattern.encode(), ptx, re.MULTILINE):
        names[int(match[1])] = match[2].decode()
        variable = _VARIABLE.encode() + match[1]
        if len(re.findall(rb"\b%s\b" % variable, ptx)) == 1:  # debug information refers to it
            ptx = ptx.replace(match[0], b"")
    return ptx, names
