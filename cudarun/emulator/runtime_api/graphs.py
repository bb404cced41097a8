"""Graphs."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings import runtime as cudart

from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import driver_call, runtime_call
from cudarun.emulator.runtime_api.conversions import node_parameters
from cudarun.emulator.runtime_api.forwards import forward_calls

Nodes = Sequence[Handle] | None

forward_calls(
    __name__,
    """
cudaGraphCreate(flags: int) -> cudaGraph_t
cudaGraphClone(originalGraph) -> cudaGraph_t
cudaGraphDestroy(graph)
cudaGraphInstantiate(graph, flags: int) -> cudaGraphExec_t
cudaGraphInstantiateWithFlags(graph, flags: int) -> cudaGraphExec_t = cuGraphInstantiate
cudaGraphExecDestroy(graphExec)
cudaGraphLaunch(graphExec, stream)
cudaGraphUpload(graphExec, stream)
cudaGraphNodeGetType(node) -> cudaGraphNodeType
cudaGraphNodeFindInClone(originalNode, clonedGraph) -> cudaGraphNode_t
cudaGraphDestroyNode(node)
cudaGraphGetNodes(graph, numNodes: int = 0) -> cudaGraphNode_t*, int
cudaGraphGetRootNodes(graph, pNumRootNodes: int = 0) -> cudaGraphNode_t*, int
    Return the nodes without dependencies and their number.
cudaGraphAddMemcpyNode(graph, pDependencies, numDependencies: int, pCopyParams: box)
        -> cudaGraphNode_t
        = cuGraphAddMemcpyNode(graph, pDependencies, numDependencies, pCopyParams, current)
cudaGraphAddMemcpyNode1D(graph, pDependencies, numDependencies: int, dst: address, src: address,
        count: int, kind) -> cudaGraphNode_t
        = cuGraphAddMemcpyNode(graph, pDependencies, numDependencies, bytes, current)
    Add the copy of consecutive bytes.
cudaGraphAddMemsetNode(graph, pDependencies, numDependencies: int, pMemsetParams: fill)
        -> cudaGraphNode_t
        = cuGraphAddMemsetNode(graph, pDependencies, numDependencies, pMemsetParams, current)
cudaGraphAddMemAllocNode(graph, pDependencies, numDependencies: int, nodeParams: allocation)
        -> cudaGraphNode_t
cudaGraphAddMemFreeNode(graph, pDependencies, numDependencies: int, dptr: address)
        -> cudaGraphNode_t
cudaGraphAddHostNode(graph, pDependencies, numDependencies: int, pNodeParams: host_function)
        -> cudaGraphNode_t
    Add the call of a C function on the host.
cudaGraphAddEmptyNode(graph, pDependencies, numDependencies: int) -> cudaGraphNode_t
cudaGraphAddChildGraphNode(graph, pDependencies, numDependencies: int, childGraph)
        -> cudaGraphNode_t
cudaGraphAddEventRecordNode(graph, pDependencies, numDependencies: int, event) -> cudaGraphNode_t
    Add the record of an event.
cudaGraphAddEventWaitNode(graph, pDependencies, numDependencies: int, event) -> cudaGraphNode_t
    Add a wait for an event.
cudaGraphMemcpyNodeSetParams(node, pNodeParams: box)
cudaGraphMemcpyNodeSetParams1D(node, dst: address, src: address, count: int, kind)
        = cuGraphMemcpyNodeSetParams(node, bytes)
    Replace the copy of a node by one of consecutive bytes.
cudaGraphExecMemcpyNodeSetParams(hGraphExec, node, pNodeParams: box)
        = cuGraphExecMemcpyNodeSetParams(hGraphExec, node, pNodeParams, current)
cudaGraphExecMemcpyNodeSetParams1D(hGraphExec, node, dst: address, src: address, count: int, kind)
        = cuGraphExecMemcpyNodeSetParams(hGraphExec, node, bytes, current)
    Replace the copy of a node in an executable graph by one of consecutive bytes.
cudaGraphMemsetNodeSetParams(node, pNodeParams: fill)
cudaGraphExecMemsetNodeSetParams(hGraphExec, node, pNodeParams: fill)
        = cuGraphExecMemsetNodeSetParams(hGraphExec, node, pNodeParams, current)
cudaGraphConditionalHandleCreate(graph, defaultLaunchValue: int, flags: int)
        -> cudaGraphConditionalHandle
        = cuGraphConditionalHandleCreate(graph, current, defaultLaunchValue, flags)
cudaGraphNodeSetParams(node, nodeParams: node)
cudaGraphExecNodeSetParams(graphExec, node, nodeParams: node)
cudaGraphNodeSetEnabled(hGraphExec, hNode, isEnabled: int)
""",
)


@runtime_call()
def cudaGraphAddDependencies(
    graph: Handle, from_: Nodes, to: Nodes, *edgeData_and_count: object
) -> None:
    """Add edges; there is no edge data in CUDA 12."""
    driver_call("cuGraphAddDependencies", graph, from_, to, *edgeData_and_count)


@runtime_call(1)
def cudaGraphAddNode(
    graph: Handle, pDependencies: Nodes, *edgeData_count_and_params: object
) -> cudart.cudaGraphNode_t:
    """Add a node of any type; some types change its structure."""
    *rest, params = edgeData_count_and_params
    made = driver_call("cuGraphAddNode", graph, pDependencies, *rest, node_parameters(params))
    return cudart.cudaGraphNode_t(int(made))
