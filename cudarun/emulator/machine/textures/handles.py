"""Lanes grouped by the texture or surface object that they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active

Positions = slice | npt.NDArray[np.intp]
Object = TypeVar("Object")

ILLEGAL_ADDRESS = 700


def by_object(
    active: Active, handles: Array, objects: Mapping[int, Object], kind: str
) -> Iterator[tuple[Object, Positions, int]]:
    """Yield each object, the active lanes that use it, and the first of those.

    Raises:
        DeviceFault: A handle is not one of these objects.
    """
    for handle, positions, first in _by_handle(handles):
        found = objects.get(handle)
        if found is None:
            detail = f"{handle:#x} is not a {kind} object of this context"
            raise active.fault(ILLEGAL_ADDRESS, f"invalid {kind} object", first, detail)
        yield found, positions, first


def _by_handle(handles: Array) -> Iterator[tuple[int, Positions, int]]:
    """Yield each handle, with the lanes that have it and the first of them."""
    if (handles == handles[0]).all():  # the usual case
        yield int(handles[0]), slice(None), 0
        return
    for handle in np.unique(handles):
        positions = np.flatnonzero(handles == handle)
        yield int(handle), positions, int(positions[0])
