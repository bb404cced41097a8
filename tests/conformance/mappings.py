"""The structures of virtual memory management."""

from __future__ import annotations

MIB2 = 2 << 20


def properties(cuda, device=0):
    given = cuda.CUmemAllocationProp()
    given.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    given.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    given.location.id = int(device)
    return given


def access(cuda, device=0, *, permitted=True):
    flags = cuda.CUmemAccess_flags
    given = cuda.CUmemAccessDesc()
    given.location = properties(cuda, device).location
    given.flags = getattr(flags, f"CU_MEM_ACCESS_FLAGS_PROT_{'READWRITE' if permitted else 'NONE'}")
    return [given]
