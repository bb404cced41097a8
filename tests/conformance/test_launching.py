"""Driver API, section 6.22: launches, and what refuses them."""

import ctypes
import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.support.register_kernels import kernel
from tests.support.toolkit import NO_NVJITLINK

FILL = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


@pytest.fixture
def function(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("kernels"))
    return lambda name: cuda.cuModuleGetFunction(module, name)


@pytest.fixture
def out(cuda, context):
    """64 cells of device memory, all of them 0."""
    address = cuda.cuMemAlloc(256)
    cuda.cuMemsetD32(address, 0, 64)
    return address


def cells(cuda, address, count=64):
    data = np.empty(count, np.uint32)
    cuda.cuMemcpyDtoH(data, address, data.nbytes)
    return data.tolist()


def result(cuda, function, *, grid=(1, 1, 1), block=(1, 1, 1), shared=0, stream=0, params=None):
    """What a launch returns; without parameters unless they are given."""
    return cuda.result("cuLaunchKernel", function, *grid, *block, shared, stream, params, 0)


# --- parameters ----------------------------------------------------------------------------------


def test_values_and_ctypes(cuda, function, out):
    cuda.launch(function(b"fill"), (int(out), 9, 3), FILL, block=(32, 1, 1))
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[:5] == [9, 9, 9, 0, 0]


def test_a_device_pointer_as_it_is(cuda, function, out):
    values = (out, 9, 3)
    cuda.launch(function(b"fill"), values, (None, *FILL[1:]), block=(32, 1, 1))
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[:5] == [9, 9, 9, 0, 0]


SHARED_SIZES = """.version 8.1
.target sm_90
.address_size 64
{extern}
.visible .entry k(.param .u64 out) {{
  {variable}
  .reg .b64 %o; .reg .b32 %r<4>;
  ld.param.u64 %o, [out];
  mov.u32 %r0, %aggr_smem_size; mov.u32 %r1, %total_smem_size; mov.u32 %r2, %dynamic_smem_size;
  st.global.u32 [%o], %r0; st.global.u32 [%o+4], %r1; st.global.u32 [%o+8], %r2;
  {use}
  ret;
}}"""


@pytest.mark.parametrize(
    ("static", "extern", "dynamic", "aggregate", "total"),
    [
        (0, "", 0, 1024, 0), (0, "", 1, 1025, 128), (100, "", 0, 1124, 128),
        (1000, "", 1000, 3024, 2048), (100, ".align 4", 64, 1200, 256),
        (100, ".align 16", 64, 1200, 256),
    ],
)  # fmt: skip
def test_sizes_of_shared_memory(cuda, out, static, extern, dynamic, aggregate, total):
    """The aggregate has 1024 bytes of the system; dynamic memory begins at a multiple of 16."""
    variable = f".shared .align 4 .b8 s[{static}];" if static else ""
    use = "mov.u32 %r3, s; st.shared.u32 [%r3], %r0;" if static else ""
    if extern:
        extern = f".extern .shared {extern} .b8 d[];"
        use += " mov.u32 %r3, d; st.shared.u32 [%r3], %r0;"
    text = SHARED_SIZES.format(variable=variable, use=use, extern=extern)
    kernel = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(text.encode() + b"\0"), b"k")
    cuda.launch(kernel, (int(out),), (ctypes.c_uint64,), shared=dynamic)
    assert cells(cuda, out)[:3] == [aggregate, total, dynamic]
    attribute = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    assert cuda.cuFuncGetAttribute(attribute, kernel) == aggregate - 1024 - dynamic


