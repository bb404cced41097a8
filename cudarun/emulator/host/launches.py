"""Kernel launches: the driver's checks before a kernel starts, and its execution.

Driver API, section 6.22 (execution control).
"""

from __future__ import annotations

import ctypes
import struct
from functools import cached_property, partial
from math import prod

from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.engines import NotCompiled
from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.device_runtime import ContextServices
from cudarun.emulator.host.devices import EmulatedDevice, attribute_value
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction
from cudarun.emulator.host.occupancy import most_resident_blocks, resident_blocks
from cudarun.emulator.host.parameters import KernelParameters, pack_parameters, packed_words
from cudarun.emulator.host.process import Process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.register_limits import register_note
from cudarun.emulator.host.streams import Stream
from cudarun.emulator.machine.launch import LaunchConfig
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.schedules.schedule import OverlappingGrid
from cudarun.emulator.machine.transfers import releases_dependents
from cudarun.emulator.program import KernelCode

Extent = tuple[int, int, int]

_MOST_THREADS = attribute_value("MAX_THREADS_PER_BLOCK")
_BLOCK = tuple(attribute_value(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ")
_GRID = tuple(attribute_value(f"MAX_GRID_DIM_{axis}") for axis in "XYZ")
_PORTABLE_CLUSTER = 8

# Launch attributes that affect neither results nor order. A driver may ignore preferred clusters.
_WITHOUT_EFFECT = """
    IGNORE ACCESS_POLICY_WINDOW SYNCHRONIZATION_POLICY CLUSTER_SCHEDULING_POLICY_PREFERENCE
    PRIORITY MEM_SYNC_DOMAIN_MAP MEM_SYNC_DOMAIN
    PREFERRED_SHARED_MEMORY_CARVEOUT PREFERRED_CLUSTER_DIMENSION
"""


@dataclass(frozen=True, slots=True)
class LaunchGeometry:
    """Grid, block and the other properties of a launch besides kernel and parameters."""

    grid: Extent
    block: Extent
    dynamic_shared: int
    cooperative: bool = False
    cluster: Extent | None = None
    programmatic: bool = False

    @property
    def threads(self) -> int:
        """Number of threads per block."""
        return prod(self.block)


def geometry_of(config: cuda.CUlaunchConfig) -> LaunchGeometry:
    """Return the geometry in a ``CUlaunchConfig``.

    Raises:
        Refusal: It has an attribute that the emulator does not know.
    """
    cooperative, programmatic, cluster = False, False, None
    for attribute in (config.attrs or ())[: config.numAttrs]:
        name, value = attribute.id.name.removeprefix("CU_LAUNCH_ATTRIBUTE_"), attribute.value
        if name == "COOPERATIVE":
            cooperative = bool(value.cooperative)
        elif name == "CLUSTER_DIMENSION":
            cluster = (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)
        elif name == "PROGRAMMATIC_STREAM_SERIALIZATION":
            programmatic = bool(value.programmaticStreamSerializationAllowed)
        elif name not in _WITHOUT_EFFECT.split():
            words = f"the emulated device does not support {attribute.id.name}"
            raise Refusal("NOT_SUPPORTED", words)
    return LaunchGeometry(
        grid=(config.gridDimX, config.gridDimY, config.gridDimZ),
        block=(config.blockDimX, config.blockDimY, config.blockDimZ),
        dynamic_shared=config.sharedMemBytes,
        cooperative=cooperative,
        cluster=cluster,
        programmatic=programmatic,
    )


@dataclass(eq=False)
class KernelOperation(Operation):
    """The launch of a kernel."""

    function: LoadedFunction
    geometry: LaunchGeometry  # grid, block and so on
    parameters: bytes
    is_packed: bool = False  # whether the parameters were passed as a packed buffer

    @property
    def device(self) -> EmulatedDevice:
        """The device of its context."""
        return self.function.module.context.device

    def node_parameters(self) -> cuda.CUDA_KERNEL_NODE_PARAMS:
        """Return the structure of the bindings; its pointers are to memory of this operation."""
        made, geometry = cuda.CUDA_KERNEL_NODE_PARAMS(), self.geometry
        made.func = cuda.CUfunction(self.function.handle)
        if self.function.kernel is not None:
            made.kern = cuda.CUkernel(self.function.kernel.handle)
        made.gridDimX, made.gridDimY, made.gridDimZ = geometry.grid
        made.blockDimX, made.blockDimY, made.blockDimZ = geometry.block
        made.sharedMemBytes = geometry.dynamic_shared
        words = ctypes.addressof(self._arrays[1])
        setattr(made, "extra" if self.is_packed else "kernelParams", words)
        made.ctx = cuda.CUcontext(self.function.module.context.handle)
        return made

    @cached_property
    def _arrays(self) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_void_p]]:
        """The parameters with their size, and pointers to each or the words of ``extra``."""
        size = len(self.parameters)
        memory = ctypes.create_string_buffer(self.parameters + struct.pack("=Q", size))
        first = ctypes.addressof(memory)
        words = [first + offset for offset, _ in self.function.code.parameters]
        if self.is_packed:
            words = [*packed_words(first, first + size)]
        return memory, (ctypes.c_void_p * max(1, len(words)))(*words)


