"""One launch on one device, inside the worker: bind, fill, launch, verify, copy back, check."""

from __future__ import annotations

import ctypes
import time
from typing import Any

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.checks import run_check
from cudarun.arguments.expressions import Expression, evaluate
from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.packing import BufferSpec
from cudarun.errors import CudarunError, DeviceFailed, RequestError
from cudarun.report.types import BufferResult, LaunchResult, Printed
from cudarun.session.calls import Driver
from cudarun.session.devices import Device, describe
from cudarun.session.loading import Kernel, Library
from cudarun.session.memory import DeviceBuffer, never_written
from cudarun.session.outputs import save
from cudarun.session.refusals import explain_refusal
from cudarun.session.requests import LaunchRequest
from cudarun.session.session import Session

Values = dict[str, Any]

# CUDA driver API, cuLaunchKernel: the keys of its `extra` array.
_PARAM_END, _PARAM_BUFFER_POINTER, _PARAM_BUFFER_SIZE = 0, 1, 2
_SHARED_WITHOUT_OPT_IN = 48 << 10


def run_on(
    session: Session, library: Library, request: LaunchRequest, device: Device
) -> LaunchResult:
    """Launch once on a device, in the current context, and say what came of it.

    Args:
        session: The initialised driver.
        library: The image, loaded once for all devices.
        request: What the user asked for.
        device: Where.

    Raises:
        CudarunError: Anything that kept the launch from coming back.
    """
    driver = session.driver
    kernel = library.kernel(request.kernel)
    try:
        binding = bind(request.arguments, kernel.parameters, kernel=kernel.demangled)
        _check_names(request, binding)
        buffers = {
            spec.name: DeviceBuffer(driver, spec.name, spec.nbytes) for spec in binding.buffers
        }
        symbols = {name: library.symbol(name) for name in binding.symbols}
        before = _fill(binding, buffers, request)
        addresses = {name: buffer.address for name, buffer in buffers.items()}
        started = time.perf_counter()
        _launch(driver, device, kernel, request, binding.pack(addresses, symbols))
        milliseconds = (time.perf_counter() - started) * 1e3
    except CudarunError as error:
        raise error.at(file=request.image.origin, kernel=kernel.demangled) from None
    wanted = _wanted(request) | {spec.name for spec in binding.buffers if spec.initial is None}
    after = {
        spec.name: buffers[spec.name].download(spec.dtype(), spec.array_shape)
        for spec in binding.buffers
        if spec.name in wanted
    }
    values, old = binding.scalars | after, binding.scalars | before
    geometry = request.geometry
    return LaunchResult(
        device=describe(driver, device, session.device_count),
        kernel=kernel.name,
        demangled=kernel.demangled,
        grid=geometry.grid_extent(),
        block=geometry.block,
        shared_bytes=geometry.shared_bytes,
        parameters=binding.rows,
        buffers=tuple(_verified(spec, buffers[spec.name], after) for spec in binding.buffers),
        # Outputs are saved first: they must be there also when a check fails or cannot be made.
        saved=tuple(
            save(s, device.label, after[s.name], force=request.force) for s in request.saves
        ),
        checks=tuple(run_check(check, values, old, request.tolerance) for check in request.checks),
        prints=tuple(_printed(expression, values, old) for expression in request.prints),
        milliseconds=milliseconds,
    )


def _check_names(request: LaunchRequest, binding: Binding) -> None:
    """Refuse, before anything is launched, a name that no argument has.

    Raises:
        RequestError: In a check, a print or a save.
    """
    buffers = [spec.name for spec in binding.buffers]
    for expression in (*request.checks, *request.prints):
        expression.check_names([*buffers, *binding.scalars])
    for request_to_save in request.saves:
        if request_to_save.name not in buffers:
            raise RequestError(
                f"--save: there is no buffer '{request_to_save.name}'",
                hint=f"there are {', '.join(buffers)}" if buffers else "no argument is a buffer",
            )


def _fill(binding: Binding, buffers: dict[str, DeviceBuffer], request: LaunchRequest) -> Values:
    """Initialise every buffer; keep the values that an ``old(…)`` will ask for."""
    asked = {name for e in (*request.checks, *request.prints) for name in e.old_names}
    before: Values = {}
    for spec in binding.buffers:
        if spec.initial is None:
            buffers[spec.name].poison()
            continue
        data = fill(spec.initial, spec.type, spec.shape, seeded(request.seed, spec.name))
        buffers[spec.name].upload(data)
        if spec.name in asked:
            before[spec.name] = data
    return before


def _launch(
    driver: Driver, device: Device, kernel: Kernel, request: LaunchRequest, packed: bytes
) -> None:
    """``cuLaunchKernel`` and the synchronisation that brings its faults to light."""
    geometry = request.geometry
    if geometry.shared_bytes > _SHARED_WITHOUT_OPT_IN:
        driver.cuKernelSetAttribute(
            driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            geometry.shared_bytes, kernel.handle, device.handle,
        )  # fmt: skip
    parameters = _Parameters(packed, kernel)
    array, extra = (parameters.array, 0) if request.passing == "array" else (0, parameters.extra)
    try:
        driver.cuLaunchKernel(
            driver.CUfunction(int(kernel.handle)),
            *geometry.grid_extent(), *geometry.block, geometry.shared_bytes,
            driver.CUstream(0), array, extra,
        )  # fmt: skip
    except DeviceFailed as error:
        error.hint = explain_refusal(driver, device, kernel, geometry)
        raise
    driver.cuCtxSynchronize()


class _Parameters:
    """The parameter buffer, and both ways to point ``cuLaunchKernel`` at it."""

    def __init__(self, packed: bytes, kernel: Kernel) -> None:
        self._buffer = ctypes.create_string_buffer(packed, max(1, len(packed)))
        start = ctypes.addressof(self._buffer)
        pointers = [start + parameter.offset for parameter in kernel.parameters]
        self._array = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        self._size = ctypes.c_size_t(len(packed))
        self._extra = (ctypes.c_void_p * 5)(
            _PARAM_BUFFER_POINTER, start,
            _PARAM_BUFFER_SIZE, ctypes.addressof(self._size),
            _PARAM_END,
        )  # fmt: skip

    @property
    def array(self) -> int:
        """Address of the ``void*[]`` for kernelParams."""
        return ctypes.addressof(self._array)

    @property
    def extra(self) -> int:
        """Address of the ``extra`` array with the packed buffer."""
        return ctypes.addressof(self._extra)


def _verified(spec: BufferSpec, buffer: DeviceBuffer, after: Values) -> BufferResult:
    return BufferResult(
        name=spec.name,
        type=str(spec.type),
        shape=spec.shape,
        nbytes=spec.nbytes,
        never_written=never_written(after[spec.name]) if spec.initial is None else None,
        guard_damage=buffer.guard_damage(),
    )


def _printed(expression: Expression, values: Values, old: Values) -> Printed:
    value = evaluate(expression, values, old)
    return Printed(expression.text, str(value), value.tolist())


def _wanted(request: LaunchRequest) -> set[str]:
    """The buffers that something asks for after the run."""
    named = {name for e in (*request.checks, *request.prints) for name in e.names}
    return named | {save.name for save in request.saves}
