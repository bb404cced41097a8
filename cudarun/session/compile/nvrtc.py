"""NVRTC as a compiler of CUDA source (https://docs.nvidia.com/cuda/nvrtc)."""

from __future__ import annotations

import ctypes
import math
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from cudarun.base.bindings import installed_version, is_missing_library, toolkit_installation
from cudarun.base.cache import ResultCache, cache_folder
from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.images.versions import Architecture, Version
from cudarun.session.compile.landlock import call_confined
from cudarun.session.compile.task import VERSIONS, VERSIONS_LINE, CompileTask, with_relative_files
from cudarun.session.compile.toolkit import toolkits_installed, wheel_folders
from cudarun.session.image.diagnosis import diagnose, diagnostics_of
from cudarun.session.image.image import Image
from cudarun.session.workers.shared_file import SharedFile

_A_HEADER_OF_CUDA = "cuda_fp16.h"
_BUILTINS = "libnvrtc-builtins.so*"
_MATH = "math.h"
# Of the host's code, or without them the same source is refused where it needs them.
_UNKNOWN_TO_NVRTC = re.compile(r"-O[0-3]|-g|-m64|--?(?:(?:expt-)?extended-lambda|expt-[\w-]+)")
_MACROS_OF_MATH = re.compile(rb"\b(?:INFINITY|NAN|HUGE_VALF?|M_[A-Z0-9_]+)\b")
# A text without these is the whole source: a line that goes on can hide one of them.
_DEPENDS = re.compile(rb"include|embed|import|__DATE__|__TIME|##|%:%:|\?\?|\\[ \t\v\f]*[\r\n]")
_FILE = re.compile(rb'^#line \d+ "(.*)"$', re.MULTILINE)  # of preprocessed text
_QUICK = 0.2  # seconds to compile a source that is rather compiled once more than preprocessed
_TICK = 0.02  # seconds, more than those between two times of the clock of files
_FOLDER = Path(__file__).parent / "include"


class UnknownToNvrtc(RequestError):
    """An option or an architecture that NVRTC does not have."""


