"""Virtual memory management: reserved addresses, physical memory, and the mappings between them.

Driver API, section 6.14. Physical memory is a file without a name, which the operating system can
map at several addresses at the same time; device addresses are the process's own. Adjacent mappings
with the same access are one range for bounds checks: an access may cross them, as on a GPU.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import field

from cuda.bindings.driver import CUmemAllocationProp

from cudarun.base.records import dataclass
from cudarun.emulator.host.addresses import HostAccess
from cudarun.emulator.host.devices import HOST_ADDRESSES, EmulatedDevice
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.hostmemory import RegisteredMemory
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.memory import MAP_FAILED, OutOfMemory, map_at, map_fixed

GRANULARITY = 2 << 20

_RESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
_FIXED, _FIXED_IF_FREE = 0x10, 0x100000  # MAP_FIXED, MAP_FIXED_NOREPLACE
next_number = itertools.count(1).__next__  # returns the number of the next memory that is allocated

_FIRST = 0x6000_0000_0000  # another process, whose memory kernels see, maps nothing there
_NO_ACCESS = 0
_munmap = ctypes.CDLL(None).munmap
_munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


@dataclass(eq=False)
class PhysicalMemory:
    """Memory of a device without an address."""

    device: EmulatedDevice
    size: int
    properties: CUmemAllocationProp
    descriptor: int = -1  # the file that contains it
    handle: int = 0
    retained: int = 1  # how often its handle must be released
    mapped: int = 0  # the number of its mappings
    number: int = field(default_factory=next_number)  # unique among all memory of the process
    offset: int = 0  # the first byte in the file
    # Bytes at its beginning and at its end that kernels cannot access.
    margins: tuple[int, int] = (0, 0)
    label: str = "cuMemMap"  # for reports

    def __post_init__(self) -> None:
        memory = self.device.memory
        if memory.used + self.size > memory.capacity:
            free = memory.capacity - memory.used
            raise OutOfMemory(f"{self.size} bytes exceed the free {free} bytes of the device")
        self.descriptor = os.memfd_create("cuMemCreate")
        os.ftruncate(self.descriptor, self.size)
        memory.used += self.size

    def end_if_unused(self, handles: HandleTable) -> None:
        """Free the memory if it is neither mapped nor retained."""
        if not self.retained and not self.mapped:
            handles.remove(self.handle)
            os.close(self.descriptor)
            self.device.memory.used -= self.size


@dataclass(eq=False)
class Mapping:
    """Physical memory at an address; ``devices`` are those that can access it, by ordinal."""

    address: int
    size: int
    physical: PhysicalMemory
    devices: frozenset[int] = frozenset()

    @property
    def first(self) -> int:
        """The first address that kernels can access."""
        return self.address + self.physical.margins[0]

    @property
    def end(self) -> int:
        """The address after the last one that kernels can access."""
        return _end(self) - self.physical.margins[1]


class MappedRange(RegisteredMemory):
    """Adjacent mappings with the same access; ``devices`` can access it."""

    def __init__(self, first: Mapping, last: Mapping) -> None:
        size, label = last.end - first.first, first.physical.label
        super().__init__(first.first, size, label=label, access=HostAccess())
        self.devices = first.devices


@dataclass(eq=False)
class Reservation:
    """Reserved addresses and the mappings in them, by address."""

    address: int
    size: int
    mappings: list[Mapping] = field(default_factory=list)
    ranges: list[MappedRange] = field(default_factory=list)

    def contains(self, address: int, size: int) -> bool:
        """Return whether a range is inside the reservation."""
        return self.address <= address and address + size <= self.address + self.size

    def inside(self, address: int, size: int) -> list[Mapping]:
        """Return the mappings that have an address in a range."""
        end = address + size
        return [each for each in self.mappings if each.address < end and address < _end(each)]

    def update_ranges(self) -> None:
        """Combine adjacent mappings with the same access."""
        self.ranges = [MappedRange(first, last) for first, last in self._runs()]

    def _runs(self) -> Iterator[tuple[Mapping, Mapping]]:
        accessible = [each for each in self.mappings if each.devices]
        first: Mapping | None = None
        for index, mapping in enumerate(accessible):
            first = first or mapping
            after = accessible[index + 1] if index + 1 < len(accessible) else None
            if after is None or (after.address, after.devices) != (_end(mapping), mapping.devices):
                yield first, mapping
                first = None


class VirtualMemory:
    """All reservations of the process."""

    def __init__(self) -> None:
        self._reservations: list[Reservation] = []
        self._next = _FIRST

    def ranges(self) -> Iterator[MappedRange]:
        """All ranges that a device can access."""
        for reservation in self._reservations:
            yield from reservation.ranges

    def reserve(self, size: int, alignment: int, hint: int) -> int:
        """Reserve addresses and return the first one, which is ``hint`` if those are free."""
        usable = hint >= HOST_ADDRESSES and hint % max(alignment, GRANULARITY) == 0
        found = map_at(hint, size, _NO_ACCESS, _RESERVED | _FIXED_IF_FREE, -1, 0) if usable else 0
        if found != hint or not found:  # some kernels take the flag as a hint
            if found not in (0, MAP_FAILED):
                _munmap(found, size)
            unit = max(alignment, GRANULARITY)
            start = map_at(self._next, size + unit, _NO_ACCESS, _RESERVED, -1, 0)
            if start == MAP_FAILED:
                raise OutOfMemory(f"{size} bytes of address space cannot be reserved (ulimit -v)")
            found = -(-start // unit) * unit
            if found > start:
                _munmap(start, found - start)
            _munmap(found + size, start + unit - found)
            self._next = found + size
        self._reservations.append(Reservation(found, size))
        return found

    def release(self, address: int, size: int) -> None:
        """End a whole reservation without mappings."""
        reservation = self._reservation(address, size)
        if (reservation.address, reservation.size) != (address, size) or reservation.mappings:
            raise Refusal("INVALID_VALUE", "not a whole reservation without mappings")
        self._reservations.remove(reservation)
        _munmap(address, size)

    def map(self, address: int, physical: PhysicalMemory) -> None:
        """Map physical memory at a reserved address; no device can access it yet."""
        size = physical.size
        reservation = self._reservation(address, size)
        refuse_if(reservation.inside(address, size), f"memory is mapped at {address:#x}")
        map_fixed(address, size, physical.descriptor, physical.offset)
        physical.mapped += 1
        reservation.mappings.append(Mapping(address, size, physical))
        reservation.mappings.sort(key=lambda each: each.address)

    def unmap(self, address: int, size: int, handles: HandleTable) -> None:
        """End all mappings of a range, which contains whole mappings only, or none."""
        reservation = self._reservation(address, size)
        mappings = reservation.inside(address, size)
        _check_whole(mappings, address, size)
        for mapping in mappings:
            reservation.mappings.remove(mapping)
        reservation.update_ranges()
        for mapping in mappings:
            map_at(mapping.address, mapping.size, _NO_ACCESS, _RESERVED | _FIXED, -1, 0)
            mapping.physical.mapped -= 1
            mapping.physical.end_if_unused(handles)

    def set_access(self, address: int, size: int, device: int, *, permitted: bool) -> None:
        """Permit a device to access the mappings of a range, or forbid it."""
        reservation, mappings = self._mapped(address, size)
        _check_whole(mappings, address, size)
        for mapping in mappings:
            others = mapping.devices - {device}
            mapping.devices = others | {device} if permitted else others
        reservation.update_ranges()

    def mapping_at(self, address: int) -> Mapping:
        """Return the mapping that contains an address; `Refusal` if there is none."""
        return self._mapped(address, 1)[1][0]

    def find(self, address: int) -> tuple[Reservation, Mapping] | None:
        """Return the mapping that contains an address, and its reservation."""
        for reservation in self._reservations:
            for mapping in reservation.inside(address, 1):
                return reservation, mapping
        return None

    def is_reserved(self, address: int) -> bool:
        """Return whether an address is in a reservation."""
        return any(each.contains(address, 1) for each in self._reservations)

    def _reservation(self, address: int, size: int) -> Reservation:
        for reservation in self._reservations:
            if size > 0 and reservation.contains(address, size):
                return reservation
        raise Refusal("INVALID_VALUE", f"{size} bytes at {address:#x} are not within a reservation")

    def _mapped(self, address: int, size: int) -> tuple[Reservation, list[Mapping]]:
        """Return the reservation and the mappings of a range that is mapped completely."""
        reservation = self._reservation(address, size)
        mappings = reservation.inside(address, size)
        reached = address
        for mapping in mappings:
            reached = _end(mapping) if mapping.address <= reached else reached
        refuse_if(reached < address + size, f"not all of {size} bytes at {address:#x} are mapped")
        return reservation, mappings


def _check_whole(mappings: Sequence[Mapping], address: int, size: int) -> None:
    if mappings and (mappings[0].address < address or _end(mappings[-1]) > address + size):
        raise Refusal("INVALID_VALUE", "the range contains a part of a mapping")


def _end(mapping: Mapping) -> int:
    return mapping.address + mapping.size