LAYOUT = """.version 8.1
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 d[];
.visible .entry k(.param .u64 out) {
  .shared .align 4 .b32 a[8];
  .reg .b64 %o, %g; .reg .b32 %r<9>; .reg .pred %p;
  ld.param.u64 %o, [out];
  mov.u32 %r0, a; mov.u32 %r1, d; st.shared.u32 [%r0], 7; st.shared.u32 [%r1], 8;
  cvt.u64.u32 %g, %r0; cvta.shared.u64 %g, %g; ld.u32 %r2, [%g]; cvt.u32.u64 %r3, %g;
  and.b32 %r3, %r3, 0xFFFFFF; mov.u32 %r4, %reserved_smem_offset_1;
  st.shared.u32 [%r4+64], 9; ld.shared.u32 %r5, [%r4+64];
  ld.shared.u32 %r6, [%r0]; ld.shared.u32 %r7, [%r1]; mad.lo.u32 %r6, %r6, 10, %r7;
  isspacep.shared %p, %g; selp.u32 %r8, 1, 0, %p;
  st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3}; st.global.v4.u32 [%o+16], {%r4, %r5, %r6, %r8};
  ret;
}"""


def test_layout_of_shared_memory(cuda, out):
    """The first KiB is the system's; kernels can use the part for cooperative groups."""
    kernel = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(LAYOUT.encode() + b"\0"), b"k")
    cuda.launch(kernel, (int(out),), (ctypes.c_uint64,), shared=64)
    assert cells(cuda, out)[:8] == [1024, 1056, 7, 1024, 0, 9, 78, 1]


def pointers(*values):
    """An array of pointers to ctypes values; the caller keeps the values."""
    return (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))


def test_an_array_of_pointers(cuda, function, out):
    values = (ctypes.c_uint64(int(out)), ctypes.c_uint32(8), ctypes.c_uint32(4))
    array = pointers(*values)
    for params in (array, ctypes.addressof(array)):
        cuda.cuLaunchKernel(function(b"fill"), 1, 1, 1, 32, 1, 1, 0, 0, params, 0)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[:5] == [8, 8, 8, 8, 0]


def extra(buffer, size):
    """``CU_LAUNCH_PARAM_BUFFER_POINTER``, ``…_SIZE``, ``…_END``; the caller keeps the parts."""
    count = ctypes.c_size_t(size)
    words = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(count), 0)
    return words, count


def test_one_packed_buffer(cuda, function, out):
    buffer = ctypes.create_string_buffer(struct.pack("<QII", int(out), 7, 2), 16)
    words, _count = extra(buffer, 16)
    launch = (function(b"fill"), 1, 1, 1, 32, 1, 1, 0, 0, 0, ctypes.addressof(words))
    cuda.cuLaunchKernel(*launch)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[:4] == [7, 7, 0, 0]


