"""Kernels that launch kernels, and the functions of the device runtime.

The kernels are `ptx/children.cu`. A GPU needs ``libcudadevrt``, with which they are linked; the
emulated device has these functions.
"""

import ctypes
import functools

import numpy as np
import pytest

from tests.conformance.device_runtime import image

POINTER, WORD = ctypes.c_uint64, ctypes.c_uint32
WORDS = 64
FILL = -1

NULL, LEGACY, PER_THREAD, TAIL, FIRE_AND_FORGET = range(5)


@pytest.fixture
def module(cuda, context, ptx):
    """The module of the kernels."""
    linked = image(cuda.module, ptx("children"))
    if linked is None:
        pytest.skip("there is no libcudadevrt.a")
    return cuda.cuModuleLoadData(linked)


@pytest.fixture
def call(cuda, module):
    """Launch a kernel with a buffer of words and other arguments; return the words."""
    out = cuda.cuMemAlloc(8 * WORDS)

    def run(name, *arguments, block=1):
        cuda.cuMemsetD8(out, 0xFF, 8 * WORDS)
        values = (int(out), *(value for _, value in arguments))
        types = (POINTER, *(kind for kind, _ in arguments))
        cuda.launch(
            cuda.cuModuleGetFunction(module, name.encode()), values, types, block=(block, 1, 1)
        )
        cuda.cuCtxSynchronize()
        words = np.zeros(WORDS, np.int64)
        cuda.cuMemcpyDtoH(words, out, words.nbytes)
        return words.tolist()

    return run


def test_tail_launches_follow_the_grid_and_its_children(call):
    parent, first, second, forgotten, tail, last = call("order")[:6]
    assert sorted((parent, first, second, forgotten)) == [0, 1, 2, 3]
    assert first < second
    assert (tail, last) == (4, 5)


def test_a_grid_is_complete_with_its_tail_launches(call):
    assert call("nested")[:3] == [0, 1, 2]


def test_tail_launches_of_a_tail_launch_come_before_the_next_one(call):
    assert call("tails")[:3] == [0, 1, 2]


def test_shapes_and_parameters_arrive(call):
    assert call("shapes")[:8] == [3002, 64, 256, 63, -3, 20, -300, 3]


@pytest.mark.parametrize("stream", [NULL, TAIL, FIRE_AND_FORGET])
def test_there_is_no_limit_of_depth(call, stream):
    assert call("deep", (WORD, 1), (WORD, 60), (POINTER, stream))[:2] == [60, FILL]


@pytest.mark.parametrize("stream", [NULL, FIRE_AND_FORGET])
def test_a_thread_can_launch_more_than_can_be_pending(call, stream):
    assert call("many", (WORD, 3000), (POINTER, stream))[:2] == [0, 0]
    assert call("read_runs")[2] == 3000


def test_tail_launches_are_limited(call):
    assert call("many", (WORD, 2060), (POINTER, TAIL))[:2] == [12, 69]
    assert call("read_runs")[2] == 2048


GOOD, BAD = [1, 0, 0, 0, 0], [1, 9, 9, 9, 0]


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        ((1, 1, 1, 1, 0), GOOD),
        ((0, 1, 1, 1, 0), BAD),
        ((1, 0, 1, 1, 0), BAD),
        ((1, 1, 0, 1, 0), BAD),
        ((1 << 31, 1, 1, 1, 0), BAD),
        ((1, 65536, 1, 1, 0), BAD),
        ((1, 1, 1025, 1, 0), BAD),
        ((1, 1, 1, 65, 0), BAD),
        ((1, 1, 512, 4, 0), BAD),
        ((1, 1, 1, 1, 49152), GOOD),
        ((1, 1, 1, 1, 49153), BAD),
    ],
)
def test_shapes_that_cannot_be_launched(call, shape, told):
    assert call("try_empty", *((WORD, part) for part in shape), (POINTER, 0))[:5] == told


@pytest.mark.parametrize("stream", [NULL, LEGACY, PER_THREAD, TAIL, FIRE_AND_FORGET])
def test_named_streams(call, stream):
    shape = ((WORD, part) for part in (1, 1, 1, 1, 0))
    assert call("try_empty", *shape, (POINTER, stream))[:5] == GOOD


@pytest.mark.parametrize("stream", [5, 0x1234, 0x0200000000000000])
def test_other_numbers_are_no_streams(call, stream):
    shape = ((WORD, part) for part in (1, 1, 1, 1, 0))
    assert call("try_empty", *shape, (POINTER, stream))[:5] == [1, 1, 1, 1, 0]


