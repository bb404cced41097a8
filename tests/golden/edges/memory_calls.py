"""Scenarios: allocation, registration, and what is known about memory."""

from __future__ import annotations

from tests.golden.edges.probe import Probe, Scenario

KIB64 = 1 << 16
HUGE = 1 << 50
POINTER_FIELDS = ("type", "device", "devicePointer", "hostPointer")


def host_allocation(p: Probe) -> None:
    p("cudaHostAlloc", 0, 0)
    for flags in (0, 1, 2, 4, 7, 8, 16, 32, 64):
        p("cudaHostAlloc", 64, flags, silent=True)
    p("cudaHostAlloc", HUGE, 0)
    p("cudaMallocHost", 0)
    p("cudaMallocHost", HUGE)
    p("cudaGetLastError")
    p("cudaGetLastError")


def host_flags(p: Probe) -> None:
    for flags in (0, 1, 2, 4, 7):
        name = f"pinned{flags}"
        memory = p.pinned(64, name, flags)
        p("cudaHostGetFlags", memory)
        p("cudaHostGetFlags", memory + 16)
    allocated = p.name("allocated", p.made(p.rt.cudaMallocHost(64)), 64)
    p("cudaHostGetFlags", allocated)
    own = p.host(8 * 4096)
    p("cudaHostGetFlags", own)
    for index, flags in enumerate((0, 1, 2, 3)):
        p("cudaHostRegister", own + index * 4096, 4096, flags)
        p("cudaHostGetFlags", own + index * 4096)
        p("cudaHostGetFlags", own + index * 4096 + 100)
    p("cudaHostGetFlags", p.device(64))
    p("cudaHostGetFlags", p.managed(64))
    p("cudaHostGetFlags", 0)
    p("cudaFreeHost", allocated)
    p("cudaHostGetFlags", allocated)
    p("cudaPeekAtLastError")


def host_release(p: Probe) -> None:
    memory, own = p.pinned(64), p.host(2 * 4096)
    p("cudaFreeHost", 0)
    p("cudaFreeHost", memory + 16)
    p("cudaFreeHost", own)
    p("cudaFreeHost", p.device(64))
    p("cudaFreeHost", p.managed(64))
    p("cudaHostRegister", own, 4096, 0)
    p("cudaFreeHost", own)
    p("cudaHostUnregister", own)
    p("cudaFree", memory)
    p("cudaFreeHost", memory)
    p("cudaFreeHost", memory)


def registration(p: Probe) -> None:
    own = p.host(16 * 4096)
    p("cudaHostRegister", own, 0, 0)
    p("cudaHostRegister", 0, 4096, 0)
    p("cudaHostRegister", own + 100, 50, 0)
    p("cudaHostUnregister", own + 100)
    p("cudaHostRegister", own, 4096, 0)
    p("cudaHostRegister", own, 4096, 0)
    p("cudaHostRegister", own + 2048, 4096, 0)
    p("cudaHostRegister", own + 4096, 4096, 0)
    p("cudaHostRegister", own + 3 * 4096 + 8, 100, 0)
    p("cudaHostRegister", own + 3 * 4096 + 200, 100, 0)
    p("cudaHostUnregister", own + 100)
    p("cudaHostUnregister", own)
    p("cudaHostUnregister", own)
    p("cudaHostUnregister", 0)
    p("cudaHostRegister", own + 8 * 4096, 4096, 16)
    p("cudaHostRegister", own + 8 * 4096, 4096, 64)
    p("cudaHostRegister", p.device(4096), 4096, 0)
    pinned = p.pinned(4096)
    p("cudaHostRegister", pinned, 4096, 0)
    p("cudaHostUnregister", pinned)
    p("cudaHostRegister", p.managed(4096), 4096, 0)
    p("cudaHostUnregister", p.device(64, "device2"))


def device_addresses_of_host_memory(p: Probe) -> None:
    pinned, own = p.pinned(64, flags=2), p.host(2 * 4096)
    p("cudaHostGetDevicePointer", pinned, 0)
    p("cudaHostGetDevicePointer", pinned + 16, 0)
    p("cudaHostGetDevicePointer", pinned, 1)
    p("cudaHostGetDevicePointer", p.pinned(64, "plain", 0), 0)
    p("cudaHostGetDevicePointer", own, 0)
    p("cudaHostRegister", own, 4096, 0)
    p("cudaHostGetDevicePointer", own + 10, 0)
    p("cudaHostGetDevicePointer", p.device(64), 0)
    p("cudaHostGetDevicePointer", p.managed(64), 0)
    p("cudaHostGetDevicePointer", 0, 0)


