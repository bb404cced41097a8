"""Loads and stores of the active lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.code import FunctionCode
from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words


class MemoryLoad(MemoryAction):
    """``ld``: the destinations are the elements of the vector, in registers that may be wider."""

    def __init__(self, words: Words) -> None:
        self.elements = words.type.elements
        self.accesses = (_access(words, AccessKind.READ),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load from memory."""
        columns = split(destinations, self.elements)
        (access,) = self.accesses
        for view, index, positions, _ in access.locate(active, sources[0]):
            for place, column in enumerate(columns):
                part = view[place:] if place else view
                if positions is not None:
                    column[positions] = part.take(index)
                elif column.dtype == part.dtype and column.flags.c_contiguous:
                    part.take(index, out=column, mode="clip")
                else:
                    np.copyto(column, part.take(index), casting="unsafe")


class MemoryStore(MemoryAction):
    """``st``: if several lanes store to one address the last one wins."""

    def __init__(self, words: Words) -> None:
        self.elements = words.type.elements
        self.count = words.count
        self.accesses = (_access(words, AccessKind.WRITE),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Store to memory."""
        columns = split(sources[1 : 1 + self.count], self.elements)
        (access,) = self.accesses
        for view, index, positions, _ in access.locate(active, sources[0]):
            for place, column in enumerate(columns):
                part = view[place:] if place else view
                part[index] = column if positions is None else column[positions]


class AsynchronousCopy(AsynchronousAction):
    """``cp.async``."""

    queue = "cp.async"

    def __init__(self, words: Words) -> None:
        self.size = words.constants["size"]
        self.partial = "n" in words.given
        self.ignorable = "ignore" in words.given
        unit = np.dtype(f"u{min(self.size, 8)}")
        self.count = self.size // unit.itemsize
        to, start = words.offsets
        self.accesses = (
            Access("shared", unit, self.count, AccessKind.WRITE, to).by("cp.async"),
            Access("global", unit, self.count, AccessKind.READ, start).by("cp.async"),
            # where it is partial
            Access("global", np.dtype(np.uint8), 1, AccessKind.READ, start).by("cp.async"),
        )

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy ``size`` bytes per lane; those past the source size become zero."""
        target, origin, *rest = sources
        writing, reading, _ = self.accesses
        if self.partial:
            data = self._load_partly(active, origin, rest[0])
        elif self.ignorable:
            data = self._load_partly(active, origin, np.where(rest[0], 0, self.size))
        else:
            data = reading.load(active, origin)
        yield partial(writing.store, active, target, data.view(writing.dtype))

    def _load_partly(self, active: Active, origin: Array, sizes: Array) -> Array:
        """Return the first bytes of each lane's source, and zeros after them.

        A source is aligned to the whole size, however much of it is copied.
        """
        _, reading, reading_bytes = self.accesses
        data = np.zeros((active.count, self.size), dtype=np.uint8)
        whole = np.flatnonzero(sizes >= self.size)
        if len(whole):
            rows = reading.load(active.some(whole), origin[whole])
            data[whole] = rows.view(np.uint8)
        parts = np.flatnonzero((sizes > 0) & (sizes < self.size))
        if len(parts):
            reading.check_alignment(active.some(parts), origin[parts])
        for place in range(self.size):
            lanes = parts[sizes[parts] > place]
            if len(lanes):
                bytes_ = reading_bytes.load(active.some(lanes), origin[lanes] + place)
                data[lanes, place] = bytes_[:, 0]
        return data


class NoEffect:
    """Hints without an observable effect."""

    def __init__(self, words: Words) -> None:
        self.words = words

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Do nothing."""


class GroupControl(NoEffect):
    """The end of a group of asynchronous operations, or a wait for groups: ``cp.async.wait_group``.

    Attributes:
        queue: ``"cp.async"``, ``"bulk"``, ``"wgmma"``, ``"tcgen05.ld"`` or ``"tcgen05.st"``.
        commits: True if it ends a group.
        pending: The most groups that a wait leaves incomplete; ``None`` if it is for all
            operations, in groups or not.
        reads: True if lanes only wait until the sources have been read.
    """

    queue = "cp.async"

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        if "bulk" in words:
            self.queue = "bulk"
        self.commits = "commit_group" in words
        self.pending = next(iter(words.constants.values()), None)
        self.reads = bool(words.get("read"))


class GridDependency(NoEffect):
    """``griddepcontrol``."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        # Whether it waits for the grids before; otherwise dependent ones may start.
        self.waits = words["what"] == "wait"


def releases_dependents(function: FunctionCode) -> bool:
    """Return whether grids that depend on one with this code may begin before it is complete."""
    return any(isinstance(each, GridDependency) and not each.waits for each in function.actions)


class Fence(NoEffect):
    """``membar``, ``fence``: memory is always up to date, so they only matter to observers."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        # Whether it is for initialized ``mbarrier`` objects.
        self.is_of_objects = words.get("op_restrict") == "mbarrier_init"
        self.scope = words.get("scope") or words["level"]  # the scope


class ProxyFence(NoEffect):
    """``fence.proxy.async``, also of one direction, ``async::generic``."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        # The state space of the memory; empty for all.
        self.space = "shared" if words.get("restrict") else words["space"].partition("::")[0]


def _access(words: Words, kind: AccessKind) -> Access:
    """Return the access of a load or store."""
    given = words.space, words.type.dtype, words.count * words.type.elements, kind, words.offsets[0]
    return Access(*given, order=words.get("sem", ""), scope=words.get("scope", ""))


def split(arrays: Arrays, elements: int) -> list[Array]:
    """Return one-dimensional columns of values that consist of several elements."""
    if elements == 1:
        return list(arrays)
    return [array[:, element] for array in arrays for element in range(elements)]
