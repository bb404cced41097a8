"""Driver API, section 6.14: libraries, which are loaded once for all contexts."""

import ctypes

import pytest


def u32(cuda, address):
    data = (ctypes.c_uint32 * 1)()
    cuda.cuMemcpyDtoH(ctypes.addressof(data), address, 4)
    return data[0]


@pytest.fixture
def library(cuda, ptx):
    """Loaded while no context exists."""
    loaded = cuda.load_library(ptx("variables"))
    yield loaded
    cuda.cuLibraryUnload(loaded)


def test_a_library_wants_no_context(cuda, library):
    kernel = cuda.cuLibraryGetKernel(library, b"bump")
    assert cuda.cuKernelGetName(kernel) == b"bump"
    assert int(cuda.cuKernelGetLibrary(kernel)) == int(library)
    assert cuda.result("cuLibraryGetKernel", library, b"none") == "NOT_FOUND"
    assert cuda.result("cuKernelGetFunction", kernel) == "INVALID_CONTEXT"
    assert cuda.result("cuLibraryGetModule", library) == "INVALID_CONTEXT"
    assert cuda.result("cuLibraryGetGlobal", library, b"counter") == "INVALID_CONTEXT"
    assert cuda.result("cuLibraryGetManaged", library, b"common_counter") == "CUDA_SUCCESS"
    assert cuda.result("cuKernelGetParamInfo", kernel, 0) == "INVALID_CONTEXT"
    most = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    assert cuda.cuKernelGetAttribute(most, kernel, cuda.cuDeviceGet(0)) == 1024


def test_kernels_are_counted_and_listed(cuda, library):
    assert cuda.cuLibraryGetKernelCount(library) == 2
    kernels = cuda.cuLibraryEnumerateKernels(2, library)
    assert sorted(cuda.cuKernelGetName(kernel) for kernel in kernels) == [b"bump", b"look"]


def test_loading_from_a_file(cuda, ptx, tmp_path):
    path = tmp_path / "kernels.ptx"
    path.write_bytes(ptx("kernels").rstrip(b"\0"))
    name = str(path).encode()
    loaded = cuda.cuLibraryLoadFromFile(name, [], [], 0, [], [], 0)
    cuda.cuLibraryGetKernel(loaded, b"nothing")
    cuda.cuLibraryUnload(loaded)
    missing = cuda.result("cuLibraryLoadFromFile", b"/nowhere/at all", [], [], 0, [], [], 0)
    assert missing == "FILE_NOT_FOUND"