def test_launch_bounds_apply(call):
    assert call("try_bounded", (WORD, 64))[:5] == GOOD
    assert call("try_bounded", (WORD, 65))[:5] == BAD


def test_clusters(call):
    assert call("try_cluster", (WORD, 2))[:6] == [0, FILL, FILL, FILL, 100, 101]
    assert call("try_cluster", (WORD, 3))[:6] == [912, FILL, FILL, FILL, FILL, FILL]


def test_errors_are_a_threads_own(call):
    assert call("errors_of_threads", block=3)[:3] == [0, 9, 0]


def test_values(cuda, call):
    assert call("values")[:27] == [
        *(0, 0),  # the device
        *(0, cuda.cuDeviceGetCount()),  # how many there are
        *(0, 6000),  # the version of the device runtime
        *(0, 32),  # an attribute
        *(0, 0),  # a number that is none
        *(0, 1024),  # limits
        *(0, 2048),
        *(215, -1),
        *(0, 16),  # occupancy
        *(1, 0),
        *(1, 1),  # a null pointer
        *(0, 64, 90, 90),  # attributes of a kernel
        1,
    ]


def test_streams_and_events(call):
    words = call("objects")
    assert words[:11] == [0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1]
    assert words[12] == 0


def test_the_heap(call):
    assert call("heap")[:7] == [0, 0, 2, 99, 1, 99, 0]


@pytest.mark.parametrize(
    ("error", "name", "description"),
    [
        (0, "cudaSuccess", "no error"),
        (9, "cudaErrorInvalidConfiguration", "invalid configuration argument"),
        (700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"),
        (12345, "unrecognized error code", "unrecognized error code"),
    ],
)
def test_texts_of_errors(cuda, call, module, error, name, description):
    words = call("texts", (WORD, error))
    data = np.array(words, np.int64).tobytes()
    assert data.split(b"\0")[0].decode() == name
    assert data[64:].split(b"\0")[0].decode() == description


def test_copies(cuda, call):
    size = 4096
    given = (np.arange(size) * 7 + 1).astype(np.uint8)
    source, target = cuda.cuMemAlloc(size), cuda.cuMemAlloc(size)
    cuda.cuMemcpyHtoD(source, given, size)
    cuda.cuMemsetD8(target, 0xEE, size)
    words = call("copies", (POINTER, int(source)), (POINTER, int(target)))
    assert words[:15] == [0, 0, 21, 0, 12, 0, 0, 0, 1, 0, 0, 999, 1, 0, 1]
    found = np.zeros(size, np.uint8)
    cuda.cuMemcpyDtoH(found, target, size)
    expected = np.full(size, 0xEE, np.uint8)
    expected[:100] = given[:100]
    expected[128:192] = given[:64]
    for row in range(4):
        expected[256 + 32 * row :][:10] = given[16 * row :][:10]
    for plane in range(2):
        for row in range(3):
            to, of = 512 + 32 * (row + 4 * plane), 16 * (row + 4 * plane)
            expected[to : to + 9] = given[of : of + 9]
    expected[1024:1074] = 0
    for row in range(3):
        expected[1280 + 16 * row :][:5] = 0
    for plane in range(3):
        for row in range(2):
            expected[1536 + 16 * (row + 4 * plane) :][:7] = 0
    expected[2048:2098] = expected[1000:1050]
    assert found.tolist() == expected.tolist()


# --- faults and output, in processes of their own ------------------------------------------------


@pytest.fixture(scope="module")
def run(in_new_process):
    """Run ``children.py``, once for the same arguments."""
    return functools.cache(functools.partial(in_new_process, "children.py"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("fault", "0", "0"), 700),
        (("fault", "1", "0"), 719),
        (("fault", "0", "3"), 700),
        (("fault", "1", "4"), 719),
        (("no_kernel",), 700),
        (("no_buffer",), 700),
    ],
)
def test_a_fault_of_a_child_is_the_fault_of_the_launch(run, arguments, code):
    told = run(*arguments).stdout.split()
    if told == ["skip"]:
        pytest.skip("there is no libcudadevrt.a")
    assert told == ["0", str(code)]


def test_output_of_children(run):
    told = run("talk").stdout.split("\n")
    if told[0] == "skip":
        pytest.skip("there is no libcudadevrt.a")
    assert told[:3] == ["child 1", "child 2", "child 3"]
