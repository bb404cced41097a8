"""Runtime calls of C and C++ programs that ``cuda.bindings.runtime`` does not have.

They name kernels and variables by what the compiler's host code registered (`registered_code`).
"""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import CALLS, Answer, enqueue
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.launches import (
    LaunchGeometry,
    check_extents,
    geometry_of,
    kernel_operation,
    launch,
    prepare,
)
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction
from cudarun.emulator.host.parameters import PackedParameters
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_member
from cudarun.emulator.host.streams import Stream
from cudarun.emulator.runtime_api.calls import (
    RUNTIME_CALLS,
    RuntimeRefusal,
    current_device,
    driver_call,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import element_bytes, node_parameters
from cudarun.emulator.runtime_api.properties import property_fields
from cudarun.emulator.server.driver_calls import CLUSTER_CALLS, kernel_node, launch_config
from cudarun.emulator.server.registered_code import RegisteredCode
from cudarun.programs.prototypes import read_table

PROGRAM_CALLS: dict[str, Callable[..., Answer]] = {}  # the calls of this module by name

_RUNTIMES = ("cudart12", "cudart13")
_INVALID_VALUE, _INVALID_CONFIGURATION = 1, 9
_LAUNCH = struct.Struct("=10Q")
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


def _request(message: bytes) -> tuple[int, LaunchGeometry, int, int, PackedParameters]:
    """Return kernel, geometry, stream, last word and parameters of a request to launch."""
    kernel, x, y, z, bx, by, bz, shared, stream, word = _LAUNCH.unpack_from(message)
    geometry = LaunchGeometry((x, y, z), (bx, by, bz), shared)
    return kernel, geometry, stream, word, PackedParameters(message[_LAUNCH.size :])


@program_call()
def launch_packed(message: bytes) -> None:
    """Launch a kernel; the last word of the request is the error of its load."""
    kernel, geometry, stream, error, parameters = _request(message)
    if error:
        raise RuntimeRefusal(error)
    _launch(kernel, geometry, parameters, stream)


@lru_cache(8)
def _prepared(thread: int, words: bytes) -> tuple[Stream, LoadedFunction, LaunchGeometry]:
    """Check a launch of a thread; the last word changes when a call can make it fail."""
    kernel, geometry, stream, *_ = _request(words)
    return *prepare(process, kernel, geometry, stream), geometry


def submit_posted(message: bytes) -> None:
    """Submit a launch that the program does not wait for, in the driver's lock.

    The client posts one where an equal one has succeeded, and no call since then can make it fail.

    Raises:
        Refusal: It has become invalid after all.
    """
    words, parameters = message[: _LAUNCH.size], PackedParameters(message[_LAUNCH.size :])
    target, function, geometry = _prepared(threading.get_ident(), words)
    process.submit(target, kernel_operation(process, function, geometry, parameters, None))


@program_call()
def performed(call: Callable[[], tuple[int, Any]], written: list[Any]) -> None:
    """Make a driver call, and add what it writes to a list, also if it fails."""
    result, outputs = call()
    written += outputs
    if result:
        raise RuntimeRefusal(result)


@program_call(1)
def managed_of(binary: int) -> list[tuple[int, int]]:
    """Return the host variable and the address of each managed variable of a fat binary."""
    return code.managed(binary)


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
    except Refusal as refusal:  # the driver says INVALID_VALUE
        result, words = _INVALID_CONFIGURATION, refusal.words
    else:
        result, words = int(_launchPacked(kernel, geometry, stream, args)[0]), ""
    if result:
        found = process.handles.find(kernel, LibraryKernel)
        if found is not None and process.fault is None:
            words = words or process.log.last_words
            code.notes.setdefault(found.code.name, f"cannot be launched: {words}")
        raise RuntimeRefusal(result)


@program_call()
def cudaLaunchCooperativeKernel(
    func: Any, gridDim: Any, blockDim: Any, args: Any, sharedMem: Any, stream: Any
) -> None:
    """Launch with all blocks resident."""
    geometry = LaunchGeometry(_extent(gridDim), _extent(blockDim), int(sharedMem), cooperative=True)
    _launch(code.kernel(int(func)), geometry, args, stream)


def _config(config: Any) -> cuda.CUlaunchConfig:
    """Return the driver's form of a ``cudaLaunchConfig_t``."""
    data = _bytes(config, 56)
    grid_block, shared, stream, attributes, count = struct.unpack_from("=24sQQQI", data)
    return launch_config(struct.unpack("=6I", grid_block), shared, stream, attributes, count)


@program_call()
def cudaLaunchKernelExC(config: Any, func: Any, args: Any) -> None:
    """Launch with attributes."""
    made = _config(config)
    _launch(code.kernel(int(func)), geometry_of(made), args, made.hStream)


# --- kernels -------------------------------------------------------------------------------------


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
    kernel, device = code.kernel(int(func)), current_device()
    kinds = (getattr(cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{x}") for x in _ATTRIBUTES)
    values = (driver_call("cuKernelGetAttribute", kind, kernel, device) for kind in kinds)
    return struct.pack("=3Q13i", *values).ljust(_FUNC_ATTRIBUTES_BYTES, b"\0")


@program_call(2)
def cudaFuncGetParamInfo(func: Any, paramIndex: int) -> tuple[int, int]:
    """Return offset and size of a parameter."""
    offset, size = driver_call("cuKernelGetParamInfo", code.kernel(int(func)), paramIndex)
    return offset, size


def _function(func: Any) -> int:
    return int(driver_call("cuKernelGetFunction", code.kernel(int(func))))


# --- calls of a line -----------------------------------------------------------------------------


def _in_symbol(symbol: int, count: int, offset: int) -> int:
    address, size = code.variable(symbol)
    if offset + count > size:
        raise RuntimeRefusal(_INVALID_VALUE)
    return address + offset


def _runtime(name: str, *arguments: Any) -> Any:
    """Make another runtime call; return its value."""
    error, *values = RUNTIME_CALLS[name](*arguments)
    if error:
        raise RuntimeRefusal(int(error))
    return values[0] if values else None


def _resident(func: int, *arguments: int) -> int:
    name = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    return int(driver_call(name, _function(func), *arguments))


def _clusters(name: str) -> Callable[[int, Any], int]:
    return lambda func, launchConfig: int(driver_call(name, _function(func), _config(launchConfig)))


def _set_box(name: str, box: Any, value: int, extent: Any, *stream: int) -> None:
    """Set the bytes of a box, by a call for rows."""
    for z in range(extent.depth):
        address = int(box.ptr) + z * box.pitch * box.ysize
        _runtime(name, address, box.pitch, value, extent.width, extent.height, *stream)


_VALUES: dict[str, Callable[..., Any]] = {
    "cudaGetKernel": lambda entryFuncAddr: code.kernel(entryFuncAddr),
    "cudaGetFuncBySymbol": lambda symbolPtr: _function(symbolPtr),
    "cudaGetSymbolAddress": lambda symbol: code.variable(symbol)[0],
    "cudaGetSymbolSize": lambda symbol: code.variable(symbol)[1],
    "cudaFuncGetName": lambda func: driver_call("cuKernelGetName", code.kernel(func)),
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor": (
        lambda func, blockSize, dynamicSMemSize: _resident(func, blockSize, dynamicSMemSize)
    ),
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": (
        lambda func, blockSize, dynamicSMemSize, flags: _resident(func, blockSize, dynamicSMemSize)
    ),
    **{name.replace("cu", "cuda", 1): _clusters(name) for name in CLUSTER_CALLS},
    "cudaOccupancyAvailableDynamicSMemPerBlock": lambda func, numBlocks, blockSize: int(
        driver_call(
            "cuOccupancyAvailableDynamicSMemPerBlock", _function(func), numBlocks, blockSize
        )
    ),
    "cudaChooseDevice": lambda prop: 0,
    "cudaDeviceGetCacheConfig": lambda: 0,
    "cudaDeviceGetSharedMemConfig": lambda: 1,  # banks of 4 bytes
}
"""Calls with a result, by name; the parameters are those of C."""

_ACTIONS: dict[str, Callable[..., Any]] = {
    "cudaMemcpyToSymbol": lambda symbol, src, count, offset, kind: _runtime(
        "cudaMemcpy", _in_symbol(symbol, count, offset), src, count, kind
    ),
    "cudaMemcpyFromSymbol": lambda dst, symbol, count, offset, kind: _runtime(
        "cudaMemcpy", dst, _in_symbol(symbol, count, offset), count, kind
    ),
    "cudaMemcpyToSymbolAsync": lambda symbol, src, count, offset, kind, stream: _runtime(
        "cudaMemcpyAsync", _in_symbol(symbol, count, offset), src, count, kind, stream
    ),
    "cudaMemcpyFromSymbolAsync": lambda dst, symbol, count, offset, kind, stream: _runtime(
        "cudaMemcpyAsync", dst, _in_symbol(symbol, count, offset), count, kind, stream
    ),
    "cudaMemset3D": lambda pitchedDevPtr, value, extent: _set_box(
        "cudaMemset2D", pitchedDevPtr, value, extent
    ),
    "cudaMemset3DAsync": lambda pitchedDevPtr, value, extent, stream: _set_box(
        "cudaMemset2DAsync", pitchedDevPtr, value, extent, stream
    ),
    "cudaFuncSetAttribute": lambda func, attr, value: driver_call(
        "cuKernelSetAttribute",
        enum_member(cuda.CUfunction_attribute, attr),
        int(value),
        code.kernel(int(func)),
        current_device(),
    ),
    "cudaGraphNodeSetParams": lambda node, nodeParams: driver_call(
        "cuGraphNodeSetParams", node, _node_of_any_type(nodeParams)
    ),
    "cudaGraphExecNodeSetParams": lambda graphExec, node, nodeParams: driver_call(
        "cuGraphExecNodeSetParams", graphExec, node, _node_of_any_type(nodeParams)
    ),
    "cudaGraphKernelNodeSetParams": lambda node, pNodeParams: driver_call(
        "cuGraphKernelNodeSetParams", node, _node(pNodeParams)
    ),
    "cudaGraphExecKernelNodeSetParams": lambda hGraphExec, node, pNodeParams: driver_call(
        "cuGraphExecKernelNodeSetParams", hGraphExec, node, _node(pNodeParams)
    ),
    "cudaFuncSetCacheConfig": lambda func, cacheConfig: code.kernel(func),
    "cudaFuncSetSharedMemConfig": lambda func, config: code.kernel(func),
    # No effect: the emulated device has no caches and banks of one width.
    "cudaDeviceSetCacheConfig": lambda cacheConfig: None,
    "cudaDeviceSetSharedMemConfig": lambda config: None,
}
"""Calls without a result."""

for _outputs, _rows in ((1, _VALUES), (0, _ACTIONS)):
    for _name, _body in _rows.items():
        _body.__name__ = _name
        program_call(_outputs)(_body)


def _rectangles(array: int, x: int, y: int, count: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield x, y, width, height and offset of rectangles, which are bytes of rows in order."""
    width = int(driver_call("cuArray3DGetDescriptor", array).Width)
    row, at = width * element_bytes(array), 0
    while at < count:
        left = count - at
        width, height = (row, left // row) if not x and left >= row else (min(left, row - x), 1)
        if width <= 0:
            raise RuntimeRefusal(_INVALID_VALUE)
        yield x, y, width, height, at
        x, y, at = 0, y + height, at + width * height


@program_call()
def cudaMemcpyToArray(
    dst: int, wOffset: int, hOffset: int, src: int, count: int, kind: int
) -> None:
    """Copy bytes to the rows of an array, one after the other."""
    for x, y, width, height, at in _rectangles(dst, wOffset, hOffset, count):
        _runtime("cudaMemcpy2DToArray", dst, x, y, src + at, width, width, height, kind)


@program_call()
def cudaMemcpyFromArray(
    dst: int, src: int, wOffset: int, hOffset: int, count: int, kind: int
) -> None:
    """Copy bytes from the rows of an array, one after the other."""
    for x, y, width, height, at in _rectangles(src, wOffset, hOffset, count):
        _runtime("cudaMemcpy2DFromArray", dst + at, width, src, x, y, width, height, kind)


@program_call(1)
def cudaGetDeviceProperties(device: int) -> dict[str, Any]:
    """Return the fields of a ``cudaDeviceProp`` of any version of CUDA."""
    names = {name for table in _RUNTIMES for *_, name in read_table(table).fields}
    return property_fields(device, names)


# --- graphs --------------------------------------------------------------------------------------


_KernelParameters: Callable[..., Any] = cuda.CUDA_KERNEL_NODE_PARAMS_v3  # of the same layout


def _node(parameters: Any) -> cuda.CUDA_KERNEL_NODE_PARAMS:
    """Return the driver's form of a ``cudaKernelNodeParams``."""
    func, *geometry, params, extra = struct.unpack("=Q6II4xQQ", _bytes(parameters, 56))
    made = cuda.CUDA_KERNEL_NODE_PARAMS()
    handle = code.kernel(func)
    if process.handles.find(handle, LoadedFunction) is None:
        made.kern = cuda.CUkernel(handle)
    else:
        made.func = cuda.CUfunction(handle)
    made.gridDimX, made.gridDimY, made.gridDimZ = geometry[:3]
    made.blockDimX, made.blockDimY, made.blockDimZ, made.sharedMemBytes = geometry[3:]
    made.kernelParams, made.extra = params, extra
    return made


@program_call(1)
def cudaGraphAddKernelNode(
    graph: Any, pDependencies: Any, numDependencies: Any, pNodeParams: Any
) -> int:
    """Add the launch of a kernel."""
    nodes = [cuda.CUgraphNode(each) for each in pDependencies or ()]
    made = _node(pNodeParams)
    return int(driver_call("cuGraphAddKernelNode", graph, nodes, int(numDependencies), made))


def _node_of_any_type(given: Any) -> Any:
    """Return the driver's form of a ``cudaGraphNodeParams``, whose kernel is a host function."""
    params = node_parameters(given)
    if not int(given.type):  # a kernel
        params = cuda.CUgraphNodeParams()
        params.type, node = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL, _node(given.kernel)
        params.kernel = _KernelParameters(_ptr=node.getPtr())
    return params


@program_call(1)
def cudaGraphAddNode(graph: Any, pDependencies: Any, *edgeData_count_and_params: Any) -> int:
    """Add a node of any type."""
    *rest, params = edgeData_count_and_params
    node = _node_of_any_type(params)
    return int(driver_call("cuGraphAddNode", graph, pDependencies, *rest, node))


@program_call(1)
def cudaGraphKernelNodeGetParams(node: int) -> bytes:
    """Return the launch of a node."""
    function, rest = kernel_node(node)
    kernel = function.handle if function.kernel is None else function.kernel.handle
    return struct.pack("=Q", code.host_function(kernel)) + rest
