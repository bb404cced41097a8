"""Nodes of graphs that allocate and free memory: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from functools import partial

from cuda.bindings.driver import (
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUdeviceptr,
    CUgraphMem_attribute,
    CUgraphNodeType,
    CUmemAllocationType,
    CUmemLocationType,
    CUmemPool_attribute,
    cuuint64_t,
)

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import DeviceHandle, NodeHandle
from cudarun.emulator.host.allocations import DriverAllocation
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.graphs import Graph, MemoryOperation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.pools import AllocationKind, Pool
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if

_ALLOCATE = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC
_FREE = CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE
_LABEL = "a node of a graph"


class GraphAllocation(MemoryOperation):
    """The allocation of device memory by the nodes of a graph and of its copies.

    It has an address as soon as a node has it. Copies and fills of the memory are checked when
    they are captured: until the first launch, it is allocated without a pool.

    Raises:
        Refusal: The size is 0.
    """

    def __init__(self, size: int, device: EmulatedDevice, context: Context) -> None:
        refuse_if(size == 0, "the size is 0")
        super().__init__(_ALLOCATE, self._allocate, 0)
        self._size, self._device, self._context = size, device, context
        self._nodes = 0
        self._until_launch: DriverAllocation | None = None

    def parameters(self) -> CUDA_MEM_ALLOC_NODE_PARAMS:
        """Return the structure of the bindings."""
        made = CUDA_MEM_ALLOC_NODE_PARAMS()
        made.poolProps.allocType = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        made.poolProps.location.type = CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        made.poolProps.location.id = self._device.ordinal
        made.bytesize, made.dptr = self._size, CUdeviceptr(self.address)
        return made

    def attach(self) -> None:
        """Count a node; the first one reserves the address."""
        if not self._nodes:
            self.address = self._device.memory.allocate(self._size, label=_LABEL)
            self._until_launch = self._added(None)
            process.graph_addresses.add(self.address)
        self._nodes += 1

    def detach(self) -> None:
        """Count a node less; without any, memory that no launch has allocated is freed."""
        self._nodes -= 1
        if not self._nodes:
            self._release()
            process.graph_addresses.discard(self.address)

    def _release(self) -> None:
        reserved, self._until_launch = self._until_launch, None
        if reserved is not None and process.allocations.find(self.address) is reserved:
            process.allocations.release(self.address, AllocationKind.DEVICE)

    def _allocate(self) -> None:
        self._release()
        pool = process.pools_of(self._device.ordinal).graphs
        self._device.memory.allocate(self._size, label=_LABEL, defined=False, at=self.address)
        pool.take(self._size)
        self._added(pool)

    def _added(self, pool: Pool | None) -> DriverAllocation:
        given = self.address, self._size, AllocationKind.DEVICE, self._context
        return process.allocations.add(DriverAllocation(*given, self._device.memory, pool=pool))


def allocation_from(structure: CUDA_MEM_ALLOC_NODE_PARAMS) -> GraphAllocation:
    """Return the allocation that a structure describes; `Refusal` if it is invalid."""
    device = process.device(structure.poolProps.location.id)
    return GraphAllocation(structure.bytesize, device, process.current())


def freeing(graph: Graph, pointer: Handle) -> MemoryOperation:
    """Return the work of a node of a graph that frees memory which a node allocated.

    Raises:
        Refusal: No node allocates it, or the graph frees it already.
    """
    address = handle_value(pointer)
    found = process.allocations.find(address)
    pools = [each.graphs for each in process.pools]
    is_of_graph = found is not None and found.address == address and found.pool in pools
    if not is_of_graph and address not in process.graph_addresses:
        raise Refusal("INVALID_VALUE", f"no node of a graph allocates {address:#x}")
    for node in graph.nodes:
        operation = node.operation
        if isinstance(operation, MemoryOperation) and operation.frees(address):
            raise Refusal("INVALID_VALUE", f"the graph frees {address:#x} already")
    work = partial(process.allocations.release, address, AllocationKind.DEVICE)
    return MemoryOperation(_FREE, work, address)


@call()
def cuGraphMemAllocNodeGetParams(hNode: NodeHandle) -> CUDA_MEM_ALLOC_NODE_PARAMS:
    """Return the allocation of a node."""
    if not isinstance(hNode.operation, GraphAllocation):
        raise Refusal("INVALID_VALUE", f"the node is a {hNode.operation.kind.name}")
    return hNode.operation.parameters()


@call()
def cuGraphMemFreeNodeGetParams(hNode: NodeHandle) -> CUdeviceptr:
    """Return the address of the memory that a node frees."""
    operation = hNode.operation
    if not (isinstance(operation, MemoryOperation) and operation.frees(operation.address)):
        raise Refusal("INVALID_VALUE", f"the node is a {operation.kind.name}")
    return CUdeviceptr(operation.address)


@call()
def cuDeviceGraphMemTrim(device: DeviceHandle) -> None:
    """Release unused memory of graphs; no effect here: none is reserved."""


@call()
def cuDeviceGetGraphMemAttribute(
    device: DeviceHandle, attr: CUgraphMem_attribute
) -> cuuint64_t | int:
    """Return the number of bytes that graphs have allocated, or its high-water mark."""
    return process.pools_of(device.ordinal).graphs.get(_attribute(attr))


@call()
def cuDeviceSetGraphMemAttribute(
    device: DeviceHandle, attr: CUgraphMem_attribute, value: int
) -> None:
    """Reset a high-water mark."""
    process.pools_of(device.ordinal).graphs.set(_attribute(attr), int(value))


def _attribute(attr: CUgraphMem_attribute) -> CUmemPool_attribute:
    """Return the attribute of a pool that means the same."""
    try:
        name = CUgraphMem_attribute(int(attr)).name.removeprefix("CU_GRAPH_MEM_ATTR_")
    except ValueError:
        raise Refusal("INVALID_VALUE", f"unknown attribute {int(attr)}") from None
    found: CUmemPool_attribute = getattr(CUmemPool_attribute, f"CU_MEMPOOL_ATTR_{name}")
    return found
