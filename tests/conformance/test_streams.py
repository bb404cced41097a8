"""Driver API, sections 6.18 and 6.19: streams and events."""

import ctypes

import pytest

LEGACY, PER_THREAD = 1, 2
ATTRIBUTE = "CU_LAUNCH_ATTRIBUTE_"


@pytest.mark.parametrize("flags", [0, 1])
def test_a_stream_keeps_what_it_was_made_with(cuda, context, flags):
    stream = cuda.cuStreamCreate(flags)
    assert cuda.cuStreamGetFlags(stream) == flags
    assert cuda.cuStreamGetPriority(stream) == 0
    assert int(cuda.cuStreamGetCtx(stream)) == int(context)
    cuda.cuStreamDestroy(stream)


def test_flags_that_are_none(cuda, context):
    assert cuda.result("cuStreamCreate", 64) == "INVALID_VALUE"
    assert cuda.result("cuEventCreate", 64) == "INVALID_VALUE"


@pytest.mark.parametrize(("asked", "given"), [(-3, -3), (-100, -5), (100, 0)])
def test_priorities_are_brought_into_range(cuda, context, asked, given):
    stream = cuda.cuStreamCreateWithPriority(0, asked)
    assert cuda.cuStreamGetPriority(stream) == given
    cuda.cuStreamDestroy(stream)


@pytest.mark.parametrize("stream", [0, LEGACY, PER_THREAD])
def test_default_streams(cuda, context, stream):
    handle = cuda.CUstream(stream)
    assert cuda.result("cuStreamQuery", handle) == "CUDA_SUCCESS"
    cuda.cuStreamSynchronize(handle)
    assert cuda.cuStreamGetPriority(handle) == 0


def test_the_default_stream_is_not_destroyed(cuda, context):
    assert cuda.result("cuStreamDestroy", cuda.CUstream(0)) == "INVALID_HANDLE"


def test_streams_want_a_context(cuda):
    assert cuda.result("cuStreamCreate", 0) == "INVALID_CONTEXT"
    assert cuda.result("cuEventCreate", 0) == "INVALID_CONTEXT"


def test_an_event_that_was_never_recorded(cuda, context):
    event = cuda.cuEventCreate(0)
    assert cuda.result("cuEventQuery", event) == "CUDA_SUCCESS"
    cuda.cuEventSynchronize(event)
    assert cuda.result("cuEventElapsedTime", event, event) == "INVALID_HANDLE"
    cuda.cuEventDestroy(event)


def test_the_time_between_two_events(cuda, context, ptx):
    start, end = (cuda.cuEventCreate(0) for _ in range(2))
    stream = cuda.cuStreamCreate(0)
    fill = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"fill")
    address = cuda.cuMemAlloc(4096)
    types = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.cuEventRecord(start, stream)
    cuda.launch(fill, (int(address), 1, 1024), types, block=(1024, 1, 1), stream=stream)
    cuda.cuEventRecord(end, stream)
    cuda.cuEventSynchronize(end)
    assert cuda.result("cuEventQuery", end) == "CUDA_SUCCESS"
    assert cuda.cuEventElapsedTime(start, end) > 0
    assert cuda.cuEventElapsedTime(end, start) < 0


def test_events_without_timing(cuda, context):
    flags = cuda.CUevent_flags
    event = cuda.cuEventCreate(int(flags.CU_EVENT_DISABLE_TIMING))
    cuda.cuEventRecord(event, 0)
    cuda.cuEventSynchronize(event)
    assert cuda.result("cuEventElapsedTime", event, event) == "INVALID_HANDLE"
    assert cuda.result("cuEventCreate", int(flags.CU_EVENT_INTERPROCESS)) == "INVALID_VALUE"


def test_a_stream_waits_for_an_event_of_another(cuda, context, ptx):
    first, second = (cuda.cuStreamCreate(1) for _ in range(2))
    event = cuda.cuEventCreate(2)
    fill = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("kernels")), b"fill")
    address = cuda.cuMemAlloc(64)
    types = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    cuda.launch(fill, (int(address), 1, 16), types, block=(16, 1, 1), stream=first)
    cuda.cuEventRecord(event, first)
    cuda.cuStreamWaitEvent(second, event, 0)
    cuda.launch(fill, (int(address), 2, 8), types, block=(16, 1, 1), stream=second)
    cuda.cuStreamSynchronize(second)
    back = (ctypes.c_uint32 * 16)()
    cuda.cuMemcpyDtoH(ctypes.addressof(back), address, 64)
    assert list(back) == [2] * 8 + [1] * 8


