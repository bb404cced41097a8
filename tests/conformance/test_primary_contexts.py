"""Driver API, section 6.7: primary contexts."""

import pytest


@pytest.fixture(autouse=True)
def nobody_holds_it(cuda, device):
    """Tests count the holders from nought; what a test leaves behind is released."""
    yield
    while cuda.cuDevicePrimaryCtxGetState(device)[1]:
        cuda.cuDevicePrimaryCtxRelease(device)
    cuda.cuDevicePrimaryCtxSetFlags(device, 0)


def active(cuda, device):
    return cuda.cuDevicePrimaryCtxGetState(device)[1]


def test_retaining_makes_it_active_and_not_current(cuda, device):
    context = cuda.cuDevicePrimaryCtxRetain(device)
    assert int(context) != 0
    assert active(cuda, device) == 1
    assert int(cuda.cuCtxGetCurrent()) == 0


def test_holders_are_counted(cuda, device):
    first = cuda.cuDevicePrimaryCtxRetain(device)
    second = cuda.cuDevicePrimaryCtxRetain(device)
    assert int(first) == int(second)
    cuda.cuDevicePrimaryCtxRelease(device)
    assert active(cuda, device) == 1
    cuda.cuDevicePrimaryCtxRelease(device)
    assert active(cuda, device) == 0
    assert cuda.result("cuDevicePrimaryCtxRelease", device) == "INVALID_CONTEXT"


def test_flags(cuda, device):
    cuda.cuDevicePrimaryCtxSetFlags(device, 4)
    assert cuda.cuDevicePrimaryCtxGetState(device) == (4, 0)
    cuda.cuDevicePrimaryCtxRetain(device)
    assert cuda.cuDevicePrimaryCtxGetState(device) == (4, 1)
    assert cuda.result("cuDevicePrimaryCtxSetFlags", device, 3) == "INVALID_VALUE"


def test_flags_of_an_active_one_can_be_changed(cuda, device):
    cuda.cuDevicePrimaryCtxRetain(device)
    cuda.cuDevicePrimaryCtxSetFlags(device, 4)
    assert cuda.cuDevicePrimaryCtxGetState(device) == (4, 1)


def test_releasing_does_not_pop(cuda, device):
    context = cuda.cuDevicePrimaryCtxRetain(device)
    cuda.cuCtxPushCurrent(context)
    cuda.cuDevicePrimaryCtxRelease(device)
    assert int(cuda.cuCtxGetCurrent()) == int(context)
    assert cuda.result("cuMemAlloc", 16) == "CONTEXT_IS_DESTROYED"
    assert int(cuda.cuCtxPopCurrent()) == int(context)


def test_it_comes_back_under_the_same_handle_and_empty(cuda, device):
    before = cuda.cuDevicePrimaryCtxRetain(device)
    cuda.cuCtxPushCurrent(before)
    address = cuda.cuMemAlloc(64)
    cuda.cuDevicePrimaryCtxRelease(device)
    after = cuda.cuDevicePrimaryCtxRetain(device)
    assert int(after) == int(before)
    assert cuda.result("cuMemFree", address) == "INVALID_VALUE"
    cuda.cuCtxPopCurrent()


def test_it_cannot_be_destroyed(cuda, device):
    context = cuda.cuDevicePrimaryCtxRetain(device)
    assert cuda.result("cuCtxDestroy", context) == "INVALID_CONTEXT"
    assert active(cuda, device) == 1


@pytest.fixture(scope="module")
def after_a_reset(in_new_process):
    """What ``reset.py`` prints: a name and a number to each line."""
    lines = in_new_process("reset.py").stdout.splitlines()
    return [(name, int(number)) for name, number in map(str.split, lines)]


def test_resetting_empties_it_for_all_holders(after_a_reset):
    told = dict(after_a_reset)
    assert told["cuDevicePrimaryCtxReset"] == 0
    assert told["cuMemFree"] != 0


@pytest.mark.parametrize(
    ("name", "number"),
    [("cuMemFree", 709), ("cuCtxSynchronize", 709), ("active", 0), ("same", 1), ("cuMemAlloc", 0)],
)
def test_resetting_destroys_it_until_it_is_retained_again(after_a_reset, name, number):
    assert dict(after_a_reset)[name] == number


def test_resetting_does_not_release_it(after_a_reset):
    assert after_a_reset[-2:] == [("cuDevicePrimaryCtxRelease", 0)] * 2


def test_devices_have_their_own(cuda, device, second_device):
    first = cuda.cuDevicePrimaryCtxRetain(device)
    second = cuda.cuDevicePrimaryCtxRetain(second_device)
    assert int(first) != int(second)
    cuda.cuCtxPushCurrent(second)
    assert int(cuda.cuCtxGetDevice()) == int(second_device)
    cuda.cuCtxPopCurrent()
    cuda.cuDevicePrimaryCtxRelease(second_device)