def test_parameters_are_aligned_from_where_ptxas_puts_the_first(cuda, out):
    """A target of compute capability 9.0 has it at 0x210, which is aligned to 16."""
    text = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry aligned(
    .param .align 64 .b8 map[64], .param .u32 number,
    .param .align 32 .b8 part[32], .param .u64 out)
{
    .reg .u64 %out, %at; .reg .u32 %x, %y, %z;
    ld.param.u64 %out, [out];
    ld.param.u32 %x, [map+60];
    ld.param.u32 %y, [part];
    mov.b64 %at, map;
    cvta.param.u64 %at, %at;
    cvt.u32.u64 %z, %at;
    and.b32 %z, %z, 63;
    st.global.v4.u32 [%out], {%x, %y, %z, %z};
    ret;
}
\0"""
    module = cuda.cuModuleLoadData(text)
    aligned = cuda.cuModuleGetFunction(module, b"aligned")
    assert [cuda.cuFuncGetParamInfo(aligned, index) for index in range(4)] == [
        (48, 64),
        (112, 4),
        (144, 32),
        (176, 8),
    ]
    packed = struct.pack("<108xI32xI28xQ", 7, 9, int(out))
    buffer = ctypes.create_string_buffer(packed, len(packed))
    words, _count = extra(buffer, len(packed))
    cuda.cuLaunchKernel(aligned, 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(words))
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[:4] == [7, 9, 0, 0]


def test_both_at_once_are_refused(cuda, function, out):
    buffer = ctypes.create_string_buffer(16)
    words, _count = extra(buffer, 16)
    values = (ctypes.c_uint64(int(out)), ctypes.c_uint32(8), ctypes.c_uint32(4))
    array = pointers(*values)
    launch = (function(b"fill"), 1, 1, 1, 1, 1, 1, 0, 0, array, ctypes.addressof(words))
    assert cuda.result("cuLaunchKernel", *launch) == "INVALID_VALUE"


def test_too_small_a_packed_buffer_is_accepted(cuda, function):
    buffer = ctypes.create_string_buffer(8)
    words, _count = extra(buffer, 8)
    launch = (function(b"fill"), 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(words))
    assert cuda.result("cuLaunchKernel", *launch) == "CUDA_SUCCESS"


def test_nothing_is_read_behind_a_packed_buffer(cuda, function, out):
    buffer = ctypes.create_string_buffer(struct.pack("<QII", int(out), 7, 2), 16)
    words, _count = extra(buffer, 12)  # the last parameter, n, lies behind
    cuda.cuLaunchKernel(function(b"fill"), 1, 1, 1, 32, 1, 1, 0, 0, 0, ctypes.addressof(words))
    cuda.cuCtxSynchronize()
    assert cells(cuda, out) == [0] * 64


def test_a_packed_buffer_of_no_size(cuda, function):
    buffer = ctypes.create_string_buffer(16)
    words, _count = extra(buffer, 0)
    launch = (function(b"fill"), 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(words))
    assert cuda.result("cuLaunchKernel", *launch) == "INVALID_VALUE"


def test_no_parameters_for_a_kernel_that_has_some(cuda, function):
    assert result(cuda, function(b"fill")) == "INVALID_VALUE"


def test_parameters_of_every_size(cuda, function, out):
    struct_value = (ctypes.c_uint32 * 3)(11, 22, 33)
    values = (
        ctypes.c_uint64(int(out)),
        ctypes.c_uint8(200),
        ctypes.c_uint16(60_000),
        ctypes.c_uint32(4_000_000_000),
        ctypes.c_uint8(5),
        ctypes.c_double(1.5),
        struct_value,
    )
    cuda.cuLaunchKernel(function(b"mixed"), 1, 1, 1, 1, 1, 1, 0, 0, pointers(*values), 0)
    cuda.cuCtxSynchronize()
    expected = [200, 60_000, 4_000_000_000, 5, *struct.unpack("<Q", struct.pack("<d", 1.5))]
    data = np.empty(8, np.uint64)
    cuda.cuMemcpyDtoH(data, out, 64)
    assert data.tolist() == [*expected, 11, 22, 33]


# --- what a launch does --------------------------------------------------------------------------


def test_every_thread_of_every_block_runs(cuda, function, out):
    cuda.launch(
        function(b"count"), (int(out),), (ctypes.c_void_p,), grid=(5, 3, 2), block=(8, 4, 2)
    )
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[0] == 5 * 3 * 2 * 8 * 4 * 2


def test_threads_know_their_places(cuda, context, function):
    out = cuda.cuMemAlloc(4 * 16 * 6)
    cuda.launch(
        function(b"places"), (int(out),), (ctypes.c_void_p,), grid=(2, 2, 1), block=(3, 2, 1)
    )
    cuda.cuCtxSynchronize()
    places = np.array(cells(cuda, out, 96)).reshape(24, 4).tolist()
    expected = [
        [x, y, bx, by] for by in range(2) for bx in range(2) for y in range(2) for x in range(3)
    ]
    assert places == expected


def test_shared_memory_and_a_barrier(cuda, context, function):
    data = np.arange(256, dtype=np.uint32)
    address = cuda.cuMemAlloc(1024)
    cuda.cuMemcpyHtoD(address, data, 1024)
    cuda.launch(function(b"reverse_static"), (int(address),), (ctypes.c_void_p,), block=(256, 1, 1))
    cuda.cuCtxSynchronize()
    assert cells(cuda, address, 256) == data[::-1].tolist()


def test_a_launch_is_asynchronous_and_in_order(cuda, function, out):
    stream = cuda.cuStreamCreate(1)
    for value in range(20):
        values = (int(out), value, 64 - value)
        cuda.launch(function(b"fill"), values, FILL, block=(64, 1, 1), stream=stream)
    cuda.cuStreamSynchronize(stream)
    assert cells(cuda, out) == [19] * 45 + list(range(18, -1, -1))


def test_threads_of_the_host_launch_at_the_same_time(cuda, context, function, out):
    count = function(b"count")

    def work():
        cuda.cuCtxPushCurrent(context)
        stream = cuda.cuStreamCreate(1)
        for _ in range(10):
            types = (ctypes.c_void_p,)
            cuda.launch(count, (int(out),), types, block=(32, 1, 1), stream=stream)
        cuda.cuStreamSynchronize(stream)
        cuda.cuCtxPopCurrent()

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work) for _ in range(4)]:
            future.result()
    assert cells(cuda, out)[0] == 4 * 10 * 32


# --- what refuses a launch -----------------------------------------------------------------------


def test_a_launch_wants_a_context(cuda, device, ptx):
    assert result(cuda, cuda.CUfunction(0)) in ("INVALID_CONTEXT", "INVALID_HANDLE")
    library = cuda.load_library(ptx("kernels"))
    kernel = cuda.CUfunction(int(cuda.cuLibraryGetKernel(library, b"nothing")))
    assert result(cuda, kernel) == "INVALID_CONTEXT"
    cuda.cuLibraryUnload(library)


def test_a_launch_wants_a_function(cuda, context):
    assert result(cuda, cuda.CUfunction(0)) == "INVALID_HANDLE"


@pytest.mark.parametrize("block", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (1025, 1, 1), (1, 1, 65)])
def test_blocks_that_no_kernel_takes(cuda, function, block):
    assert result(cuda, function(b"nothing"), block=block) == "INVALID_VALUE"


def test_more_threads_than_any_block_has(cuda, function):
    assert result(cuda, function(b"nothing"), block=(64, 32, 1)) == "INVALID_VALUE"
    assert result(cuda, function(b"nothing"), block=(32, 32, 1)) == "CUDA_SUCCESS"


@pytest.mark.parametrize("grid", [(0, 1, 1), (1, 0, 1), (1, 65536, 1), (1, 1, 65536)])
def test_grids_that_no_kernel_takes(cuda, function, grid):
    assert result(cuda, function(b"nothing"), grid=grid) == "INVALID_VALUE"


def test_more_threads_than_the_kernel_takes(cuda, function):
    assert result(cuda, function(b"at_most_64"), block=(64, 1, 1)) == "CUDA_SUCCESS"
    assert result(cuda, function(b"at_most_64"), block=(65, 1, 1)) == "INVALID_VALUE"


@pytest.mark.parametrize(
    ("live", "threads", "answer"),
    [
        (120, 1024, "LAUNCH_OUT_OF_RESOURCES"),
        (120, 512, "CUDA_SUCCESS"),
        (220, 512, "LAUNCH_OUT_OF_RESOURCES"),
        (220, 256, "CUDA_SUCCESS"),
    ],
)
def test_registers_of_a_block(cuda, context, driver_name, live, threads, answer):
    if driver_name == "emulator" and NO_NVJITLINK:
        pytest.skip("nvJitLink counts the registers")
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(kernel(live).encode()), b"k")
    buffer = cuda.cuMemAlloc(4 * live)
    launched = result(cuda, function, block=(threads, 1, 1), params=((buffer,), (None,)))
    assert launched == answer
    cuda.cuCtxSynchronize()


def test_another_block_than_the_kernel_requires(cuda, function):
    assert result(cuda, function(b"exactly_32"), block=(32, 1, 1)) == "CUDA_SUCCESS"
    assert result(cuda, function(b"exactly_32"), block=(16, 1, 1)) == "INVALID_VALUE"


def test_dynamic_shared_memory(cuda, function, out):
    touch, types = function(b"touch_dynamic"), (ctypes.c_void_p, ctypes.c_uint32)
    cuda.launch(touch, (int(out), 48 << 10), types, shared=48 << 10)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[0] == 77
    params = ((int(out), 64 << 10), types)
    assert result(cuda, touch, shared=64 << 10, params=params) == "INVALID_VALUE"

    dynamic = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    cuda.cuFuncSetAttribute(touch, dynamic, 64 << 10)
    cuda.cuMemsetD32(out, 0, 1)
    cuda.launch(touch, (int(out), 64 << 10), types, shared=64 << 10)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[0] == 77


def test_a_function_of_another_context(cuda, device, function):
    nothing = function(b"nothing")
    other = cuda.create_context(0, device)
    assert result(cuda, nothing) == "INVALID_HANDLE"
    cuda.cuCtxDestroy(other)


def test_a_kernel_runs_in_the_context_of_its_stream(cuda, device, context, ptx):
    library = cuda.load_library(ptx("variables"))
    kernel = cuda.CUfunction(int(cuda.cuLibraryGetKernel(library, b"bump")))
    stream = cuda.cuStreamCreate(1)
    counter, _ = cuda.cuLibraryGetGlobal(library, b"counter")
    other = cuda.create_context(0, device)
    cuda.launch(kernel, (10,), (ctypes.c_uint32,), stream=stream)
    cuda.cuStreamSynchronize(stream)
    elsewhere, _ = cuda.cuLibraryGetGlobal(library, b"counter")
    assert cells(cuda, elsewhere, 1) == [5]
    cuda.cuCtxDestroy(other)
    assert cells(cuda, counter, 1) == [15]
    cuda.cuLibraryUnload(library)


# --- launches with attributes --------------------------------------------------------------------


def configuration(cuda, *attributes, grid=(1, 1, 1), block=(1, 1, 1)):
    config = cuda.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.attrs = list(attributes)
    config.numAttrs = len(attributes)
    return config


def cooperative(cuda):
    attribute = cuda.CUlaunchAttribute()
    attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    return attribute


def cluster(cuda, width):
    attribute = cuda.CUlaunchAttribute()
    attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    extent = attribute.value.clusterDim
    extent.x, extent.y, extent.z = width, 1, 1
    return attribute


def test_a_launch_by_configuration(cuda, function, out):
    config = configuration(cuda, grid=(2, 1, 1), block=(32, 1, 1))
    cuda.cuLaunchKernelEx(config, function(b"fill"), ((int(out), 6, 40), FILL), 0)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out) == [6] * 40 + [0] * 24


def test_a_cooperative_launch(cuda, function, out):
    params = ((int(out),), (ctypes.c_void_p,))
    cuda.cuLaunchCooperativeKernel(function(b"count"), 4, 1, 1, 32, 1, 1, 0, 0, params)
    config = configuration(cuda, cooperative(cuda), grid=(4, 1, 1), block=(32, 1, 1))
    cuda.cuLaunchKernelEx(config, function(b"count"), params, 0)
    cuda.cuCtxSynchronize()
    assert cells(cuda, out)[0] == 2 * 4 * 32


def test_a_cooperative_launch_must_fit(cuda, function):
    nothing = function(b"nothing")
    blocks = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(nothing, 1024, 0)
    count = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    most = blocks * cuda.cuDeviceGetAttribute(count, 0)
    fits = (nothing, most, 1, 1, 1024, 1, 1, 0, 0, None)
    assert cuda.result("cuLaunchCooperativeKernel", *fits) == "CUDA_SUCCESS"
    too_large = (nothing, most + 1, 1, 1, 1024, 1, 1, 0, 0, None)
    answer = cuda.result("cuLaunchCooperativeKernel", *too_large)
    assert answer == "COOPERATIVE_LAUNCH_TOO_LARGE"


@pytest.mark.parametrize(
    ("width", "answer"),
    [(2, "CUDA_SUCCESS"), (3, "INVALID_CLUSTER_SIZE"), (16, "INVALID_CLUSTER_SIZE")],
)
def test_clusters(cuda, function, width, answer):
    config = configuration(cuda, cluster(cuda, width), grid=(16, 1, 1), block=(32, 1, 1))
    assert cuda.result("cuLaunchKernelEx", config, function(b"nothing"), None, 0) == answer
