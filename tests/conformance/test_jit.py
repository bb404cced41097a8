"""Driver API, ``CUjit_option``: what the compiler in the driver accepts, refuses and logs."""

import uuid

import pytest

TOO_NEW = b".version 99.0\n.target sm_70\n.address_size 64\n\0"


class Logs:
    """An error and an information log, and the options that name them."""

    def __init__(self, cuda, *, verbose=False, size=4096):
        option = cuda.CUjit_option
        self._error, self._info = bytearray(size), bytearray(size)
        self.options = [
            option.CU_JIT_ERROR_LOG_BUFFER,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            option.CU_JIT_INFO_LOG_BUFFER,
            option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            option.CU_JIT_LOG_VERBOSE,
        ]
        self.values = [self._error, size, self._info, size, int(verbose)]

    @property
    def error(self):
        return self._error.split(b"\0")[0].decode()

    @property
    def info(self):
        return self._info.split(b"\0")[0].decode()

    def module(self, cuda, image):
        return cuda.result(
            "cuModuleLoadDataEx", image, len(self.options), self.options, self.values
        )

    def library(self, cuda, image):
        return cuda.cuLibraryLoadData(
            image, self.options, self.values, len(self.options), [], [], 0
        )


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        (b"bra nowhere;", "line 13; error   : Unknown symbol 'nowhere'"),
        (b"add.u32 %r2, %r1;", "line 13; error   : Arguments mismatch for instruction 'add'"),
        (b"add.u32 %r2, %r1, 1", "line 14; fatal   : Parsing error near 'ret': syntax error"),
        # A GPU's driver says "Unknown modifier '.xx'"; the emulator cannot know whether it is one.
        (b"add.xx.u32 %r2, %r1, %r1;", "line 13; error   : "),
    ],
)
def test_an_error_has_its_line(cuda, context, ptx, statement, complaint):
    logs = Logs(cuda)
    image = ptx("broken").replace(b"bra nowhere;", statement)
    assert logs.module(cuda, image) == "INVALID_PTX"
    lines = logs.error.splitlines()
    assert lines[0].startswith(f"ptxas application ptx input, {complaint}")
    assert "ptxas fatal   : Ptx assembly aborted due to errors" in lines


def test_ptx_that_is_newer_than_the_driver(cuda, context):
    logs = Logs(cuda)
    assert logs.module(cuda, TOO_NEW) == "UNSUPPORTED_PTX_VERSION"
    assert "Unsupported .version 99.0; current version is '" in logs.error


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("OPTIMIZATION_LEVEL", level) for level in range(5)),
        ("THREADS_PER_BLOCK", 1024),
        ("THREADS_PER_BLOCK", 4096),  # more than there are: taken all the same
        ("GENERATE_LINE_INFO", 1),
        ("GENERATE_DEBUG_INFO", 1),
        ("POSITION_INDEPENDENT_CODE", 1),
        ("CACHE_MODE", "CU_JIT_CACHE_OPTION_CG"),
        ("FALLBACK_STRATEGY", "CU_PREFER_PTX"),
        ("FALLBACK_STRATEGY", "CU_PREFER_BINARY"),
    ],
)
def test_options_that_every_device_takes(cuda, context, ptx, option, value):
    enum = {"CACHE_MODE": cuda.CUjit_cacheMode, "FALLBACK_STRATEGY": cuda.CUjit_fallback}
    value = getattr(enum[option], value) if option in enum else value
    option = getattr(cuda.CUjit_option, f"CU_JIT_{option}")
    try:
        module = cuda.cuModuleLoadDataEx(ptx("kernels"), 1, [option], [value])
    except TypeError as error:  # cuda-bindings 13.3 know no CU_JIT_POSITION_INDEPENDENT_CODE
        pytest.skip(f"the bindings do not pass it: {error}")
    cuda.cuModuleUnload(module)


def test_code_for_another_architecture(cuda, context, ptx):
    device = cuda.cuCtxGetDevice()
    major = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    other = 80 if cuda.cuDeviceGetAttribute(major, device) != 8 else 90
    target = getattr(cuda.CUjit_target, f"CU_TARGET_COMPUTE_{other}")
    options = [cuda.CUjit_option.CU_JIT_TARGET], [target]
    assert cuda.result("cuModuleLoadDataEx", ptx("kernels"), 1, *options) == "INVALID_SOURCE"


def test_at_most_no_registers(cuda, context, ptx):
    options = [cuda.CUjit_option.CU_JIT_MAX_REGISTERS], [0]
    assert cuda.result("cuModuleLoadDataEx", ptx("kernels"), 1, *options) == "INVALID_VALUE"


def test_a_small_log_buffer_is_kept_to(cuda, context, ptx):
    logs = Logs(cuda, size=20)
    assert logs.module(cuda, ptx("broken")) == "INVALID_PTX"
    assert "ptxas application p".startswith(logs.error)


def test_no_log_where_all_is_well(cuda, context, ptx):
    logs = Logs(cuda)
    assert logs.module(cuda, ptx("kernels")) == "CUDA_SUCCESS"
    assert logs.error == ""


