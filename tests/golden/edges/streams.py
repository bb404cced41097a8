"""Scenarios: devices, errors, streams, events, captures and graphs."""

from __future__ import annotations

from tests.golden.edges.probe import Probe, Scenario

LEGACY, PER_THREAD = 1, 2


def devices(p: Probe) -> None:
    p("cudaSetDevice", -1)
    p("cudaSetDevice", 1000)
    p("cudaGetDevice")
    p("cudaPeekAtLastError")
    p("cudaGetDeviceProperties", 1000, silent=True)
    p("cudaDeviceCanAccessPeer", 0, 0)
    p("cudaDeviceCanAccessPeer", 0, 1000)
    p("cudaDeviceEnablePeerAccess", 0, 0)
    p("cudaDeviceEnablePeerAccess", 1000, 0)
    p("cudaDeviceDisablePeerAccess", 0)
    for length in (0, 1, 5, 13):
        p("cudaDeviceGetPCIBusId", length, 0, silent=True)
    p("cudaDeviceGetPCIBusId", 13, 1000, silent=True)
    for text in (b"", b"nothing", b"ffff:ff:1f.0"):
        p("cudaDeviceGetByPCIBusId", text)
    limits = p.rt.cudaLimit
    for limit in list(limits)[:7]:  # the others are newer than bindings 13.3
        p("cudaDeviceGetLimit", limit)
    p("cudaDeviceSetLimit", limits.cudaLimitStackSize, 1 << 30)
    p("cudaDeviceSetLimit", limits.cudaLimitStackSize, 1000)
    p("cudaDeviceGetLimit", limits.cudaLimitStackSize)
    p("cudaDeviceSetLimit", limits.cudaLimitDevRuntimeSyncDepth, 2)
    p("cudaDeviceGetStreamPriorityRange")


def device_flags(p: Probe) -> None:
    p("cudaGetDeviceFlags")
    p("cudaInitDevice", 1000, 0, 0)
    p("cudaInitDevice", 0, 0, 2)
    for flags in (1, 2, 4, 3, 8, 16, 64, 128, 0x1000):
        p("cudaSetDeviceFlags", flags)
        p("cudaGetDeviceFlags")
    p("cudaFree", 0)
    for flags in (4, 0, 0x1000):
        p("cudaSetDeviceFlags", flags)
        p("cudaGetDeviceFlags")
    p("cudaInitDevice", 0, 2, 1)
    p("cudaGetDeviceFlags")


def reset(p: Probe) -> None:
    memory, stream = p.device(64), p.made(p.rt.cudaStreamCreate())
    pinned = p.pinned(64)
    p("cudaDeviceReset")
    p("cudaGetDevice")
    p("cudaFree", memory)
    p("cudaFreeHost", pinned)
    p("cudaStreamSynchronize", 0)
    p("cudaDeviceReset")
    p("cudaDeviceReset")
    p("cudaFree", 0)
    p.fact("stream", bool(int(stream)))


def last_errors(p: Probe) -> None:
    p("cudaSetDevice", 1000)
    p("cudaPeekAtLastError")
    p("cudaFree", 0)
    p("cudaPeekAtLastError")
    p("cudaMalloc", 1 << 50)
    p("cudaPeekAtLastError")
    p("cudaGetLastError")
    p("cudaGetLastError")
    p("cuMemAlloc", 0)
    p("cudaGetLastError")
    event = p.made(p.rt.cudaEventCreate())
    p("cudaEventElapsedTime", event, event)
    p("cudaGetLastError")
    for call, arguments in (
        *(("cudaHostGetFlags", (64,)), ("cudaStreamEndCapture", (0,)), ("cudaFreeHost", (64,))),
        *(("cudaDeviceEnablePeerAccess", (0, 0)), ("cudaGetDeviceProperties", (1000,))),
    ):
        p(call, *arguments, silent=True)
        p("cudaGetLastError")


def streams(p: Probe) -> None:
    for flags in (0, 1, 2, 5):
        stream = p("cudaStreamCreateWithFlags", flags)
        if stream is not None:
            p("cudaStreamGetFlags", stream)
            p("cudaStreamGetPriority", stream)
    for priority in (0, -1, -5, -6, 1, 1000):
        stream = p("cudaStreamCreateWithPriority", 0, priority)
        p("cudaStreamGetPriority", stream)
    p("cudaStreamCreateWithPriority", 2, 0)
    for stream in (0, LEGACY, PER_THREAD):
        p("cudaStreamQuery", stream)
        p("cudaStreamSynchronize", stream)
        p("cudaStreamGetFlags", stream)
        p("cudaStreamGetPriority", stream)
        p("cudaStreamGetId", stream, silent=True)
        p("cudaStreamIsCapturing", stream)
        p("cudaStreamWaitEvent", stream, 0, 0)
        p("cudaStreamDestroy", stream)
    p("cudaMemsetAsync", p.device(64), 0, 16, PER_THREAD)
    p("cudaGetLastError")


def destroyed_streams(p: Probe) -> None:
    stream = p.made(p.rt.cudaStreamCreate())
    p("cudaStreamDestroy", stream)
    p("cudaStreamDestroy", stream)
    p("cudaStreamQuery", stream)
    p("cudaStreamSynchronize", stream)
    p("cudaMemsetAsync", p.device(64), 0, 16, stream)


