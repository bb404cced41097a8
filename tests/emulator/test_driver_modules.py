"""Modules and libraries in the emulator: what initial values become, and what is given back."""

import ctypes

import pytest

from cudarun.emulator import driver
from cudarun.emulator.host.modules import LibraryKernel

VARIABLES = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .func twice (.param .b32 v) { ret; }
.visible .global .align 1 .b8 padding[70000];
.visible .global .align 4 .u32 word = 7;
.visible .global .align 8 .u64 addresses[2] = {word, generic(word)+4};
.visible .global .align 1 .b8 bytes[8] = {
    0xFF(word+0x30201), 0xFF00(word+0x30201), 0xFF0000(word+0x30201), 0xFF000000(word+0x30201),
    0xFF00000000(word), 0xFF0000000000(word), 0xFF000000000000(word), 0xFF00000000000000(word)
};
.visible .global .align 8 .u64 pointer = twice;
.visible .global .attribute(.managed) .align 4 .u32 shared = 9;
.extern .global .align 4 .u32 elsewhere;
.visible .entry nothing () { ret; }
"""


@pytest.fixture(autouse=True)
def context(fresh_process):
    driver.cuInit(0)
    _, created = driver.cuCtxCreate(None, 0, 0)
    return created


def ok(answer):
    result, *values = answer
    assert int(result) == 0, result
    return values[0] if len(values) == 1 else values


def read(address, size):
    data = bytearray(size)
    ok(driver.cuMemcpyDtoH(data, address, size))
    return int.from_bytes(data, "little")


def load(image):
    return ok(driver.cuLibraryLoadData(image, [], [], 0, [], [], 0))


def test_initial_values_take_addresses():
    module = ok(driver.cuModuleLoadData(VARIABLES))

    def variable(name):
        return ok(driver.cuModuleGetGlobal(module, name))

    word, _ = variable(b"word")
    addresses, size = variable(b"addresses")
    assert size == 16
    assert [read(int(addresses) + 8 * i, 8) for i in range(2)] == [int(word), int(word) + 4]
    chosen, _ = variable(b"bytes")
    split = (int(word) + 0x30201).to_bytes(8, "little")
    assert len({0, *split[:3]}) == 4  # equal bytes would hide a wrong shift
    assert read(chosen, 8).to_bytes(8, "little") == split
    pointer, _ = variable(b"pointer")
    assert read(pointer, 8) != 0


def test_an_extern_variable_of_a_whole_program_is_its_own():
    module = ok(driver.cuModuleLoadData(VARIABLES))
    address, size = ok(driver.cuModuleGetGlobal(module, b"elsewhere"))
    assert (size, read(address, 4)) == (4, 0)


def test_managed_variables_of_a_module_are_at_host_addresses():
    module = ok(driver.cuModuleLoadData(VARIABLES))
    address, _ = ok(driver.cuModuleGetGlobal(module, b"shared"))
    assert ctypes.c_uint32.from_address(int(address)).value == 9


def test_unloading_gives_everything_back(fresh_process):
    memory, host = fresh_process.devices[0].memory, fresh_process.host_memory
    module = ok(driver.cuModuleLoadData(VARIABLES))
    library = load(VARIABLES)
    ok(driver.cuLibraryGetModule(library))
    function = ok(driver.cuModuleGetFunction(module, b"nothing"))
    kernel = ok(driver.cuLibraryGetKernel(library, b"nothing"))
    assert memory.used > 0
    assert host.used > 0
    ok(driver.cuModuleUnload(module))
    ok(driver.cuLibraryUnload(library))
    assert (memory.used, host.used) == (0, 0)
    for call, handle in (
        ("cuFuncGetName", function),
        ("cuKernelGetName", kernel),
        ("cuModuleUnload", module),
        ("cuLibraryUnload", library),
    ):
        assert getattr(driver, call)(handle)[0].name == "CUDA_ERROR_INVALID_HANDLE"


def test_a_library_outlives_its_contexts(context, fresh_process):
    library = load(VARIABLES)
    first = ok(driver.cuLibraryGetModule(library))
    ok(driver.cuCtxDestroy(context))
    assert driver.cuModuleUnload(first)[0].name == "CUDA_ERROR_INVALID_HANDLE"
    ok(driver.cuCtxCreate(None, 0, 0))
    assert int(ok(driver.cuLibraryGetModule(library))) != int(first)
    shared, _ = ok(driver.cuLibraryGetManaged(library, b"shared"))
    assert ctypes.c_uint32.from_address(int(shared)).value == 9
    ok(driver.cuLibraryUnload(library))
    assert fresh_process.devices[0].memory.used == 0


def test_a_library_whose_variables_are_refused_leaves_no_kernels(fresh_process):
    # A managed variable, the same in every context, cannot hold an address in one of them.
    image = VARIABLES.replace(b".align 4 .u32 shared = 9", b".align 8 .u64 shared = word")
    result, _ = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
    assert result.name == "CUDA_ERROR_INVALID_IMAGE"
    assert fresh_process.handles.every(LibraryKernel) == []


def test_more_variables_than_there_is_memory(fresh_process):
    free, _ = ok(driver.cuMemGetInfo())
    ok(driver.cuMemAlloc(free - 16))  # room for some of them
    used = fresh_process.devices[0].memory.used
    answer = driver.cuModuleLoadData(VARIABLES)
    assert answer[0].name == "CUDA_ERROR_OUT_OF_MEMORY"
    assert fresh_process.devices[0].memory.used == used


def test_lists_are_filled_with_null_handles():
    library = load(VARIABLES)
    assert [int(k) != 0 for k in ok(driver.cuLibraryEnumerateKernels(2, library))] == [True, False]
    module = ok(driver.cuLibraryGetModule(library))
    functions = ok(driver.cuModuleEnumerateFunctions(2, module))
    assert [int(f) != 0 for f in functions] == [True, False]


def test_the_verbose_log():
    option = driver.CUjit_option
    log = bytearray(2000)
    options = [
        option.CU_JIT_INFO_LOG_BUFFER,
        option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        option.CU_JIT_LOG_VERBOSE,
    ]
    ok(driver.cuModuleLoadDataEx(VARIABLES, 3, options, [log, len(log), 1]))
    lines = log.split(b"\0")[0].decode().splitlines()
    assert lines[0].startswith("ptxas info    : ")
    assert lines[0].endswith(" bytes gmem")
    assert "ptxas info    : Compiling entry function 'nothing' for 'sm_90a'" in lines


def test_fewer_options_than_counted():
    with pytest.raises(RuntimeError, match="List is too small: 1 < 2"):
        driver.cuModuleLoadDataEx(VARIABLES, 2, [driver.CUjit_option.CU_JIT_LOG_VERBOSE], [1])


def test_a_log_buffer_of_bytes_is_written_like_any_other():
    option = driver.CUjit_option
    log = b" " * 300
    options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    image = VARIABLES.replace(b"8.0", b"9.9")
    assert int(driver.cuModuleLoadDataEx(image, 2, options, [log, 300])[0]) == 222
    assert b"Unsupported .version 9.9; current version is '9.5'" in log
