"""Driver API, section 6.12: modules, functions and variables."""

import ctypes

import pytest


def u32(cuda, address, count=1):
    data = (ctypes.c_uint32 * count)()
    cuda.cuMemcpyDtoH(ctypes.addressof(data), address, 4 * count)
    return list(data) if count > 1 else data[0]


def test_a_module_wants_a_context(cuda, ptx):
    assert cuda.result("cuModuleLoadData", ptx("kernels")) == "INVALID_CONTEXT"


def test_functions_by_name(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("kernels"))
    function = cuda.cuModuleGetFunction(module, b"fill")
    assert int(cuda.cuModuleGetFunction(module, b"fill")) == int(function)
    assert cuda.result("cuModuleGetFunction", module, b"Fill") == "NOT_FOUND"
    assert int(cuda.cuFuncGetModule(function)) == int(module)
    cuda.cuModuleUnload(module)


def test_functions_are_counted_and_listed(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("variables"))
    assert cuda.cuModuleGetFunctionCount(module) == 2
    functions = cuda.cuModuleEnumerateFunctions(2, module)
    assert sorted(cuda.cuFuncGetName(function) for function in functions) == [b"bump", b"look"]


def test_loading_from_a_file(cuda, context, ptx, tmp_path):
    path = tmp_path / "kernels.ptx"
    path.write_bytes(ptx("kernels").rstrip(b"\0"))
    module = cuda.cuModuleLoad(str(path).encode())
    cuda.cuModuleGetFunction(module, b"nothing")
    assert cuda.result("cuModuleLoad", b"/nowhere/at all.ptx") == "FILE_NOT_FOUND"


def test_variables_by_name(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("variables"))
    address, size = cuda.cuModuleGetGlobal(module, b"counter")
    assert (size, u32(cuda, address)) == (4, 5)
    address, size = cuda.cuModuleGetGlobal(module, b"table")
    assert (size, u32(cuda, address, 4)) == (16, [10, 20, 30, 40])
    address, size = cuda.cuModuleGetGlobal(module, b"room")
    assert (size, u32(cuda, address, 25)) == (100, [0] * 25)
    assert cuda.result("cuModuleGetGlobal", module, b"none") == "NOT_FOUND"


def test_variables_hold_addresses(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("variables"))
    counter, _ = cuda.cuModuleGetGlobal(module, b"counter")
    pointer, size = cuda.cuModuleGetGlobal(module, b"pointer")
    low, high = u32(cuda, pointer, 2)
    assert (size, high << 32 | low) == (8, int(counter))


def test_kernels_see_what_the_host_writes_to_variables(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("variables"))
    table, _ = cuda.cuModuleGetGlobal(module, b"table")
    counter, _ = cuda.cuModuleGetGlobal(module, b"counter")
    cuda.cuMemsetD32(table, 1000, 2)
    cuda.cuMemsetD32(counter, 77, 1)
    out = cuda.cuMemAlloc(20)
    look = cuda.cuModuleGetFunction(module, b"look")
    cuda.launch(look, (int(out),), (ctypes.c_void_p,))
    cuda.cuCtxSynchronize()
    assert u32(cuda, out, 5) == [1000, 1000, 30, 40, 77]


