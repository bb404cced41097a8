"""Surfaces on the emulated device: what detectors see, and what is refused at an access."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from cudarun.emulator import driver
from tests.conformance.conftest import Driver
from tests.conformance.test_surfaces import HEAD
from tests.golden.sampling.case import SURFACE, Resource
from tests.golden.sampling.runner import descriptor_of, fill, resource_of

TYPES = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)


@pytest.fixture
def cuda(fresh_process):
    cuda = Driver(driver)
    cuda.cuInit(0)
    cuda.create_context(0, cuda.cuDeviceGet(0))
    return cuda


def launched(cuda, body, *, blocks=1, columns=8):
    """The surface object of a kernel with that body, which has been launched.

    Of the texels of the array, some columns are copied to it.
    """
    given = Resource("2d", (np.zeros((1, 4, 8, 1), np.uint32),), SURFACE)
    array = cuda.cuArray3DCreate(descriptor_of(cuda, given))
    if columns:
        fill(cuda, array, np.zeros((1, 4, columns, 1), np.uint32))
    handle = cuda.cuSurfObjectCreate(resource_of(cuda, array, given))
    text = f"{HEAD}  {body}\n  ret;\n}}\0"
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text.encode()), b"k")
    values = (int(handle), int(cuda.cuMemAlloc(64)), 0)
    cuda.launch(function, values, TYPES, grid=(blocks, 1, 1))
    return handle


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("sust.b.2d.b32.trap [%t, {4, 1}], %r0;", True),
        ("sust.p.2d.b32.trap [%t, {1, 1}], %r0;", True),
        ("suld.b.2d.b32.trap %r0, [%t, {4, 1}];", False),
        ("sured.b.add.2d.u32.trap [%t, {4, 1}], %r0;", False),
        ("mov.u32 %x, %ctaid.x; sust.b.2d.b32.trap [%t, {4, %x}], %r0;", False),
        ("sust.b.2d.b32.zero [%t, {64, 1}], %r0;", False),
    ],
)
def test_races_through_surfaces(cuda, body, found):
    driver.start_detectors(["race"], count=False)
    launched(cuda, body, blocks=2)
    assert cuda.result("cuCtxSynchronize").endswith("SUCCESS")
    assert bool(driver.stop_detectors()[0]) is found


UNWRITTEN = {
    "suld": ("suld.b.2d.b32.trap %r0, [%t, {4, 1}];", 4),
    "suld of two texels": ("suld.b.2d.v2.b32.trap {%r0, %r1}, [%t, {8, 1}];", 8),
    "sured": ("sured.b.add.2d.u32.trap [%t, {4, 1}], %r0;", 4),
    "after sust of another": (
        "sust.b.2d.b32.trap [%t, {4, 1}], %r0; suld.b.2d.b32.trap %r0, [%t, {4, 2}];",
        4,
    ),
    "after sust": (
        "sust.b.2d.b32.trap [%t, {4, 1}], %r0; suld.b.2d.b32.trap %r0, [%t, {4, 1}];",
        0,
    ),
    "out of range": ("suld.b.2d.b32.zero %r0, [%t, {64, 1}];", 0),
}


@pytest.mark.parametrize(("body", "size"), UNWRITTEN.values(), ids=UNWRITTEN.keys())
def test_uninitialized_reads_through_surfaces(cuda, body, size):
    driver.start_detectors(["uninit"])
    launched(cuda, body, columns=0)
    assert cuda.result("cuCtxSynchronize").endswith("SUCCESS")
    found, _ = driver.stop_detectors()
    assert [each.memory.size for each in found] == ([size] if size else [])
    assert all(each.memory.name == "cuArray3DCreate" for each in found)


@pytest.mark.parametrize("columns", [8, 2])
def test_copies_to_arrays_count_as_writes(cuda, columns):
    """Of a row of 8 texels, one copy writes all and another one only the first two."""
    driver.start_detectors(["uninit"])
    launched(cuda, "suld.b.2d.b32.trap %r0, [%t, {28, 3}];", columns=columns)
    assert cuda.result("cuCtxSynchronize").endswith("SUCCESS")
    found, _ = driver.stop_detectors()
    assert [each.memory.offset for each in found] == ([] if columns == 8 else [3 * 32 + 28])


def test_another_geometry_is_refused(cuda):
    launched(cuda, "suld.b.1d.b32.zero %r0, [%t, {4}];")
    assert cuda.result("cuCtxSynchronize") == "NOT_SUPPORTED"


def test_a_destroyed_surface(cuda):
    handle = launched(cuda, "mov.u32 %r0, 1;")
    cuda.cuSurfObjectDestroy(handle)
    text = f"{HEAD}  suld.b.2d.b32.zero %r0, [%t, {{4, 1}}];\n  ret;\n}}\0"
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text.encode()), b"k")
    cuda.launch(function, (int(handle), 0, 0), TYPES)
    assert cuda.result("cuCtxSynchronize") == "ILLEGAL_ADDRESS"


@pytest.mark.parametrize(
    "instruction",
    [
        "txq.channel_order.b32 %r0, [%t];",
        "suq.memory_layout.b32 %r0, [%t];",
        "tex.2dms.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%t, {%x, %x, %x, %x}];",
        "tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%t, %t, {%x, %x}];",
    ],
)
def test_what_it_has_not_is_refused_by_name(cuda, instruction):
    text = f"{HEAD}  {instruction}\n  ret;\n}}\0"
    assert cuda.result("cuModuleLoadData", text.encode()) != "SUCCESS"
    _, size = driver.cuLogsDumpToMemory(None, log := bytearray(4096), 4096, 0)[1:]
    assert "is not implemented by the emulated device" in log[:size].decode()
