"""Nodes of graphs that allocate and free memory: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import (
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUdeviceptr,
    CUgraphMem_attribute,
    CUgraphNode,
    CUmemPool_attribute,
    cuuint64_t,
)

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.graph_allocations import GraphAllocation, allocation_from
from cudarun.emulator.api.graph_nodes import Nodes, add_node
from cudarun.emulator.api.handles import DeviceHandle, GraphHandle, NodeHandle
from cudarun.emulator.host.graphs import MemoryOperation
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


@call()
def cuGraphAddMemAllocNode(
    hGraph: GraphHandle,
    dependencies: Nodes,
    numDependencies: int,
    nodeParams: CUDA_MEM_ALLOC_NODE_PARAMS,
) -> CUgraphNode:
    """Add the allocation of device memory, and write its address into the structure."""
    operation = allocation_from(nodeParams)
    node = add_node(hGraph, dependencies, numDependencies, operation)
    nodeParams.dptr = operation.address
    return node


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
