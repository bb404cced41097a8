"""Kernel parameters in every form a launch takes them, to one buffer."""

import ctypes
import struct

import numpy as np
import pytest
from cuda.bindings import driver as bindings

from cudarun.emulator.host.parameters import pack_parameters
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.program import KernelCode


def kernel(*parameters):
    """A kernel with parameters at these offsets and sizes."""
    size = sum(parameters[-1]) if parameters else 0
    return KernelCode(
        name="k",
        parameters=parameters,
        parameter_bytes=size,
        static_shared=0,
        local_bytes=0,
        registers=8,
        const_bytes=0,
        max_threads=1024,
        required_block=None,
        ptx_version=80,
    )


SAXPY = kernel((0, 4), (8, 8), (16, 8), (24, 4))
PACKED = struct.pack("<f4xQQi", 2.5, 0x1000, 0x2000, -7)


def packed_extra(data, size):
    buffer = ctypes.create_string_buffer(data, len(data))
    count = ctypes.c_size_t(size)
    words = (ctypes.c_void_p * 5)(2, ctypes.addressof(count), 1, ctypes.addressof(buffer), 0)
    return ctypes.addressof(words), (buffer, count, words)


def test_values_and_ctypes():
    values = (2.5, 0x1000, bindings.CUdeviceptr(0x2000), -7)
    types = (ctypes.c_float, ctypes.c_void_p, None, ctypes.c_int)
    assert pack_parameters(SAXPY, (values, types), 0) == PACKED


def test_values_that_are_ctypes_already():
    values = (ctypes.c_float(2.5), ctypes.c_void_p(0x1000), ctypes.c_uint64(0x2000), -7)
    types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int)
    assert pack_parameters(SAXPY, (values, types), 0) == PACKED


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (ctypes.c_float(1.5), ctypes.c_double, struct.pack("<d", 1.5)),
        (-1, ctypes.c_byte, b"\xff"),
        (True, ctypes.c_bool, b"\1"),
        (np.int16(-2), ctypes.c_short, b"\xfe\xff"),
        (None, ctypes.c_void_p, None),
        (bindings.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1, None, b"\2\0\0\0"),
    ],
)
def test_one_value(value, kind, expected):
    code = kernel((0, len(expected or b"")))
    if expected is None:
        with pytest.raises(TypeError, match="expected a pointer"):
            pack_parameters(code, ((value,), (kind,)), 0)
    else:
        assert pack_parameters(code, ((value,), (kind,)), 0) == expected


def test_a_structure_is_taken_whole():
    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int32), ("b", ctypes.c_double))

    assert pack_parameters(kernel((0, 16)), ((Pair(3, 0.5),), (None,)), 0) == struct.pack(
        "<i4xd", 3, 0.5
    )


def test_an_array_of_pointers_and_its_address():
    values = (ctypes.c_float(2.5), ctypes.c_uint64(0x1000), ctypes.c_uint64(0x2000))
    last = ctypes.c_int(-7)
    array = np.array([*map(ctypes.addressof, (*values, last))], dtype=np.uint64)
    assert pack_parameters(SAXPY, array, None) == PACKED
    assert pack_parameters(SAXPY, array.ctypes.data, None) == PACKED


def test_a_packed_buffer():
    extra, _kept = packed_extra(PACKED, len(PACKED))
    assert pack_parameters(SAXPY, 0, extra) == PACKED


def test_a_kernel_without_parameters_needs_none():
    for params in (None, 0, ((), ())):
        assert pack_parameters(kernel(), params, 0) == b""


@pytest.mark.parametrize(
    "given", [None, 0, ((2.5,), (ctypes.c_float,))], ids=["null", "zero", "too few"]
)
def test_missing_parameters(given):
    with pytest.raises(Refusal, match="k has"):
        pack_parameters(SAXPY, given, 0)


def test_a_null_pointer_among_them():
    with pytest.raises(Refusal, match="null"):
        pack_parameters(kernel((0, 4)), (ctypes.c_void_p * 1)(0), 0)


def test_both_forms():
    extra, _kept = packed_extra(PACKED, len(PACKED))
    with pytest.raises(Refusal, match="mutually exclusive"):
        pack_parameters(SAXPY, (ctypes.c_void_p * 4)(), extra)


def test_what_too_small_a_buffer_lacks_is_zero():
    extra, _kept = packed_extra(PACKED, len(PACKED) - 5)
    assert pack_parameters(SAXPY, 0, extra) == PACKED[:-5] + bytes(5)


def test_of_too_large_a_buffer_the_rest_is_left():
    extra, _kept = packed_extra(PACKED + b"more", len(PACKED) + 4)
    assert pack_parameters(SAXPY, 0, extra) == PACKED


def test_a_buffer_without_size_or_address():
    extra, (_buffer, _count, words) = packed_extra(PACKED, 0)
    with pytest.raises(Refusal, match="no buffer pointer or size"):
        pack_parameters(SAXPY, 0, extra)
    assert pack_parameters(kernel(), 0, extra) == b""
    words[3] = 0
    ctypes.c_size_t.from_address(words[1]).value = len(PACKED)
    with pytest.raises(Refusal, match="no buffer pointer or size"):
        pack_parameters(SAXPY, 0, extra)


def test_a_word_of_extra_that_is_none():
    words = (ctypes.c_void_p * 3)(9, 0, 0)
    with pytest.raises(Refusal, match="extra contains the unknown key 9"):
        pack_parameters(SAXPY, 0, ctypes.addressof(words))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], "buffer protocol"),
        ("text", "buffer protocol"),
        (((1,),), "pair of tuples"),
        (((1, 2), (ctypes.c_int,)), "different length"),
        (((1,), (int,)), "Unsupported type"),
        (((object(),), (None,)), "expected a structure"),
    ],
)
def test_forms_that_the_bindings_do_not_take(given, words):
    with pytest.raises(TypeError, match=words):
        pack_parameters(kernel((0, 4)), given, 0)
