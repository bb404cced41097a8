"""The emulated device in this process: cases prepared for launches, by the driver API.

The environment variable ``CUDARUN_CHECKOUT`` names another checkout whose device is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from emulator_cases import BUFFER, TENSOR_MAP, Case
from timing import ROOT, Failed

sys.path.insert(0, os.environ.get("CUDARUN_CHECKOUT", os.fspath(ROOT)))

from cudarun.emulator import driver

CHECKOUT = "CUDARUN_CHECKOUT"
_FLOAT16, _SWIZZLE_128B, _L2_128B = 6, 3, 2


class NotCompiled(Failed):
    """A kernel that cannot be compiled."""


def _value(answer: tuple[Any, ...]) -> Any:
    result, *values = answer
    if result == driver.CUresult.CUDA_ERROR_NOT_SUPPORTED:
        raise NotCompiled(result.name)
    if result.value:
        raise Failed(result.name)
    return values[0] if values else None


class Device:
    """The first emulated device, with a context."""

    def __init__(self) -> None:
        _value(driver.cuInit(0))
        self._context = _value(driver.cuCtxCreate(None, 0, 0))

    def select(self, engine: str, threads: int = 1) -> None:
        """Select the engine of later launches, and the most threads that run compiled blocks."""
        driver.select_engine(engine, threads)

    def observe(self, detect: Sequence[str]) -> None:
        """Observe all later launches with detectors, if any are named.

        Buffers that are allocated from now on have marks of unwritten bytes.
        """
        if detect:
            driver.start_detectors(detect)

    def prepared(self, case: Case) -> PreparedLaunch:
        """Return a case whose image is loaded and whose buffers are allocated."""
        return PreparedLaunch(case)


class PreparedLaunch:
    """A case whose image is loaded and whose buffers are allocated."""

    def __init__(self, case: Case) -> None:
        self._case = case
        image = (ROOT / "samples" / case.image).read_bytes()
        self._module = _value(driver.cuModuleLoadData(image + b"\0"))
        self._function = _value(driver.cuModuleGetFunction(self._module, case.name.encode()))
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _value(driver.cuFuncSetAttribute(self._function, attribute, case.shared))
        self._config = _launch_config(case)
        self._buffers: dict[str, Any] = {}
        self._values: list[np.ndarray] = []
        for argument in case.arguments:
            value = argument.value
            if argument.parameter in (BUFFER, TENSOR_MAP):
                address = _value(driver.cuMemAlloc(value.nbytes))
                self._buffers[argument.name] = address
                value = np.array(int(address), np.uint64)
                if argument.parameter == TENSOR_MAP:
                    value = _tensor_map(int(address), argument.value.shape)
            self._values.append(value)
        self._pointers = np.array([value.ctypes.data for value in self._values], np.uint64)
        self.reset()

    def reset(self) -> None:
        """Copy the initial contents to the buffers."""
        for argument in self._case.arguments:
            if argument.name in self._buffers:
                address, value = self._buffers[argument.name], argument.value
                _value(driver.cuMemcpyHtoD(address, value.ctypes.data, value.nbytes))

    def run(self) -> None:
        """Launch and wait."""
        pointers = self._pointers.ctypes.data
        _value(driver.cuLaunchKernelEx(self._config, self._function, pointers, 0))
        _value(driver.cuCtxSynchronize())

    def answer(self) -> np.ndarray:
        """Return the contents of the output buffer."""
        output = self._case.output
        found = np.empty_like(output.value)
        address = self._buffers[output.name]
        _value(driver.cuMemcpyDtoH(found.ctypes.data, address, found.nbytes))
        return found

    def free(self) -> None:
        """Free the buffers and unload the image."""
        for address in self._buffers.values():
            _value(driver.cuMemFree(address))
        _value(driver.cuModuleUnload(self._module))


def _launch_config(case: Case) -> Any:
    """Return the grid of a case, its shared memory and its clusters."""
    config = driver.CUlaunchConfig()
    grid = [-(-t // b) for t, b in zip(case.threads, case.block, strict=True)]
    config.gridDimX, config.gridDimY, config.gridDimZ = *grid, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = *case.block, 1
    config.sharedMemBytes = case.shared
    if case.cluster > 1:
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        extent = attribute.value.clusterDim
        extent.x, extent.y, extent.z = case.cluster, 1, 1
        config.attrs, config.numAttrs = [attribute], 1
    return config


def _tensor_map(address: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return the bytes of a tensor map of 64×64 tiles of a matrix of f16."""
    rows, columns = shape
    words, longs = driver.cuuint32_t, driver.cuuint64_t
    found = _value(
        driver.cuTensorMapEncodeTiled(
            driver.CUtensorMapDataType(_FLOAT16),
            words(2),
            address,
            [longs(columns), longs(rows)],
            [longs(2 * columns)],
            [words(64), words(64)],
            [words(1), words(1)],
            driver.CUtensorMapInterleave(0),
            driver.CUtensorMapSwizzle(_SWIZZLE_128B),
            driver.CUtensorMapL2promotion(_L2_128B),
            driver.CUtensorMapFloatOOBfill(0),
        )
    )
    return np.array([int(word) for word in found.opaque], np.uint64)
