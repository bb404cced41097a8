"""The choke point: results unwrapped, failures named, calls traced."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from cuda.pathfinder import DynamicLibNotFoundError

from cudarun.base.errors import CudarunError, DeviceFailed, ImageRefused, NoDevice, RequestError
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import DriverChoice, DriverTraits, choose_driver
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]


def _unwrapped(session: Session) -> tuple[Any, Any, Any]:
    driver = session.driver
    return driver.cuCtxSynchronize(), driver.cuDeviceGetCount(), len(driver.cuMemGetInfo())


def test_values_come_without_the_result(in_session: InSession) -> None:
    assert in_session(_unwrapped) == (None, 1, 2)


def _failing(session: Session) -> None:
    session.driver.cuMemFree(12345)


def test_a_failure_has_its_name_and_number(in_session: InSession) -> None:
    with pytest.raises(DeviceFailed) as caught:
        in_session(_failing)
    assert str(caught.value) == "cuMemFree: invalid argument (CUDA_ERROR_INVALID_VALUE, 1)"


def _attempted(session: Session) -> str:
    result, *_ = session.driver.attempt("cuMemFree", 12345)
    return str(result.name)


def test_an_attempt_gives_the_result(in_session: InSession) -> None:
    assert in_session(_attempted) == "CUDA_ERROR_INVALID_VALUE"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CUDA_ERROR_NO_DEVICE", NoDevice),
        ("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", NoDevice),
        ("CUDA_ERROR_INVALID_PTX", ImageRefused),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", ImageRefused),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", ImageRefused),
        ("CUDA_ERROR_OUT_OF_MEMORY", DeviceFailed),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", DeviceFailed),
    ],
)
def test_which_kind_of_error_a_result_is(name: str, kind: type[CudarunError]) -> None:
    driver = Driver(choose_driver("cpu"))
    assert type(driver.failure("cuFoo", getattr(driver.CUresult, name))) is kind


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("cuKernelGetFunction", ImageRefused),
        ("cuFuncLoad", ImageRefused),
        ("cuLaunchKernel", ImageRefused),
        ("cuLibraryGetManaged", DeviceFailed),
        ("cuModuleGetFunction", DeviceFailed),
    ],
)
def test_code_that_wants_a_symbol_of_others_is_refused(call: str, kind: type[CudarunError]) -> None:
    driver = Driver(choose_driver("cpu"))
    error = driver.failure(call, driver.CUresult.CUDA_ERROR_NOT_FOUND)
    assert type(error) is kind
    assert bool(error.hint and "cudarun link" in error.hint) == (kind is ImageRefused)


@pytest.mark.parametrize(
    "error",
    [
        DynamicLibNotFoundError("cuda is not here"),
        RuntimeError("Failed to dlopen libcuda.so.1"),  # of cuda-bindings 12.9.3 to 13.1
    ],
)
def test_a_missing_driver_library_is_no_device(error: RuntimeError) -> None:
    def no_library(_: int) -> NoReturn:
        raise error

    driver = Driver(DriverChoice(SimpleNamespace(cuInit=no_library), DriverTraits(0)))
    with pytest.raises(NoDevice, match=r"libcuda\.so\.1 was not found") as caught:
        driver.cuInit(0)
    assert "-d cpu" in (caught.value.hint or "")


def test_the_trace_is_a_line_for_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    choice = choose_driver("cpu")
    success = choice.module.CUresult.CUDA_SUCCESS
    module = SimpleNamespace(
        cuFoo=lambda *args: (success, 0x20000000000, b"name\0\0rest"), CUresult=None
    )
    driver = Driver(DriverChoice(module, DriverTraits(0)), trace=True)
    driver.cuFoo(7, b"text\0", b"x" * 300, [1, 70000], None)
    line = capsys.readouterr().err
    assert line.startswith(
        "cuFoo(7, 'text', <300 bytes>, [1, 0x11170], None) = CUDA_SUCCESS 0x20000000000 'name' <"
    )
    assert line.endswith(" µs>\n")


def test_a_driver_that_finds_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = choose_driver("cpu")
    result = choice.module.CUresult.CUDA_ERROR_NO_DEVICE
    monkeypatch.setattr(choice.module, "cuInit", lambda flags: (result,))
    with pytest.raises(NoDevice) as caught:
        Driver(choice).cuInit(0)
    assert caught.value.hint == "find the cause with 'cudarun devices --doctor'"


def test_a_count_of_emulated_devices_is_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "abc")
    with pytest.raises(
        RequestError, match=r"^CUDARUN_CPU_DEVICES=abc: expected a number from 1 to"
    ):
        choose_driver("cpu")
