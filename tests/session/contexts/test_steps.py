"""Steps against a driver that answers what it is told to: what the emulated device cannot show."""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import pytest

from cudarun.session.contexts.answers import ScriptContexts
from cudarun.session.contexts.steps import Steps
from cudarun.session.driver.devices import Device


class Result(IntEnum):
    """Enough of ``CUresult`` and ``cudaError_t``."""

    SUCCESS = 0
    FAILED = 719


class FakeApi:
    """Answers calls by name and notes them; what it is not told of succeeds with 0."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.calls: list[tuple[Any, ...]] = []
        self.module = SimpleNamespace(__package__="json")  # which has no runtime
        self.CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_CONTEXT=1)
        self.CUcontext = int

    def attempt(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        self.calls.append((name, *arguments))
        answer = self.answers.get(name, 0)
        return (answer, None) if isinstance(answer, Result) else (Result.SUCCESS, answer)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *arguments: self.attempt(name, *arguments)[1]


def steps(driver: FakeApi, runtime: FakeApi | None = None, index: int = 0) -> Steps:
    devices = [Device(str(index), index, index)]
    made = Steps(driver, ScriptContexts(driver, devices), {})  # type: ignore[arg-type]
    made._runtime = runtime  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(
    ("index", "current", "calls"),
    [
        (0, 0, [("cudaFree", 0)]),
        (1, 0, [("cudaSetDevice", 1), ("cudaFree", 0)]),
        (1, 0x77, [("cudaFree", 0)]),  # it works in what is current
    ],
)
def test_the_runtime_begins_on_the_device_meant(index: int, current: int, calls: list[Any]) -> None:
    runtime = FakeApi()
    answer = steps(FakeApi(cuCtxGetCurrent=current), runtime, index).method("runtime-init")()
    assert runtime.calls == calls
    assert answer.succeeded


def test_where_the_runtime_works_is_told_by_what_it_allocates() -> None:
    runtime, driver = FakeApi(cudaMalloc=0x1000), FakeApi(cuPointerGetAttribute=0x77)
    made = steps(driver, runtime)
    made.contexts.add(0x77, "A")
    answer = made.method("runtime-current")()
    assert (answer.call, answer.value, answer.text) == ("cudaMalloc", 0x77, "A")
    assert ("cuPointerGetAttribute", 1, 0x1000) in driver.calls
    assert runtime.calls[-1] == ("cudaFree", 0x1000)


def test_a_runtime_that_fails_is_an_answer() -> None:
    answer = steps(FakeApi(), FakeApi(cudaMalloc=Result.FAILED)).method("runtime-current")()
    assert (answer.result, answer.value) == (Result.FAILED, None)


def test_what_an_address_is_to_the_runtime() -> None:
    kind = SimpleNamespace(type=SimpleNamespace(name="cudaMemoryTypeDevice"))
    made = steps(FakeApi(cuMemAlloc=0x1000), FakeApi(cudaPointerGetAttributes=kind))
    made.method("alloc")("B", 64)
    assert made.method("runtime-pointer")("B").value == "device"


def test_the_last_detach_ends_a_context() -> None:
    driver = FakeApi(cuCtxGetCurrent=0x77)
    made = steps(driver)
    made.contexts.add(0x77, "A")
    made.method("detach")()
    assert made.contexts.is_alive(0x77)
    driver.answers["cuCtxDetach"] = 0
    original = driver.attempt

    def attempt(name: str, *arguments: Any) -> tuple[Any, ...]:
        if name == "cuCtxDetach":
            driver.answers["cuCtxGetCurrent"] = 0
        return original(name, *arguments)

    driver.attempt = attempt  # type: ignore[method-assign]
    made.method("detach")()
    assert not made.contexts.is_alive(0x77)


def test_a_context_that_was_reset_is_not_pushed_until_it_is_retained_again() -> None:
    driver = FakeApi(cuDevicePrimaryCtxRetain=0x77)
    made = steps(driver)
    made.method("retain")("P")
    made.contexts._is_active = lambda device: True  # type: ignore[method-assign]
    assert made.contexts.can_be_pushed(0x77)
    made.method("reset")()
    assert not made.contexts.can_be_pushed(0x77)
    assert made.contexts.is_alive(0x77)
    made.method("retain")("P")
    assert made.contexts.can_be_pushed(0x77)
