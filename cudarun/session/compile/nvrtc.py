"""Compilation of CUDA source with NVRTC (https://docs.nvidia.com/cuda/nvrtc), in a worker.

Source is compiled to SASS for a GPU, because the PTX of a newer NVRTC may not load on an older
driver, and to PTX for the emulated device.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from cudarun.bindings import installed_version, is_missing_library, toolkit_installation
from cudarun.diagnostics.errors import Diagnosed
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.errors import CudarunError, ImageRefused, RequestError
from cudarun.images.facts import ImageFacts
from cudarun.images.reader import read_image
from cudarun.images.versions import Architecture, Version
from cudarun.session.compile.declarations import with_declarations
from cudarun.session.compile.headers import standard_headers
from cudarun.session.image.compilation import CompileOptions
from cudarun.session.image.diagnosis import diagnose, diagnostics_of
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import select_kernel

Form = Literal["PTX", "CUBIN", "LTOIR"]

_A_HEADER_OF_CUDA = "cuda_fp16.h"
_NAME_EXPRESSIONS = "__nv_name_map"
"""NVRTC's name for the text in which it looks up names."""
_VERSION_LINE = re.compile(rb"^\.version (\d+)\.(\d+)$", re.MULTILINE)


def compile_source(
    source: Image,
    target: Architecture,
    form: Form,
    *,
    relocatable: bool = False,
    newest_ptx: Version | None = None,
) -> Image:
    """Compile an image that is CUDA source; the result keeps the source's name.

    Args:
        source: The source, with its `CompileOptions` in ``compilation``.
        target: The architecture: a GPU's, or a virtual one for PTX.
        form: The form of the result.
        relocatable: Leave ``extern`` declarations to the linker.
        newest_ptx: The newest ``.version`` to write. NVRTC writes that of its toolkit, whatever
            the instructions need; a driver or emulator refuses versions that it does not know.

    Raises:
        Diagnosed: The source does not compile.
        RequestError: NVRTC is not installed, or does not know an option, the architecture or the
            kernel to be instantiated.
    """
    compiled = partial(
        _compiled, source, target, form, relocatable=relocatable, newest_ptx=newest_ptx
    )
    wanted = source.compilation.kernels if source.compilation else ()
    try:
        return compiled(instantiate=wanted)
    except Diagnosed as refusal:
        if not wanted:
            raise
        refused = {wanted[0]: refusal} if len(wanted) == 1 else _refused(compiled, wanted)
    # Errors in the source that do not depend on instantiation are reported without those names.
    made = compiled(instantiate=[name for name in wanted if name not in refused])
    spelled = {name: _spelled(made, name, refusal) for name, refusal in refused.items()}
    return replace(made, lowered=made.lowered | spelled)


def _refused(compiled: Callable[..., Image], wanted: Sequence[str]) -> dict[str, Diagnosed]:
    """Compile each name expression alone; return the errors of those that NVRTC refuses."""
    refused = {}
    for name in wanted:
        try:
            compiled(instantiate=[name])
        except Diagnosed as refusal:
            refused[name] = refusal
    return refused


def _compiled(
    source: Image,
    target: Architecture,
    form: Form,
    *,
    relocatable: bool,
    newest_ptx: Version | None,
    instantiate: Sequence[str] = (),
) -> Image:
    """Compile; ``instantiate`` are name expressions (NVRTC, "Accessing Lowered Names")."""
    nvrtc = _nvrtc()
    options = [*_options(source, target, form, relocatable=relocatable)]
    program = _program(nvrtc, source)
    try:
        for name in instantiate:
            _checked(nvrtc, nvrtc.nvrtcAddNameExpression(program, os.fsencode(name)))
        result = nvrtc.nvrtcCompileProgram(program, len(options), [*map(os.fsencode, options)])[0]
        log = _fetched(nvrtc, "ProgramLog", program).decode(errors="replace")
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise _refusal(nvrtc, source, target, log, result)
        data = _fetched(nvrtc, form, program)
        ptx = b"" if form == "LTOIR" else _fetched(nvrtc, "PTX", program)
        lowered = {
            name: _checked(nvrtc, nvrtc.nvrtcGetLoweredName(program, os.fsencode(name))).decode()
            for name in instantiate
        }
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    if form == "PTX" and newest_ptx is not None:
        data = ptx = _no_newer_than(newest_ptx, data)
    return replace(
        source,
        data=data,
        facts=_facts(ptx, source),
        compilation=None,
        is_compiled=True,
        warnings=diagnostics_of(log, [source]),
        lowered=lowered,
    )


def _spelled(compiled: Image, wanted: str, refused: Diagnosed) -> str:
    """Return the mangled name of a kernel that the source itself instantiates with this spelling.

    A signature is not a name expression, nor is ``scale<float>`` for a kernel in a namespace.

    Raises:
        RequestError: There is no such kernel; the message has NVRTC's error for the name.
        Diagnosed: There is no such kernel, and the named one does not compile.
    """
    kernels = compiled.facts.kernels if compiled.facts else ()
    try:
        return select_kernel([kernel.name for kernel in kernels], wanted, compiled.origin)
    except CudarunError as unknown:
        raise _not_instantiated(compiled.origin, wanted, refused, unknown.hint) from None


def _not_instantiated(
    origin: str, wanted: str, refused: Diagnosed, hint: str | None
) -> CudarunError:
    about_code = tuple(d for d in refused.diagnostics if d.file != _NAME_EXPRESSIONS)
    about_name = [d for d in refused.diagnostics if d.is_serious and d not in about_code]
    if not about_name or any(d.is_serious for d in about_code):
        refused.what += f" with '{wanted}'"
        refused.diagnostics = about_code
        return refused
    said = about_name[0].message
    return RequestError(f"NVRTC refuses '{wanted}': {said}", hint=hint, origin=origin)