def test_a_verbose_log_names_the_kernels(cuda, context, ptx):
    logs = Logs(cuda, verbose=True)
    unique = f"// {uuid.uuid4()}\n".encode()  # text from the driver's compute cache says less
    assert logs.module(cuda, unique + ptx("variables")) == "CUDA_SUCCESS"
    assert "bump" in logs.info
    assert "look" in logs.info


@pytest.mark.parametrize(
    ("image", "answer"),
    [("broken", "INVALID_PTX"), ("too new", "UNSUPPORTED_PTX_VERSION")],
)
def test_lazy_loading_accepts_what_does_not_compile(cuda, context, ptx, image, answer):
    logs = Logs(cuda)
    library = logs.library(cuda, TOO_NEW if image == "too new" else ptx(image))
    assert "ptxas" in logs.error
    assert cuda.result("cuLibraryGetKernel", library, b"broken") == answer
    cuda.cuLibraryUnload(library)


@pytest.fixture
def broken(cuda, context, ptx):
    """A library that does not compile, loaded all the same; its log buffers live as long."""
    logs = Logs(cuda)
    library = logs.library(cuda, ptx("broken"))
    yield library
    cuda.cuLibraryUnload(library)


def test_a_library_that_does_not_compile_has_no_kernels(cuda, broken):
    assert cuda.cuLibraryGetKernelCount(broken) == 0


def test_a_library_that_does_not_compile_lists_no_kernels(cuda, broken):
    assert [int(kernel) for kernel in cuda.cuLibraryEnumerateKernels(1, broken)] == [0]


def test_a_library_that_does_not_compile_gives_no_module(cuda, broken):
    assert cuda.result("cuLibraryGetModule", broken) == "INVALID_PTX"


@pytest.mark.parametrize("call", ["cuLibraryGetGlobal", "cuLibraryGetManaged"])
def test_a_library_that_does_not_compile_gives_no_variables(cuda, broken, call):
    assert cuda.result(call, broken, b"x") == "INVALID_PTX"


@pytest.mark.parametrize("mode", ["EAGER", "LAZY"])
def test_eager_loading_accepts_it_too(in_new_process, ptx, mode, tmp_path):
    image = tmp_path / "broken.ptx"
    image.write_bytes(ptx("broken"))
    run = in_new_process("load_library.py", str(image), CUDA_MODULE_LOADING=mode)
    assert run.stdout.split() == ["0"]


@pytest.mark.parametrize(
    ("image", "answer"),
    [
        (b"no image at all\0", "INVALID_IMAGE"),
        (b"\0", "INVALID_IMAGE"),
        (b".version 8.0\n.target sm_70\n.address_size 64\n\0", "NOT_FOUND"),
    ],
)
def test_a_library_without_code_says_so_late(cuda, image, answer):
    library = cuda.load_library(image)
    assert cuda.cuLibraryGetKernelCount(library) == 0
    assert cuda.result("cuLibraryGetKernel", library, b"any") == answer
    cuda.cuLibraryUnload(library)


@pytest.mark.parametrize("image", [b"no image at all\0", b"\0", b"\x01\x02\x03\x04\0"])
def test_what_is_no_image(cuda, context, image):
    assert cuda.result("cuModuleLoadData", image) == "INVALID_IMAGE"


def test_what_is_no_image_is_told_in_the_log(cuda, context):
    logs = Logs(cuda)
    assert logs.module(cuda, b"no image at all\0") == "INVALID_IMAGE"
    assert logs.error == "error   : Binary format for key='0', ident='' is not recognized"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b"sm_70", b"sm_999", "line 3; fatal   : Unsupported .target 'sm_999'"),
        (
            b"size 64",
            b"size 32",
            " 32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported",
        ),
        (b"sm_70", b"sm_100", "line 3; error   : PTX .version 8.0 does not support .target sm_100"),
        (b"8.0\n.target sm_70", b"6.0\n.target sm_75", "PTX .version 6.0 does not support"),
        (b"sm_70", b"sm_70a", "line 3; fatal   : Unsupported .target 'sm_70a'"),
    ],
)
def test_headers_that_no_driver_takes(cuda, context, ptx, old, new, complaint):
    logs = Logs(cuda)
    assert logs.module(cuda, ptx("kernels").replace(old, new)) == "INVALID_PTX"
    assert complaint in logs.error


def test_a_target_newer_than_the_device(cuda, context):
    text = b".version 8.6\n.target sm_120\n.address_size 64\n.visible .entry e() { ret; }\n\0"
    logs = Logs(cuda)
    assert logs.module(cuda, text.replace(b"8.6", b"8.7")) == "INVALID_PTX"
    assert "SM version specified by .target is higher" in logs.error


def test_a_function_that_is_defined_nowhere(cuda, context, ptx):
    logs = Logs(cuda)
    assert logs.module(cuda, ptx("link_main")) == "INVALID_PTX"
    assert "Unresolved extern function 'scaled'" in logs.error
