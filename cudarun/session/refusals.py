"""Why a device refused a launch: its own limit beside what was asked for."""

from __future__ import annotations

from typing import Any

from cudarun.session.calls import Driver
from cudarun.session.devices import Device
from cudarun.session.loading import Kernel
from cudarun.session.requests import Geometry

# CUDA driver API, enum CUdevice_attribute: name of the limit, in words.
_BLOCK_LIMITS = ("MAX_BLOCK_DIM_X", "MAX_BLOCK_DIM_Y", "MAX_BLOCK_DIM_Z")
_GRID_LIMITS = ("MAX_GRID_DIM_X", "MAX_GRID_DIM_Y", "MAX_GRID_DIM_Z")


def explain_refusal(
    driver: Driver, device: Device, kernel: Kernel, geometry: Geometry
) -> str | None:
    """Every limit that the launch exceeds, a line each; ``None`` when it exceeds none we know."""

    def device_limit(name: str) -> int:
        attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(driver.cuDeviceGetAttribute(attribute, device.handle))

    def kernel_fact(name: str) -> int:
        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(driver.cuKernelGetAttribute(attribute, kernel.handle, device.handle))

    threads = geometry.block[0] * geometry.block[1] * geometry.block[2]
    any_kernel = device_limit("MAX_THREADS_PER_BLOCK")
    this_kernel = kernel_fact("MAX_THREADS_PER_BLOCK")
    whose = f" of {kernel.name}" if this_kernel < any_kernel else ""
    static = kernel_fact("SHARED_SIZE_BYTES")
    grid = geometry.grid_extent()
    limits: list[tuple[str, int, int]] = [
        (f"threads per block{whose}", threads, min(any_kernel, this_kernel)),
        (
            f"shared memory in bytes ({static} static + {geometry.shared_bytes} dynamic)",
            static + geometry.shared_bytes,
            device_limit("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        ),
        (
            "registers per block",
            threads * kernel_fact("NUM_REGS"),
            device_limit("MAX_REGISTERS_PER_BLOCK"),
        ),
        *_extents("block", geometry.block, [device_limit(name) for name in _BLOCK_LIMITS]),
        *_extents("grid", grid, [device_limit(name) for name in _GRID_LIMITS]),
    ]
    exceeded = [
        f"{what}: {asked} asked for, {limit} is the limit"
        for what, asked, limit in limits
        if asked > limit
    ]
    return "\n".join(exceeded) or None


def _extents(what: str, asked: Any, limits: list[int]) -> list[tuple[str, int, int]]:
    return [(f"{what}.{axis}", asked[i], limits[i]) for i, axis in enumerate("xyz")]
