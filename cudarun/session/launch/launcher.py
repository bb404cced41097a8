"""The launch of a kernel: attributes, packed parameters and stream, and the limits it exceeds.

CUDA driver API, section 6.22 (execution control).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

from cudarun.base.errors import DeviceFailed, RequestError
from cudarun.base.records import dataclass
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, attribute_of
from cudarun.session.launch.step_request import Geometry, LaunchStep, Preferences
from cudarun.session.load.library import Kernel
from cudarun.session.load.request import Extent
from cudarun.session.workers.session import Session

if TYPE_CHECKING:
    from cuda.bindings import driver as cuda

# CUDA driver API, cuLaunchKernel: the keys of its `extra` array.
_PARAM_END, _PARAM_BUFFER_POINTER, _PARAM_BUFFER_SIZE = 0, 1, 2
_SHARED_WITHOUT_OPT_IN = 48 << 10


_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16  # CUDA programming guide, thread block clusters


def launch_stream(
    session: Session, device: Device, priority: int | None, *, created: bool
) -> cuda.CUstream:
    """Return the stream of a launch: the default one, or one of its own.

    Args:
        session: The session, which destroys the stream when it releases resources; the device's
            context is current.
        created: Create a stream in any case: only that of a graph can be captured.
    """
    driver = session.driver
    if priority is None and not created:
        return driver.CUstream(0)
    least, greatest = driver.cuCtxGetStreamPriorityRange()
    wanted = least if priority is None else priority
    if not greatest <= wanted <= least:
        raise RequestError(
            f"device {device.label} supports priorities {least} (lowest) to {greatest} (highest)"
        ).of(option="--priority", shown=f"--priority {priority}")
    stream = driver.cuStreamCreateWithPriority(int(driver.CUstream_flags.CU_STREAM_DEFAULT), wanted)
    session.add_release(lambda: driver.cuStreamDestroy(stream))
    return stream


@dataclass()
class Launcher:
    """A kernel with fixed arguments that can be launched repeatedly."""

    driver: Driver  # the driver; the context of the launch must be current
    device: Device
    kernel: Kernel
    step: LaunchStep  # the preferences and the way to pass parameters
    geometry: Geometry
    packed: bytes  # the whole parameter buffer
    stream: cuda.CUstream

    def __post_init__(self) -> None:
        self._threads = prod(self.geometry.block)
        self._estimated = " (estimated)" if self.driver.traits.estimates_resources else ""
        self._passed = self._parameters(as_array=self.step.passing == "array")
        with self._refusals_explained():
            self._set_attributes(self.step.preferences)
        self._function = self.driver.CUfunction(int(self.kernel.handle))
        self._config = self._make_config(programmatic=self.step.preferences.programmatic)

    def __call__(self) -> None:
        """Launch once; faults are reported at the next synchronization."""
        with self._refusals_explained():
            if self._config is not None:
                self.driver.cuLaunchKernelEx(self._config, self._function, *self._passed)
                return
            geometry = self.geometry
            self.driver.cuLaunchKernel(
                self._function,
                *geometry.grid, *geometry.block, geometry.shared_bytes,
                self.stream, *self._passed,
            )  # fmt: skip

    def _parameters(self, *, as_array: bool) -> tuple[int, int]:
        """Keep the parameter buffer; return the addresses for kernelParams and for extra."""
        packed = self.packed
        buffer = ctypes.create_string_buffer(packed, max(1, len(packed)))
        start, size = ctypes.addressof(buffer), ctypes.c_size_t(len(packed))
        words: list[int | None] = [
            _PARAM_BUFFER_POINTER, start, _PARAM_BUFFER_SIZE, ctypes.addressof(size), _PARAM_END,
        ]  # fmt: skip
        if as_array:
            words = [start + each.offset for each in self.kernel.parameters] or [None]
        array = (ctypes.c_void_p * len(words))(*words)
        self._kept = buffer, size, array
        address = ctypes.addressof(array)
        return (address, 0) if as_array else (0, address)

    @contextmanager
    def _refusals_explained(self) -> Iterator[None]:
        try:
            yield
        except DeviceFailed as error:
            error.hint = "\n".join(self._exceeded()) or error.hint
            raise

    def _set_attributes(self, preferences: Preferences) -> None:
        if self.geometry.shared_bytes > _SHARED_WITHOUT_OPT_IN:
            self._set("MAX_DYNAMIC_SHARED_SIZE_BYTES", self.geometry.shared_bytes)
        if preferences.carveout is not None:
            self._set("PREFERRED_SHARED_MEMORY_CARVEOUT", preferences.carveout)
        if prod(self.geometry.cluster or (1,)) > _PORTABLE_CLUSTER:
            self._set("NON_PORTABLE_CLUSTER_SIZE_ALLOWED", 1)
        if preferences.cache_config is not None:
            name = f"CU_FUNC_CACHE_PREFER_{preferences.cache_config.upper()}"
            config = getattr(self.driver.CUfunc_cache, name)
            self.driver.cuKernelSetCacheConfig(self.kernel.handle, config, self.device.handle)

    def _set(self, name: str, value: int) -> None:
        attribute = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        handle, device = self.kernel.handle, self.device.handle
        self.driver.cuKernelSetAttribute(attribute, value, handle, device)

    def _make_config(self, *, programmatic: bool) -> cuda.CUlaunchConfig | None:
        """Return the ``CUlaunchConfig`` of a launch with attributes; ``None`` for a plain one."""
        driver, geometry = self.driver, self.geometry
        attributes: list[cuda.CUlaunchAttribute] = []

        def added(name: str) -> Any:
            attribute = driver.CUlaunchAttribute()
            attribute.id = getattr(driver.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name}")
            attributes.append(attribute)
            return attribute.value

        if geometry.cooperative:
            added("COOPERATIVE").cooperative = 1
        if geometry.cluster is not None:
            extent = added("CLUSTER_DIMENSION").clusterDim
            extent.x, extent.y, extent.z = geometry.cluster
        if programmatic:
            value = added("PROGRAMMATIC_STREAM_SERIALIZATION")
            value.programmaticStreamSerializationAllowed = 1
        if not attributes:
            return None
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = geometry.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = geometry.block
        config.sharedMemBytes = geometry.shared_bytes
        config.hStream = self.stream
        config.numAttrs = len(attributes)
        config.attrs = attributes
        return config

    # --- the limits of the device and the kernel that the geometry exceeds -----------------------

    def _exceeded(self) -> Iterator[str]:
        """Yield a line for each exceeded limit."""
        for what, asked, limit in self._limits():
            if asked > limit:
                yield f"{what}: {asked} requested, the limit is {limit}"
        if self.geometry.cluster is not None:
            yield from self._cluster_problems(self.geometry.cluster)
        if self.geometry.cooperative:
            yield from self._residency_problems()

    def _limits(self) -> Iterator[tuple[str, int, int]]:
        """Yield threads, shared memory, registers and extents: the requested value, the limit."""
        any_kernel = self._device_limit("MAX_THREADS_PER_BLOCK")
        this_kernel = self._kernel_fact("MAX_THREADS_PER_BLOCK")
        whose = f" of {self.kernel.name}" if this_kernel < any_kernel else ""
        yield f"threads per block{whose}", self._threads, min(any_kernel, this_kernel)
        static, dynamic = self._kernel_fact("SHARED_SIZE_BYTES"), self.geometry.shared_bytes
        yield (
            f"shared memory in bytes ({static} static + {dynamic} dynamic)",
            static + dynamic,
            self._device_limit("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        )
        registers = self._kernel_fact("NUM_REGS")
        yield (
            f"registers per block{self._estimated} ({registers} × {self._threads} threads)",
            registers * self._threads,
            self._device_limit("MAX_REGISTERS_PER_BLOCK"),
        )
        for what, extent in (("block", self.geometry.block), ("grid", self.geometry.grid)):
            for axis, number in zip("xyz", extent, strict=True):
                limit = self._device_limit(f"MAX_{what.upper()}_DIM_{axis.upper()}")
                yield f"{what}.{axis}", number, limit

    def _cluster_problems(self, cluster: Extent) -> Iterator[str]:
        """Check that the device supports clusters, their size, and that they divide the grid."""
        if not self._device_limit("CLUSTER_LAUNCH"):
            yield f"device {self.device.label} does not support clusters"
            return
        blocks = prod(cluster)
        if blocks > _PORTABLE_CLUSTER:
            yield (
                f"blocks per cluster: {blocks} requested, the limit is {_PORTABLE_CLUSTER}, and up "
                f"to {_LARGEST_CLUSTER} on some devices"
            )
        for axis, number, width in zip("xyz", self.geometry.grid, cluster, strict=True):
            if number % width:
                yield f"grid.{axis}: {number} is not a multiple of the cluster's {width}"

    def _residency_problems(self) -> Iterator[str]:
        """Check that a cooperative grid does not exceed the resident blocks of the device."""
        if not self._device_limit("COOPERATIVE_LAUNCH"):
            yield f"device {self.device.label} does not support cooperative launches"
            return
        found = self.driver.attempt("cuKernelGetFunction", self.kernel.handle)
        if found[0] != 0:
            return
        result, *resident = self.driver.attempt(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            found[1], self._threads, self.geometry.shared_bytes,
        )  # fmt: skip
        if result != 0:
            return
        processors = self._device_limit("MULTIPROCESSOR_COUNT")
        blocks, limit = prod(self.geometry.grid), resident[0] * processors
        if blocks > limit:
            yield (
                f"resident blocks{self._estimated}: {blocks} requested, the limit is "
                f"{limit} ({resident[0]} on each of {processors} multiprocessors)"
            )

    def _device_limit(self, name: str) -> int:
        """Return a ``CUdevice_attribute``."""
        return attribute_of(self.driver, self.device.handle, name)

    def _kernel_fact(self, name: str) -> int:
        """Return a ``CUfunction_attribute``."""
        attribute = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        handle, device = self.kernel.handle, self.device.handle
        return int(self.driver.cuKernelGetAttribute(attribute, handle, device))
