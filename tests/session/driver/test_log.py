"""What the driver's log said of a call that failed, and of no other."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cuda.bindings.driver import CUresult

from cudarun.emulator.api.logs import cuLogsCurrent, cuLogsDumpToMemory
from cudarun.emulator.host.process import process
from cudarun.session.driver import log as driver_log
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import choose_driver
from cudarun.session.driver.log import DriverLog, LibcudaLogs, libcuda_logs


@pytest.fixture
def log() -> DriverLog:
    process.reset()
    calls = SimpleNamespace(cuLogsCurrent=cuLogsCurrent, cuLogsDumpToMemory=cuLogsDumpToMemory)
    return DriverLog(calls)


FAILED = CUresult.CUDA_ERROR_INVALID_VALUE


def test_entries_are_those_since_the_last_time(log: DriverLog) -> None:
    assert log.since_last("cuFoo") == ""
    process.log.returning("cuFoo", FAILED, "too large\nby two")
    process.log.returning("cuBar_v2", FAILED, "[also] wrong")
    assert log.since_last("cuFoo") == "too large\nby two"
    assert log.since_last("cuFoo") == ""
    process.log.returning("cuFoo_v3", FAILED, "again")
    assert log.since_last("cuFoo") == "again"
    process.log.returning("cuFoo", FAILED)
    assert log.since_last("cuFoo") == ""


# The driver 580.159 (CUDA 13.0) under cuda-bindings 13.3.1; the words of the launch are from a
# published log, and as long as what that driver was seen to write.
NOISE = """\
[15:05:53.128][140648125628736][CUDA][E] cudaVersion argument (13020) exceeds the driver version (13000)
[15:05:53.128][140648125628736][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuGetProcAddress_v2
"""  # noqa: E501
BLOCK = "One or more of block dimensions of (2048,1,1) exceeds correspsonding maximum value of (1024,1024,64)"  # noqa: E501
LAUNCH = f"""\
[15:05:53.129][140648125628736][CUDA][E] {BLOCK}
[15:05:53.129][140648125628736][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel
"""


class _Holding:
    """A log that holds a text."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()

    def cuLogsCurrent(self, flags: int) -> tuple[int, int]:  # noqa: N802
        return 0, 0

    def cuLogsDumpToMemory(  # noqa: N802
        self, iterator: object, buffer: bytearray, size: int, flags: int
    ) -> tuple[int, object, int]:
        buffer[: len(self._text)] = self._text
        return 0, iterator, len(self._text)


@pytest.mark.parametrize(
    ("text", "call", "says"),
    [
        (NOISE * 3, "cuCtxSynchronize", ""),
        (NOISE * 3 + LAUNCH, "cuLaunchKernel", BLOCK),
        (LAUNCH + NOISE, "cuLaunchKernel", BLOCK),
        (LAUNCH, "cuMemAlloc", ""),
        (NOISE + "[1][2][CUDA][E] Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuCtxSynchronize",
         "cuCtxSynchronize", ""),
        # of another thread, in between
        (LAUNCH.replace("\n", f"\n{NOISE.replace('140648125628736', '7')}", 1),
         "cuLaunchKernel", BLOCK),
        # as earlier drivers write it
        ("[1][2][CUDA][E][cuMemAlloc_v2] too much\n[1][2][CUDA][E][cuFoo] bad", "cuMemAlloc",
         "too much"),
    ],
)  # fmt: skip
def test_nothing_is_shown_that_the_call_did_not_say(text: str, call: str, says: str) -> None:
    assert DriverLog(_Holding(text)).since_last(call) == says


def test_a_failure_has_the_words_of_its_own_call() -> None:
    process.reset()
    driver = Driver(choose_driver("cpu"))
    driver.cuInit(0)
    driver.version = driver.cuDriverGetVersion()
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0))
    said = []
    for size in (0, 1 << 60):
        result, *_ = driver.attempt("cuMemAlloc", size)
        said.append(driver.failure("cuMemAlloc", result).log)
    result, *_ = driver.attempt("cuCtxSetLimit", driver.CUlimit.CU_LIMIT_MAX, 0)
    said.append(driver.failure("cuCtxSetLimit", result).log)
    assert len(set(said)) == 3
    process.reset()


_LIBRARY = """
    #include <stdio.h>
    #include <string.h>
    static const char *lines[] = {"[1][2][CUDA][E][cuFoo] one\\n", "[1][2][CUDA][E][cuFoo] two\\n"};
    int cuLogsCurrent(unsigned *iterator, unsigned flags) { *iterator = 2; return flags; }
    int cuLogsDumpToMemory(unsigned *iterator, char *buffer, size_t *size, unsigned flags) {
        unsigned first = iterator ? *iterator : 0, length = 0;
        for (; first < 2; first++)
            length += snprintf(buffer + length, *size - length, "%s", lines[first]);
        buffer[length] = 0;
        *size = length;
        if (iterator) *iterator = first;
        return flags;
    }
"""


def test_the_functions_of_libcuda_are_called_as_its_header_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil
    import subprocess

    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "logs.c").write_text(_LIBRARY)
    library = tmp_path / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "logs.c"], check=True)
    real = ctypes.CDLL

    def opened(name: Any) -> Any:
        return real(str(library) if name == "libcuda.so.1" else name)

    monkeypatch.setattr(driver_log.ctypes, "CDLL", opened)
    logs = LibcudaLogs()
    assert logs.cuLogsCurrent(0)[1].value == 2
    buffer = bytearray(100)
    result, moved, size = logs.cuLogsDumpToMemory(ctypes.c_uint(1), buffer, 100, 0)
    assert (result, size, buffer[:size]) == (0, 27, b"[1][2][CUDA][E][cuFoo] two\n")
    assert moved is not None
    assert moved.value == 2
    log = DriverLog(logs)
    assert log.since_last("cuFoo") == "one\ntwo"
    assert log.since_last("cuFoo") == ""


@pytest.mark.parametrize("error", [OSError, AttributeError])
def test_a_driver_without_a_log_has_none(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def opened(name: str) -> Any:
        raise error(name)

    monkeypatch.setattr(driver_log.ctypes, "CDLL", opened)
    assert libcuda_logs() is None
