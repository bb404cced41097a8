"""Loads and stores of the active lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.access import Access

if TYPE_CHECKING:
    from cudarun.emulator.isa.form import Words
    from cudarun.emulator.machine.active import Active

Array = npt.NDArray[Any]


class Load:
    """``ld``: destinations are the elements of the vector, in registers that may be wider.

    ``strong`` loads are those by which threads look for what others have stored.
    """

    def __init__(self, words: Words) -> None:
        ptx_type = words.type
        self.elements = ptx_type.elements
        count = words.count * ptx_type.elements
        self.access = Access(
            words.space, ptx_type.dtype, count, "load", words.offsets[0], **memory_order(words)
        )
        self.strong = bool(self.access.order)

    def __call__(
        self, active: Active, sources: tuple[Array, ...], destinations: tuple[Array, ...]
    ) -> None:
        """Gather from memory."""
        columns = split(destinations, self.elements)
        for view, index, positions in self.access.locate(active, sources[0]):
            for place, column in enumerate(columns):
                part = view[place:] if place else view
                if positions is not None:
                    column[positions] = part.take(index)
                elif column.dtype == part.dtype and column.flags.c_contiguous:
                    part.take(index, out=column, mode="clip")
                else:
                    np.copyto(column, part.take(index), casting="unsafe")


class Store:
    """``st``: of several lanes that store to one place the last one wins."""

    def __init__(self, words: Words) -> None:
        ptx_type = words.type
        self.elements = ptx_type.elements
        self.count = words.count
        count = words.count * ptx_type.elements
        self.access = Access(
            words.space, ptx_type.dtype, count, "store", words.offsets[0], **memory_order(words)
        )

    def __call__(
        self, active: Active, sources: tuple[Array, ...], destinations: tuple[Array, ...]
    ) -> None:
        """Scatter to memory."""
        columns = split(sources[1 : 1 + self.count], self.elements)
        for view, index, positions in self.access.locate(active, sources[0]):
            for place, column in enumerate(columns):
                part = view[place:] if place else view
                part[index] = column if positions is None else column[positions]


class AsynchronousCopy:
    """``cp.async``: carried out at once, which is one of the times it may happen."""

    def __init__(self, words: Words) -> None:
        self.size = words.constants["size"]
        self.partial = "n" in words.given
        self.ignorable = "ignore" in words.given
        unit = np.dtype(f"u{min(self.size, 8)}")
        self.count = self.size // unit.itemsize
        to, start = words.offsets
        self.target = Access("shared", unit, self.count, "store", to)
        self.origin = Access("global", unit, self.count, "load", start)
        self.bytes = Access("global", np.dtype(np.uint8), 1, "load", start)

    def __call__(
        self, active: Active, sources: tuple[Array, ...], destinations: tuple[Array, ...]
    ) -> None:
        """Copy ``size`` bytes per lane; those past the source size become zero."""
        target, origin, *rest = sources
        data = np.zeros((active.count, self.size), dtype=np.uint8)
        if self.partial:
            self._load_partly(active, origin, rest[0], data)
        elif self.ignorable:
            self._load_partly(active, origin, np.where(rest[0], 0, self.size), data)
        else:
            words = data.view(self.origin.dtype)
            for view, index, positions in self.origin.locate(active, origin):
                rows = slice(None) if positions is None else positions
                for place in range(self.count):
                    words[rows, place] = view[place:].take(index)
        words = data.view(self.target.dtype)
        for view, index, positions in self.target.locate(active, target):
            rows = slice(None) if positions is None else positions
            for place in range(self.count):
                view[place:][index] = words[rows, place]

    def _load_partly(self, active: Active, origin: Array, sizes: Array, data: Array) -> None:
        for place in range(self.size):
            wanted = np.flatnonzero(sizes > place)
            if len(wanted):
                some = active.some(wanted)
                for view, index, positions in self.bytes.locate(some, origin[wanted] + place):
                    rows = wanted if positions is None else wanted[positions]
                    data[rows, place] = view.take(index)


class NoEffect:
    """Hints: all that is visible of them happens anyway."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __call__(
        self, active: Active, sources: tuple[Array, ...], destinations: tuple[Array, ...]
    ) -> None:
        """Do nothing."""


class Fence(NoEffect):
    """``membar``, ``fence``: here memory is always up to date, and only an observer cares."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.scope = words.get("scope") or words["level"]


def memory_order(words: Words) -> dict[str, str]:
    """The order and scope of a load or store, as `Access` takes them."""
    return {"order": words.get("sem", ""), "scope": words.get("scope", "")}


def split(arrays: tuple[Array, ...], elements: int) -> list[Array]:
    """One-dimensional columns of values that consist of several elements."""
    if elements == 1:
        return list(arrays)
    return [array[:, element] for array in arrays for element in range(elements)]