def test_every_load_has_its_own_variables(cuda, context, ptx):
    first, second = (cuda.cuModuleLoadData(ptx("variables")) for _ in range(2))
    one, _ = cuda.cuModuleGetGlobal(first, b"counter")
    other, _ = cuda.cuModuleGetGlobal(second, b"counter")
    assert int(one) != int(other)
    bump = cuda.cuModuleGetFunction(second, b"bump")
    cuda.launch(bump, (10,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    assert (u32(cuda, one), u32(cuda, other)) == (5, 15)


def test_unloading_gives_the_memory_back(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("variables"))
    address, _ = cuda.cuModuleGetGlobal(module, b"counter")
    assert u32(cuda, address) == 5
    cuda.cuModuleUnload(module)
    survivor = cuda.cuModuleLoadData(ptx("variables"))
    address, _ = cuda.cuModuleGetGlobal(survivor, b"counter")
    assert u32(cuda, address) == 5


# --- what is known of a function -----------------------------------------------------------------


def attribute(cuda, name):
    return getattr(cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")


@pytest.fixture
def function(cuda, context, ptx):
    module = cuda.cuModuleLoadData(ptx("kernels"))
    return lambda name: cuda.cuModuleGetFunction(module, name)


def test_parameters(cuda, function):
    mixed = function(b"mixed")
    listed = []
    while cuda.result("cuFuncGetParamInfo", mixed, len(listed)) == "CUDA_SUCCESS":
        listed.append(cuda.cuFuncGetParamInfo(mixed, len(listed)))
    assert listed == [(0, 8), (8, 1), (10, 2), (12, 4), (16, 1), (24, 8), (32, 12)]
    assert cuda.result("cuFuncGetParamInfo", mixed, len(listed)) == "INVALID_VALUE"
    assert cuda.result("cuFuncGetParamInfo", function(b"nothing"), 0) == "INVALID_VALUE"


def test_shared_memory_and_versions(cuda, device, function):
    reverse = function(b"reverse_static")
    assert cuda.cuFuncGetAttribute(attribute(cuda, "SHARED_SIZE_BYTES"), reverse) == 1024
    dynamic = attribute(cuda, "MAX_DYNAMIC_SHARED_SIZE_BYTES")
    assert cuda.cuFuncGetAttribute(dynamic, reverse) == 49152 - 1024
    assert cuda.cuFuncGetAttribute(attribute(cuda, "PTX_VERSION"), reverse) == 70
    major, minor = cuda.cuDeviceComputeCapability(device)
    binary = cuda.cuFuncGetAttribute(attribute(cuda, "BINARY_VERSION"), reverse)
    assert binary == 10 * major + minor


STATIC = b""".version 8.0
.target sm_75
.address_size 64
.visible .entry large()
{
    .reg .b32 %%r<2>;
    .shared .align 4 .b8 tile[%d];
    mov.u32 %%r1, tile;
    ret;
}
\0"""


def test_static_shared_memory_up_to_what_a_block_can_opt_in_to(cuda, device, context):
    optin = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    most = cuda.cuDeviceGetAttribute(optin, device)
    module = cuda.cuModuleLoadData(STATIC % most)
    large = cuda.cuModuleGetFunction(module, b"large")
    assert cuda.cuFuncGetAttribute(attribute(cuda, "SHARED_SIZE_BYTES"), large) == most
    refused = cuda.result("cuModuleLoadData", STATIC % (most + 1))
    # The second is what an H200 answered here; to cuLibraryGetKernel, of 4 bytes more, the first.
    assert refused in ("INVALID_PTX", "UNSUPPORTED_PTX_VERSION")


def test_how_many_threads_a_kernel_takes(cuda, function):
    most = attribute(cuda, "MAX_THREADS_PER_BLOCK")
    assert cuda.cuFuncGetAttribute(most, function(b"nothing")) == 1024
    assert cuda.cuFuncGetAttribute(most, function(b"at_most_64")) == 64
    assert cuda.cuFuncGetAttribute(most, function(b"exactly_32")) == 1024  # .reqntid is no limit


def test_a_kernel_uses_registers(cuda, function):
    assert cuda.cuFuncGetAttribute(attribute(cuda, "NUM_REGS"), function(b"fill")) > 0


def test_an_attribute_that_is_none(cuda, function):
    assert cuda.result("cuFuncGetAttribute", 1000, function(b"fill")) == "INVALID_VALUE"


def test_attributes_that_can_be_set(cuda, function):
    fill = function(b"fill")
    dynamic = attribute(cuda, "MAX_DYNAMIC_SHARED_SIZE_BYTES")
    cuda.cuFuncSetAttribute(fill, dynamic, 100_000)
    assert cuda.cuFuncGetAttribute(dynamic, fill) == 100_000
    carveout = attribute(cuda, "PREFERRED_SHARED_MEMORY_CARVEOUT")
    cuda.cuFuncSetAttribute(fill, carveout, 50)
    assert cuda.cuFuncGetAttribute(carveout, fill) == 50
    assert cuda.result("cuFuncSetAttribute", fill, dynamic, 1 << 20) == "INVALID_VALUE"
    assert (
        cuda.result("cuFuncSetAttribute", fill, attribute(cuda, "NUM_REGS"), 8) == "INVALID_VALUE"
    )


def test_values_that_attributes_do_not_take(cuda, function):
    fill = function(b"fill")
    carveout = attribute(cuda, "PREFERRED_SHARED_MEMORY_CARVEOUT")
    assert cuda.result("cuFuncSetAttribute", fill, carveout, 101) == "INVALID_VALUE"
    assert cuda.cuFuncGetAttribute(carveout, fill) == -1


def test_loading_a_function_at_once(cuda, function):
    fill = function(b"fill")
    cuda.cuFuncLoad(fill)
    loaded = cuda.CUfunctionLoadingState.CU_FUNCTION_LOADING_STATE_LOADED
    assert cuda.cuFuncIsLoaded(fill) == loaded
    cuda.cuFuncLoad(fill)


def test_cache_preference_of_a_function(cuda, function):
    preference = cuda.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED
    cuda.cuFuncSetCacheConfig(function(b"fill"), preference)