def nvrtc_version() -> Version:
    """Return the major and minor version of the installed NVRTC.

    Raises:
        RequestError: NVRTC is not installed.
    """
    nvrtc = _nvrtc()
    major, minor = _checked(nvrtc, nvrtc.nvrtcVersion())
    return major, minor


def _options(
    source: Image, target: Architecture, form: Form, *, relocatable: bool
) -> Iterator[str]:
    given = source.compilation or CompileOptions()
    yield f"--gpu-architecture={target}"
    yield "--generate-line-info"
    if form == "LTOIR":
        yield "-dlto"
    if relocatable:
        yield "--relocatable-device-code=true"
    if given.standard:
        yield f"--std={given.standard}"
    for macro in given.defines:
        yield f"--define-macro={macro}"
    for path in (*_own_folders(source), *_headers_of_cuda()):
        yield f"--include-path={path}"
    yield from given.options


def _program(nvrtc: ModuleType, source: Image) -> Any:
    """Create the ``nvrtcProgram``, with the standard headers that the source's own folders lack."""
    headers = standard_headers(_own_folders(source))
    names = [name.encode() for name in headers]
    texts = [text.encode() for text in headers.values()]
    return _checked(
        nvrtc,
        nvrtc.nvrtcCreateProgram(
            source.data, os.fsencode(source.origin), len(headers), texts, names
        ),
    )


def _own_folders(source: Image) -> tuple[str, ...]:
    """Return the folders that are searched first: ``-I``, and the source's own, as with nvcc."""
    given = source.compilation or CompileOptions()
    return *given.include, os.path.dirname(source.origin) or "."


@cache
def _headers_of_cuda() -> tuple[str, ...]:
    """Return the folders of CUDA's headers: the wheels', ``CUDA_HOME``'s, the default one."""
    wheels = [
        path for entry in sys.path for path in sorted(Path(entry or ".").glob("nvidia/*/include"))
    ]
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    toolkits = [Path(home) / "include" for home in homes if home]
    if any((path / _A_HEADER_OF_CUDA).exists() for path in wheels):
        found = wheels
    else:
        found = [path for path in toolkits if (path / _A_HEADER_OF_CUDA).exists()][:1]
    libraries = [path / "cccl" for path in found if (path / "cccl").is_dir()]  # since CUDA 13
    return tuple(map(str, [*found, *libraries]))


def _refusal(
    nvrtc: ModuleType, source: Image, target: Architecture, log: str, result: object
) -> CudarunError:
    does_not_compile = result == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION
    words = "the source does not compile" if does_not_compile else _checked_text(nvrtc, result)
    if result == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_OPTION:
        said = log.strip().removeprefix("nvrtc: error: ")
        known = ", ".join(f"sm_{n}" for n in _checked(nvrtc, nvrtc.nvrtcGetSupportedArchs()))
        hint = f"NVRTC {'.'.join(map(str, nvrtc_version()))} compiles for {known}"
        about_target = "gpu-architecture" in said
        return RequestError(
            f"NVRTC: {said}{f': {target}' if about_target else ''}",
            hint=hint if about_target else None,
            origin=source.origin,
        )
    refused = ImageRefused(f"NVRTC: {words}", log=log.strip() or None, origin=source.origin)
    return diagnose(refused, [source], LoadTarget("NVRTC", target.number, cuda=nvrtc_version()))


def _no_newer_than(newest: Version, ptx: bytes) -> bytes:
    match = _VERSION_LINE.search(ptx)
    if match is None or (int(match[1]), int(match[2])) <= newest:
        return ptx
    line = b".version %d.%d" % newest
    return ptx[: match.start()] + line + ptx[match.end() :]


def _facts(ptx: bytes, source: Image) -> ImageFacts | None:
    """Read the facts of PTX, and the names and types of parameters in its source."""
    try:
        facts = read_image(ptx, source.origin)
    except ImageRefused:
        return None
    given = source.compilation or CompileOptions()
    return with_declarations(facts, source.data, source.origin, given.include, given.defines)


# --- the library ---------------------------------------------------------------------------------


def _nvrtc() -> ModuleType:
    from cuda.bindings import nvrtc

    try:
        nvrtc.nvrtcVersion()
    except RuntimeError as error:
        if not is_missing_library(error):
            raise
        raise RequestError(
            "CUDA source is compiled by NVRTC, which is not installed",
            hint=toolkit_installation(installed_version()),
        ) from None
    module: ModuleType = nvrtc
    return module


def _fetched(nvrtc: ModuleType, what: str, program: Any) -> bytes:
    """Return one of NVRTC's results; texts without their NUL."""
    size = _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program))
    buffer = bytes(size)
    _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.rstrip(b"\0") if what in ("ProgramLog", "PTX") else buffer


def _checked(nvrtc: ModuleType, answer: tuple[Any, ...]) -> Any:
    result, *values = answer
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise ImageRefused(f"NVRTC: {_checked_text(nvrtc, result)}")
    return values[0] if len(values) == 1 else tuple(values)


def _checked_text(nvrtc: ModuleType, result: object) -> str:
    """Return the name of a result: ``compilation``."""
    words: bytes = nvrtc.nvrtcGetErrorString(result)[1]
    return words.decode().removeprefix("NVRTC_ERROR_").lower().replace("_", " ")
