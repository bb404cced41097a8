"""What a kernel's fault does to the rest of its process. Each fault has a process of its own."""

import functools

import pytest


@pytest.fixture(scope="module")
def run(in_new_process):
    """Run ``fault.py``, once for the same arguments."""
    return functools.cache(functools.partial(in_new_process, "fault.py"))


def answers(finished):
    """What each call returned, in order."""
    return [(name, int(code)) for name, code in map(str.split, finished.stdout.splitlines())]


FAULTS = [
    ("store", "null", 700),
    ("store", "far", 700),
    ("store", "freed", 700),
    ("store", "odd", 716),
    ("trapped", "null", 719),
    ("asserted", "null", 710),
]


@pytest.mark.parametrize(("kernel", "where", "code"), FAULTS)
def test_the_next_synchronising_call_tells(run, kernel, where, code):
    told = answers(run(kernel, where))
    assert told[:3] == [
        ("cuLaunchKernel", 0),
        ("cuCtxSynchronize", code),
        ("cuCtxSynchronize", code),
    ]


@pytest.mark.parametrize(("kernel", "where", "code"), FAULTS)
def test_it_is_the_answer_of_every_call_from_then_on(run, kernel, where, code):
    told = answers(run(kernel, where))
    assert told[3:10] == [
        ("cuMemAlloc", code),
        ("cuMemFree", code),
        ("cuLaunchKernel", code),
        ("cuStreamSynchronize", code),
        ("cuModuleLoadData", code),
        ("cuEventCreate", code),
        ("cuCtxCreate", code),
    ]


def test_resetting_succeeds_and_destroys_the_context(run):
    told = answers(run("store", "null"))
    assert told[12:14] == [("cuDevicePrimaryCtxReset", 0), ("cuCtxSynchronize", 709)]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("cuMemAlloc", 709),
        ("cuDevicePrimaryCtxGetState", 0),
        ("cuCtxCreate", 700),
        ("cuDevicePrimaryCtxRetain", 700),
    ],
)
def test_resetting_heals_nothing(run, call, code):
    assert dict(answers(run("store", "null"))[14:])[call] == code


@pytest.mark.parametrize(
    ("ending", "call", "code"),
    [
        ("release", "cuDevicePrimaryCtxRelease", 0),
        ("release", "cuCtxSynchronize", 709),
        ("release", "cuDevicePrimaryCtxRetain", 700),
        ("destroy", "cuCtxDestroy", 0),
        ("destroy", "cuCtxSynchronize", 201),
        ("destroy", "cuCtxPopCurrent", 201),
        ("destroy", "cuCtxCreate", 700),
    ],
)
def test_ending_the_context_heals_nothing(run, ending, call, code):
    assert dict(answers(run("store", "null", ending))[12:])[call] == code


def test_what_can_still_be_asked(run):
    told = answers(run("store", "null"))
    assert told[10:12] == [("cuDeviceGetCount", 0), ("cuCtxGetCurrent", 0)]


def test_a_failed_assertion_is_told_on_stderr(run):
    words = "file.cu:12: main: block: [0,0,0], thread: [0,0,0] Assertion `x > 0` failed."
    assert words in run("asserted", "null").stderr


def test_a_kernel_prints_to_stdout(in_new_process):
    assert in_new_process("greet.py").stdout == "hello 42\nhello 42\n"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("ld.u32 %r, [%l]; ld.u32 %r, [%s]; st.u32 [%l], %r;", "CUDA_SUCCESS"),
        ("ld.global.u32 %r, [%l];", "INVALID_ADDRESS_SPACE"),
        ("st.global.u32 [%s], %r;", "INVALID_ADDRESS_SPACE"),
    ],
)
def test_global_memory_at_an_address_of_another_space(in_new_process, body, answer):
    assert in_new_process("window_fault.py", body).stdout.strip() == answer
