"""Linking by NVIDIA's nvJitLink (https://docs.nvidia.com/cuda/nvjitlink), which needs no GPU.

It runs in a separate process, because a malformed input or an unknown architecture can crash it. It
writes complaints of duplicate symbols on file descriptor 2 and then succeeds, so these are read
too. After a failure it returns a partial result, which is discarded.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

from cudarun.base.bindings import installed_version, is_missing_library, toolkit_installation
from cudarun.base.errors import ImageRefused, RequestError, WorkerDied, errors_of
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.versions import Architecture
from cudarun.session.compile.source import compile_source
from cudarun.session.compile.task import Form
from cudarun.session.image.diagnosis import check_structure, diagnose, diagnostics_of
from cudarun.session.image.image import Image
from cudarun.session.link.request import LinkRequest
from cudarun.session.link.symbols import SymbolTable
from cudarun.session.link.worker import Linked, link_warnings, result_symbols
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.progress import Progress, ProgressDisplay
from cudarun.session.workers.worker import WorkerSpec

# ptxas's error for an architecture with which nvJitLink 12 was created nevertheless
_UNKNOWN_ARCHITECTURE = re.compile(r"Value '(\w+)' is not defined for option 'gpu-name'")
_TYPES = {
    ImageKind.PTX: "PTX",
    ImageKind.CUBIN: "CUBIN",
    ImageKind.FATBIN: "FATBIN",
    ImageKind.LTO_IR: "LTOIR",
    ImageKind.HOST_OBJECT: "OBJECT",
    ImageKind.ARCHIVE: "LIBRARY",
}
_OPTIMIZATIONS = (0, 3)  # all supported values of -O


def link_with_nvjitlink(
    request: LinkRequest, target: Architecture, display: ProgressDisplay | None = None
) -> Linked:
    """Link in a separate process; `WorkerDied` if nvJitLink crashed."""
    options = [*_options(request, target)]
    log_file = os.memfd_create("cudarun-nvjitlink")
    try:

        def capture(progress: Progress) -> int:
            """Redirect descriptor 2, in the worker, to a file that outlives it."""
            progress.report(f"nvJitLink links for {target}")
            os.dup2(log_file, 2)
            return log_file

        spec = WorkerSpec(capture, verbose=request.target.verbose)
        task = partial(_work, request, target, options)
        with WorkerPool() as pool:
            answer = pool.call(spec, task, request.target.timeout, display)
        if isinstance(answer.error, WorkerDied) and answer.error.log is None:
            answer.error.log = _read(log_file) or None
            answer.error.of(operation="nvJitLink crashed on the inputs")
            answer.error.hint = "an input may be damaged: check it with 'cudarun load --offline'"
        return answer.unwrap()
    finally:
        os.close(log_file)


def _options(request: LinkRequest, target: Architecture) -> Iterator[str]:
    """Yield the options in nvJitLink's spelling."""
    given = request.options
    missing = {
        "--threads-per-block": given.threads_per_block is not None,
        "--cache-mode": given.cache_mode is not None,
        "--fallback": given.fallback is not None,
        "--position-independent": given.position_independent,
        "--target": given.target is not None,
    }
    for name, is_given in missing.items():
        if is_given:
            hint = "select the architecture with --arch" if name == "--target" else None
            raise RequestError("nvJitLink does not support this option", hint=hint, option=name)
    if given.optimization is not None and given.optimization not in _OPTIMIZATIONS:
        raise RequestError(f"-O{given.optimization}: nvJitLink supports -O0 and -O3 only")
    yield f"-arch={target}"
    if given.optimization is not None:
        yield f"-O{given.optimization}"
    if given.max_registers is not None:
        yield f"-maxrregcount={given.max_registers}"
    flags = {
        "-lineinfo": given.line_info,
        "-g": given.debug,
        "-verbose": given.verbose,
        "-lto": request.lto,
    }
    yield from (flag for flag, is_given in flags.items() if is_given)


# --- in the worker -------------------------------------------------------------------------------


def _read(log_file: int) -> str:
    return os.pread(log_file, os.fstat(log_file).st_size, 0).decode(errors="replace").strip()


def _work(request: LinkRequest, target: Architecture, options: list[str], log_file: int) -> Linked:
    nvjitlink, version = _nvjitlink()
    tool = LoadTarget(f"nvJitLink {version}", target.number, target.suffix, is_driver=False)
    for image in request.inputs:
        check_structure(image, tool)
    form: Form = "LTOIR" if request.lto else "CUBIN"
    inputs = [
        compile_source(image, target, form, relocatable=True)
        if identify(image.data) is ImageKind.CUDA_SOURCE
        else image
        for image in request.inputs
    ]
    symbols = SymbolTable(inputs, target.number)
    symbols.check_duplicates()
    started = time.perf_counter()
    try:
        data, info = _link(nvjitlink, inputs, target, options, log_file)
    except ImageRefused as error:
        refused = diagnose(error, inputs, tool, symbols.definers)
        refused.diagnostics = symbols.with_lines(refused.diagnostics)
        raise refused from None
    milliseconds = (time.perf_counter() - started) * 1e3
    defined, wanted = result_symbols(data, target)
    symbols.refuse(wanted)
    if not defined:  # an object without code, from which nvJitLink makes an empty image
        names = ", ".join(image.origin for image in inputs)
        raise ImageRefused(
            f"no input in {names} can be linked for {target}",
            hint="compile relocatable code for this architecture: nvcc -rdc=true",
        )
    return Linked(
        data=data,
        linker=tool.name,
        target=str(target),
        milliseconds=milliseconds,
        info_log=info,
        diagnostics=link_warnings(inputs, info),
    )


