"""Scenarios: virtual memory management, each step with wrong sizes, alignments and order."""

from __future__ import annotations

from typing import Any

from tests.conformance.mappings import MIB2, access, properties
from tests.golden.edges.probe import Probe, Scenario

PAGE = 4096
HANDLE_FIELDS = ("type", "requestedHandleTypes", "location.type", "location.id")


def begin(p: Probe) -> None:
    p.made(p.rt.cudaFree(0))


def reserve(p: Probe, granules: int, name: str = "reserved") -> int:
    size = granules * MIB2
    return int(p.name(name, p.made(p.cu.cuMemAddressReserve(size, 0, 0, 0)), size))


def create(p: Probe, granules: int = 1) -> Any:
    return p.made(p.cu.cuMemCreate(granules * MIB2, properties(p.cu), 0))


def mapped(p: Probe, address: int, granules: int = 1) -> Any:
    handle = create(p, granules)
    p.made(p.cu.cuMemMap(address, granules * MIB2, 0, handle, 0))
    return handle


def aligned(value: Any) -> int:
    """Return the largest power of two that divides an address, up to 1 GiB."""
    number = int(value) | 1 << 30
    return number & -number


def granularity(p: Probe) -> None:
    begin(p)
    flags = p.cu.CUmemAllocationGranularity_flags
    types = p.cu.CUmemLocationType
    for option in (
        flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM,
        flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
    ):
        p("cuMemGetAllocationGranularity", properties(p.cu), option)
        p("cuMemGetAllocationGranularity", p.cu.CUmemAllocationProp(), option)
        p("cuMemGetAllocationGranularity", None, option)
        for device in (1, 1000, -1):
            p.fact("device", device)
            p("cuMemGetAllocationGranularity", properties(p.cu, device), option)
        for name in ("HOST", "HOST_NUMA", "HOST_NUMA_CURRENT", "INVALID"):
            given = properties(p.cu)
            given.location.type = getattr(types, f"CU_MEM_LOCATION_TYPE_{name}")
            p.fact("location", name)
            p("cuMemGetAllocationGranularity", given, option)


def reservations(p: Probe) -> None:
    begin(p)
    for size in (0, 1, PAGE, 1 << 16, MIB2 + PAGE, MIB2, 3 * MIB2, 1 << 47, 1 << 57):
        p("cuMemAddressReserve", size, 0, 0, 0, relation=lambda made: aligned(made) >= MIB2)
    for alignment in (1, 3, PAGE, 1 << 16, MIB2, 3 * MIB2, 1 << 30, 1 << 46, 1 << 60):
        needed = min(alignment, 1 << 30)
        p(
            *("cuMemAddressReserve", MIB2, alignment, 0, 0),
            relation=lambda made, needed=needed: aligned(made) >= needed & -needed,
        )
    p("cuMemAddressReserve", MIB2, 0, PAGE, 0, silent=True)
    p("cuMemAddressReserve", MIB2, 0, 0x5000_0000_0001, 0, silent=True)
    for flags in (1, 2, 8):
        p("cuMemAddressReserve", MIB2, 0, 0, flags, silent=True)
    taken = reserve(p, 1)
    p(
        *("cuMemAddressReserve", MIB2, 0, taken, 0),
        relation=lambda made: "elsewhere" if int(made) != taken else "the same",
    )


def ends_of_reservations(p: Probe) -> None:
    begin(p)
    address = reserve(p, 4)
    p("cuMemAddressFree", address, 0)
    p("cuMemAddressFree", address, 2 * MIB2)
    p("cuMemAddressFree", address + MIB2, MIB2)
    p("cuMemAddressFree", address + MIB2, 3 * MIB2)
    p("cuMemAddressFree", address, 8 * MIB2)
    p("cuMemAddressFree", address, 4 * MIB2 - PAGE)
    p("cuMemAddressFree", 0, MIB2)
    p("cuMemAddressFree", p.device(64), MIB2)
    handle = mapped(p, address)
    p("cuMemAddressFree", address, 4 * MIB2)
    p("cuMemUnmap", address, MIB2)
    p("cuMemRelease", handle)
    p("cuMemAddressFree", address, 4 * MIB2)
    p("cuMemAddressFree", address, 4 * MIB2)


def creation(p: Probe) -> None:
    begin(p)
    for size in (0, PAGE, 1 << 16, MIB2 + PAGE, MIB2, 3 * MIB2, 1 << 50):
        p("cuMemCreate", size, properties(p.cu), 0)
    for flags in (1, 2, 1 << 40):
        p("cuMemCreate", MIB2, properties(p.cu), flags)
    p("cuMemCreate", MIB2, p.cu.CUmemAllocationProp(), 0)
    p("cuMemCreate", MIB2, None, 0)
    for device in (1, 1000, -1):
        p.fact("device", device)
        p("cuMemCreate", MIB2, properties(p.cu, device), 0)
    types = p.cu.CUmemLocationType
    for name in ("HOST", "HOST_NUMA", "HOST_NUMA_CURRENT", "INVALID"):
        given = properties(p.cu)
        given.location.type = getattr(types, f"CU_MEM_LOCATION_TYPE_{name}")
        p.fact("location", name)
        p("cuMemCreate", MIB2, given, 0)
    for field, value in (("compressionType", 1), ("gpuDirectRDMACapable", 1), ("usage", 1)):
        given = properties(p.cu)
        setattr(given.allocFlags, field, value)
        p.fact("allocFlags", field)
        p("cuMemCreate", MIB2, given, 0)


