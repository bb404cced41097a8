"""The driver's linker: ``cuLinkCreate``, ``AddData`` and ``AddFile``, ``Complete``, ``Destroy``.

Driver API, section 6.12 (module management).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, ImageRefused, RequestError, errors_of
from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnosed, Diagnostic
from cudarun.images.kinds import CONTAINERS, ImageKind, identify
from cudarun.images.symbols import link_symbols
from cudarun.images.versions import Architecture
from cudarun.session.compile.source import compile_source
from cudarun.session.compile.task import Form
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, architecture_of, newest_ptx_of
from cudarun.session.image.diagnosis import check_structure, device_target, diagnose, diagnostics_of
from cudarun.session.image.image import STDIN, Image
from cudarun.session.link.request import LinkRequest
from cudarun.session.link.symbols import SymbolTable
from cudarun.session.load.jit import Logs, driver_options, option_refusals, with_whole_logs
from cudarun.session.load.preparation import prepare_all
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

_BY_FILE = (ImageKind.HOST_OBJECT, ImageKind.ARCHIVE)  # formats that linkers read from disk


@dataclass(frozen=True, slots=True)
class Linked:
    """The result of a linker."""

    data: bytes
    linker: str  # the linker with its version
    target: str
    milliseconds: float  # the time from the linker's first call to its last
    info_log: str  # the linker's information log
    diagnostics: tuple[Diagnostic, ...] = ()  # warnings, including the compiler's


def link_on_device(request: LinkRequest, session: Session, device: Device) -> Linked:
    """Link in a device's context."""
    driver = session.driver
    _check_options(request, driver, device)
    session.enter(device)
    target = request.architecture or Architecture(False, architecture_of(driver, device.handle))
    inputs = _inputs(request, driver, device, target)
    symbols = SymbolTable(inputs, target.number)
    symbols.check_duplicates()
    options = replace(request.options, target=request.architecture or request.options.target)
    session.progress.report(f"the driver links for {target}")
    started = time.perf_counter()
    try:
        data, logs = with_whole_logs(lambda logs: linked_by_driver(driver, inputs, options, logs))
        milliseconds = (time.perf_counter() - started) * 1e3
        defined, wanted = result_symbols(data, target)
        symbols.refuse(wanted | (symbols.missing() - defined))
        if any(found.is_serious for found in diagnostics_of(logs.error, inputs)):
            # The driver was observed to create an image nevertheless.
            raise ImageRefused("the inputs do not link", log=logs.error)
    except Diagnosed:
        raise
    except ImageRefused as error:
        refused = diagnose(error, inputs, device_target(driver), symbols.definers)
        refused.diagnostics = symbols.with_lines(refused.diagnostics)
        raise refused from None
    return Linked(
        data=data,
        linker=f"the driver's linker, CUDA {driver.version // 1000}.{driver.version % 1000 // 10}",
        target=str(target),
        milliseconds=milliseconds,
        info_log=logs.info,
        diagnostics=link_warnings(inputs, logs.info),
    )


def result_symbols(data: bytes, target: Architecture) -> tuple[set[str], set[str]]:
    """Return the symbols that a linked image defines, and those that it fails to define."""
    symbols = link_symbols(data, "the result", target.number)
    wanted = {symbol.name for symbol in symbols if symbol.role == "wanted"}
    return {symbol.name for symbol in symbols} - wanted, wanted


def link_warnings(inputs: Sequence[Image], log: str) -> tuple[Diagnostic, ...]:
    """Return the compiler's warnings, and those in the linker's information log."""
    of_compiler = [warning for image in inputs for warning in image.warnings]
    of_linker = [found for found in diagnostics_of(log, inputs) if found.severity == "warning"]
    return tuple(dict.fromkeys([*of_compiler, *of_linker]))


