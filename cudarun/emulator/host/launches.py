"""Kernel launches: the driver's checks before a kernel starts, and its execution.

Driver API, section 6.22 (execution control).
"""

from __future__ import annotations

from functools import partial
from math import prod

from cuda.bindings.driver import CUfunction_attribute as FunctionAttribute
from cuda.bindings.driver import CUlaunchAttributeID as LaunchAttribute
from cuda.bindings.driver import CUlaunchConfig, CUlimit

from cudarun.emulator.host.addresses import HostPointer
from cudarun.emulator.host.device_runtime import ContextServices
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction, LoadedModule
from cudarun.emulator.host.occupancy import resident_blocks
from cudarun.emulator.host.parameters import KernelParameters, pack_parameters
from cudarun.emulator.host.process import Process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import Stream
from cudarun.emulator.machine.launch import LaunchConfig
from cudarun.emulator.program import KernelCode
from cudarun.records import dataclass

Extent = tuple[int, int, int]

_MOST_THREADS = attribute_value("MAX_THREADS_PER_BLOCK")
_BLOCK = tuple(attribute_value(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ")
_GRID = tuple(attribute_value(f"MAX_GRID_DIM_{axis}") for axis in "XYZ")
_PORTABLE_CLUSTER = 8
_LARGEST_CLUSTER = 16

# Launch attributes that affect neither results nor order.
_WITHOUT_EFFECT = frozenset(
    {
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_IGNORE,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_PRIORITY,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        LaunchAttribute.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    }
)


@dataclass(frozen=True, slots=True)
class LaunchGeometry:
    """Grid, block and the other properties of a launch besides kernel and parameters."""

    grid: Extent
    block: Extent
    dynamic_shared: int
    cooperative: bool = False
    cluster: Extent | None = None

    @property
    def threads(self) -> int:
        """Number of threads per block."""
        return prod(self.block)


def geometry_of(config: CUlaunchConfig) -> LaunchGeometry:
    """Return the geometry in a ``CUlaunchConfig``.

    Raises:
        Refusal: It has an attribute that the emulator does not know.
    """
    cooperative, cluster = False, None
    for attribute in (config.attrs or ())[: config.numAttrs]:
        identity, value = attribute.id, attribute.value
        if identity == LaunchAttribute.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            cooperative = bool(value.cooperative)
        elif identity == LaunchAttribute.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            extent = value.clusterDim
            cluster = (extent.x, extent.y, extent.z)
        elif identity not in _WITHOUT_EFFECT:
            raise Refusal("NOT_SUPPORTED", f"the emulated device does not support {identity.name}")
    return LaunchGeometry(
        grid=(config.gridDimX, config.gridDimY, config.gridDimZ),
        block=(config.blockDimX, config.blockDimY, config.blockDimZ),
        dynamic_shared=config.sharedMemBytes,
        cooperative=cooperative,
        cluster=cluster,
    )


def launch(
    process: Process,
    f: Handle,
    geometry: LaunchGeometry,
    stream: Handle,
    kernel_params: KernelParameters,
    extra: HostPointer,
) -> None:
    """Check a launch and execute it.

    Args:
        process: The driver's state.
        f: A ``CUfunction``, or a ``CUkernel``, of which the function in the stream's context runs.
        geometry: Grid, block and so on.
        stream: A ``CUstream``.
        kernel_params: As `pack_parameters` takes them.
        extra: As `pack_parameters` takes it.

    Raises:
        Refusal: The launch is invalid.
    """
    function = _function(process, f, process.stream(stream))
    check(function, geometry)
    context = function.module.context
    device = context.device
    config = LaunchConfig(
        grid=geometry.grid,
        block=geometry.block,
        parameters=pack_parameters(function.code, kernel_params, extra),
        dynamic_shared=geometry.dynamic_shared,
        cooperative=geometry.cooperative,
        cluster=geometry.cluster or function.attributes.required_cluster(),
        stack_limit=context.limits.get(CUlimit.CU_LIMIT_STACK_SIZE),
        printf_fifo=context.limits.get(CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE),
        heap=context.heap(),
        textures=context.textures,
        surfaces=context.surfaces,
        services=ContextServices(context, partial(_check_child, function.module)),
    )
    memories = process.reachable(context)
    function.loaded = True
    context.called |= function.module.compiled.system_calls

    def work() -> None:
        process.execute(
            function.module.program,
            function.code,
            config,
            memories=memories,
            symbols=function.module.symbols,
            printf=process.printed,
            device=device.traits,
            begun=process.begun,
            on_progress=process.on_progress,
            observer=process.observer,
        )

    process.run(device, work)


def _function(process: Process, f: Handle, stream: Stream) -> LoadedFunction:
    value = handle_value(f)
    if value == 0:
        raise Refusal("INVALID_HANDLE", "the function is null")
    kernel = process.handles.find(value, LibraryKernel)
    if kernel is not None:
        return kernel.function(stream.context)
    function = process.handles.get(value, LoadedFunction)
    if function.module.context is not stream.context:
        raise Refusal("INVALID_HANDLE", "the function and the stream belong to different contexts")
    return function


def _check_child(
    module: LoadedModule, kernel: KernelCode, grid: Extent, block: Extent, dynamic_shared: int
) -> None:
    """Raise `Refusal` if a kernel cannot launch another one like this."""
    check(module.function(kernel.name), LaunchGeometry(grid, block, dynamic_shared))


def check(function: LoadedFunction, geometry: LaunchGeometry) -> None:
    """Raise `Refusal` if the kernel cannot run here, or the geometry is invalid for it."""
    function.check_implemented()
    _check_extents(geometry)
    _check_block(function, geometry)
    most = function.attributes.get(
        FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    )
    if geometry.dynamic_shared > most:
        raise Refusal(
            "INVALID_VALUE",
            f"{geometry.dynamic_shared} bytes of dynamic shared memory exceed the maximum of "
            f"{most} for {function.code.name} (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
        )
    cluster = geometry.cluster or function.attributes.required_cluster()
    if cluster is not None:
        _check_cluster(function, geometry.grid, cluster)
    if geometry.cooperative:
        resident = resident_blocks(function.code, geometry.threads, geometry.dynamic_shared)
        if prod(geometry.grid) > resident:
            raise Refusal(
                "COOPERATIVE_LAUNCH_TOO_LARGE",
                f"the grid has {prod(geometry.grid)} blocks; at most {resident} can be resident",
            )


def _check_extents(geometry: LaunchGeometry) -> None:
    for name, extent, most in (("grid", geometry.grid, _GRID), ("block", geometry.block, _BLOCK)):
        if any(not 1 <= value <= limit for value, limit in zip(extent, most, strict=True)):
            raise Refusal(
                "INVALID_VALUE",
                f"invalid {name} {extent}: the minimum is (1, 1, 1), the maximum {most}",
            )
    if geometry.threads > _MOST_THREADS:
        raise Refusal(
            "INVALID_VALUE",
            f"{geometry.threads} threads per block exceed the maximum of {_MOST_THREADS}",
        )


def _check_block(function: LoadedFunction, geometry: LaunchGeometry) -> None:
    code, threads = function.code, geometry.threads
    if code.required_block is not None and geometry.block != code.required_block:
        raise Refusal("INVALID_VALUE", f"{code.name} requires a block of {code.required_block}")
    if threads > code.max_threads:
        raise Refusal(
            "INVALID_VALUE",
            f"{threads} threads per block exceed the maximum of {code.max_threads} for {code.name}",
        )


def _check_cluster(function: LoadedFunction, grid: Extent, cluster: Extent) -> None:
    free = function.attributes.get(
        FunctionAttribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    )
    most = _LARGEST_CLUSTER if free else _PORTABLE_CLUSTER
    if not 1 <= prod(cluster) <= most:
        raise Refusal(
            "INVALID_CLUSTER_SIZE",
            f"invalid cluster {cluster}: a cluster has at most {most} blocks",
        )
    if any(blocks % width for blocks, width in zip(grid, cluster, strict=True)):
        raise Refusal(
            "INVALID_CLUSTER_SIZE", f"the grid {grid} is not a multiple of the cluster {cluster}"
        )
