"""Explanations of a refused launch: the exceeded limits beside the requested values."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device
from cudarun.session.launch.step_request import Geometry
from cudarun.session.load.library import Kernel
from cudarun.session.load.request import Extent

_PORTABLE_CLUSTER, _LARGEST_CLUSTER = 8, 16  # CUDA programming guide, thread block clusters


def explain_refusal(
    driver: Driver, device: Device, kernel: Kernel, geometry: Geometry
) -> str | None:
    """Return a line for each limit that the launch exceeds; ``None`` without a known one."""
    return "\n".join(_Explanation(driver, device, kernel, geometry).lines()) or None


class _Explanation:
    """A comparison of a geometry with the limits of the device and the kernel."""

    def __init__(self, driver: Driver, device: Device, kernel: Kernel, geometry: Geometry) -> None:
        self.driver = driver
        self.device = device
        self.kernel = kernel
        self.geometry = geometry
        self.threads = prod(geometry.block)
        self.estimated = " (estimated)" if driver.traits.estimates_resources else ""

    def lines(self) -> Iterator[str]:
        """Yield a line for each exceeded limit."""
        for what, asked, limit in (*self.block_limits(), *self.extent_limits()):
            if asked > limit:
                yield f"{what}: {asked} requested, the limit is {limit}"
        if self.geometry.cluster is not None:
            yield from self.cluster_problems(self.geometry.cluster)
        if self.geometry.cooperative:
            yield from self.residency_problems()

    def block_limits(self) -> Iterator[tuple[str, int, int]]:
        """Yield threads, shared memory and registers: the requested value and the limit."""
        any_kernel = self.device_limit("MAX_THREADS_PER_BLOCK")
        this_kernel = self.kernel_fact("MAX_THREADS_PER_BLOCK")
        whose = f" of {self.kernel.name}" if this_kernel < any_kernel else ""
        yield f"threads per block{whose}", self.threads, min(any_kernel, this_kernel)
        static, dynamic = self.kernel_fact("SHARED_SIZE_BYTES"), self.geometry.shared_bytes
        yield (
            f"shared memory in bytes ({static} static + {dynamic} dynamic)",
            static + dynamic,
            self.device_limit("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        )
        registers = self.kernel_fact("NUM_REGS")
        yield (
            f"registers per block{self.estimated} ({registers} × {self.threads} threads)",
            registers * self.threads,
            self.device_limit("MAX_REGISTERS_PER_BLOCK"),
        )

    def extent_limits(self) -> Iterator[tuple[str, int, int]]:
        """Yield each dimension of the block and of the grid."""
        grid = self.geometry.grid
        for what, asked in (("block", self.geometry.block), ("grid", grid)):
            for axis, number in zip("xyz", asked, strict=True):
                limit = self.device_limit(f"MAX_{what.upper()}_DIM_{axis.upper()}")
                yield f"{what}.{axis}", number, limit

    def cluster_problems(self, cluster: Extent) -> Iterator[str]:
        """Check that the device supports clusters, their size, and that they divide the grid."""
        if not self.device_limit("CLUSTER_LAUNCH"):
            yield f"device {self.device.label} does not support clusters"
            return
        blocks = prod(cluster)
        if blocks > _PORTABLE_CLUSTER:
            yield (
                f"blocks per cluster: {blocks} requested, the limit is {_LARGEST_CLUSTER} "
                f"({_PORTABLE_CLUSTER} on every device with clusters)"
            )
        grid = self.geometry.grid
        for axis, number, width in zip("xyz", grid, cluster, strict=True):
            if number % width:
                yield f"grid.{axis}: {number} is not a multiple of the cluster's {width}"

    def residency_problems(self) -> Iterator[str]:
        """Check that a cooperative grid does not exceed the resident blocks of the device."""
        if not self.device_limit("COOPERATIVE_LAUNCH"):
            yield f"device {self.device.label} does not support cooperative launches"
            return
        found = self.driver.attempt("cuKernelGetFunction", self.kernel.handle)
        if found[0] != 0:
            return
        result, *resident = self.driver.attempt(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            found[1], self.threads, self.geometry.shared_bytes,
        )  # fmt: skip
        if result != 0:
            return
        processors = self.device_limit("MULTIPROCESSOR_COUNT")
        blocks, limit = prod(self.geometry.grid), resident[0] * processors
        if blocks > limit:
            yield (
                f"resident blocks{self.estimated}: {blocks} requested, the limit is "
                f"{limit} ({resident[0]} on each of {processors} multiprocessors)"
            )

    def device_limit(self, name: str) -> int:
        """Return a ``CUdevice_attribute``."""
        attribute = getattr(self.driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.driver.cuDeviceGetAttribute(attribute, self.device.handle))

    def kernel_fact(self, name: str) -> int:
        """Return a ``CUfunction_attribute``."""
        attribute = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        handle, device = self.kernel.handle, self.device.handle
        return int(self.driver.cuKernelGetAttribute(attribute, handle, device))