def test_event_and_stream_must_be_of_one_context(cuda, device, context):
    event = cuda.cuEventCreate(0)
    other = cuda.create_context(0, device)
    stream = cuda.cuStreamCreate(0)
    assert cuda.result("cuEventRecord", event, stream) == "INVALID_HANDLE"
    cuda.cuCtxDestroy(other)


def attribute(cuda, stream, name):
    return cuda.cuStreamGetAttribute(stream, getattr(cuda.CUstreamAttrID, f"{ATTRIBUTE}{name}"))


def set_attribute(cuda, stream, name, value):
    kind = getattr(cuda.CUstreamAttrID, f"{ATTRIBUTE}{name}")
    return cuda.result("cuStreamSetAttribute", stream, kind, value)


def test_attributes_of_a_new_stream(cuda, context):
    stream = cuda.cuStreamCreateWithPriority(0, -2)
    window = attribute(cuda, stream, "ACCESS_POLICY_WINDOW").accessPolicyWindow
    assert window.num_bytes == 0
    assert attribute(cuda, stream, "PRIORITY").priority == -2
    domains = attribute(cuda, stream, "MEM_SYNC_DOMAIN_MAP").memSyncDomainMap
    assert (domains.default_, domains.remote) == (0, 1)
    assert int(attribute(cuda, stream, "MEM_SYNC_DOMAIN").memSyncDomain) == 0
    cuda.cuStreamDestroy(stream)


def test_attributes_are_copied_to_another_stream(cuda, context):
    source, target = cuda.cuStreamCreate(0), cuda.cuStreamCreate(0)
    address = cuda.cuMemAlloc(4096)
    value, window = cuda.CUstreamAttrValue(), cuda.CUaccessPolicyWindow()
    window.base_ptr, window.num_bytes, window.hitRatio = int(address), 4096, 0.5
    window.hitProp, window.missProp = cuda.CUaccessProperty(2), cuda.CUaccessProperty(1)
    value.accessPolicyWindow = window
    assert set_attribute(cuda, source, "ACCESS_POLICY_WINDOW", value) == "CUDA_SUCCESS"
    value = cuda.CUstreamAttrValue()
    value.syncPolicy = cuda.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    assert set_attribute(cuda, source, "SYNCHRONIZATION_POLICY", value) == "CUDA_SUCCESS"
    cuda.cuStreamCopyAttributes(target, source)
    value.syncPolicy = cuda.CUsynchronizationPolicy.CU_SYNC_POLICY_SPIN
    assert set_attribute(cuda, source, "SYNCHRONIZATION_POLICY", value) == "CUDA_SUCCESS"
    found = attribute(cuda, target, "ACCESS_POLICY_WINDOW").accessPolicyWindow
    assert (int(found.hitProp), int(found.missProp), found.hitRatio) == (2, 1, 0.5)
    assert int(attribute(cuda, target, "SYNCHRONIZATION_POLICY").syncPolicy) == 3
    cuda.cuMemFree(address)


def test_attributes_that_are_refused(cuda, context):
    stream, value = cuda.cuStreamCreate(0), cuda.CUstreamAttrValue()
    window = cuda.CUaccessPolicyWindow()
    window.hitProp = window.missProp = cuda.CUaccessProperty(2)  # persisting
    value.accessPolicyWindow = window
    assert set_attribute(cuda, stream, "ACCESS_POLICY_WINDOW", value) == "INVALID_VALUE"
    cooperative = getattr(cuda.CUstreamAttrID, f"{ATTRIBUTE}COOPERATIVE")
    assert cuda.result("cuStreamGetAttribute", stream, cooperative) == "INVALID_VALUE"
    assert cuda.result("cuStreamSetAttribute", stream, cooperative, value) == "INVALID_VALUE"


def test_attributes_are_copied_within_a_context(cuda, device, context):
    stream = cuda.cuStreamCreate(0)
    other = cuda.create_context(0, device)
    assert cuda.result("cuStreamCopyAttributes", cuda.cuStreamCreate(0), stream) == "INVALID_VALUE"
    cuda.cuCtxDestroy(other)