def test_it_enters_contexts_made_later(cuda, device, library, context):
    kernel = cuda.cuLibraryGetKernel(library, b"bump")
    functions = [int(cuda.cuKernelGetFunction(kernel))]
    cuda.launch(cuda.CUfunction(int(kernel)), (10,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    first, size = cuda.cuLibraryGetGlobal(library, b"counter")
    assert (size, u32(cuda, first)) == (4, 15)

    later = cuda.create_context(0, device)
    functions.append(int(cuda.cuKernelGetFunction(kernel)))
    cuda.launch(cuda.CUfunction(int(kernel)), (100,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    second, _ = cuda.cuLibraryGetGlobal(library, b"counter")
    assert u32(cuda, second) == 105
    assert functions[0] != functions[1]
    assert int(first) != int(second)
    cuda.cuCtxDestroy(later)
    assert u32(cuda, first) == 15


def test_what_stands_for_it_in_a_context_is_one_thing(cuda, library, context):
    kernel = cuda.cuLibraryGetKernel(library, b"bump")
    function = cuda.cuKernelGetFunction(kernel)
    assert int(cuda.cuKernelGetFunction(kernel)) == int(function)
    module = cuda.cuLibraryGetModule(library)
    assert int(cuda.cuLibraryGetModule(library)) == int(module)
    assert int(cuda.cuFuncGetModule(function)) == int(module)
    assert int(cuda.cuModuleGetFunction(module, b"bump")) == int(function)
    by_module, _ = cuda.cuModuleGetGlobal(module, b"counter")
    by_library, _ = cuda.cuLibraryGetGlobal(library, b"counter")
    assert int(by_module) == int(by_library)


def test_managed_variables_have_one_address(cuda, device, library, context):
    address, size = cuda.cuLibraryGetManaged(library, b"common_counter")
    same, _ = cuda.cuLibraryGetGlobal(library, b"common_counter")
    assert (int(same), size) == (int(address), 4)
    value = ctypes.c_uint32.from_address(int(address))
    assert value.value == 7
    kernel = cuda.CUfunction(int(cuda.cuLibraryGetKernel(library, b"bump")))
    cuda.launch(kernel, (10,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    assert value.value == 17

    later = cuda.create_context(0, device)
    assert int(cuda.cuLibraryGetGlobal(library, b"common_counter")[0]) == int(address)
    cuda.launch(kernel, (10,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    assert value.value == 27
    value.value = 1
    assert u32(cuda, address) == 1
    cuda.cuCtxDestroy(later)


def test_a_variable_that_is_not_managed(cuda, library, context):
    assert cuda.result("cuLibraryGetManaged", library, b"counter") == "NOT_FOUND"
    assert cuda.result("cuLibraryGetGlobal", library, b"none") == "NOT_FOUND"


def test_managed_variables_on_two_devices(cuda, library, context, second_device):
    kernel = cuda.CUfunction(int(cuda.cuLibraryGetKernel(library, b"bump")))
    address, _ = cuda.cuLibraryGetManaged(library, b"common_counter")
    value = ctypes.c_uint32.from_address(int(address))
    cuda.launch(kernel, (1,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    other = cuda.create_context(0, second_device)
    assert int(cuda.cuLibraryGetGlobal(library, b"common_counter")[0]) == int(address)
    cuda.launch(kernel, (1,), (ctypes.c_uint32,))
    cuda.cuCtxSynchronize()
    assert value.value == 9
    cuda.cuCtxDestroy(other)


def test_parameters_of_a_kernel(cuda, context, ptx):
    loaded = cuda.load_library(ptx("kernels"))
    kernel = cuda.cuLibraryGetKernel(loaded, b"mixed")
    listed = []
    while cuda.result("cuKernelGetParamInfo", kernel, len(listed)) == "CUDA_SUCCESS":
        listed.append(cuda.cuKernelGetParamInfo(kernel, len(listed)))
    assert listed == [(0, 8), (8, 1), (10, 2), (12, 4), (16, 1), (24, 8), (32, 12)]
    assert cuda.result("cuKernelGetParamInfo", kernel, len(listed)) == "INVALID_VALUE"
    cuda.cuLibraryUnload(loaded)


def test_attributes_of_the_kernel_and_of_its_function(cuda, device, library, context):
    dynamic = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    kernel = cuda.cuLibraryGetKernel(library, b"bump")
    function = cuda.cuKernelGetFunction(kernel)
    cuda.cuFuncSetAttribute(function, dynamic, 60_000)
    cuda.cuKernelSetAttribute(dynamic, 70_000, kernel, device)
    assert cuda.cuFuncGetAttribute(dynamic, function) == 60_000
    assert cuda.cuKernelGetAttribute(dynamic, kernel, device) == 70_000


def test_attributes_of_the_kernel_reach_its_function(cuda, device, library, context):
    dynamic = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    kernel = cuda.cuLibraryGetKernel(library, b"bump")
    cuda.cuKernelSetAttribute(dynamic, 70_000, kernel, device)
    assert cuda.cuFuncGetAttribute(dynamic, cuda.cuKernelGetFunction(kernel)) == 70_000
    assert cuda.result("cuKernelSetAttribute", dynamic, 1 << 20, kernel, device) == "INVALID_VALUE"
    assert cuda.result("cuKernelGetAttribute", dynamic, kernel, 1000) == "INVALID_DEVICE"


def test_each_load_is_a_library_of_its_own(cuda, ptx, context):
    first, second = (cuda.load_library(ptx("variables")) for _ in range(2))
    one, _ = cuda.cuLibraryGetManaged(first, b"common_counter")
    other, _ = cuda.cuLibraryGetManaged(second, b"common_counter")
    assert int(one) != int(other)
    cuda.cuLibraryUnload(first)
    assert ctypes.c_uint32.from_address(int(other)).value == 7
    cuda.cuLibraryUnload(second)