def pointer_attributes(p: Probe) -> None:
    own = p.host(2 * 4096)
    device = p.device(KIB64)
    pinned, managed = p.pinned(64), p.managed(64)
    pooled = p.name("pooled", p.made(p.rt.cudaMallocAsync(64, 0)), 64)
    for address in (0, 1, own, device, device + 16, device + KIB64 - 1, pinned, pinned + 63):
        p("cudaPointerGetAttributes", address, fields=POINTER_FIELDS)
    for address in (managed, managed + 8, pooled, pooled + 8):
        p("cudaPointerGetAttributes", address, fields=POINTER_FIELDS)
    p("cudaHostRegister", own, 4096, 0)
    for address in (own, own + 100, own + 4096):
        p("cudaPointerGetAttributes", address, fields=POINTER_FIELDS)
    p("cudaHostUnregister", own)
    p("cudaPointerGetAttributes", own, fields=POINTER_FIELDS)
    for free, address in (("cudaFree", device), ("cudaFreeHost", pinned), ("cudaFree", managed)):
        p(free, address)
        p("cudaPointerGetAttributes", address, fields=POINTER_FIELDS)
    p("cudaPeekAtLastError")


def driver_attributes(p: Probe) -> None:
    """Every attribute of every kind of memory; those of the machine's making are left out."""
    own = p.host(4096)
    memory = {
        "device": p.device(KIB64),
        "pinned": p.pinned(64),
        "managed": p.managed(64),
        "pooled": p.name("pooled", p.made(p.rt.cudaMallocAsync(64, 0)), 64),
        "registered": own,
        "host": p.host(64),
    }
    p("cudaHostRegister", own, 4096, 0)
    names = (
        *("MEMORY_TYPE", "DEVICE_POINTER", "HOST_POINTER", "SYNC_MEMOPS", "IS_MANAGED"),
        *("DEVICE_ORDINAL", "RANGE_START_ADDR", "RANGE_SIZE", "MAPPED", "ALLOWED_HANDLE_TYPES"),
        *("ACCESS_FLAGS", "MEMPOOL_HANDLE"),
    )
    kinds = [getattr(p.cu.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}") for name in names]
    for address in memory.values():
        for kind in kinds:
            p("cuPointerGetAttribute", kind, address)
        p("cuPointerGetAttributes", 6, kinds[:6], address)
        p("cuMemGetAddressRange", address)


def release(p: Probe) -> None:
    device, own = p.device(KIB64), p.host(4096)
    p("cudaFree", 0)
    p("cudaFree", device + 16)
    p("cudaFree", own)
    p("cudaFree", p.pinned(64))
    pooled = p.name("pooled", p.made(p.rt.cudaMallocAsync(64, 0)), 64)
    p("cudaFree", pooled)
    p("cudaFree", pooled)
    p("cudaFree", device)
    p("cudaFree", device)
    p("cudaFreeAsync", 0, 0)
    p("cudaFreeAsync", own, 0)
    p("cudaFreeAsync", p.device(64, "device2"), 0)
    p("cudaFreeAsync", p.managed(64), 0)
    second = p.name("pooled2", p.made(p.rt.cudaMallocAsync(64, 0)), 64)
    p("cudaFreeAsync", second + 8, 0)
    p("cudaFreeAsync", second, 0)
    p("cudaFreeAsync", second, 0)
    p("cudaDeviceSynchronize")
    p("cudaFreeAsync", second, 0)


def allocation(p: Probe) -> None:
    p("cudaMalloc", 0)
    p("cudaMalloc", HUGE)
    for flags in (0, 1, 2, 3, 4):
        p("cudaMallocManaged", 64, flags, silent=True)
    p("cudaMallocManaged", 0, 1)
    p("cudaMallocManaged", HUGE, 1)
    p("cudaMallocAsync", 0, 0)
    p("cudaMallocAsync", HUGE, 0)
    p("cudaMallocFromPoolAsync", 64, 0, 0)
    for width, height in ((0, 0), (4, 0), (0, 4), (1, 1), (512, 2), (513, 3), (1 << 40, 1 << 10)):
        p("cudaMallocPitch", width, height, relation=lambda made: [bool(int(made[0])), made[1]])
    for extent in ((0, 0, 0), (4, 0, 0), (4, 1, 0), (4, 1, 1), (513, 2, 2), (1 << 30, 1 << 20, 9)):
        made = p.rt.make_cudaExtent(*extent)
        p("cudaMalloc3D", made, fields=("pitch", "xsize", "ysize"))
    p("cudaGetLastError")


def free_memory(p: Probe) -> None:
    total = p("cudaMemGetInfo", relation=lambda both: 0 < both[0] <= both[1])[1]
    before = p.made(p.rt.cudaMemGetInfo())[0]
    memory = p.device(64 << 20)
    p("cudaMemGetInfo", relation=lambda both: [before - both[0], both[1] == total])
    p("cudaFree", memory)
    p("cudaMemGetInfo", relation=lambda both: before - both[0] < 64 << 20)


def pools(p: Probe) -> None:
    default = p.made(p.rt.cudaDeviceGetDefaultMemPool(0))
    for attribute in list(p.rt.cudaMemPoolAttr)[:8]:  # the others are newer than bindings 13.3
        p("cudaMemPoolGetAttribute", default, attribute)
    p("cudaMemPoolDestroy", default)
    p("cudaMemPoolDestroy", 0)
    p("cudaDeviceGetDefaultMemPool", 1000)
    p("cudaDeviceSetMemPool", 0, 0)
    p("cudaMemPoolTrimTo", default, 0)
    properties = p.rt.cudaMemPoolProps()
    p("cudaMemPoolCreate", properties)
    p("cudaMemPoolCreate", None)
    properties.allocType = p.rt.cudaMemAllocationType.cudaMemAllocationTypePinned
    p("cudaMemPoolCreate", properties)
    properties.location.type = p.rt.cudaMemLocationType.cudaMemLocationTypeDevice
    properties.location.id = 1000
    p("cudaMemPoolCreate", properties)
    properties.location.id = 0
    pool = p("cudaMemPoolCreate", properties)
    p("cudaDeviceSetMemPool", 0, pool)
    memory = p("cudaMallocAsync", 64, 0, silent=True)
    p("cudaMemPoolDestroy", pool)
    p("cudaFreeAsync", memory, 0)
    p("cudaDeviceSynchronize")


def driver_allocation(p: Probe) -> None:
    """The driver's calls below the runtime's."""
    p.made(p.rt.cudaFree(0))
    for flags in (0, 1, 2, 4, 7, 8):
        memory = p.name(f"pinned{flags}", p("cuMemHostAlloc", 64, flags, silent=True), 64)
        if memory is not None:
            p("cuMemHostGetFlags", memory)
    p("cuMemHostGetFlags", p.managed(64))
    p("cuMemHostGetFlags", p.device(64))
    own = p.host(4 * 4096)
    for index, flags in enumerate((0, 1, 2)):
        p("cuMemHostRegister", own + index * 4096, 4096, flags)
        p("cuMemHostGetFlags", own + index * 4096)
    p("cuMemHostUnregister", own + 100)
    p("cuMemHostUnregister", own + 3 * 4096)
    p("cuMemHostUnregister", 0)
    for address in (p.device(4096, "device2"), p.pinned(4096), p.managed(4096, "managed2")):
        p("cuMemHostRegister", address, 4096, 0)
        p("cuMemHostUnregister", address)
    for call, *arguments in (
        *(("cuMemAlloc", 0), ("cuMemAllocManaged", 0, 1), ("cuMemAllocAsync", 0, 0)),
        *(("cuMemAllocPitch", 0, 4, 4), ("cuMemAllocPitch", 4, 0, 4), ("cuMemHostAlloc", 0, 0)),
        *(("cuMemAllocHost", 0), ("cuMemFreeAsync", 0, 0), ("cuMemFree", 0), ("cuMemFreeHost", 0)),
    ):
        p(call, *arguments)
    p("cuMemFreeAsync", p.managed(64, "managed3"), 0)
    given = p.cu.CUmemPoolProps()
    p("cuMemPoolCreate", given)
    given.allocType = p.cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p("cuMemPoolCreate", given)
    given.location.type = p.cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    given.location.id = 1000
    p("cuMemPoolCreate", given)
    event = p.made(p.cu.cuEventCreate(0))
    p("cuEventDestroy", event)
    p("cuEventQuery", event)
    p("cuLaunchHostFunc", 0, 0, 0)


SCENARIOS: tuple[Scenario, ...] = (
    driver_allocation,
    *(host_allocation, host_flags, host_release, registration, device_addresses_of_host_memory),
    *(pointer_attributes, driver_attributes, release, allocation, free_memory, pools),
)
