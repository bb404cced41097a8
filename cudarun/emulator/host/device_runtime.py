"""The properties of device and context that the device runtime functions return to kernels."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from cuda.bindings.driver import CUlimit

from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.graphs import Condition
from cudarun.emulator.host.occupancy import blocks_per_multiprocessor, registers_per_thread
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.runtime_errors import device_error
from cudarun.emulator.program import KernelCode

Extent = tuple[int, int, int]
GeometryCheck = Callable[[KernelCode, Extent, Extent, int], None]

# cudaError_t
_INVALID_VALUE, _INVALID_CONFIGURATION, _UNSUPPORTED_LIMIT, _INVALID_CLUSTER = 1, 9, 215, 912

_ALL_ONES = (1 << 64) - 1
_MOST_THREADS = 1024
_SHARED_MEMORY_LIMIT = 7  # of a block, at most; it is none of CUlimit's
_ATTRIBUTES = struct.Struct("<QQQiiii")  # the first members of cudaFuncAttributes


class ContextServices:
    """`DeviceServices` of the kernels of a module in a context."""

    def __init__(self, context: Context, check: GeometryCheck) -> None:
        self._context = context
        self._check = check  # raises `Refusal` if a launch of a kernel is invalid

    @property
    def pending_launches(self) -> int:
        """``cudaLimitDevRuntimePendingLaunchCount``."""
        limit = CUlimit.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT
        return self._context.limits.get(limit)

    @property
    def device_count(self) -> int:
        """The number of devices that the host sees."""
        return len(process.devices)

    def refusal(self, kernel: KernelCode, grid: Extent, block: Extent, dynamic_shared: int) -> int:
        """Return the error of a launch: most that the host is refused are one error here."""
        try:
            self._check(kernel, grid, block, dynamic_shared)
        except Refusal as refusal:
            cluster = refusal.result.name == "CUDA_ERROR_INVALID_CLUSTER_SIZE"
            return _INVALID_CLUSTER if cluster else _INVALID_CONFIGURATION
        return 0

    def attribute(self, number: int) -> int:
        """Return a device attribute; 0 for a number that is none."""
        try:
            return self._context.device.attribute(number)  # type: ignore[arg-type]
        except Refusal:
            return 0

    def set_condition(self, handle: int, value: int) -> bool:
        """Set the value by which a conditional node chooses; return whether there is one."""
        condition = process.handles.find(handle, Condition)
        if condition is not None:
            condition.value = value
        return condition is not None

    def limit(self, number: int) -> tuple[int, int]:
        """Return a limit of the context; all ones with an error."""
        if number == _SHARED_MEMORY_LIMIT:
            return 0, current_profile().shared_optin
        try:
            return 0, self._context.limits.get(number)  # type: ignore[arg-type]
        except Refusal:
            return _UNSUPPORTED_LIMIT, _ALL_ONES

    def error_text(self, error: int, *, name: bool) -> str:
        """Return the name or the description of a ``cudaError_t``."""
        return device_error(error)[0 if name else 1]

    def function_attributes(self, kernel: KernelCode) -> bytes:
        """Return ``cudaFuncAttributes`` up to ``binaryVersion``."""
        version = current_profile().architecture
        return _ATTRIBUTES.pack(
            kernel.static_shared,
            kernel.const_bytes,
            kernel.local_bytes,
            kernel.max_threads,
            registers_per_thread(kernel),
            version,
            version,
        )

    def occupancy(self, kernel: KernelCode, threads: int, dynamic_shared: int) -> tuple[int, int]:
        """Return the resident blocks per multiprocessor, whatever the kernel's launch bounds."""
        if threads == 0:
            return _INVALID_VALUE, 0
        unbounded = replace(kernel, max_threads=_MOST_THREADS)
        return 0, blocks_per_multiprocessor(unbounded, threads, dynamic_shared)