def _link(
    nvjitlink: ModuleType,
    inputs: list[Image],
    target: Architecture,
    options: list[str],
    log_file: int,
) -> tuple[bytes, str]:
    try:
        handle = nvjitlink.create(len(options), options)
    except nvjitlink.nvJitLinkError as error:
        if nvjitlink.Result(error.status).name in _OF_ARCHITECTURE:
            raise _no_such_architecture(target) from None
        shown = " ".join(options)
        raise RequestError(f"nvJitLink rejected the options ({shown}): {error}") from None
    names = [image.origin.encode(errors="replace") for image in inputs]
    try:
        for image, name in zip(inputs, names, strict=True):
            _add(nvjitlink, handle, image, name)
        _ask(nvjitlink, handle, "the inputs do not link", lambda: nvjitlink.complete(handle))
        complaints = _read(log_file)
        if any(found.is_serious for found in diagnostics_of(complaints, inputs)):
            raise ImageRefused("nvJitLink: the inputs do not link", log=complaints)
        data = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, data)
        info = _log(nvjitlink, handle, "info")
        return bytes(data), "\n".join(filter(None, (info, complaints)))
    finally:
        nvjitlink.destroy(handle)


_OF_ARCHITECTURE = ("ERROR_MISSING_ARCH", "ERROR_UNRECOGNIZED_ARCH", "ERROR_UNSUPPORTED_ARCH")
"""``nvJitLinkResult``: errors of the requested architecture."""


def _no_such_architecture(target: Architecture | str) -> RequestError:
    refused = RequestError("nvJitLink does not support this architecture")
    return refused.of(option="--arch", shown=f"--arch {target}")


def _add(nvjitlink: ModuleType, handle: int, image: Image, name: bytes) -> None:
    """Add an input. nvJitLink keeps the address of its name, so the name must live until the end.

    ``nvjitlink.add_data`` is not used for that reason: its name ends with the call.
    """
    library = ctypes.CDLL(f"libnvJitLink.so.{nvjitlink.version()[0]}")  # which is loaded
    # An unknown format is passed as any input: nvJitLink reports the error.
    kind = getattr(nvjitlink.InputType, _TYPES.get(identify(image.data), "ANY"))
    is_text = identify(image.data) is ImageKind.PTX
    data = image.code + b"\0" if is_text else image.code

    def add() -> None:
        size = ctypes.c_size_t(len(data))
        status = library.nvJitLinkAddData(ctypes.c_void_p(handle), int(kind), data, size, name)
        if status != 0:
            raise nvjitlink.nvJitLinkError(status)

    with errors_of(ImageRefused, origin=image.origin):
        _ask(nvjitlink, handle, "the linker does not accept it", add)


def _ask(nvjitlink: ModuleType, handle: int, what: str, call: Callable[[], object]) -> None:
    """Make a call; if it fails, raise an error with the log."""
    try:
        call()
    except nvjitlink.nvJitLinkError as error:
        log = _log(nvjitlink, handle, "error")
        if unknown := _UNKNOWN_ARCHITECTURE.search(log):
            raise _no_such_architecture(unknown[1]) from None
        raise ImageRefused(f"{what}: nvJitLink: {error}", log=log or None) from None


def _log(nvjitlink: ModuleType, handle: int, which: str) -> str:
    size = getattr(nvjitlink, f"get_{which}_log_size")(handle)
    if not size:
        return ""
    buffer = bytearray(size)
    getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
    return buffer.split(b"\0", 1)[0].decode(errors="replace").strip()


def _nvjitlink() -> tuple[ModuleType, str]:
    """Return the bindings and the version of the library."""
    from cuda.bindings import nvjitlink

    try:
        version = nvjitlink.version()
    except RuntimeError as error:
        if not is_missing_library(error):
            raise
        raise RequestError(
            "nvJitLink is not installed", hint=toolkit_installation(installed_version())
        ) from None
    return nvjitlink, ".".join(map(str, version))


def nvjitlink_version() -> tuple[int, int]:
    """Return the major and minor version of the installed nvJitLink."""
    _, version = _nvjitlink()
    major, minor, *_ = map(int, version.split("."))
    return major, minor
