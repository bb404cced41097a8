"""Runtime calls of C and C++ programs that ``cuda.bindings.runtime`` does not have.

They name kernels and variables by what the compiler's host code registered (`registered_code`).
"""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from cuda.bindings.driver import (
    CUDA_KERNEL_NODE_PARAMS,
    CUdevice_P2PAttribute,
    CUfunction_attribute,
    CUgraphNode,
    CUkernel,
)

from cudarun.emulator.api.calls import CALLS, Answer, enqueue
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.launches import (
    LaunchGeometry,
    check_extents,
    geometry_of,
    launch,
)
from cudarun.emulator.host.modules import LibraryKernel
from cudarun.emulator.host.parameters import PackedParameters
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.runtime_api.calls import (
    RUNTIME_CALLS,
    RuntimeRefusal,
    current_device,
    driver_call,
    runtime_call,
)
from cudarun.emulator.server.driver_calls import launch_config, placed
from cudarun.emulator.server.registered_code import RegisteredCode

PROGRAM_CALLS: dict[str, Callable[..., Answer]] = {}
"""The calls of this module by name."""

_INVALID_VALUE, _INVALID_CONFIGURATION = 1, 9
code = RegisteredCode()


def program_call(outputs: int = 0) -> Callable[[Callable[..., object]], Callable[..., Answer]]:
    """Declare a runtime call of programs; ``outputs`` values follow its error."""

    def decorate(body: Callable[..., object]) -> Callable[..., Answer]:
        made = runtime_call(outputs)(body)
        PROGRAM_CALLS[body.__name__] = RUNTIME_CALLS.pop(body.__name__)
        return made

    return decorate


# --- launches ------------------------------------------------------------------------------------


@enqueue()
def _launchPacked(f: Handle, geometry: Any, stream: Handle, parameters: Any) -> None:
    """Launch with a parameter buffer that has been packed."""
    launch(process, f, geometry, stream, parameters, None)


del CALLS["_launchPacked"]


def layout(kernel: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return offset and size of each parameter of a kernel, and the bytes of all."""
    found = process.handles.get(kernel, LibraryKernel).code
    return tuple(found.parameters), found.parameter_bytes


@program_call()
def launch_packed(
    kernel: int, error: int, geometry: LaunchGeometry, stream: int, parameters: bytes
) -> None:
    """Launch a kernel; ``error`` is that of its load."""
    if error:
        raise RuntimeRefusal(error)
    _launch(kernel, geometry, PackedParameters(parameters), stream)


@program_call(1)
def kernel_of(function: int) -> tuple[int, Any, int]:
    """Return the kernel of a host function, with the layout of its parameters."""
    kernel = code.kernel(function)
    return (kernel, *layout(kernel))


@program_call(1)
def managed_of(binary: int) -> list[tuple[int, int]]:
    """Return the host variable and the address of each managed variable of a fat binary."""
    return [(host, code.variable(host)[0]) for host in code.managed(binary)]


def _extent(dimensions: Any) -> tuple[int, int, int]:
    x, y, z = struct.unpack("=3I", _bytes(dimensions, 12))
    return x, y, z


def _bytes(structure: Any, size: int) -> bytes:
    """Return the bytes of a structure, of the bindings or as they are."""
    if isinstance(structure, bytes):
        return structure[:size]
    return ctypes.string_at(int(structure.getPtr()), size)


def _launch(kernel: int, geometry: LaunchGeometry, args: Any, stream: Handle) -> None:
    try:
        check_extents(geometry)
    except Refusal:  # the driver says INVALID_VALUE
        raise RuntimeRefusal(_INVALID_CONFIGURATION) from None
    result = _launchPacked(kernel, geometry, stream, args)[0]
    if result:
        raise RuntimeRefusal(int(result))


@program_call()
def cudaLaunchCooperativeKernel(
    func: Any, gridDim: Any, blockDim: Any, args: Any, sharedMem: Any, stream: Any
) -> None:
    """Launch with all blocks resident."""
    geometry = LaunchGeometry(_extent(gridDim), _extent(blockDim), int(sharedMem), cooperative=True)
    _launch(code.kernel(int(func)), geometry, args, stream)


@program_call()
def cudaLaunchKernelExC(config: Any, func: Any, args: Any) -> None:
    """Launch with attributes."""
    data = _bytes(config, 56)
    grid_block, shared, stream, attributes, count = struct.unpack_from("=24sQQQI", data)
    made = launch_config(struct.unpack("=6I", grid_block), shared, stream, attributes, count)
    _launch(code.kernel(int(func)), geometry_of(made), args, stream)


# --- kernels -------------------------------------------------------------------------------------


def _attribute(name: str, kernel: int) -> int:
    attribute = getattr(CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    return int(driver_call("cuKernelGetAttribute", attribute, kernel, current_device()))


_ATTRIBUTES = (
    *("SHARED_SIZE_BYTES", "CONST_SIZE_BYTES", "LOCAL_SIZE_BYTES", "MAX_THREADS_PER_BLOCK"),
    *("NUM_REGS", "PTX_VERSION", "BINARY_VERSION", "CACHE_MODE_CA"),
    *("MAX_DYNAMIC_SHARED_SIZE_BYTES", "PREFERRED_SHARED_MEMORY_CARVEOUT"),
    *("CLUSTER_SIZE_MUST_BE_SET", "REQUIRED_CLUSTER_WIDTH", "REQUIRED_CLUSTER_HEIGHT"),
    *("REQUIRED_CLUSTER_DEPTH", "CLUSTER_SCHEDULING_POLICY_PREFERENCE"),
    "NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
)
_FUNC_ATTRIBUTES_BYTES = 144


@program_call(1)
def cudaFuncGetAttributes(func: Any) -> bytes:
    """Return the attributes of a kernel, a ``cudaFuncAttributes``."""
    kernel = code.kernel(int(func))
    values = [_attribute(name, kernel) for name in _ATTRIBUTES]
    return struct.pack("=3Q13i", *values).ljust(_FUNC_ATTRIBUTES_BYTES, b"\0")


@program_call()
def cudaFuncSetAttribute(func: Any, attr: Any, value: Any) -> None:
    """Set an attribute of a kernel."""
    kernel, attribute = code.kernel(int(func)), CUfunction_attribute(int(attr))
    driver_call("cuKernelSetAttribute", attribute, int(value), kernel, current_device())


@program_call()
def cudaFuncSetCacheConfig(func: Any, cacheConfig: Any) -> None:
    """Check the kernel: the emulated device has no caches."""
    code.kernel(int(func))


@program_call()
def cudaFuncSetSharedMemConfig(func: Any, config: Any) -> None:
    """Check the kernel: banks have one width."""
    code.kernel(int(func))


@program_call(1)
def cudaFuncGetName(func: Any) -> int:
    """Return the name of a kernel, at an address that stays valid."""
    kernel = process.handles.get(code.kernel(int(func)), LibraryKernel)
    return placed(kernel.name.encode() + b"\0")


@program_call(2)
def cudaFuncGetParamInfo(func: Any, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter."""
    parameters, _ = layout(code.kernel(int(func)))
    if not 0 <= paramIndex < len(parameters):
        raise RuntimeRefusal(_INVALID_VALUE)
    return parameters[paramIndex]


@program_call(1)
def cudaGetKernel(entryFuncAddr: Any) -> int:
    """Return the kernel of a host function."""
    return code.kernel(int(entryFuncAddr))


@program_call(1)
def cudaGetFuncBySymbol(symbolPtr: Any) -> int:
    """Return the function of a kernel in the current context."""
    return _function(symbolPtr)


def _function(func: Any) -> int:
    return int(driver_call("cuKernelGetFunction", code.kernel(int(func))))


@program_call(1)
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    func: Any, blockSize: Any, dynamicSMemSize: Any
) -> int:
    """Return the number of resident blocks per multiprocessor."""
    name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    return int(driver_call(name, _function(func), int(blockSize), int(dynamicSMemSize)))


