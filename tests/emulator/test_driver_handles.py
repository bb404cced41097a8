"""Handles that are destroyed, of another kind, or none: refused, and never mistaken."""

import pytest

from cudarun.emulator import driver


@pytest.fixture(autouse=True)
def context(fresh_process):
    driver.cuInit(0)
    _, created = driver.cuCtxCreate(None, 0, 0)
    return created


def name(answer):
    return answer[0].name.removeprefix("CUDA_ERROR_")


MADE_BY = {
    "stream": ("cuStreamCreate", "cuStreamDestroy"),
    "event": ("cuEventCreate", "cuEventDestroy"),
}


@pytest.mark.parametrize("kind", sorted(MADE_BY))
def test_a_destroyed_handle(kind):
    create, destroy = (getattr(driver, call) for call in MADE_BY[kind])
    _, handle = create(0)
    assert name(destroy(handle)) == "CUDA_SUCCESS"
    assert name(destroy(handle)) == "INVALID_HANDLE"
    _, other = create(0)
    assert int(other) != int(handle)


def test_a_handle_of_another_kind():
    _, stream = driver.cuStreamCreate(0)
    assert name(driver.cuEventSynchronize(int(stream))) == "INVALID_HANDLE"
    assert name(driver.cuModuleUnload(int(stream))) == "INVALID_HANDLE"
    assert name(driver.cuCtxPushCurrent(int(stream))) == "INVALID_CONTEXT"


@pytest.mark.parametrize("handle", [0, 12345, None])
def test_a_handle_that_is_none(handle):
    for call in ("cuEventSynchronize", "cuModuleUnload", "cuLibraryUnload", "cuKernelGetName"):
        assert name(getattr(driver, call)(handle)) == "INVALID_HANDLE"
    assert name(driver.cuCtxDestroy(handle)) == "INVALID_CONTEXT"


@pytest.mark.parametrize("handle", ["text", 1.5, b"abc"])
def test_what_cannot_be_a_handle(handle):
    with pytest.raises(TypeError, match="an integer is required"):
        driver.cuCtxPushCurrent(handle)


def test_what_a_context_owned_is_gone_with_it(context, fresh_process):
    _, stream = driver.cuStreamCreate(0)
    _, event = driver.cuEventCreate(0)
    _, link = driver.cuLinkCreate(0, [], [])
    _, address = driver.cuMemAlloc(64)
    _, pinned = driver.cuMemAllocHost(64)
    driver.cuCtxDestroy(context)
    driver.cuCtxCreate(None, 0, 0)
    assert name(driver.cuStreamQuery(stream)) == "INVALID_HANDLE"
    assert name(driver.cuEventQuery(event)) == "INVALID_HANDLE"
    assert name(driver.cuLinkDestroy(link)) == "INVALID_HANDLE"
    assert name(driver.cuMemFree(address)) == "INVALID_VALUE"
    assert name(driver.cuMemFreeHost(pinned)) == "INVALID_VALUE"
    assert fresh_process.devices[0].memory.used == 0
    assert fresh_process.host_memory.used == 0


def test_a_destroyed_context(context):
    driver.cuCtxDestroy(context)
    assert name(driver.cuCtxSetCurrent(context)) == "INVALID_CONTEXT"
    assert name(driver.cuCtxDestroy(context)) == "INVALID_CONTEXT"


def test_a_context_made_as_in_cuda_12():
    result, created = driver.cuCtxCreate(4, 0)
    assert int(result) == 0
    assert driver.cuCtxGetFlags()[1] == 4
    assert int(driver.cuCtxGetCurrent()[1]) == int(created)


def test_parameters_of_a_context_are_not_supported():
    parameters = driver.CUctxCreateParams()
    assert name(driver.cuCtxCreate(parameters, 0, 0)) == "NOT_SUPPORTED"
