"""Copies and fills of memory that kernels enqueue: ``cudaMemcpyAsync``, ``cudaMemset3DAsync``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.report import Report
from cudarun.emulator.memory import InvalidAddress
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.launch import Launch


@dataclass(frozen=True, slots=True)
class Box:
    """A box of bytes in memory."""

    address: int  # the first byte
    width: int  # bytes of a row
    height: int = 1  # rows of a plane
    pitch: int = 0  # bytes from one row to the next
    depth: int = 1  # planes
    rows: int = 1  # rows from one plane to the next

    @classmethod
    def of_pitched(
        cls, pointer: tuple[int, ...], extent: tuple[int, ...], start: tuple[int, ...] = (0, 0, 0)
    ) -> Self:
        """Return the box of a ``cudaPitchedPtr``, a ``cudaExtent`` and a ``cudaPos``."""
        address, pitch, _, rows = pointer
        x, y, z = start
        width, height, depth = extent
        return cls(address + x + pitch * (y + rows * z), width, height, pitch, depth, rows)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.width * self.height * self.depth

    @property
    def overlaps_itself(self) -> bool:
        """True if its rows are longer than their pitch."""
        return (self.height > 1 or self.depth > 1) and self.width > self.pitch

    def lines(self) -> list[int]:
        """Return the address of every row."""
        return [
            self.address + self.pitch * (row + self.rows * plane)
            for plane in range(self.depth)
            for row in range(self.height)
        ]


def copy_box(launch: Launch, target: Box, source: Box, site: Site | None) -> None:
    """Copy a box to another one of the same extent.

    Raises:
        DeviceFault: One of them is not in memory that can be accessed.
    """
    rows = [np.array(_row(launch, source, line, site, to_write=False)) for line in source.lines()]
    for line, data in zip(target.lines(), rows, strict=True):
        _row(launch, target, line, site, to_write=True)[:] = data


def fill_box(launch: Launch, target: Box, site: Site | None) -> None:
    """Set a box to zeros: ``libcudadevrt`` of CUDA 13.0 ignores the value, as an H200 shows.

    Raises:
        DeviceFault: It is not in memory that can be accessed.
    """
    for line in target.lines():
        _row(launch, target, line, site, to_write=True)[:] = 0


def _row(launch: Launch, box: Box, address: int, site: Site | None, *, to_write: bool) -> Array:
    for memory in launch.memories:
        try:
            return memory.bytes_at(address, box.width, to_write=to_write)
        except InvalidAddress:
            continue
    what = "written" if to_write else "read"
    box_bytes = f"{box.width} bytes at {address:#x}"
    report = Report(launch, f"{box_bytes} cannot be {what} by a copy that the kernel has enqueued")
    report.at(site)
    raise report.fault(700)