class NvrtcCompiler:
    """NVRTC, for one source; `RequestError` if NVRTC is not installed."""

    def __init__(self, task: CompileTask) -> None:
        self._nvrtc = _nvrtc()
        self._task = task
        self._options = [*_options(task)]
        texts = [task.text, *map(os.fsencode, task.options.defines)]
        includes = any(option.startswith("--pre-include") for option in self._options)
        others = includes or task.options.options or any(map(_DEPENDS.search, texts))
        # Whether the source needs no preprocessing for its key: it depends on no file or time.
        self._is_alone = not others
        self._headers = {} if self._is_alone else standard_headers(task.source.header_folders)

    def compile(self, instantiate: Sequence[str] = ()) -> Image:
        """Compile, with the instantiation of name expressions (NVRTC, "Accessing Lowered Names").

        Raises:
            Diagnosed: The source does not compile.
            RequestError: NVRTC does not know an option or the architecture.
        """
        task = self._task
        # The preprocessor for the key writes a file.
        folder = None if task.options.confined_to else cache_folder("nvrtc")
        cache = ResultCache(folder)
        key = parts = None
        seen = task.key(self._options, instantiate, task.text)
        is_new = folder is not None and not self._is_alone and cache.load(seen) is None
        if folder is not None and not is_new:
            key = self._key(instantiate)
            parts = cache.load(key) if key else None
        if parts is None:
            start = time.time()
            parts = self._compiled(instantiate)
            if is_new:  # no result can be that of this source: it is preprocessed if it comes again
                cache.store(seen, {})
                if time.time() - start > _QUICK:
                    key = self._key(instantiate, unchanged_since=start)
            if key:
                cache.store(key, parts)
        messages = parts["log"].decode(errors="replace")
        if "code" not in parts:
            raise self._diagnosed("the source does not compile", messages)
        names = parts["names"].decode().split("\n") if instantiate else []
        lowered = dict(zip(instantiate, names, strict=True))
        warnings = diagnostics_of(messages, [task.source])
        return task.result(parts["code"], parts["ptx"], warnings, lowered)

    def _key(self, instantiate: Sequence[str], unchanged_since: float = math.inf) -> str | None:
        """Return the key of the result.

        Returns:
            ``None`` where the versions are not known, or a file has changed since a time.
        """
        task = self._task
        text, log = (_versions(task.target), b"") if self._is_alone else self._preprocessed()
        for file in {*_FILE.findall(text)} if unchanged_since < math.inf else ():
            with suppress(FileNotFoundError):  # the source, or a header that cudarun provides
                if os.stat(file).st_ctime >= unchanged_since - _TICK:
                    return None
        if VERSIONS_LINE.search(text) is None:
            return None
        return task.key(self._options, instantiate, text, log, task.text)

    def _preprocessed(self) -> tuple[bytes, bytes]:
        """Return the preprocessed text, which ends with the versions of the compiler, and the log.

        The options for it are the front end's and not documented, and the same in CUDA 12.0 and 13.
        Where they do nothing, the text is empty.
        """
        with SharedFile() as output, self._program(VERSIONS) as program:
            front_end = [word for each in ("-E", "-o", output.path) for word in ("-Xcudafe", each)]
            self._run(program, *front_end)
            return output.read(), self._fetched("ProgramLog", program)

    def versions(self) -> bytes:
        """Return a line with the versions of the library; nothing where they are not known."""
        found = VERSIONS_LINE.search(self._preprocessed()[0])
        return b"" if found is None else found.group()

    def _compiled(self, instantiate: Sequence[str]) -> dict[str, bytes]:
        """Compile; return the log and, if the source compiles, the code, the PTX and the names."""
        nvrtc, task = self._nvrtc, self._task
        with self._program() as program:
            for name in instantiate:
                _checked(nvrtc, nvrtc.nvrtcAddNameExpression(program, os.fsencode(name)))
            result = self._run(program)
            log = self._fetched("ProgramLog", program)
            if result == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION:
                return {"log": log}
            if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
                raise self._refusal(log.decode(errors="replace"), result)
            code = self._fetched(task.form, program)
            ptx = b"" if task.form == "LTOIR" else self._fetched("PTX", program)
            if task.form == "PTX":
                code = ptx = with_relative_files(ptx)
            names: list[bytes] = []
            for name in instantiate:
                names.append(_checked(nvrtc, nvrtc.nvrtcGetLoweredName(program, os.fsencode(name))))
                if names[-1] is None:  # of some text that is no name
                    raise RequestError(f"NVRTC knows no kernel {name}", origin=task.source.origin)
        return {"log": log, "code": code, "ptx": ptx, "names": b"\n".join(names)}

    @contextmanager
    def _program(self, more: bytes = b"") -> Iterator[object]:
        """Create an ``nvrtcProgram`` with the standard headers that the source's folders lack."""
        nvrtc, headers = self._nvrtc, self._headers
        names = [name.encode() for name in headers]
        texts = [text.encode() for text in headers.values()]
        named = os.fsencode(self._task.source.origin), len(headers), texts, names
        program = _checked(nvrtc, nvrtc.nvrtcCreateProgram(self._task.text + more, *named))
        try:
            yield program
        finally:
            nvrtc.nvrtcDestroyProgram(program)

    def _run(self, program: object, *more: str) -> object:
        """Compile; return the ``nvrtcResult``."""
        words = [*map(os.fsencode, (*self._options, *more))]
        compiling = partial(self._nvrtc.nvrtcCompileProgram, program, len(words), words)
        folder = self._task.options.confined_to
        if folder is not None:  # load what NVRTC loads when it compiles
            with open("/proc/self/maps") as maps:
                lines = [line for line in maps if "/libnvrtc.so" in line]
            for path in {line.split(maxsplit=5)[-1].strip() for line in lines}:
                for builtins in Path(path).parent.glob(_BUILTINS):
                    ctypes.CDLL(os.fspath(builtins))
        [result] = call_confined(compiling, folder, headers_of_cuda())
        return result

    def _fetched(self, what: str, program: object) -> bytes:
        """Return one of NVRTC's results; texts without their NUL."""
        nvrtc = self._nvrtc
        buffer = bytes(_checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program)))
        _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
        return buffer.rstrip(b"\0") if what in ("ProgramLog", "PTX") else buffer

    def _refusal(self, log: str, result: object) -> CudarunError:
        nvrtc, target = self._nvrtc, self._task.target
        if result != nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
            return self._diagnosed(_checked_text(nvrtc, result), log)
        message = log.strip().removeprefix("nvrtc: error: ")
        known = ", ".join(f"sm_{n}" for n in _checked(nvrtc, nvrtc.nvrtcGetSupportedArchs()))
        hint = f"NVRTC {'.'.join(map(str, nvrtc_version()))} supports {known}"
        about_target = "gpu-architecture" in message
        return UnknownToNvrtc(
            f"NVRTC: {message}{f': {target}' if about_target else ''}",
            hint=hint if about_target else None,
            origin=self._task.source.origin,
        )

    def _diagnosed(self, what: str, log: str) -> CudarunError:
        source = self._task.source
        refused = ImageRefused(f"NVRTC: {what}", log=log.strip() or None, origin=source.origin)
        tool = LoadTarget("NVRTC", self._task.target.number, cuda=nvrtc_version())
        return diagnose(refused, [source], tool)