@program_call(1)
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    func: Any, blockSize: Any, dynamicSMemSize: Any, flags: Any
) -> int:
    """`cudaOccupancyMaxActiveBlocksPerMultiprocessor`; the flags only affect caches."""
    name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    return int(driver_call(name, _function(func), int(blockSize), int(dynamicSMemSize)))


@program_call(1)
def cudaOccupancyAvailableDynamicSMemPerBlock(func: Any, numBlocks: Any, blockSize: Any) -> int:
    """Return the most dynamic shared memory with which so many blocks are resident."""
    name = "cuOccupancyAvailableDynamicSMemPerBlock"
    return int(driver_call(name, _function(func), int(numBlocks), int(blockSize)))


# --- variables -----------------------------------------------------------------------------------


@program_call(1)
def cudaGetSymbolAddress(symbol: Any) -> int:
    """Return the address of a variable."""
    return code.variable(int(symbol))[0]


@program_call(1)
def cudaGetSymbolSize(symbol: Any) -> int:
    """Return the size of a variable."""
    return code.variable(int(symbol))[1]


def _in_symbol(symbol: Any, count: int, offset: int) -> int:
    address, size = code.variable(int(symbol))
    if offset + count > size:
        raise RuntimeRefusal(_INVALID_VALUE)
    return address + offset


def _runtime(name: str, *arguments: Any) -> Any:
    """Make another runtime call; return its value."""
    error, *values = RUNTIME_CALLS[name](*arguments)
    if error:
        raise RuntimeRefusal(int(error))
    return values[0] if values else None


@program_call()
def cudaMemcpyToSymbol(symbol: Any, src: Any, count: Any, offset: Any, kind: Any) -> None:
    """Copy to a variable."""
    _runtime("cudaMemcpy", _in_symbol(symbol, count, offset), src, count, kind)


@program_call()
def cudaMemcpyFromSymbol(dst: Any, symbol: Any, count: Any, offset: Any, kind: Any) -> None:
    """Copy from a variable."""
    _runtime("cudaMemcpy", dst, _in_symbol(symbol, count, offset), count, kind)