def launch(
    process: Process,
    f: Handle,
    geometry: LaunchGeometry,
    stream: Handle,
    kernel_params: KernelParameters,
    extra: HostPointer,
) -> None:
    """Check a launch and execute it, or capture it if the stream is capturing.

    Raises:
        Refusal: The launch is invalid.
    """
    target, function = prepare(process, f, geometry, stream)
    process.submit(target, kernel_operation(process, function, geometry, kernel_params, extra))


def prepare(
    process: Process, f: Handle, geometry: LaunchGeometry, stream: Handle
) -> tuple[Stream, LoadedFunction]:
    """Check a launch; return its stream, and of a ``CUkernel`` the function in its context.

    Raises:
        Refusal: The launch is invalid, whatever its parameters.
    """
    target = process.stream(stream)
    function = function_in(process, f, target.context)
    if function.module.context is not target.context:
        raise Refusal("INVALID_HANDLE", "the function and the stream belong to different contexts")
    if target.branch is not None:
        target.branch.check()
    try:
        check(function, geometry)
    except Refusal:
        if target.branch is not None:
            target.branch.capture.invalidate()
        raise
    return target, function


def kernel_operation(
    process: Process,
    function: LoadedFunction,
    geometry: LaunchGeometry,
    kernel_params: KernelParameters,
    extra: HostPointer,
) -> KernelOperation:
    """Return a launch, which has been checked, as an operation; the parameters are copied.

    Raises:
        Refusal: The parameters are invalid.
    """
    parameters = pack_parameters(function.code, kernel_params, extra)
    context = function.module.context

    def check_child(kernel: KernelCode, grid: Extent, block: Extent, dynamic_shared: int) -> None:
        geometry = LaunchGeometry(grid, block, dynamic_shared)
        check(function.module.function(kernel.name), geometry)

    def work() -> None:
        with process.lock:
            function.loaded = True
            context.called |= function.module.compiled.system_calls
            before, process.in_flight = process.in_flight, OverlappingGrid()
            overlap = process.in_flight
            config = LaunchConfig(
                grid=geometry.grid,
                block=geometry.block,
                parameters=parameters,
                dynamic_shared=geometry.dynamic_shared,
                cooperative=geometry.cooperative,
                cluster=geometry.cluster or function.attributes.required_cluster(),
                stack_limit=context.limits.get(cuda.CUlimit.CU_LIMIT_STACK_SIZE),
                printf_fifo=context.limits.get(cuda.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE),
                heap=context.heap(),
                textures=context.textures,
                surfaces=context.surfaces,
                services=ContextServices(context, check_child),
                resident_blocks=most_resident_blocks,
                schedule=process.schedule,
                overlap=overlap,
            )
            memories = process.reachable(context)
        execute = partial(
            process.execute,
            function.module.compiled.program,
            function.code,
            config,
            memories=memories,
            symbols=function.module.variables.addresses,
            printf=process.printed,
            device=context.device.traits,
            begun=process.begun,
            on_progress=process.on_progress,
            observer=process.observer,
            engines=process.engines,
        )
        if geometry.programmatic:
            overlap.before = before
        elif before is not None:
            before.complete()
        functions = function.module.compiled.program.code.values()
        pauses = process.schedule is not None and process.observer is NO_OBSERVER
        try:
            overlap.run(execute, pauses=pauses and any(map(releases_dependents, functions)))
        except NotCompiled as problem:
            raise Refusal("NOT_SUPPORTED", str(problem)) from None

    kind = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    packed = address_of(extra) != 0
    return KernelOperation(kind, work, function, geometry, parameters, packed)