@cache
def _versions(target: Architecture) -> bytes:
    return NvrtcCompiler(CompileTask(Image("", b""), target, "PTX")).versions()


def is_installed() -> bool:
    """Return whether NVRTC is installed."""
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        if not is_missing_library(error):
            raise
        return False
    return True


def nvrtc_version() -> Version:
    """Return the major and minor version of the installed NVRTC."""
    nvrtc = _nvrtc()
    major, minor = _checked(nvrtc, nvrtc.nvrtcVersion())
    return major, minor


def _options(task: CompileTask) -> Iterator[str]:
    yield from task.arguments(*headers_of_cuda())
    if task.form == "LTOIR":
        yield "-dlto"
    uses_math = _MACROS_OF_MATH.search(task.text) is not None  # nvcc includes it by itself
    if uses_math and _MATH in standard_headers(task.source.header_folders):
        yield f"--pre-include={_MATH}"
    yield "--device-int128"  # nvcc has it
    # Options of nvcc that do not change what NVRTC does are left out.
    yield from (o for o in task.options.options if not _UNKNOWN_TO_NVRTC.fullmatch(o))


@cache
def headers_of_cuda() -> tuple[str, ...]:
    """Return the folders of CUDA's headers: the wheels', ``CUDA_HOME``'s, the default one.

    PyTorch depends on the wheel of the headers, but not on that of CCCL's (since CUDA 13 a
    folder in the other), which are then taken from a toolkit.
    """
    wheels = wheel_folders("include")
    toolkits = [home / "include" for home in toolkits_installed()]
    if any((path / _A_HEADER_OF_CUDA).exists() for path in wheels):
        folders = wheels
    else:
        folders = [path for path in toolkits if (path / _A_HEADER_OF_CUDA).exists()][:1]
    libraries = [path / "cccl" for path in (*folders, *toolkits) if (path / "cccl").is_dir()]
    return tuple(map(str, [*folders, *libraries[:1]]))


# --- the library ---------------------------------------------------------------------------------


def _nvrtc() -> ModuleType:
    if not is_installed():
        raise RequestError(
            "CUDA source requires NVRTC, which is not installed",
            hint=toolkit_installation(installed_version()),
        )
    from cuda.bindings import nvrtc

    module: ModuleType = nvrtc
    return module


def _checked(nvrtc: ModuleType, answer: tuple[object, ...]) -> Any:
    result, *values = answer
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ImageRefused(f"NVRTC: {_checked_text(nvrtc, result)}")
    return values[0] if len(values) == 1 else tuple(values)


def _checked_text(nvrtc: ModuleType, result: object) -> str:
    """Return the name of a result: ``compilation``."""
    words: bytes = nvrtc.nvrtcGetErrorString(result)[1]
    return words.decode().removeprefix("NVRTC_ERROR_").lower().replace("_", " ")


def standard_headers(folders: Iterable[str]) -> dict[str, str]:
    """Return the name and text of each header of C and C++ that none of the folders has.

    NVRTC has none, and kernels are written for nvcc, which has the host compiler's: most files
    start with ``#include <cstdio>`` or ``<cstdint>``. The device part of such a header is built
    into NVRTC (``printf``, ``assert``, ``memcpy``, ``malloc``), or in libcu++ as ``cuda::std``. The
    files in ``include`` refer to these. Host-only headers (``<vector>``, ``<iostream>``) are
    missing, because their contents cannot run on the device.

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
