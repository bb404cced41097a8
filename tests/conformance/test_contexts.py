"""Driver API, section 6.8: contexts, and the stack of them that every thread has."""

import ctypes
from concurrent.futures import ThreadPoolExecutor

import pytest


def in_thread(function, *args):
    """Call it in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()


def current(cuda):
    return int(cuda.cuCtxGetCurrent())


def test_a_thread_begins_without_a_context(cuda):
    assert current(cuda) == 0
    assert cuda.result("cuCtxGetDevice") == "INVALID_CONTEXT"
    assert cuda.result("cuMemAlloc", 16) == "INVALID_CONTEXT"
    assert cuda.result("cuCtxSynchronize") == "INVALID_CONTEXT"
    assert cuda.result("cuCtxPopCurrent") == "INVALID_CONTEXT"


def test_creation_pushes(cuda, device):
    first = cuda.create_context(0, device)
    second = cuda.create_context(0, device)
    assert int(first) != int(second)
    assert current(cuda) == int(second)
    assert int(cuda.cuCtxPopCurrent()) == int(second)
    assert current(cuda) == int(first)
    cuda.cuCtxDestroy(first)
    assert current(cuda) == 0
    cuda.cuCtxDestroy(second)


def test_creation_refuses(cuda):
    with pytest.raises(AssertionError, match="INVALID_DEVICE"):
        cuda.create_context(0, 1000)
    with pytest.raises(AssertionError, match="INVALID_VALUE"):
        cuda.create_context(3, 0)  # two ways of waiting
    assert current(cuda) == 0


def test_the_device_of_the_current_context(cuda, device, context):
    assert int(cuda.cuCtxGetDevice()) == int(device)


def test_push_and_pop_nest(cuda, context):
    cuda.cuCtxPushCurrent(context)
    assert int(cuda.cuCtxPopCurrent()) == int(context)
    assert current(cuda) == int(context)


def test_set_replaces_the_top(cuda, device, context):
    other = cuda.create_context(0, device)
    cuda.cuCtxSetCurrent(context)  # in place of other
    assert int(cuda.cuCtxPopCurrent()) == int(context)
    assert current(cuda) == int(context)
    cuda.cuCtxDestroy(other)


def test_set_null_pops(cuda, context):
    cuda.cuCtxPushCurrent(context)
    cuda.cuCtxSetCurrent(None)
    assert current(cuda) == int(context)


def test_a_context_can_be_current_in_several_threads(cuda, context):
    def elsewhere():
        before = current(cuda)
        cuda.cuCtxSetCurrent(context)
        return before, current(cuda), int(cuda.cuMemAlloc(16))

    before, after, address = in_thread(elsewhere)
    assert (before, after) == (0, int(context))
    assert current(cuda) == int(context)
    cuda.cuMemFree(address)  # made in another thread, and this context's all the same


def test_a_floating_context_migrates(cuda, device):
    floating = cuda.create_context(0, device)
    address = cuda.cuMemAlloc(4)
    cuda.cuMemsetD32(address, 99, 1)
    cuda.cuCtxPopCurrent()

    def elsewhere():
        cuda.cuCtxPushCurrent(floating)
        data = bytearray(4)
        cuda.cuMemcpyDtoH(data, address, 4)
        cuda.cuCtxPopCurrent()
        return int.from_bytes(data, "little")

    assert in_thread(elsewhere) == 99
    cuda.cuCtxDestroy(floating)
    assert current(cuda) == 0


def test_destroying_what_is_current_pops_it(cuda, device, context):
    inner = cuda.create_context(0, device)
    cuda.cuCtxDestroy(inner)
    assert current(cuda) == int(context)


def test_destroying_what_is_not_current_leaves_the_stack(cuda, device, context):
    other = cuda.create_context(0, device)
    cuda.cuCtxPopCurrent()
    cuda.cuCtxDestroy(other)
    assert current(cuda) == int(context)


def test_a_context_destroyed_elsewhere_is_no_longer_usable(cuda, device):
    doomed = cuda.create_context(0, device)
    in_thread(cuda.cuCtxDestroy, doomed)
    assert current(cuda) == int(doomed)
    assert cuda.result("cuMemAlloc", 16) == "CONTEXT_IS_DESTROYED"
    assert int(cuda.cuCtxPopCurrent()) == int(doomed)


def test_a_destroyed_context_owns_nothing_any_more(cuda, device, context):
    doomed = cuda.create_context(0, device)
    address = cuda.cuMemAlloc(1 << 20)
    cuda.cuCtxDestroy(doomed)
    data = bytearray(4)
    assert cuda.result("cuMemcpyDtoH", data, address, 4) == "INVALID_VALUE"
    assert cuda.result("cuMemFree", address) == "INVALID_VALUE"


@pytest.mark.parametrize("flags", [0, 1, 2, 4, 4 | 16])
def test_flags_are_kept(cuda, device, flags):
    created = cuda.create_context(flags, device)
    kept = cuda.cuCtxGetFlags()
    cuda.cuCtxDestroy(created)
    assert kept & (7 | 16) == flags


def test_flags_can_be_changed(cuda, context):
    cuda.cuCtxSetFlags(int(cuda.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC))
    assert cuda.cuCtxGetFlags() & 7 == 4
    assert cuda.result("cuCtxSetFlags", 3) == "INVALID_VALUE"


def test_api_version(cuda, context):
    assert cuda.cuCtxGetApiVersion(context) == 3020
    assert cuda.cuCtxGetApiVersion(None) == 3020


def test_identities_differ(cuda, device, context):
    other = cuda.create_context(0, device)
    assert cuda.cuCtxGetId(other) == cuda.cuCtxGetId(None)
    assert cuda.cuCtxGetId(other) != cuda.cuCtxGetId(context)
    cuda.cuCtxDestroy(other)


def test_attach_and_detach(cuda, device):
    created = cuda.create_context(0, device)
    assert int(cuda.cuCtxAttach(0)) == int(created)
    assert cuda.result("cuCtxAttach", 1) == "INVALID_VALUE"
    cuda.cuCtxDetach(created)
    assert current(cuda) == int(created)
    cuda.cuCtxDetach(created)
    assert current(cuda) == 0


def test_detach_leaves_a_primary_context(cuda, device):
    primary = cuda.cuDevicePrimaryCtxRetain(device)
    cuda.cuCtxSetCurrent(primary)
    for _ in range(2):
        cuda.cuCtxDetach(primary)
    assert int(cuda.cuCtxPopCurrent()) == int(primary)
    cuda.cuDevicePrimaryCtxRelease(device)


# --- limits and preferences ----------------------------------------------------------------------

DEFAULTS = {
    "STACK_SIZE": 1024,
    "PRINTF_FIFO_SIZE": 8650752,
    "MALLOC_HEAP_SIZE": 8388608,
    "DEV_RUNTIME_PENDING_LAUNCH_COUNT": 2048,
}


def limit(cuda, name):
    return getattr(cuda.CUlimit, f"CU_LIMIT_{name}")


def test_default_limits(cuda, context):
    assert {name: cuda.cuCtxGetLimit(limit(cuda, name)) for name in DEFAULTS} == DEFAULTS


def test_the_persisting_cache_has_ten_parts(cuda, device, context):
    """Three of them by default; an H100 has smaller ones than an H200."""
    attribute = cuda.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE
    most = cuda.cuDeviceGetAttribute(attribute, device)
    part, persisting = most // 10, limit(cuda, "PERSISTING_L2_CACHE_SIZE")
    assert cuda.cuCtxGetLimit(persisting) == 3 * part
    for value, parts in ((0, 0), (1, 1), (part, 1), (part + 1, 2), (most, 10)):
        cuda.cuCtxSetLimit(persisting, value)
        assert cuda.cuCtxGetLimit(persisting) == parts * part
    assert cuda.result("cuCtxSetLimit", persisting, most + 1) == "INVALID_VALUE"
    assert cuda.cuCtxGetLimit(persisting) == most


@pytest.mark.parametrize(
    ("name", "value"),
    [("STACK_SIZE", 4096), ("PRINTF_FIFO_SIZE", 16 << 20), ("MALLOC_HEAP_SIZE", 64 << 20)],
)
def test_limits_are_the_contexts_own(cuda, device, context, name, value):
    other = cuda.create_context(0, device)
    cuda.cuCtxSetLimit(limit(cuda, name), value)
    assert cuda.cuCtxGetLimit(limit(cuda, name)) >= value
    cuda.cuCtxDestroy(other)
    assert cuda.cuCtxGetLimit(limit(cuda, name)) == DEFAULTS[name]


def test_the_printf_fifo_is_fixed_by_a_kernel_that_prints(cuda, context, ptx):
    fifo = limit(cuda, "PRINTF_FIFO_SIZE")
    nothing = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"nothing")
    cuda.launch(nothing)
    cuda.cuCtxSynchronize()
    cuda.cuCtxSetLimit(fifo, 16 << 20)
    greet = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("faults")), b"greet")
    cuda.launch(greet, (0,), (ctypes.c_void_p,))
    cuda.cuCtxSynchronize()
    assert cuda.result("cuCtxSetLimit", fifo, 32 << 20) == "INVALID_VALUE"


def test_a_limit_that_this_device_has_not(cuda, context):
    depth = limit(cuda, "DEV_RUNTIME_SYNC_DEPTH")
    assert cuda.result("cuCtxGetLimit", depth) == "UNSUPPORTED_LIMIT"
    assert cuda.result("cuCtxSetLimit", depth, 4) == "UNSUPPORTED_LIMIT"


def test_cache_preference_is_the_contexts_own(cuda, device, context):
    preference = cuda.CUfunc_cache
    assert cuda.cuCtxGetCacheConfig() == preference.CU_FUNC_CACHE_PREFER_NONE
    cuda.cuCtxSetCacheConfig(preference.CU_FUNC_CACHE_PREFER_L1)
    assert cuda.cuCtxGetCacheConfig() == preference.CU_FUNC_CACHE_PREFER_L1
    other = cuda.create_context(0, device)
    assert cuda.cuCtxGetCacheConfig() == preference.CU_FUNC_CACHE_PREFER_NONE
    cuda.cuCtxDestroy(other)


def test_stream_priorities(cuda, context):
    assert cuda.cuCtxGetStreamPriorityRange() == (0, -5)


def test_no_context_is_its_own_peer(cuda, context):
    assert cuda.result("cuCtxEnablePeerAccess", context, 0) == "PEER_ACCESS_UNSUPPORTED"


def test_contexts_of_one_device_are_no_peers(cuda, device, context):
    other = cuda.create_context(0, device)
    answer = cuda.result("cuCtxEnablePeerAccess", context, 0)
    cuda.cuCtxDestroy(other)
    assert answer == "PEER_ACCESS_UNSUPPORTED"


def test_peer_access_that_was_never_enabled(cuda, context):
    assert cuda.result("cuCtxDisablePeerAccess", context) == "PEER_ACCESS_NOT_ENABLED"


def test_peer_access(cuda, device, second_device, context):
    other = cuda.create_context(0, second_device)
    cuda.cuCtxPopCurrent()
    if not cuda.cuDeviceCanAccessPeer(device, second_device):
        assert cuda.result("cuCtxEnablePeerAccess", other, 0) == "PEER_ACCESS_UNSUPPORTED"
    else:
        cuda.cuCtxEnablePeerAccess(other, 0)
        assert cuda.result("cuCtxEnablePeerAccess", other, 0) == "PEER_ACCESS_ALREADY_ENABLED"
        cuda.cuCtxDisablePeerAccess(other)
    cuda.cuCtxDestroy(other)