def maps(p: Probe) -> None:
    begin(p)
    address = reserve(p, 8)
    one, two = create(p), create(p, 2)
    p.fact("two granules of memory", 2)
    p("cuMemMap", address + PAGE, 2 * MIB2, 0, two, 0)
    p("cuMemMap", address + 7 * MIB2, 2 * MIB2, 0, two, 0)
    p("cuMemMap", address, 2 * MIB2, MIB2, two, 0)
    p("cuMemMap", address, MIB2, MIB2, two, 0)
    p("cuMemUnmap", address, MIB2)
    p("cuMemMap", address, 2 * MIB2, 0, two, 1)
    p("cuMemMap", address, 0, 0, two, 0)
    p("cuMemMap", address, PAGE, 0, two, 0)
    p("cuMemMap", address, 4 * MIB2, 0, two, 0)
    p("cuMemUnmap", address, 4 * MIB2)
    p("cuMemMap", address, MIB2, 0, two, 0)
    p("cuMemUnmap", address, MIB2)
    p.fact("as it should be, and again", 1)
    p("cuMemMap", address, 2 * MIB2, 0, two, 0)
    p("cuMemMap", address, 2 * MIB2, 0, two, 0)
    p("cuMemMap", address + MIB2, MIB2, 0, one, 0)
    p("cuMemMap", address + 4 * MIB2, 2 * MIB2, 0, two, 0)
    p.fact("wrong handles and addresses", 1)
    p("cuMemMap", address + 6 * MIB2, MIB2, 0, 0, 0)
    p("cuMemMap", 0, MIB2, 0, one, 0)
    p("cuMemMap", p.device(4 * MIB2), MIB2, 0, one, 0)
    p("cuMemRelease", one)
    p("cuMemMap", address + 6 * MIB2, MIB2, 0, one, 0)


def unmaps(p: Probe) -> None:
    begin(p)
    address = reserve(p, 8)
    p("cuMemUnmap", address, MIB2)
    mapped(p, address, 2)
    mapped(p, address + 2 * MIB2)
    mapped(p, address + 4 * MIB2)
    p("cuMemUnmap", address, 0)
    p("cuMemUnmap", address, PAGE)
    p("cuMemUnmap", address, MIB2)
    p("cuMemUnmap", address + MIB2, MIB2)
    p("cuMemUnmap", address + PAGE, 2 * MIB2)
    p("cuMemUnmap", address, 4 * MIB2)
    p("cuMemUnmap", address, 5 * MIB2)
    p("cuMemUnmap", address, 3 * MIB2)
    p("cuMemUnmap", address, 3 * MIB2)
    p("cuMemUnmap", address, 8 * MIB2)
    p("cuMemUnmap", address + 4 * MIB2, MIB2)
    p("cuMemUnmap", 0, MIB2)
    p("cuMemUnmap", p.device(4 * MIB2), MIB2)


def permissions(p: Probe) -> None:
    begin(p)
    address = reserve(p, 8)
    whole, missing = properties(p.cu), properties(p.cu, 1000)  # their fields point into them
    location = whole.location
    permitted = access(p.cu)
    readable = access(p.cu)
    readable[0].flags = p.cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ
    p("cuMemSetAccess", address, MIB2, permitted, 1)
    p("cuMemGetAccess", location, address)
    mapped(p, address, 2)
    mapped(p, address + 2 * MIB2)
    p("cuMemGetAccess", location, address)
    p("cuMemSetAccess", address, 0, permitted, 1)
    p("cuMemSetAccess", address, 3 * MIB2, [], 0)
    p("cuMemSetAccess", address, 3 * MIB2, permitted, 0)
    p("cuMemSetAccess", address, PAGE, permitted, 1)
    p("cuMemSetAccess", address, MIB2, permitted, 1)
    p("cuMemGetAccess", location, address)
    p("cuMemGetAccess", location, address + MIB2)
    p("cuMemSetAccess", address + MIB2, MIB2, permitted, 1)
    p("cuMemGetAccess", location, address + MIB2)
    p("cuMemSetAccess", address, 4 * MIB2, permitted, 1)
    p("cuMemSetAccess", address, 3 * MIB2, permitted, 1)
    p("cuMemGetAccess", location, address + 2 * MIB2 + 100)
    p("cuMemSetAccess", address, 3 * MIB2, readable, 1)
    p("cuMemGetAccess", location, address)
    p("cuMemSetAccess", address, 2 * MIB2, access(p.cu, permitted=False), 1)
    p("cuMemGetAccess", location, address)
    p("cuMemSetAccess", address, 3 * MIB2, permitted + permitted, 2)
    p("cuMemSetAccess", address, 3 * MIB2, access(p.cu, 1000), 1)
    host = access(p.cu)
    given = host[0].location
    given.type = p.cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    host[0].location = given
    p("cuMemSetAccess", address, 3 * MIB2, host, 1)
    p("cuMemGetAccess", missing.location, address)
    p("cuMemGetAccess", given, address)
    p("cuMemGetAccess", location, 0)
    p("cuMemGetAccess", location, p.device(64))
    p("cuMemSetAccess", 0, MIB2, permitted, 1)


