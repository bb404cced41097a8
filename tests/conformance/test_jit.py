"""Driver API, ``CUjit_option``: what the compiler in the driver accepts, refuses and logs."""

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


@pytest.mark.assumed
def test_a_small_log_buffer_is_kept_to(cuda, context, ptx):
    logs = Logs(cuda, size=20)
    assert logs.module(cuda, ptx("broken")) == "INVALID_PTX"
    assert "ptxas application p".startswith(logs.error)


def test_no_log_where_all_is_well(cuda, context, ptx):
    logs = Logs(cuda)
    assert logs.module(cuda, ptx("kernels")) == "CUDA_SUCCESS"
    assert logs.error == ""


@pytest.mark.assumed  # one served from the compute cache says less
def test_a_verbose_log_names_the_kernels(cuda, context, ptx):
    logs = Logs(cuda, verbose=True)
    assert logs.module(cuda, ptx("variables")) == "CUDA_SUCCESS"
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


@pytest.mark.assumed
def test_what_else_finds_out_that_a_library_does_not_compile(cuda, context, ptx):
    library = Logs(cuda).library(cuda, ptx("broken"))
    assert cuda.result("cuLibraryGetModule", library) == "INVALID_PTX"
    assert cuda.result("cuLibraryGetKernelCount", library) == "INVALID_PTX"
    assert cuda.result("cuLibraryGetGlobal", library, b"x") == "INVALID_PTX"
    cuda.cuLibraryUnload(library)


@pytest.mark.parametrize(("mode", "answer"), [("EAGER", "218"), ("LAZY", "0")])
@pytest.mark.assumed
def test_eager_loading_does_not(in_new_process, ptx, mode, answer, tmp_path):
    image = tmp_path / "broken.ptx"
    image.write_bytes(ptx("broken"))
    run = in_new_process("load_library.py", str(image), CUDA_MODULE_LOADING=mode)
    assert run.stdout.split() == [answer]


@pytest.mark.assumed
@pytest.mark.parametrize("image", [b"no image at all\0", b"\0", b"\x01\x02\x03\x04\0"])
def test_what_is_no_image(cuda, context, image):
    assert cuda.result("cuModuleLoadData", image) == "INVALID_IMAGE"


@pytest.mark.assumed
def test_a_target_newer_than_the_device(cuda, context):
    text = b".version 8.6\n.target sm_120\n.address_size 64\n.visible .entry e() { ret; }\n\0"
    logs = Logs(cuda)
    assert logs.module(cuda, text.replace(b"8.6", b"8.7")) == "INVALID_PTX"
    assert "SM version specified by .target is higher" in logs.error


@pytest.mark.assumed
def test_a_function_that_is_defined_nowhere(cuda, context, ptx):
    logs = Logs(cuda)
    assert logs.module(cuda, ptx("link_main")) == "INVALID_PTX"
    assert "Unresolved extern function 'scaled'" in logs.error
