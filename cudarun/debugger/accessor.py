"""The interface of what reads the state of a stopped thread."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt


class Accessor(Protocol):
    """Reads the registers and the memory of the lanes of a warp."""

    def register(self, name: str) -> npt.NDArray[Any]:
        """Return a register by its name in the PTX, as ``%r5``: a value for each lane.

        Raises:
            KeyError: The function has no such register.
        """

    def read(self, space: str, lane: int, address: int, size: int) -> bytes:
        """Return bytes of memory.

        Args:
            space: ``global``, ``shared``, ``local``, ``const``, ``param``; empty for a generic
                address.
            lane: The lane, whose shared and local memory is meant.
            address: The address in that space.
            size: The number of bytes.

        Raises:
            ValueError: Not all bytes are in memory.
        """
