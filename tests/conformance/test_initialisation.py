"""Driver API, sections 6.2 to 6.4: errors, initialisation, version."""

import pytest


def test_what_works_before_cuinit(in_new_process):
    answers = dict(line.split() for line in in_new_process("before_init.py").stdout.splitlines())
    assert answers == {
        "cuDriverGetVersion": "0",
        "cuGetErrorName": "0",
        "cuGetErrorString": "0",
        "cuDeviceGetCount": "3",
        "cuDeviceGet": "3",
        "cuDevicePrimaryCtxRetain": "3",
        "cuCtxGetCurrent": "3",
        "cuMemAlloc": "3",
        "cuInit": "1",
    }


def test_cuinit_may_be_called_again(cuda):
    assert cuda.result("cuInit", 0) == "CUDA_SUCCESS"


def test_version_is_that_of_a_driver_with_libraries(cuda):
    assert cuda.cuDriverGetVersion() >= 12000


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("CUDA_SUCCESS", b"no error"),
        ("CUDA_ERROR_INVALID_VALUE", b"invalid argument"),
        ("CUDA_ERROR_OUT_OF_MEMORY", b"out of memory"),
        ("CUDA_ERROR_NOT_INITIALIZED", b"initialization error"),
        ("CUDA_ERROR_INVALID_DEVICE", b"invalid device ordinal"),
        ("CUDA_ERROR_INVALID_IMAGE", b"device kernel image is invalid"),
        ("CUDA_ERROR_INVALID_CONTEXT", b"invalid device context"),
        (
            "CUDA_ERROR_NO_BINARY_FOR_GPU",
            b"no kernel image is available for execution on the device",
        ),
        ("CUDA_ERROR_INVALID_PTX", b"a PTX JIT compilation failed"),
        (
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            b"the provided PTX was compiled with an unsupported toolchain.",
        ),
        ("CUDA_ERROR_FILE_NOT_FOUND", b"file not found"),
        ("CUDA_ERROR_INVALID_HANDLE", b"invalid resource handle"),
        ("CUDA_ERROR_NOT_FOUND", b"named symbol not found"),
        ("CUDA_ERROR_NOT_READY", b"device not ready"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", b"an illegal memory access was encountered"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", b"too many resources requested for launch"),
        ("CUDA_ERROR_CONTEXT_IS_DESTROYED", b"context is destroyed"),
        ("CUDA_ERROR_ASSERT", b"device-side assert triggered"),
        ("CUDA_ERROR_HARDWARE_STACK_ERROR", b"hardware stack error"),
        ("CUDA_ERROR_ILLEGAL_INSTRUCTION", b"an illegal instruction was encountered"),
        ("CUDA_ERROR_MISALIGNED_ADDRESS", b"misaligned address"),
        ("CUDA_ERROR_LAUNCH_FAILED", b"unspecified launch failure"),
        ("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", b"too many blocks in cooperative launch"),
        ("CUDA_ERROR_NOT_PERMITTED", b"operation not permitted"),
        ("CUDA_ERROR_NOT_SUPPORTED", b"operation not supported"),
        ("CUDA_ERROR_UNKNOWN", b"unknown error"),
    ],
)
def test_names_and_words_of_results(cuda, result, words):
    number = getattr(cuda.CUresult, result)
    assert cuda.cuGetErrorName(number) == result.encode()
    assert cuda.cuGetErrorString(number) == words