def handles(p: Probe) -> None:
    begin(p)
    address = reserve(p, 4)
    p("cuMemRetainAllocationHandle", address)
    handle = mapped(p, address)
    p("cuMemRetainAllocationHandle", address, relation=lambda made: int(made) == int(handle))
    p("cuMemRetainAllocationHandle", address + 100, relation=lambda made: int(made) == int(handle))
    p("cuMemRetainAllocationHandle", address + MIB2)
    p("cuMemRetainAllocationHandle", p.device(64))
    p("cuMemRetainAllocationHandle", 0)
    p("cuMemGetAllocationPropertiesFromHandle", handle, fields=HANDLE_FIELDS)
    p("cuMemGetAllocationPropertiesFromHandle", 0)
    for _ in range(4):
        p("cuMemRelease", handle)
    p("cuMemGetAllocationPropertiesFromHandle", handle)
    p("cuMemRetainAllocationHandle", address, silent=True)
    p("cuMemUnmap", address, MIB2)
    p("cuMemRelease", 0)


def uses(p: Probe) -> None:
    """Copies and fills of reserved, mapped and accessible addresses."""
    begin(p)
    address = reserve(p, 4)
    data = bytes(64)
    own = p.host(4096)

    def use(place: int) -> None:
        p("cuMemsetD8", place, 1, 16)
        p("cuMemcpyHtoD", place, data, 64)
        p("cuMemcpyDtoH", own, place, 64)
        p("cudaMemcpy", place, own, 16, p.rt.cudaMemcpyKind.cudaMemcpyHostToDevice)
        p("cudaMemcpy", place, own, 16, p.rt.cudaMemcpyKind.cudaMemcpyDefault)

    use(address)
    mapped(p, address)
    use(address)
    p("cuMemSetAccess", address, MIB2, access(p.cu), 1)
    use(address)
    p("cuMemsetD8", address + MIB2 - 8, 1, 16)
    p("cuMemcpyHtoD", address + MIB2 - 8, data, 16)
    mapped(p, address + MIB2)
    p("cuMemsetD8", address + MIB2 - 8, 1, 16)
    p("cuMemcpyHtoD", address + MIB2 - 8, data, 16)
    p("cuMemSetAccess", address + MIB2, MIB2, access(p.cu), 1)
    p("cuMemsetD8", address + MIB2 - 8, 1, 16)
    p("cuMemcpyHtoD", address + MIB2 - 8, data, 16)
    p("cuMemFree", address)
    p("cudaFree", address)
    p("cudaFreeAsync", address, 0)
    p("cudaHostRegister", address, PAGE, 0)
    p("cuMemSetAccess", address, MIB2, access(p.cu, permitted=False), 1)
    use(address)


def attributes(p: Probe) -> None:
    """Pointer attributes of reserved, mapped and accessible addresses."""
    begin(p)
    address = reserve(p, 4)
    names = (
        *("CONTEXT", "MEMORY_TYPE", "DEVICE_POINTER", "HOST_POINTER", "SYNC_MEMOPS", "IS_MANAGED"),
        *("DEVICE_ORDINAL", "RANGE_START_ADDR", "RANGE_SIZE", "MAPPED", "ALLOWED_HANDLE_TYPES"),
        *("ACCESS_FLAGS", "MEMPOOL_HANDLE", "BUFFER_ID", "IS_LEGACY_CUDA_IPC_CAPABLE"),
        "IS_GPU_DIRECT_RDMA_CAPABLE",
    )
    kinds = [getattr(p.cu.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}") for name in names]

    def ask(place: int) -> None:
        for name, kind in zip(names, kinds, strict=True):
            p("cuPointerGetAttribute", kind, place, silent=name == "BUFFER_ID")
        p("cuPointerGetAttributes", 7, kinds[:7], place)
        p("cuMemGetAddressRange", place)
        p(
            "cudaPointerGetAttributes",
            place,
            fields=("type", "device", "devicePointer", "hostPointer"),
        )

    ask(address + 100)
    mapped(p, address)
    ask(address + 100)
    p("cuMemSetAccess", address, MIB2, access(p.cu), 1)
    ask(address + 100)
    mapped(p, address + MIB2)
    p("cuMemSetAccess", address, 2 * MIB2, access(p.cu), 1)
    ask(address + MIB2 + 100)
    ask(address + 3 * MIB2)


SCENARIOS: tuple[Scenario, ...] = (
    *(granularity, reservations, ends_of_reservations, creation, maps, unmaps, permissions),
    *(handles, uses, attributes),
)