def function_in(process: Process, f: Handle, context: Context) -> LoadedFunction:
    """Return the function behind a ``CUfunction``, or that of a ``CUkernel`` in a context.

    Raises:
        Refusal: The handle is neither.
    """
    value = handle_value(f)
    refuse_if(value == 0, "the function is null", "INVALID_HANDLE")
    kernel = process.handles.find(value, LibraryKernel)
    if kernel is not None:
        return kernel.function(context)
    return process.handles.get(value, LoadedFunction)


def check(function: LoadedFunction, geometry: LaunchGeometry) -> None:
    """Raise `Refusal` if the kernel cannot run here, or the geometry is invalid for it."""
    function.check_implemented()
    check_extents(geometry)
    code, threads = function.code, geometry.threads
    if code.required_block is not None and geometry.block != code.required_block:
        raise Refusal("INVALID_VALUE", f"{code.name} requires a block of {code.required_block}")
    words = f"{threads} threads per block exceed the maximum of {code.max_threads} for {code.name}"
    refuse_if(threads > code.max_threads, words)
    function.module.context.device.launch_notes[code.name] = register_note(
        function.module.compiled.text, code, threads
    )
    most = function.attributes.get(
        cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    )
    words = (
        f"{geometry.dynamic_shared} bytes of dynamic shared memory exceed the maximum of "
        f"{most} for {code.name} (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)"
    )
    refuse_if(geometry.dynamic_shared > most, words)
    cluster = geometry.cluster or function.attributes.required_cluster()
    if cluster is not None:
        limit = largest_cluster(function)
        words = f"invalid cluster {cluster}: a cluster has at most {limit} blocks"
        refuse_if(not 1 <= prod(cluster) <= limit, words, "INVALID_CLUSTER_SIZE")
        words = f"the grid {geometry.grid} is not a multiple of the cluster {cluster}"
        has_rest = any(x % width for x, width in zip(geometry.grid, cluster, strict=True))
        refuse_if(has_rest, words, "INVALID_CLUSTER_SIZE")
    if geometry.cooperative:
        resident = resident_blocks(code, threads, geometry.dynamic_shared)
        words = f"the grid has {prod(geometry.grid)} blocks; at most {resident} can be resident"
        refuse_if(prod(geometry.grid) > resident, words, "COOPERATIVE_LAUNCH_TOO_LARGE")


def check_extents(geometry: LaunchGeometry) -> None:
    """Raise `Refusal` if no device can have such a grid or such blocks."""
    for name, extent, most in (("grid", geometry.grid, _GRID), ("block", geometry.block, _BLOCK)):
        words = f"invalid {name} {extent}: the minimum is (1, 1, 1), the maximum {most}"
        is_valid = all(1 <= value <= limit for value, limit in zip(extent, most, strict=True))
        refuse_if(not is_valid, words)
    words = f"{geometry.threads} threads per block exceed the maximum of {_MOST_THREADS}"
    refuse_if(geometry.threads > _MOST_THREADS, words)


def largest_cluster(function: LoadedFunction) -> int:
    """Return the maximum number of blocks in a cluster; `Refusal` if there are no clusters."""
    free = function.attributes.get(
        cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    )
    largest = function.module.context.device.profile.cluster
    refuse_if(not largest, "clusters require compute capability 9.0 or later", "NOT_SUPPORTED")
    return largest if free else min(largest, _PORTABLE_CLUSTER)
