"""Launches and occupancy: driver API, sections 6.22 and 6.24."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from math import prod

from cuda.bindings.driver import CUfunction_attribute, CUgraphNodeType, CUlaunchConfig

from cudarun.emulator.api.calls import call, enqueue, generated
from cudarun.emulator.api.handles import FunctionHandle
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostPointer
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.launches import LaunchGeometry, geometry_of, largest_cluster, launch
from cudarun.emulator.host.modules import LoadedFunction
from cudarun.emulator.host.occupancy import (
    best_block,
    blocks_per_multiprocessor,
    clusters,
    dynamic_shared_for,
)
from cudarun.emulator.host.parameters import KernelParameters
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if

_MOST_DYNAMIC_SHARED = CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


@enqueue()
def cuLaunchKernel(
    f: Handle,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: Handle,
    kernelParams: KernelParameters,
    extra: HostPointer,
) -> None:
    """Launch a function, or a kernel in the stream's context."""
    grid, block = (gridDimX, gridDimY, gridDimZ), (blockDimX, blockDimY, blockDimZ)
    launch(process, f, LaunchGeometry(grid, block, sharedMemBytes), hStream, kernelParams, extra)


@enqueue()
def cuLaunchKernelEx(
    config: CUlaunchConfig, f: Handle, kernelParams: KernelParameters, extra: HostPointer
) -> None:
    """Launch with attributes: cooperative launch, clusters."""
    launch(process, f, geometry_of(config), config.hStream, kernelParams, extra)


@enqueue()
def cuLaunchCooperativeKernel(
    f: Handle,
    gridDimX: int,
    gridDimY: int,
    gridDimZ: int,
    blockDimX: int,
    blockDimY: int,
    blockDimZ: int,
    sharedMemBytes: int,
    hStream: Handle,
    kernelParams: KernelParameters,
) -> None:
    """Launch with all blocks resident, so that they can synchronize with each other."""
    grid, block = (gridDimX, gridDimY, gridDimZ), (blockDimX, blockDimY, blockDimZ)
    geometry = LaunchGeometry(grid, block, sharedMemBytes, cooperative=True)
    launch(process, f, geometry, hStream, kernelParams, None)


@enqueue()
def cuLaunchHostFunc(hStream: Handle, fn: Handle, userData: Handle) -> None:
    """Call a host function, a C function pointer, in the order of a stream."""
    refuse_if(not handle_value(fn), "the function is null")
    function = addresses.host.function(handle_value(fn), None, ctypes.c_void_p)
    work = partial(function, handle_value(userData))
    process.submit(
        process.stream(hStream), Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, work)
    )


@enqueue()
def cuStreamAddCallback(hStream: Handle, callback: Handle, userData: Handle, flags: int) -> None:
    """Call a host function ``(stream, result, userData)`` in the order of a stream."""
    refuse_if(flags != 0 or not handle_value(callback), "flags must be 0, the function must not")
    stream = process.stream(hStream)
    stream.check_not_capturing()
    types = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    function = addresses.host.function(handle_value(callback), None, *types)
    work = partial(function, handle_value(hStream), 0, handle_value(userData))
    process.submit(stream, Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, work))


def _resident(func: LoadedFunction, threads: int, dynamic_shared: int, flags: int = 0) -> int:
    refuse_if(threads <= 0, f"invalid block size: {threads} threads")
    return blocks_per_multiprocessor(func.code, threads, dynamic_shared)


def _best_block(
    func: LoadedFunction, needed: Handle, dynamic_shared: int, limit: int, flags: int = 0
) -> tuple[int, int]:
    address = handle_value(needed)
    if address:
        shared_of = addresses.host.function(address, ctypes.c_size_t, ctypes.c_int)
        return best_block(func.code, shared_of, limit)
    return best_block(func.code, lambda threads: dynamic_shared, limit)


_BLOCK = {"func": FunctionHandle, "blockSize": "int", "dynamicSMemSize": "int"}
_NEEDED = {"func": FunctionHandle, "blockSizeToDynamicSMemSize": "Handle"}
_LIMITS = {"dynamicSMemSize": "int", "blockSizeLimit": "int"}
_OCCUPANCIES: tuple[tuple[str, dict[str, object], str, Callable[..., object], object], ...] = (
    ("MaxActiveBlocksPerMultiprocessor", _BLOCK,
     "Return the number of resident blocks of a kernel per multiprocessor.", _resident, int),
    ("MaxPotentialBlockSize", _NEEDED | _LIMITS,
     "Return the smallest grid and the block size with maximum occupancy.", _best_block,
     tuple[int, int]),
)  # fmt: skip
for _name, _types, _text, _work, _result in _OCCUPANCIES:
    _name = f"cuOccupancy{_name}"
    call()(generated(__name__, _name, _types, _text, _work, _result))
    _text, _types = f"`{_name}`; the flags only affect caches.", _types | {"flags": "int"}
    call()(generated(__name__, f"{_name}WithFlags", _types, _text, _work, _result))


@call()
def cuOccupancyMaxActiveClusters(func: FunctionHandle, config: CUlaunchConfig) -> int:
    """Return the number of clusters that are resident on the device; 0 without clusters."""
    geometry = geometry_of(config)
    resident = _resident(func, geometry.threads, geometry.dynamic_shared)
    cluster = geometry.cluster or func.attributes.required_cluster()
    if cluster is None:
        return 0
    blocks = prod(cluster)
    if not 1 <= blocks <= largest_cluster(func):
        raise Refusal("INVALID_CLUSTER_SIZE", f"a cluster of {blocks} blocks")
    return clusters(resident, blocks)


@call()
def cuOccupancyMaxPotentialClusterSize(func: FunctionHandle, config: CUlaunchConfig) -> int:
    """Return the size of the largest cluster with which a kernel can be launched."""
    geometry, required = geometry_of(config), func.attributes.required_cluster()
    if required is not None:
        return prod(required)
    sizes = (1 << bits for bits in reversed(range(largest_cluster(func).bit_length())))
    resident = _resident(func, geometry.threads, geometry.dynamic_shared)
    return next((size for size in sizes if clusters(resident, size)), 0)


@call()
def cuOccupancyAvailableDynamicSMemPerBlock(
    func: FunctionHandle, numBlocks: int, blockSize: int
) -> int:
    """Return the most dynamic shared memory with which so many blocks are resident."""
    if numBlocks <= 0 or blockSize <= 0:
        raise Refusal("INVALID_VALUE", f"invalid numBlocks or blockSize: {numBlocks}, {blockSize}")
    most = func.attributes.get(_MOST_DYNAMIC_SHARED)
    return dynamic_shared_for(func.code, numBlocks, blockSize, most)
