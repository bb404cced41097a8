"""Functions of the device runtime as actions: called for each lane, in the order of the lanes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import ActionFunction
from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.child_grids import DeviceServices
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.numerics.arrays import Arrays
from cudarun.emulator.program import KernelCode

_INVALID_VALUE = 1  # cudaError_t
Result = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CallingThread:
    """The thread that calls a function: the ``index``-th active lane."""

    active: Active
    index: int

    @property
    def launch(self) -> Launch:
        """The launch of its grid."""
        return self.active.batch.launch

    @property
    def services(self) -> DeviceServices:
        """The device and the context."""
        services = self.launch.config.services
        assert services is not None, "a launch by the driver has them"
        return services

    @property
    def number(self) -> int:
        """Its index in the grid."""
        return self.active.batch.threads.number(self.active.lane(self.index))

    @property
    def errors(self) -> dict[int, int]:
        """The last errors of the threads of its grid, by their indices."""
        return self.launch.children.errors

    def fail(self, error: int) -> int:
        """Set the thread's last error and return it."""
        self.errors[self.number] = error
        return error

    def kernel(self, address: int) -> KernelCode | None:
        """Return the kernel that a pointer points to."""
        function = self.launch.function_at(address)
        return None if function is None else self.launch.program.kernels.get(function.name)

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return bytes at a generic address."""
        return readable(self.active, self.index, address, size)


class RuntimeQuery(MemoryAction):
    """A function that writes values to a pointer, its first argument, and returns an error.

    Args:
        function: Called with the thread and the other arguments; returns an error alone, or with
            the values to write.
        sets_error: An error becomes the thread's last one.
    """

    def __init__(
        self,
        function: Callable[..., Result],
        dtype: str,
        count: int = 1,
        *,
        sets_error: bool = True,
    ) -> None:
        self._function = function
        self._sets_error = sets_error
        size = np.dtype(dtype).itemsize
        self.accesses = tuple(
            Access("", np.dtype(dtype), 1, AccessKind.WRITE, size * place) for place in range(count)
        )

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Call the function for every lane, and write the values that it returns."""
        pointers, *rest = sources
        rows, values = [], []
        for index in range(active.count):
            thread = CallingThread(active, index)
            given = (int(argument[index]) for argument in rest)
            result = self._function(thread, *given) if pointers[index] else _INVALID_VALUE
            error = result if isinstance(result, int) else result[0]
            if error and self._sets_error:
                thread.fail(error)
            for destination in destinations:
                destination[index] = error
            if not isinstance(result, int):
                rows.append(index)
                values.append(result[1:])
        if rows:
            writing = active.some(np.array(rows))
            for access, column in zip(self.accesses, np.array(values).T, strict=True):
                access.store(writing, pointers[rows], column[:, None])


def each_lane(function: Callable[..., int]) -> ActionFunction:
    """Return the action that calls a function for every lane, in their order."""

    def action(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for index in range(active.count):
            given = (int(argument[index]) for argument in sources)
            result = function(CallingThread(active, index), *given)
            for destination in destinations:
                destination[index] = result

    return action


def readable(active: Active, index: int, address: int, most: int) -> bytes:
    """Return the bytes that the ``index``-th active lane can read from a generic address on.

    Raises:
        DeviceFault: Not even the first byte can be read.
    """
    lane = active.some(np.array([index]))
    ((view, start, *_),) = _BYTE.locate(lane, np.array([address], dtype=np.uint64))
    region = _BYTE.region(active, address)
    assert region is not None
    first = int(start[0])
    return bytes(view[first : first + min(most, region.base + region.size - address)])


_BYTE = Access("", np.dtype(np.uint8), 1, AccessKind.READ, 0)