def _check_options(request: LinkRequest, driver: Driver, device: Device) -> None:
    """Refuse options that this linker does not support, rather than ignore them."""
    options = request.options
    if request.lto:
        raise RequestError(
            "the driver's linker does not support LTO-IR",
            hint="use --linker nvjitlink",
            option="--lto",
        )
    if options.fallback is not None:
        raise RequestError(
            "a link requires code that matches exactly",
            hint="use the option with 'cudarun load'",
            option="--fallback",
        )
    if request.architecture and options.threads_per_block is not None:
        raise RequestError(
            "the driver does not accept it together with --threads-per-block", option="--arch"
        )
    if request.architecture and options.target not in (None, request.architecture):
        differ = f"--arch {request.architecture} conflicts with --target {options.target}"
        raise RequestError(differ).naming("--arch", "--target")
    own = architecture_of(driver, device.handle)
    wanted = request.architecture or options.target
    if not driver.traits.runs_machine_code and wanted is not None and wanted.number != own:
        raise RequestError(
            f"the emulated device links PTX only for itself (sm_{own})",
            hint="use --linker nvjitlink for other architectures",
        ).of(option="--arch", shown=f"--arch {wanted}")


def _inputs(
    request: LinkRequest, driver: Driver, device: Device, target: Architecture
) -> list[Image]:
    """Return the inputs in the form that the linker accepts."""
    inputs: list[Image] = []
    runs_machine_code, newest = driver.traits.runs_machine_code, newest_ptx_of(driver)
    form: Form = "CUBIN" if runs_machine_code else "PTX"
    made_for = target if runs_machine_code else Architecture(True, target.number)
    for image in request.inputs:
        kind = identify(image.data)
        if kind is ImageKind.CUDA_SOURCE:
            image = compile_source(image, made_for, form, relocatable=True, newest_ptx=newest)
            inputs.append(image)
        elif kind in CONTAINERS and runs_machine_code:
            check_structure(image, device_target(driver))
            inputs.append(image)
        else:
            inputs += prepare_all(driver, image, [device])
    return inputs


def linked_by_driver(
    driver: Driver, inputs: Sequence[Image], options: JitOptions, logs: Logs
) -> tuple[bytes, Logs]:
    """Return the linked image, copied before the link state that owns it ends, and the logs."""
    of_link = driver_options(driver, options)
    # The state has pointers to the values, which must live until it is destroyed.
    every = of_link | logs.options(driver)
    with option_refusals(of_link, logs):
        state = driver.cuLinkCreate(len(every), [*every], [*every.values()])
    try:
        for image in inputs:
            try:
                _add(driver, state, image)
            except ImageRefused as error:
                error.log = logs.error or error.log
                raise diagnose(error, [image], device_target(driver)) from None
        address, size = driver.cuLinkComplete(state)
        return ctypes.string_at(int(address), size), logs
    except CudarunError as error:
        error.log = logs.error or error.log
        raise
    finally:
        driver.attempt("cuLinkDestroy", state)


def _add(driver: Driver, state: cuda.CUlinkState, image: Image) -> None:
    """Add an input, without options of its own.

    The manual contradicts itself on ``CU_JIT_FALLBACK_STRATEGY``: links do not support it, and
    inputs with several images do (``CUjit_option``, ``CUjitInputType``). Driver 580 accepts it
    neither for a fatbin nor for an object.
    """
    given: tuple[int, list[cuda.CUjit_option], list[object]] = 0, [], []
    kind = identify(image.data)
    kinds = driver.CUjitInputType
    input_type = {
        ImageKind.PTX: kinds.CU_JIT_INPUT_PTX,
        ImageKind.CUBIN: kinds.CU_JIT_INPUT_CUBIN,
        ImageKind.FATBIN: kinds.CU_JIT_INPUT_FATBINARY,
        ImageKind.HOST_OBJECT: kinds.CU_JIT_INPUT_OBJECT,
        ImageKind.ARCHIVE: kinds.CU_JIT_INPUT_LIBRARY,
    }.get(kind, kinds.CU_JIT_INPUT_PTX)  # ptxas reports errors of an unknown format
    with errors_of(origin=image.origin):
        if kind in _BY_FILE and image.origin != STDIN:
            driver.cuLinkAddFile(state, input_type, image.origin.encode(), *given)
            return
        data = image.code + b"\0" if input_type == kinds.CU_JIT_INPUT_PTX else image.code
        name = image.origin.encode()
        driver.cuLinkAddData(state, input_type, data, len(data), name, *given)
