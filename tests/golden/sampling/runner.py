"""Runs cases on a driver with the functions of ``cuda.bindings.driver``."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.conformance.arrays import format_of
from tests.conformance.conftest import Driver
from tests.golden.sampling.case import (
    CUBEMAP,
    CUBES,
    LAYERED,
    LAYERED_KINDS,
    Case,
    Resource,
    Sampling,
)
from tests.golden.sampling.programs import program

Array = npt.NDArray[Any]

_THREADS = 128
_TYPES = (ctypes.c_uint64,) * 4 + (ctypes.c_uint32,)


class Runner:
    """A context on device 0."""

    def __init__(self, module: Any) -> None:
        self.cuda = Driver(module)
        self.cuda.cuInit(0)
        self._device = self.cuda.cuDeviceGet(0)
        self._context = self.cuda.create_context(0, self._device)
        self._kernel = lru_cache(maxsize=512)(self._loaded)

    def close(self) -> None:
        """Destroy the context."""
        self.cuda.cuCtxDestroy(self._context)

    def name(self) -> str:
        """The device and the driver."""
        name = self.cuda.cuDeviceGetName(128, self._device).split(b"\0")[0].decode()
        return f"{name}, CUDA {self.cuda.cuDriverGetVersion()}"

    def _loaded(self, text: str) -> Any:
        return self.cuda.cuModuleGetFunction(
            self.cuda.cuModuleLoadData(text.encode() + b"\0"), b"k"
        )

    def run(self, case: Case) -> Array:
        """Four words per thread; of stores, the bytes of the array."""
        cuda, resource = self.cuda, case.resource
        made = created(cuda, resource)
        surface = case.instruction.startswith("su")
        if surface:
            handle = cuda.cuSurfObjectCreate(resource_of(cuda, made, resource))
        else:
            how, view = described(cuda, case.sampling), viewed(cuda, case.sampling)
            handle = cuda.cuTexObjectCreate(resource_of(cuda, made, resource), how, view)
        sampler = handle
        if case.sampler is not None:
            how = described(cuda, case.sampler)
            sampler = cuda.cuTexObjectCreate(resource_of(cuda, made, resource), how, None)
        results = self._launched(case, int(handle), int(sampler))
        if case.instruction.startswith(("sust", "sured")):
            results = contents(cuda, made, resource)
        (cuda.cuSurfObjectDestroy if surface else cuda.cuTexObjectDestroy)(handle)
        destroyed(cuda, made, resource)
        return results

    def _launched(self, case: Case, handle: int, sampler: int) -> Array:
        cuda, count = self.cuda, len(case.operands)
        given, out = cuda.cuMemAlloc(case.operands.nbytes), cuda.cuMemAlloc(16 * count)
        cuda.cuMemcpyHtoD(given, case.operands, case.operands.nbytes)
        values = (handle, sampler, int(given), int(out), count)
        grid = (-(-count // _THREADS), 1, 1)
        cuda.launch(
            self._kernel(program(case)), (values), _TYPES, grid=grid, block=(_THREADS, 1, 1)
        )
        results = np.zeros((count, 4), np.uint32)
        cuda.cuMemcpyDtoH(results, out, results.nbytes)
        cuda.cuMemFree(given)
        cuda.cuMemFree(out)
        return results


# --- resources -----------------------------------------------------------------------------------


def is_mipmapped(resource: Resource) -> bool:
    """Whether a resource needs a mipmapped array."""
    return resource.mipmapped or len(resource.levels) > 1


def descriptor_of(cuda: Driver, resource: Resource) -> Any:
    """The ``CUDA_ARRAY3D_DESCRIPTOR`` of a resource."""
    made = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    depth, rows, columns, channels = resource.levels[0].shape
    made.Format = (
        format_of(cuda, resource.levels[0].dtype)
        if resource.format is None
        else cuda.CUarray_format(resource.format)
    )
    made.NumChannels, made.Width = resource.packed or channels, columns * resource.block
    made.Height = 0 if resource.kind in ("1d", "a1d") else rows * resource.block
    made.Depth = 0 if resource.kind in ("1d", "2d") else depth
    made.Flags = resource.flags
    made.Flags |= LAYERED if resource.kind in LAYERED_KINDS else 0
    made.Flags |= CUBEMAP if resource.kind in CUBES else 0
    return made


def created(cuda: Driver, resource: Resource) -> Any:
    """An array, a mipmapped array or memory with the texels of a resource."""
    if resource.memory:
        return _memory_with(cuda, resource)
    descriptor = descriptor_of(cuda, resource)
    if not is_mipmapped(resource):
        array = cuda.cuArray3DCreate(descriptor)
        fill(cuda, array, resource.levels[0])
        return array
    made = cuda.cuMipmappedArrayCreate(descriptor, len(resource.levels))
    for number, level in enumerate(resource.levels):
        fill(cuda, cuda.cuMipmappedArrayGetLevel(made, number), level)
    return made


_PITCH = 512


def _memory_with(cuda: Driver, resource: Resource) -> Any:
    texels = np.ascontiguousarray(resource.levels[0])
    if resource.memory == "linear":
        memory = cuda.cuMemAlloc(texels.nbytes)
        cuda.cuMemcpyHtoD(memory, texels, texels.nbytes)
        return memory
    _, rows, columns, channels = texels.shape
    padded = np.zeros((rows, _PITCH), np.uint8)
    width = columns * channels * texels.itemsize
    padded[:, :width] = texels.reshape(rows, -1).view(np.uint8)
    memory = cuda.cuMemAlloc(padded.nbytes)
    cuda.cuMemcpyHtoD(memory, padded, padded.nbytes)
    return memory


def destroyed(cuda: Driver, made: Any, resource: Resource) -> None:
    """Destroy what `created` made."""
    if resource.memory:
        cuda.cuMemFree(made)
    elif is_mipmapped(resource):
        cuda.cuMipmappedArrayDestroy(made)
    else:
        cuda.cuArrayDestroy(made)


def box(cuda: Driver, texels: Array) -> Any:
    """A ``CUDA_MEMCPY3D`` of a whole array, without its sides."""
    copy = cuda.CUDA_MEMCPY3D()
    depth, rows, columns, channels = texels.shape
    copy.WidthInBytes = columns * channels * texels.itemsize
    copy.Height, copy.Depth = rows, depth
    return copy


def fill(cuda: Driver, array: Any, texels: Array) -> None:
    """Copy texels to an array."""
    texels = np.ascontiguousarray(texels)
    copy = box(cuda, texels)
    copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcHost, copy.srcPitch, copy.srcHeight = texels, copy.WidthInBytes, copy.Height
    copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
    copy.dstArray = array
    cuda.cuMemcpy3D(copy)


def contents(cuda: Driver, array: Any, resource: Resource) -> Array:
    """The bytes of an array, as words."""
    texels = np.zeros_like(resource.levels[0])
    copy = box(cuda, texels)
    copy.srcMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY
    copy.srcArray = array
    copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.dstHost, copy.dstPitch, copy.dstHeight = texels, copy.WidthInBytes, copy.Height
    cuda.cuMemcpy3D(copy)
    held = texels.tobytes()
    return np.frombuffer(held + bytes(-len(held) % 4), np.uint32).reshape(-1, 1)


def resource_of(cuda: Driver, made: Any, resource: Resource) -> Any:
    """The ``CUDA_RESOURCE_DESC`` of what `created` made."""
    described_ = cuda.CUDA_RESOURCE_DESC()
    if resource.memory:
        _, rows, columns, channels = resource.levels[0].shape
        linear = resource.memory == "linear"
        kind = "LINEAR" if linear else "PITCH2D"
        described_.resType = getattr(cuda.CUresourcetype, f"CU_RESOURCE_TYPE_{kind}")
        memory = described_.res.linear if linear else described_.res.pitch2D
        memory.devPtr, memory.numChannels = made, channels
        memory.format = descriptor_of(cuda, resource).Format
        if linear:
            memory.sizeInBytes = resource.levels[0].nbytes
        else:
            memory.width, memory.height, memory.pitchInBytes = columns, rows, _PITCH
    elif is_mipmapped(resource):
        described_.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        described_.res.mipmap.hMipmappedArray = made
    else:
        described_.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        described_.res.array.hArray = made
    return described_


def described(cuda: Driver, sampling: Sampling) -> Any:
    """The ``CUDA_TEXTURE_DESC`` of a case."""
    made = cuda.CUDA_TEXTURE_DESC()
    made.addressMode = [cuda.CUaddress_mode(mode) for mode in sampling.modes]
    made.filterMode = cuda.CUfilter_mode(sampling.filter)
    made.mipmapFilterMode = cuda.CUfilter_mode(sampling.between_levels)
    made.flags, made.maxAnisotropy = sampling.flags, sampling.anisotropy
    made.mipmapLevelBias = sampling.bias
    made.minMipmapLevelClamp, made.maxMipmapLevelClamp = sampling.least, sampling.most
    made.borderColor = list(sampling.border)
    return made


def viewed(cuda: Driver, sampling: Sampling) -> Any:
    """The ``CUDA_RESOURCE_VIEW_DESC`` of a case, or ``None``."""
    if not sampling.view:
        return None
    made = cuda.CUDA_RESOURCE_VIEW_DESC()
    for name, value in sampling.view:
        setattr(made, name, cuda.CUresourceViewFormat(value) if name == "format" else value)
    return made
