"""Driver calls of C and C++ programs whose arguments are more than values and structures.

They read arrays of the program, or give it memory to read.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from functools import partial

from cuda.bindings.driver import CUgraphExecUpdateResult as _UpdateResult
from cuda.bindings.driver import (
    CUlaunchAttribute,
    CUlaunchConfig,
    CUpointer_attribute,
    CUstream,
    CUtensorMap,
)

from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.api.graph_nodes import kernel_of
from cudarun.emulator.api.handles import node_of
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import read_numbers
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Graph
from cudarun.emulator.host.modules import LoadedFunction
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import enum_member
from cudarun.emulator.server.connections import Outputs
from cudarun.emulator.server.marshalling import Handler, Slots, encoded

Answer = tuple[int, Outputs]

CLUSTER_CALLS = ("cuOccupancyMaxActiveClusters", "cuOccupancyMaxPotentialClusterSize")
_GRAPH_EXEC_UPDATE_FAILURE = 910
_TENSOR_MAP_BYTES = 128
_ATTRIBUTE_BYTES = 72  # of a CUlaunchAttribute
_WIDE = ("CONTEXT", "POINTER", "ADDR", "SIZE", "ID", "HANDLE")  # attributes of 8 bytes

# --- launches ------------------------------------------------------------------------------------


def launch_config(
    geometry: Sequence[int], shared: int, stream: int, attributes: int, count: int
) -> CUlaunchConfig:
    """Return the configuration of a launch, with an array of attributes of the program."""
    made = CUlaunchConfig()
    made.gridDimX, made.gridDimY, made.gridDimZ = geometry[:3]
    made.blockDimX, made.blockDimY, made.blockDimZ = geometry[3:6]
    made.sharedMemBytes, made.hStream = shared, CUstream(stream)
    found = []
    for at in range(count):
        attribute = CUlaunchAttribute()
        data = addresses.host.read(attributes + _ATTRIBUTE_BYTES * at, _ATTRIBUTE_BYTES)
        ctypes.memmove(int(attribute.getPtr()), data, len(data))
        found.append(attribute)
    made.attrs, made.numAttrs = found, count
    return made


def _config(address: int) -> CUlaunchConfig:
    *geometry, shared = struct.unpack("=7I", addresses.host.read(address, 28))
    stream, attributes, count = struct.unpack("=QQI", addresses.host.read(address + 32, 20))
    return launch_config(geometry, shared, stream, attributes, count)


def _clusters(name: str, slots: Slots) -> Answer:
    result, count = CALLS[name](slots[1], _config(slots[2]))
    return int(result), [] if result else [(slots[0], encoded(count, 4))]


def _replace_address(slots: Slots) -> Answer:
    made = CUtensorMap()
    data = addresses.host.read(slots[0], _TENSOR_MAP_BYTES)
    ctypes.memmove(int(made.getPtr()), data, len(data))
    result = CALLS["cuTensorMapReplaceAddress"](made, slots[1])[0]
    return int(result), [] if result else [(slots[0], encoded(made, _TENSOR_MAP_BYTES))]


# --- other ---------------------------------------------------------------------------------------


def kernel_node(node: int) -> tuple[LoadedFunction, bytes]:
    """Return the kernel of a node, and what follows it in the structure of its parameters."""
    operation = kernel_of(node_of(node))
    function, geometry = operation.function, operation.geometry
    own = struct.pack("=Q", node)  # the program may change the memory of a node
    values = addresses.host.place(operation.parameters + own)
    places = [values + offset for offset, _ in function.code.parameters]
    pointers = addresses.host.place(encoded(places, 8) + own)
    extents = (*geometry.grid, *geometry.block, geometry.dynamic_shared)
    return function, struct.pack("=7I4xQQ", *extents, pointers, 0)


def _kernel_node(slots: Slots) -> Answer:
    function, rest = kernel_node(slots[0])
    return 0, [(slots[1], struct.pack("=Q", function.handle) + rest)]


def _link_complete(slots: Slots) -> Answer:
    result, address, size = CALLS["cuLinkComplete"](slots[0])
    if result:
        return int(result), ()
    image = addresses.host.place(ctypes.string_at(address, size) + b"\0")
    pairs = ((slots[1], image), (slots[2], size))
    return 0, [(at, encoded(value, 8)) for at, value in pairs if at]


def _pointer_attributes(slots: Slots) -> Answer:
    count = slots[0] & 0xFFFF_FFFF
    kinds = [enum_member(CUpointer_attribute, x) for x in read_numbers(slots[1], count, "i")]
    result, values = CALLS["cuPointerGetAttributes"](count, kinds, slots[3])
    if result:
        return int(result), ()
    found = zip(kinds, read_numbers(slots[2], count), values, strict=True)
    return 0, [
        (at, encoded(value, 8 if kind.name.endswith(_WIDE) else 4))
        for kind, at, value in found
        if value is not None
    ]


def _pointer_attribute(slots: Slots) -> Answer:
    kind = enum_member(CUpointer_attribute, slots[1] & 0xFFFF_FFFF)
    result, value = CALLS["cuPointerGetAttribute"](kind, slots[2])
    size = 8 if kind.name.endswith(_WIDE) else 4
    return int(result), () if result else [(slots[0], encoded(value, size))]


def _range_attributes(slots: Slots) -> Answer:
    number = slots[3]
    kinds = read_numbers(slots[2], number, "i")
    places, sizes = (read_numbers(slots[at], number) for at in (0, 1))
    return _range_values(places, sizes, kinds, *slots[4:6])


def _range_values(
    places: Sequence[int], sizes: Sequence[int], kinds: Sequence[int], address: int, count: int
) -> Answer:
    call = CALLS["cuMemRangeGetAttributes"]
    result, values = call(sizes, kinds, len(kinds), address, count)
    pairs = zip(places, values or (), strict=False)
    return int(result), [(at, encoded(value, 4)) for at, value in pairs]


def _capture_info(slots: Slots) -> Answer:
    """Return the state of a capture; versions of the call have 2, 5 and 6 results."""
    result, *values = CALLS["cuStreamGetCaptureInfo"](slots[0])
    if result:
        return int(result), ()
    status, number, graph, nodes, *_ = values
    arrays = [encoded(nodes, 8), bytes(8 * len(nodes))][: len(slots) - 5]  # nodes, data of edges
    places = (addresses.host.place(each) if nodes else 0 for each in arrays)
    found = [number, graph, *places, len(nodes)]
    pairs = zip(slots[2:], found, strict=False)
    return 0, [(slots[1], encoded(status, 4)), *((at, encoded(x, 8)) for at, x in pairs if at)]


def _update(slots: Slots) -> Answer:
    """Update an executable graph; the last parameter gets the result, also of a failure."""
    code = int(CALLS["cuGraphExecUpdate"](slots[0], slots[1])[0])
    result = _UpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
    if code == _GRAPH_EXEC_UPDATE_FAILURE:
        own = process.handles.get(slots[0], ExecutableGraph).graph
        other = process.handles.get(slots[1], Graph)
        kinds, others = ([each.operation.kind for each in graph.nodes] for graph in (own, other))
        result = _UpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
        if len(kinds) == len(others) and kinds != others:
            result = _UpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
    elif code:
        result = _UpdateResult.CU_GRAPH_EXEC_UPDATE_ERROR
    form = "=i20x" if len(slots) == 3 else "=i"  # a structure, whose nodes are null, or an enum
    return code, [(slots[-1], struct.pack(form, int(result)))] if slots[-1] else []


DRIVER_CALLS: dict[str, Handler] = {
    "cuLaunchKernelEx": lambda slots: (
        int(CALLS["cuLaunchKernelEx"](_config(slots[0]), *slots[1:4])[0]),
        (),
    ),
    **{name: partial(_clusters, name) for name in CLUSTER_CALLS},
    "cuGraphKernelNodeGetParams": _kernel_node,
    "cuGraphExecUpdate": _update,
    "cuLinkComplete": _link_complete,
    "cuTensorMapReplaceAddress": _replace_address,
    "cuMemRangeGetAttribute": lambda slots: _range_values(
        slots[:1], slots[1:2], [slots[2] & 0xFFFF_FFFF], *slots[3:]
    ),
    "cuMemRangeGetAttributes": _range_attributes,
    "cuPointerGetAttributes": _pointer_attributes,
    "cuPointerGetAttribute": _pointer_attribute,
    "cuStreamGetCaptureInfo": _capture_info,
    "cuStreamGetCaptureInfo_v2": _capture_info,
}
"""The calls by their names in the documentation."""
