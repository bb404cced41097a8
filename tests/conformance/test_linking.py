"""Driver API, section 6.12: ``cuLink*``."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

FATBIN = Path(__file__).parents[1] / "images/golden/tiny.fatbin"


class Link:
    """A link under way, with its logs; they must outlive it."""

    def __init__(self, cuda):
        self.cuda = cuda
        option = cuda.CUjit_option
        self._error, self._info = bytearray(4096), bytearray(4096)
        self._options = [
            option.CU_JIT_ERROR_LOG_BUFFER,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            option.CU_JIT_INFO_LOG_BUFFER,
            option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ]
        self._values = [self._error, 4096, self._info, 4096]
        self.state = cuda.cuLinkCreate(len(self._options), self._options, self._values)

    @property
    def error(self):
        return self._error.split(b"\0")[0].decode()

    def add(self, text, name, options=(), values=()):
        """What adding a PTX text returns."""
        kind = self.cuda.CUjitInputType.CU_JIT_INPUT_PTX
        call = (self.state, kind, text, len(text), name, len(options), [*options], [*values])
        return self.cuda.result("cuLinkAddData", *call)

    def image(self):
        """The linked image; its memory is the link's, so it is copied."""
        address, size = self.cuda.cuLinkComplete(self.state)
        return ctypes.string_at(address, size)


@pytest.fixture
def link(cuda, context):
    begun = Link(cuda)
    yield begun
    cuda.cuLinkDestroy(begun.state)


def run_part(cuda, module):
    """What ``use_part`` writes for 5."""
    function = cuda.cuModuleGetFunction(module, b"use_part")
    out = cuda.cuMemAlloc(8)
    cuda.launch(function, (int(out), 5), (ctypes.c_void_p, ctypes.c_uint32))
    cuda.cuCtxSynchronize()
    data = np.empty(2, np.uint32)
    cuda.cuMemcpyDtoH(data, out, 8)
    return data.tolist()


def test_a_link_wants_a_context(cuda):
    assert cuda.result("cuLinkCreate", 0, [], []) == "INVALID_CONTEXT"


@pytest.mark.parametrize("order", [("link_main", "link_part"), ("link_part", "link_main")])
def test_two_texts_become_one_image(cuda, link, ptx, order):
    for name in order:
        assert link.add(ptx(name), name.encode()) == "CUDA_SUCCESS"
    image = link.image()
    assert run_part(cuda, cuda.cuModuleLoadData(image)) == [5 * 3 + 1000 + 100, 3]


def test_a_linked_image_is_a_library_too(cuda, link, ptx):
    link.add(ptx("link_main"), b"main")
    link.add(ptx("link_part"), b"part")
    library = cuda.load_library(link.image())
    kernel = cuda.cuLibraryGetKernel(library, b"use_part")
    assert cuda.cuKernelGetName(kernel) == b"use_part"
    assert run_part(cuda, cuda.cuLibraryGetModule(library)) == [1115, 3]
    cuda.cuLibraryUnload(library)


def test_a_linked_image_is_a_file_too(cuda, link, ptx, tmp_path):
    link.add(ptx("link_main"), b"main")
    link.add(ptx("link_part"), b"part")
    path = tmp_path / "linked.cubin"
    path.write_bytes(link.image())
    assert run_part(cuda, cuda.cuModuleLoad(str(path).encode())) == [1115, 3]


def test_inputs_from_files(cuda, link, ptx, tmp_path):
    kind = cuda.CUjitInputType.CU_JIT_INPUT_PTX
    for name in ("link_main", "link_part"):
        path = tmp_path / f"{name}.ptx"
        path.write_bytes(ptx(name).rstrip(b"\0"))
        cuda.cuLinkAddFile(link.state, kind, str(path).encode(), 0, [], [])
    assert run_part(cuda, cuda.cuModuleLoadData(link.image())) == [1115, 3]
    missing = cuda.result("cuLinkAddFile", link.state, kind, b"/nowhere/at all", 0, [], [])
    assert missing == "INVALID_VALUE"


def test_a_file_that_is_not_there(cuda, link):
    kind = cuda.CUjitInputType.CU_JIT_INPUT_PTX
    missing = cuda.result("cuLinkAddFile", link.state, kind, b"/nowhere/at all", 0, [], [])
    assert missing == "FILE_NOT_FOUND"


def test_a_complete_link_takes_nothing_more(link, ptx):
    link.add(ptx("link_main"), b"main")
    link.add(ptx("link_part"), b"part")
    link.image()
    assert link.add(ptx("variables"), b"variables") == "INVALID_VALUE"


def test_an_error_in_an_input_is_told_at_once(link, ptx):
    assert link.add(ptx("broken"), b"broken.ptx") == "INVALID_PTX"
    assert "line 13; error   : Unknown symbol 'nowhere'" in link.error


def test_an_input_newer_than_the_driver(link):
    text = b".version 99.0\n.target sm_70\n.address_size 64\n\0"
    assert link.add(text, b"new.ptx") == "UNSUPPORTED_PTX_VERSION"
    assert "Unsupported .version 99.0" in link.error


def test_a_symbol_defined_twice(link, ptx):
    assert link.add(ptx("link_part"), b"one.ptx") == "CUDA_SUCCESS"
    assert link.add(ptx("link_part"), b"two.ptx") == "INVALID_SOURCE"
    message = "Multiple definition of 'scaled' in 'two.ptx', first defined in 'one.ptx'"
    assert message in link.error


def test_a_symbol_defined_nowhere(cuda, link, ptx):
    assert link.add(ptx("link_main"), b"main.ptx") == "CUDA_SUCCESS"
    assert cuda.result("cuLinkComplete", link.state) == "CUDA_SUCCESS"


@pytest.mark.parametrize("symbol", ["scaled", "factor"])
def test_a_symbol_defined_nowhere_is_told_in_the_log(link, ptx, symbol):
    link.add(ptx("link_main"), b"main.ptx")
    link.image()
    assert f"Undefined reference to '{symbol}' in 'main.ptx'" in link.error


def test_options_of_the_whole_link_are_not_an_inputs(cuda, link, ptx):
    option = cuda.CUjit_option
    buffer = bytearray(64)
    options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    assert link.add(ptx("link_part"), b"part", options, [buffer, 64]) == "INVALID_VALUE"


def test_a_link_has_no_fallback(cuda, link):
    kind = cuda.CUjitInputType.CU_JIT_INPUT_FATBINARY
    fatbin = FATBIN.read_bytes()
    options = [cuda.CUjit_option.CU_JIT_FALLBACK_STRATEGY], [cuda.CUjit_fallback.CU_PREFER_PTX]
    call = (link.state, kind, fatbin, len(fatbin), b"tiny", 1, *options)
    assert cuda.result("cuLinkAddData", *call) == "INVALID_VALUE"


def test_an_empty_input(link):
    assert link.add(b"", b"empty") == "INVALID_VALUE"
