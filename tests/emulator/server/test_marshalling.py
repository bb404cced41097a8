"""Results of calls as the bytes that a program gets."""

from __future__ import annotations

import struct

import pytest
from cuda.bindings import driver as cuda

from cudarun.emulator.server.marshalling import encoded
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