def events(p: Probe) -> None:
    for flags in (0, 1, 2, 3, 4, 5, 6, 8, 16):
        p("cudaEventCreateWithFlags", flags)
    first, second = p.made(p.rt.cudaEventCreate()), p.made(p.rt.cudaEventCreate())
    untimed = p.made(p.rt.cudaEventCreateWithFlags(2))
    p("cudaEventQuery", first)
    p("cudaEventSynchronize", first)
    p("cudaEventElapsedTime", first, second)
    p("cudaEventRecord", first, 0)
    p("cudaEventSynchronize", first)
    p("cudaEventElapsedTime", first, second)
    p("cudaEventElapsedTime", first, first)
    p("cudaEventRecord", untimed, 0)
    p("cudaDeviceSynchronize")
    p("cudaEventElapsedTime", first, untimed)
    p("cudaEventRecordWithFlags", first, 0, 2)
    p("cudaEventRecordWithFlags", first, 0, 1)
    p("cudaStreamWaitEvent", 0, second, 0)
    p("cudaStreamWaitEvent", 0, first, 2)
    for call, *more in (("cudaEventRecord", 0), ("cudaEventQuery",), ("cudaEventSynchronize",)):
        p(call, 0, *more)
    p("cudaEventElapsedTime", 0, 0)
    p("cudaEventElapsedTime", first, 0)
    p("cudaEventDestroy", 0)
    p("cudaEventDestroy", first)
    p("cudaEventDestroy", first)
    p("cudaEventQuery", first)
    p("cudaGetLastError")


def captures(p: Probe) -> None:
    stream = p.made(p.rt.cudaStreamCreate())
    modes = p.rt.cudaStreamCaptureMode
    p("cudaStreamEndCapture", stream)
    p("cudaStreamIsCapturing", stream)
    p("cudaStreamBeginCapture", 0, modes.cudaStreamCaptureModeGlobal)
    p("cudaStreamBeginCapture", LEGACY, modes.cudaStreamCaptureModeGlobal)
    p("cudaStreamBeginCapture", stream, modes.cudaStreamCaptureModeGlobal)
    p("cudaStreamBeginCapture", stream, modes.cudaStreamCaptureModeGlobal)
    p("cudaStreamIsCapturing", stream)
    p("cudaStreamIsCapturing", LEGACY)
    p("cudaStreamQuery", stream)
    p("cudaStreamSynchronize", stream)
    p("cudaStreamIsCapturing", stream)
    p("cudaStreamEndCapture", stream)
    for call, arguments in (
        *(("cudaMalloc", (64,)), ("cudaDeviceSynchronize", ()), ("cudaFree", (0,))),
        *(("cudaHostAlloc", (64, 0)), ("cudaMemGetInfo", ()), ("cudaEventQuery", (0,))),
        *(
            ("cudaMallocAsync", (64, stream)),
            ("cudaMallocManaged", (64, 1)),
            ("cudaStreamCreate", ()),
        ),
        *(("cudaEventCreate", ()), ("cudaMemset", (p.device(64), 0, 4)), ("cudaGetDevice", ())),
    ):
        p("cudaStreamBeginCapture", stream, modes.cudaStreamCaptureModeGlobal)
        p(call, *arguments, silent=True)
        p("cudaStreamIsCapturing", stream)
        p("cudaStreamEndCapture", stream)
        p("cudaGetLastError")


def graphs(p: Probe) -> None:
    p("cudaGraphCreate", 1)
    graph = p("cudaGraphCreate", 0)
    p("cudaGraphGetNodes", graph, 0, relation=lambda found: found[-1])
    ready = p("cudaGraphInstantiate", graph, 0)
    p("cudaGraphLaunch", ready, 0)
    p("cudaGraphInstantiate", graph, 1 << 20)
    p("cudaGraphInstantiate", 0, 0)
    p("cudaGraphLaunch", 0, 0)
    p("cudaGraphDestroy", 0)
    p("cudaGraphExecDestroy", 0)
    first = p("cudaGraphAddEmptyNode", graph, None, 0)
    p("cudaGraphAddEmptyNode", graph, [first, first], 2)
    fill = p.rt.cudaMemsetParams()
    fill.dst, fill.value, fill.elementSize = p.device(4096), 1, 4
    fill.width, fill.height = 16, 1
    p("cudaGraphAddMemsetNode", graph, None, 0, fill)
    fill.elementSize = 3
    p("cudaGraphAddMemsetNode", graph, None, 0, fill)
    fill.elementSize, fill.width = 4, 0
    p("cudaGraphAddMemsetNode", graph, None, 0, fill)
    fill.width, fill.height, fill.pitch = 16, 2, 8
    p("cudaGraphAddMemsetNode", graph, None, 0, fill)
    kinds = p.rt.cudaMemcpyKind
    device, own = p.device(64, "target"), p.host(64)
    for kind in (
        kinds.cudaMemcpyHostToDevice,
        kinds.cudaMemcpyDeviceToHost,
        kinds.cudaMemcpyDefault,
    ):
        p("cudaGraphAddMemcpyNode1D", graph, None, 0, device, own, 16, kind)
    p("cudaGraphAddMemcpyNode1D", graph, None, 0, device, own, 0, kinds.cudaMemcpyHostToDevice)
    p(
        "cudaGraphAddMemcpyNode1D",
        graph,
        None,
        0,
        device,
        own,
        1 << 30,
        kinds.cudaMemcpyHostToDevice,
    )
    p("cudaGraphDestroyNode", 0)
    p("cudaGetLastError")


SCENARIOS: tuple[Scenario, ...] = (
    *(devices, device_flags, reset, last_errors, streams, destroyed_streams, events, captures),
    *(graphs,),
)
