"""Driver API, section 6.36 (CUDA 12.9): the driver's own log."""

import pytest

from cudarun.session.driver.log import libcuda_logs


@pytest.fixture(autouse=True)
def has_logs(cuda, driver_name, monkeypatch):
    if cuda.cuDriverGetVersion() < 12090:
        pytest.skip("the driver is older than CUDA 12.9")
    try:
        cuda.cuLogsCurrent(0)
    except RuntimeError as error:
        # cuda-bindings 13.3 ask for them as of CUDA 12.8; the session does without the bindings.
        if driver_name == "emulator" or "not found" not in str(error):
            raise
        logs = libcuda_logs()
        for name in ("cuLogsCurrent", "cuLogsDumpToMemory"):
            monkeypatch.setattr(cuda.module, name, _as_bindings(cuda, getattr(logs, name)))


def _as_bindings(cuda, function):
    def call(*arguments):
        result, *values = function(*arguments)
        return cuda.CUresult(result), *values

    return call


def test_nothing_new_to_read(cuda):
    iterator = cuda.cuLogsCurrent(0)
    buffer = bytearray(4096)
    _, size = cuda.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0)
    assert (size, buffer[0]) == (0, 0)


def test_a_refused_launch_is_explained(cuda, context, ptx):
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"nothing")
    iterator = cuda.cuLogsCurrent(0)
    launch = (function, 1, 1, 1, 4096, 1, 1, 0, 0, None, 0)
    assert cuda.result("cuLaunchKernel", *launch) == "INVALID_VALUE"
    buffer = bytearray(4096)
    moved, size = cuda.cuLogsDumpToMemory(iterator, buffer, len(buffer), 0)
    text = buffer[:size].decode()
    assert buffer[size] == 0
    assert "[CUDA][E]" in text
    assert "4096" in text
    _, again = cuda.cuLogsDumpToMemory(moved, buffer, len(buffer), 0)
    assert again == 0


@pytest.mark.assumed  # the file has not been
def test_all_of_it_can_be_read_again_and_to_a_file(cuda, context, ptx, tmp_path):
    function = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"nothing")
    launch = (function, 1, 1, 1, 4096, 1, 1, 0, 0, None, 0)
    assert cuda.result("cuLaunchKernel", *launch) == "INVALID_VALUE"
    buffer = bytearray(25600)
    _, size = cuda.cuLogsDumpToMemory(None, buffer, len(buffer), 0)
    assert b"4096" in buffer[:size]
    path = tmp_path / "log"
    try:
        cuda.cuLogsDumpToFile(None, str(path).encode(), 0)
    except RuntimeError as error:
        pytest.skip(f"the bindings do not find it in this driver: {error}")
    assert b"4096" in path.read_bytes()


def test_flags_are_not_looked_at(cuda):
    assert cuda.result("cuLogsCurrent", 1) == "CUDA_SUCCESS"
