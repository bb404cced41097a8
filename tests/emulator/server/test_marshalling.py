"""Results of calls as the bytes that a program gets."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cuda

from cudarun.emulator import driver
from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.host.process import Process
from cudarun.emulator.server.driver_calls import DRIVER_CALLS
from cudarun.emulator.server.marshalling import encoded, handler
from cudarun.programs.prototypes import read_table


def test_numbers_handles_and_lists() -> None:
    assert encoded(-1, 4) == b"\xff" * 4
    assert encoded(cuda.CUdeviceptr(1 << 40), 8) == struct.pack("=Q", 1 << 40)
    assert encoded([1, 2], 4) == struct.pack("=2i", 1, 2)
    assert encoded(1.5, 4) == struct.pack("=f", 1.5)


@pytest.mark.parametrize(("library", "count"), [("cudart12", 388), ("cudart13", 384)])
def test_properties_of_each_version(library: str, count: int) -> None:
    fields = read_table(library).fields
    [size] = {
        each.size
        for call in read_table(library).calls
        for each in call.parameters
        if each.type == "cudaDeviceProp"
    }
    properties = {"name": b"device", "multiProcessorCount": 7, "maxGridSize": [1, 2, 3]}
    data = encoded(properties, size, fields)
    assert len(data) == size
    assert data[:7] == b"device\0"
    assert struct.unpack_from("=i", data, count) == (7,)
    assert struct.unpack_from("=3i", data, 336) == (1, 2, 3)


def test_options_of_the_compiler(fresh_process: Process) -> None:
    """This process is the program: the log is its buffer, and the image its text."""
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    [call] = (each for each in read_table("cuda").calls if each.name == "cuModuleLoadDataEx")
    perform = handler("cuda", call, CALLS)
    assert perform is not None
    log, module = ctypes.create_string_buffer(4096), ctypes.c_uint64()
    kinds = cuda.CUjit_option
    options = {
        kinds.CU_JIT_TARGET: 0xDEAD << 32 | 90,  # a number has 4 bytes
        kinds.CU_JIT_ERROR_LOG_BUFFER: ctypes.addressof(log),
        kinds.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: len(log),
    }
    image = ctypes.create_string_buffer(b".version 8.0\n.target sm_75\nmistake\n")
    given = (ctypes.c_int * 3)(*options)
    values = (ctypes.c_uint64 * 3)(*options.values())
    slots = [ctypes.addressof(each) for each in (module, image, given, values)]
    result, outputs = perform([*slots[:2], 3, *slots[2:]])
    assert (result, outputs) == (cuda.CUresult.CUDA_ERROR_INVALID_PTX, [])
    assert b"mistake" in log.value


def test_an_unknown_type_of_a_linkers_input(fresh_process: Process) -> None:
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    state = int(driver.cuLinkCreate(0, [], [])[1])
    calls = {each.name: each for each in read_table("cuda").calls}
    perform = handler("cuda", calls["cuLinkAddData_v2"], CALLS)
    assert perform is not None
    image = ctypes.create_string_buffer(b".version 8.0")
    result, _ = perform([state, 99, ctypes.addressof(image), len(image), 0, 0, 0, 0])
    assert result == cuda.CUresult.CUDA_ERROR_INVALID_VALUE
    assert fresh_process.log.last_words == "99 is not a CUjitInputType"
    driver.cuCtxDisablePeerAccess(driver.cuCtxGetCurrent()[1])  # a failure without a message
    assert fresh_process.log.last_words == "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"


def test_structures_that_a_failing_call_writes(fresh_process: Process) -> None:
    """The graphs cannot be instantiated or updated; their structures have the reasons."""
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    graph = driver.cuGraphCreate(0)[1]
    executable = driver.cuGraphInstantiate(graph, 0)[1]
    nodes = [driver.cuGraphAddEmptyNode(graph, [], 0)[1] for _ in range(2)]
    edges = [nodes, nodes[::-1], None, 2] if cuda.CUDA_VERSION >= 13000 else [nodes, nodes[::-1], 2]
    driver.cuGraphAddDependencies(graph, *edges)
    calls = {each.name: each for each in read_table("cuda").calls}
    given = ctypes.create_string_buffer(32)
    instantiate = handler("cuda", calls["cuGraphInstantiateWithParams"], CALLS)
    assert instantiate is not None
    result, [(place, data)] = instantiate([8, int(graph), ctypes.addressof(given)])
    assert (result, place) == (1, ctypes.addressof(given))
    assert struct.unpack_from("=QI", data, 16) == (int(nodes[0]), 2)  # an invalid structure
    for slots, size in (([16], 24), ([8, 16], 4)):
        result, [(place, data)] = DRIVER_CALLS["cuGraphExecUpdate"](
            [int(executable), int(graph), *slots]
        )
        assert (result, place, len(data)) == (910, 16, size)
        assert struct.unpack_from("=i", data) == (2,)  # a changed topology


@pytest.mark.parametrize("rank", [1, 2])
def test_arrays_of_dimensions(fresh_process: Process, rank: int) -> None:
    """The strides of a tensor of one dimension are an array without items."""
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    call = next(c for c in read_table("cuda").calls if c.name == "cuTensorMapEncodeTiled")
    perform = handler("cuda", call, CALLS)
    assert perform is not None
    kinds = {np.uint64: ([64] * rank, [256] * rank), np.uint32: ([8] * rank, [1] * rank)}
    arrays = [np.array(each, kind) for kind, pair in kinds.items() for each in pair]
    places = [each.ctypes.data for each in arrays]
    result, outputs = perform([8, 7, rank, 4096, *places, 0, 0, 0, 0])
    [(place, data)] = outputs
    assert (result, place, len(data)) == (0, 8, 128)
    assert any(data)


def test_access_of_several_devices(fresh_process: Process) -> None:
    call = next(c for c in read_table("cuda").calls if c.name == "cuMemSetAccess")
    given = []
    perform = handler("cuda", call, {"cuMemSetAccess": recorder(given)})
    assert perform is not None
    data = np.array([1, 0, 3, 1, 1, 0], np.int32)  # type, number, flags
    assert perform([1 << 21, 1 << 21, data.ctypes.data, 2]) == (0, [])
    assert [(each.location.id, int(each.flags)) for each in given[0]] == [(0, 3), (1, 0)]


def recorder(given: list[Any]) -> Any:
    def call(ptr: int, size: int, desc: Any, count: int) -> tuple[int]:
        given.append(desc)
        return (0,)

    return call


def test_arrays_of_tensor_maps(fresh_process: Process) -> None:
    """Each has as many items as its tensor has dimensions, or fewer by a fixed number."""
    driver.cuInit(0)
    driver.cuCtxCreate(None, 0, 0)
    dims, strides = (16, 8, 4, 2), (32, 256, 1024)
    wide = [(ctypes.c_uint64 * len(each))(*each) for each in (dims, strides)]
    box, steps = ((ctypes.c_uint32 * 4)(*each) for each in ((8, 4, 2, 1), (1, 1, 1, 1)))
    corners = [(ctypes.c_int * 2)(*each) for each in ((-1, -2), (1, 0))]
    for name, middle, python in (
        ("cuTensorMapEncodeTiled", [box], [[8, 4, 2, 1]]),
        ("cuTensorMapEncodeIm2col", [*corners, 8, 4], [[-1, -2], [1, 0], 8, 4]),
    ):
        [call] = (each for each in read_table("cuda").calls if each.name == name)
        perform = handler("cuda", call, CALLS)
        assert perform is not None
        given = [128, 6, 4, 1 << 20, *wide, *middle, steps, 0, 0, 0, 0]
        slots = [each if isinstance(each, int) else ctypes.addressof(each) for each in given]
        result, outputs = perform(slots)
        expected = [6, 4, 1 << 20, dims, strides, *python, (1, 1, 1, 1), 0, 0, 0, 0]
        _, tensor = CALLS[name](*expected)
        assert (result, outputs) == (0, [(128, ctypes.string_at(int(tensor.getPtr()), 128))])
