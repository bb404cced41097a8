"""``cudaDeviceProp``: its fields, from the attributes of a device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import CUdevice_attribute

# Fields whose attribute has another name than the field's words in capitals.
_NAMED = {
    "sharedMemPerBlock": "MAX_SHARED_MEMORY_PER_BLOCK",
    "regsPerBlock": "MAX_REGISTERS_PER_BLOCK",
    "memPitch": "MAX_PITCH",
    "maxThreadsPerBlock": "MAX_THREADS_PER_BLOCK",
    "totalConstMem": "TOTAL_CONSTANT_MEMORY",
    "major": "COMPUTE_CAPABILITY_MAJOR",
    "minor": "COMPUTE_CAPABILITY_MINOR",
    "multiProcessorCount": "MULTIPROCESSOR_COUNT",
    "canMapHostMemory": "CAN_MAP_HOST_MEMORY",
    "maxTexture1D": "MAXIMUM_TEXTURE1D_WIDTH",
    "maxTexture1DMipmap": "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH",
    "maxTexture1DLinear": "MAXIMUM_TEXTURE1D_LINEAR_WIDTH",
    "maxTextureCubemap": "MAXIMUM_TEXTURECUBEMAP_WIDTH",
    "maxSurface1D": "MAXIMUM_SURFACE1D_WIDTH",
    "maxSurfaceCubemap": "MAXIMUM_SURFACECUBEMAP_WIDTH",
    "pciBusID": "PCI_BUS_ID",
    "pciDeviceID": "PCI_DEVICE_ID",
    "pciDomainID": "PCI_DOMAIN_ID",
    "memoryBusWidth": "GLOBAL_MEMORY_BUS_WIDTH",
    "persistingL2CacheMaxSize": "MAX_PERSISTING_L2_CACHE_SIZE",
    "maxThreadsPerMultiProcessor": "MAX_THREADS_PER_MULTIPROCESSOR",
    "globalL1CacheSupported": "GLOBAL_L1_CACHE_SUPPORTED",
    "localL1CacheSupported": "LOCAL_L1_CACHE_SUPPORTED",
    "sharedMemPerMultiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "regsPerMultiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "isMultiGpuBoard": "MULTI_GPU_BOARD",
    "multiGpuBoardGroupID": "MULTI_GPU_BOARD_GROUP_ID",
    "canUseHostPointerForRegisteredMem": "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
    "sharedMemPerBlockOptin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "maxBlocksPerMultiProcessor": "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "accessPolicyMaxWindowSize": "MAX_ACCESS_POLICY_WINDOW_SIZE",
    "reservedSharedMemPerBlock": "RESERVED_SHARED_MEMORY_PER_BLOCK",
    "hostRegisterReadOnlySupported": "READ_ONLY_HOST_REGISTER_SUPPORTED",
    "hostRegisterSupported": "HOST_REGISTER_SUPPORTED",
    "gpuDirectRDMASupported": "GPU_DIRECT_RDMA_SUPPORTED",
    "gpuDirectRDMAFlushWritesOptions": "GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS",
    "gpuDirectRDMAWritesOrdering": "GPU_DIRECT_RDMA_WRITES_ORDERING",
    "memoryPoolSupportedHandleTypes": "MEMPOOL_SUPPORTED_HANDLE_TYPES",
    "sparseCudaArraySupported": "SPARSE_CUDA_ARRAY_SUPPORTED",
    "deferredMappingCudaArraySupported": "DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED",
    "deviceOverlap": "GPU_OVERLAP",
    "kernelExecTimeoutEnabled": "KERNEL_EXEC_TIMEOUT",
    "singleToDoublePrecisionPerfRatio": "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO",
    "ECCEnabled": "ECC_ENABLED",
    "tccDriver": "TCC_DRIVER",
    "l2CacheSize": "L2_CACHE_SIZE",
    "clusterLaunch": "CLUSTER_LAUNCH",
    "deviceNumaConfig": "NUMA_CONFIG",
    "deviceNumaId": "NUMA_ID",
    "gpuPciDeviceID": "GPU_PCI_DEVICE_ID",
    "gpuPciSubsystemID": "GPU_PCI_SUBSYSTEM_ID",
}
_WORDS = (
    "asyncEngineCount",
    "clockRate",
    "computeMode",
    "computePreemptionSupported",
    "concurrentKernels",
    "concurrentManagedAccess",
    "cooperativeLaunch",
    "cooperativeMultiDeviceLaunch",
    "directManagedMemAccessFromHost",
    "hostNativeAtomicSupported",
    "hostNumaId",
    "hostNumaMultinodeIpcSupported",
    "integrated",
    "ipcEventSupported",
    "managedMemory",
    "memoryClockRate",
    "memoryPoolsSupported",
    "mpsEnabled",
    "pageableMemoryAccess",
    "pageableMemoryAccessUsesHostPageTables",
    "streamPrioritiesSupported",
    "surfaceAlignment",
    "textureAlignment",
    "texturePitchAlignment",
    "timelineSemaphoreInteropSupported",
    "unifiedAddressing",
    "unifiedFunctionPointers",
    "warpSize",
)
_LISTS = {
    "maxThreadsDim": ("MAX_BLOCK_DIM_X", "MAX_BLOCK_DIM_Y", "MAX_BLOCK_DIM_Z"),
    "maxGridSize": ("MAX_GRID_DIM_X", "MAX_GRID_DIM_Y", "MAX_GRID_DIM_Z"),
    "maxTexture2D": ("MAXIMUM_TEXTURE2D_WIDTH", "MAXIMUM_TEXTURE2D_HEIGHT"),
    "maxTexture2DMipmap": (
        "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH",
        "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT",
    ),
    "maxTexture2DLinear": (
        "MAXIMUM_TEXTURE2D_LINEAR_WIDTH",
        "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT",
        "MAXIMUM_TEXTURE2D_LINEAR_PITCH",
    ),
    "maxTexture2DGather": ("MAXIMUM_TEXTURE2D_GATHER_WIDTH", "MAXIMUM_TEXTURE2D_GATHER_HEIGHT"),
    "maxTexture3D": (
        "MAXIMUM_TEXTURE3D_WIDTH",
        "MAXIMUM_TEXTURE3D_HEIGHT",
        "MAXIMUM_TEXTURE3D_DEPTH",
    ),
    "maxTexture3DAlt": (
        "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE",
        "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE",
        "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE",
    ),
    "maxTexture1DLayered": ("MAXIMUM_TEXTURE1D_LAYERED_WIDTH", "MAXIMUM_TEXTURE1D_LAYERED_LAYERS"),
    "maxTexture2DLayered": (
        "MAXIMUM_TEXTURE2D_LAYERED_WIDTH",
        "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT",
        "MAXIMUM_TEXTURE2D_LAYERED_LAYERS",
    ),
    "maxTextureCubemapLayered": (
        "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH",
        "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS",
    ),
    "maxSurface2D": ("MAXIMUM_SURFACE2D_WIDTH", "MAXIMUM_SURFACE2D_HEIGHT"),
    "maxSurface3D": (
        "MAXIMUM_SURFACE3D_WIDTH",
        "MAXIMUM_SURFACE3D_HEIGHT",
        "MAXIMUM_SURFACE3D_DEPTH",
    ),
    "maxSurface1DLayered": ("MAXIMUM_SURFACE1D_LAYERED_WIDTH", "MAXIMUM_SURFACE1D_LAYERED_LAYERS"),
    "maxSurface2DLayered": (
        "MAXIMUM_SURFACE2D_LAYERED_WIDTH",
        "MAXIMUM_SURFACE2D_LAYERED_HEIGHT",
        "MAXIMUM_SURFACE2D_LAYERED_LAYERS",
    ),
    "maxSurfaceCubemapLayered": (
        "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH",
        "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS",
    ),
}


def device_properties(
    name: bytes, uuid: Any, total: int, value: Callable[[CUdevice_attribute], int]
) -> Any:
    """Return a ``cudaDeviceProp``; ``value`` returns the value of an attribute.

    Fields that the bindings' version does not have are left out.
    """
    properties = cudart.cudaDeviceProp()
    properties.name = name
    properties.totalGlobalMem = total
    found = cudart.cudaUUID_t()
    ctypes.memmove(found.getPtr(), uuid.bytes, len(uuid.bytes))  # the field cannot be set
    properties.uuid = found
    members = CUdevice_attribute.__members__

    def attribute(of: str) -> int:
        return value(members[f"CU_DEVICE_ATTRIBUTE_{of}"])

    for field, of in (_NAMED | {field: _capitals(field) for field in _WORDS}).items():
        if hasattr(properties, field):
            setattr(properties, field, attribute(of))
    for field, names in _LISTS.items():
        setattr(properties, field, [attribute(of) for of in names])
    return properties


def _capitals(field: str) -> str:
    """Return ``WARP_SIZE`` for ``warpSize``."""
    return "".join(f"_{c}" if c.isupper() else c.upper() for c in field)
