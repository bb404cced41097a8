"""Device memory at given addresses.

CUDA driver API, section 6.14 (virtual memory management). ``cuMemAddressReserve`` takes an address
as a hint, which the driver follows for ranges that are aligned to 32 MiB and free; of a range that
is not free as a whole, the required parts are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from cudarun.base.errors import AddressOccupied, DeviceFailed, RequestError
from cudarun.session.driver.devices import Device
from cudarun.session.workers.free_addresses import release
from cudarun.session.workers.session import Session

Ranges: TypeAlias = Sequence[tuple[int, int]]  # addresses and sizes

_RESERVED = 32 << 20
MAPPED_BYTES = 2 << 20  # the alignment of mapped memory


def reserve(session: Session, ranges: Ranges) -> None:
    """Reserve the addresses of ranges, if they are not reserved; the session frees them.

    A module takes addresses for its code, its heap and the buffer of its output when it is loaded,
    so that a job of a recording calls this before.

    Raises:
        AddressOccupied: The driver has other memory at an address.
    """
    if session.driver.traits.allocate_at is not None:
        return
    mapped = aligned(ranges, MAPPED_BYTES)
    for address, size in aligned(ranges, _RESERVED):
        if not _reserve(session, address, size):
            for part, part_size in mapped:
                is_inside = address <= part < address + size
                if is_inside and not _reserve(session, part, part_size):
                    end = part + part_size
                    raise AddressOccupied(
                        f"the addresses {part:#x} to {end:#x} of the recording are occupied",
                        operation="cuMemAddressReserve",
                        cause=_mapping_at(part, part_size),
                        hint="on the emulated device every address is free: -d cpu",
                    )


def allocate_at(session: Session, device: Device, ranges: Ranges) -> None:
    """Allocate memory at given addresses; the session frees it.

    Raises:
        AddressOccupied: The driver has other memory at an address.
        DeviceFailed: Out of device memory.
        RequestError: The emulated device has an address itself, or less memory.
    """
    if session.driver.traits.allocate_at is not None:
        try:
            session.add_release(session.driver.traits.allocate_at(ranges))
        except ValueError as error:
            raise RequestError(f"the recording cannot be replayed: {error}") from None
        return
    reserve(session, ranges)
    for address, size in aligned(ranges, MAPPED_BYTES):
        _map(session, device, address, size)


def aligned(ranges: Ranges, alignment: int) -> list[tuple[int, int]]:
    """Return ranges that contain the given ones, with aligned ends and without overlap."""
    found: list[tuple[int, int]] = []
    for address, size in sorted(ranges):
        start = address // alignment * alignment
        end = -(-(address + size) // alignment) * alignment
        if found and start <= sum(found[-1]):
            start = found.pop()[0]
        found.append((start, end - start))
    return found


def _reserve(session: Session, address: int, size: int) -> bool:
    """Reserve a range; return whether it is at its address."""
    if any(start <= address and address + size <= start + n for start, n in session.reserved):
        return True
    driver = session.driver
    release(address, size)
    found = int(driver.cuMemAddressReserve(size, 0, address, 0))
    if found != address:
        driver.cuMemAddressFree(found, size)
        return False
    session.reserved.append((address, size))

    def free() -> None:
        session.reserved.remove((address, size))
        driver.cuMemAddressFree(address, size)

    session.add_release(free)
    return True


def _mapping_at(address: int, size: int) -> str | None:
    """Return the first mapping of this process in a range, as proc(5) shows it."""
    with open("/proc/self/maps", errors="replace") as file:
        for line in file:
            first, end = (int(word, 16) for word in line.split()[0].split("-"))
            if first < address + size and address < end:
                return f"{first:#x} to {end:#x} is {' '.join(line.split()[5:]) or 'anonymous'}"
    return None


def _map(session: Session, device: Device, address: int, size: int) -> None:
    driver = session.driver
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = int(device.handle)
    try:
        memory = int(driver.cuMemCreate(size, properties, 0))
    except DeviceFailed as error:
        free, total = driver.cuMemGetInfo()
        error.hint = f"{free} of {total} bytes are free on the device"
        raise error.of(operation=f"recorded memory of {size} bytes") from None
    session.add_release(lambda: driver.cuMemRelease(memory))
    driver.cuMemMap(address, size, 0, memory, 0)
    session.add_release(lambda: driver.cuMemUnmap(address, size))
    access = driver.CUmemAccessDesc()
    access.location = properties.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    driver.cuMemSetAccess(address, size, [access], 1)