@program_call()
def cudaMemcpyToSymbolAsync(
    symbol: Any, src: Any, count: Any, offset: Any, kind: Any, stream: Any
) -> None:
    """Copy to a variable, in a stream."""
    _runtime("cudaMemcpyAsync", _in_symbol(symbol, count, offset), src, count, kind, stream)


@program_call()
def cudaMemcpyFromSymbolAsync(
    dst: Any, symbol: Any, count: Any, offset: Any, kind: Any, stream: Any
) -> None:
    """Copy from a variable, in a stream."""
    _runtime("cudaMemcpyAsync", dst, _in_symbol(symbol, count, offset), count, kind, stream)


@program_call()
def cudaMemcpyToArray(
    dst: Any, wOffset: Any, hOffset: Any, src: Any, count: Any, kind: Any
) -> None:
    """Copy to a row of an array."""
    _runtime("cudaMemcpy2DToArray", dst, wOffset, hOffset, src, count, count, 1, kind)


@program_call()
def cudaMemcpyFromArray(
    dst: Any, src: Any, wOffset: Any, hOffset: Any, count: Any, kind: Any
) -> None:
    """Copy from a row of an array."""
    _runtime("cudaMemcpy2DFromArray", dst, count, src, wOffset, hOffset, count, 1, kind)


@program_call()
def cudaMemset3D(pitchedDevPtr: Any, value: Any, extent: Any) -> None:
    """Set the bytes of a box."""
    for z in range(extent.depth):
        address = int(pitchedDevPtr.ptr) + z * pitchedDevPtr.pitch * pitchedDevPtr.ysize
        arguments = pitchedDevPtr.pitch, value, extent.width, extent.height
        _runtime("cudaMemset2D", address, *arguments)


# --- streams and graphs --------------------------------------------------------------------------


@program_call()
def cudaStreamAddCallback(stream: Any, callback: Any, userData: Any, flags: Any) -> None:
    """Call a host function in the order of a stream."""
    driver_call("cuStreamAddCallback", stream, callback, userData, flags)


@program_call()
def cudaStreamSetAttribute(hStream: Any, attr: Any, value: Any) -> None:
    """Do nothing: attributes of a stream affect only its speed."""


@program_call(1)
def cudaStreamGetDevice(hStream: Any) -> int:
    """Return the device of a stream."""
    return int(driver_call("cuStreamGetDevice", hStream))


@program_call(1)
def cudaDeviceGetP2PAttribute(attr: Any, srcDevice: Any, dstDevice: Any) -> int:
    """Return an attribute of the link between two devices."""
    kind = CUdevice_P2PAttribute(int(attr))
    return int(driver_call("cuDeviceGetP2PAttribute", kind, srcDevice, dstDevice))


@program_call(1)
def cudaChooseDevice(prop: Any) -> int:
    """Return the first device: all are the same."""
    return 0


@program_call()
def cudaDeviceSetCacheConfig(cacheConfig: Any) -> None:
    """Do nothing: the emulated device has no caches."""


@program_call(1)
def cudaDeviceGetCacheConfig() -> int:
    """Return that no cache is preferred."""
    return 0


@program_call()
def cudaDeviceSetSharedMemConfig(config: Any) -> None:
    """Do nothing: banks have one width."""


@program_call(1)
def cudaDeviceGetSharedMemConfig() -> int:
    """Return that banks are 4 bytes wide."""
    return 1


@program_call()
def cudaCtxResetPersistingL2Cache() -> None:
    """Do nothing: the emulated device has no caches."""


@program_call()
def cudaProfilerStart() -> None:
    """Do nothing: no profiler is active."""


@program_call()
def cudaProfilerStop() -> None:
    """Do nothing: no profiler is active."""


def _node(parameters: Any) -> CUDA_KERNEL_NODE_PARAMS:
    """Return the driver's form of a ``cudaKernelNodeParams``."""
    func, *geometry, params, extra = struct.unpack("=Q6II4xQQ", _bytes(parameters, 56))
    made = CUDA_KERNEL_NODE_PARAMS()
    made.kern = CUkernel(code.kernel(func))
    made.gridDimX, made.gridDimY, made.gridDimZ = geometry[:3]
    made.blockDimX, made.blockDimY, made.blockDimZ, made.sharedMemBytes = geometry[3:]
    made.kernelParams, made.extra = params, extra
    return made


@program_call(1)
def cudaGraphAddKernelNode(
    graph: Any, pDependencies: Any, numDependencies: Any, pNodeParams: Any
) -> int:
    """Add the launch of a kernel."""
    nodes = [CUgraphNode(each) for each in pDependencies or ()]
    made = _node(pNodeParams)
    return int(driver_call("cuGraphAddKernelNode", graph, nodes, int(numDependencies), made))


@program_call()
def cudaGraphKernelNodeSetParams(node: Any, pNodeParams: Any) -> None:
    """Replace the launch of a node."""
    driver_call("cuGraphKernelNodeSetParams", node, _node(pNodeParams))


@program_call()
def cudaGraphExecKernelNodeSetParams(hGraphExec: Any, node: Any, pNodeParams: Any) -> None:
    """Replace the launch of a node in an executable graph."""
    driver_call("cuGraphExecKernelNodeSetParams", hGraphExec, node, _node(pNodeParams))
