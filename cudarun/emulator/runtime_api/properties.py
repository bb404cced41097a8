"""``cudaDeviceProp``: its fields, from the attributes of a device."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable
from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import CUdevice_attribute

from cudarun.emulator.runtime_api.calls import checked_device, driver_call

# Fields whose attributes have other names than the field's words in capitals: the common part of
# the names, and what differs in those of a list.
_ATTRIBUTES = """
sharedMemPerBlock              MAX_SHARED_MEMORY_PER_BLOCK
sharedMemPerBlockOptin         MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
sharedMemPerMultiprocessor     MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
reservedSharedMemPerBlock      RESERVED_SHARED_MEMORY_PER_BLOCK
regsPerBlock                   MAX_REGISTERS_PER_BLOCK
regsPerMultiprocessor          MAX_REGISTERS_PER_MULTIPROCESSOR
memPitch                       MAX_PITCH
totalConstMem                  TOTAL_CONSTANT_MEMORY
major                          COMPUTE_CAPABILITY_MAJOR
minor                          COMPUTE_CAPABILITY_MINOR
multiProcessorCount            MULTIPROCESSOR_COUNT
memoryBusWidth                 GLOBAL_MEMORY_BUS_WIDTH
persistingL2CacheMaxSize       MAX_PERSISTING_L2_CACHE_SIZE
maxThreadsPerMultiProcessor    MAX_THREADS_PER_MULTIPROCESSOR
maxBlocksPerMultiProcessor     MAX_BLOCKS_PER_MULTIPROCESSOR
isMultiGpuBoard                MULTI_GPU_BOARD
accessPolicyMaxWindowSize      MAX_ACCESS_POLICY_WINDOW_SIZE
hostRegisterReadOnlySupported  READ_ONLY_HOST_REGISTER_SUPPORTED
gpuDirectRDMASupported         GPU_DIRECT_RDMA_SUPPORTED
gpuDirectRDMAFlushWritesOptions  GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
gpuDirectRDMAWritesOrdering    GPU_DIRECT_RDMA_WRITES_ORDERING
memoryPoolSupportedHandleTypes MEMPOOL_SUPPORTED_HANDLE_TYPES
deviceOverlap                  GPU_OVERLAP
kernelExecTimeoutEnabled       KERNEL_EXEC_TIMEOUT
ECCEnabled                     ECC_ENABLED
deviceNumaConfig               NUMA_CONFIG
deviceNumaId                   NUMA_ID
maxThreadsDim                  MAX_BLOCK_DIM_ X Y Z
maxGridSize                    MAX_GRID_DIM_ X Y Z
maxTexture1D                   MAXIMUM_TEXTURE1D_WIDTH
maxTexture1DMipmap             MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
maxTexture1DLinear             MAXIMUM_TEXTURE1D_LINEAR_WIDTH
maxTexture1DLayered            MAXIMUM_TEXTURE1D_LAYERED_ WIDTH LAYERS
maxTexture2D                   MAXIMUM_TEXTURE2D_ WIDTH HEIGHT
maxTexture2DMipmap             MAXIMUM_TEXTURE2D_MIPMAPPED_ WIDTH HEIGHT
maxTexture2DLinear             MAXIMUM_TEXTURE2D_LINEAR_ WIDTH HEIGHT PITCH
maxTexture2DGather             MAXIMUM_TEXTURE2D_GATHER_ WIDTH HEIGHT
maxTexture2DLayered            MAXIMUM_TEXTURE2D_LAYERED_ WIDTH HEIGHT LAYERS
maxTexture3D                   MAXIMUM_TEXTURE3D_ WIDTH HEIGHT DEPTH
maxTexture3DAlt                MAXIMUM_TEXTURE3D_ WIDTH_ALTERNATE HEIGHT_ALTERNATE DEPTH_ALTERNATE
maxTextureCubemap              MAXIMUM_TEXTURECUBEMAP_WIDTH
maxTextureCubemapLayered       MAXIMUM_TEXTURECUBEMAP_LAYERED_ WIDTH LAYERS
maxSurface1D                   MAXIMUM_SURFACE1D_WIDTH
maxSurface1DLayered            MAXIMUM_SURFACE1D_LAYERED_ WIDTH LAYERS
maxSurface2D                   MAXIMUM_SURFACE2D_ WIDTH HEIGHT
maxSurface2DLayered            MAXIMUM_SURFACE2D_LAYERED_ WIDTH HEIGHT LAYERS
maxSurface3D                   MAXIMUM_SURFACE3D_ WIDTH HEIGHT DEPTH
maxSurfaceCubemap              MAXIMUM_SURFACECUBEMAP_WIDTH
maxSurfaceCubemapLayered       MAXIMUM_SURFACECUBEMAP_LAYERED_ WIDTH LAYERS
"""
_NAME_BYTES = 256
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")


def device_properties(device: int) -> cudart.cudaDeviceProp:
    """Return a ``cudaDeviceProp``, without fields that the bindings' version does not have."""
    properties = cudart.cudaDeviceProp()
    fields = property_fields(device, dir(properties))
    identifier = cudart.cudaUUID_t()
    ctypes.memmove(identifier.getPtr(), fields["uuid"], 16)  # the field cannot be set
    fields |= {"uuid": identifier, "name": fields["name"].ljust(_NAME_BYTES, b"\0")}
    for field, found in fields.items():
        setattr(properties, field, found)
    return properties


def property_fields(device: int, fields: Iterable[str]) -> dict[str, Any]:
    """Return the values of fields of a ``cudaDeviceProp`` of any version of CUDA."""
    handle = checked_device(device)
    found: dict[str, Any] = {
        "name": driver_call("cuDeviceGetName", _NAME_BYTES, handle).split(b"\0")[0],
        "uuid": bytes(driver_call("cuDeviceGetUuid", handle).bytes),
        "totalGlobalMem": driver_call("cuDeviceTotalMem", handle),
    }
    members = CUdevice_attribute.__members__  # the bindings' enum has no other look-up by name

    def attribute(suffix: str) -> int:
        number = members[f"CU_DEVICE_ATTRIBUTE_{suffix}"]
        return int(driver_call("cuDeviceGetAttribute", number, handle))

    named = {line.split()[0]: line.split()[1:] for line in _ATTRIBUTES.strip().splitlines()}
    for field in fields:
        first, *rest = named.get(field) or [_WORDS.sub("_", field).upper()]
        if rest:
            found[field] = [attribute(first + each) for each in rest]
        elif f"CU_DEVICE_ATTRIBUTE_{first}" in members:
            found[field] = attribute(first)
    return found
