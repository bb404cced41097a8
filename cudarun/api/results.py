"""The results of the Python API."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.api.messages import printed_text
from cudarun.api.tensors import array_like, host_array, is_array

if TYPE_CHECKING:
    from cudarun.model.launch import BufferCopy

Array = npt.NDArray[Any]


class LaunchOutputs(Mapping[str, Array]):
    """The buffers of a launch after it, as arrays by name: ``outputs["y"]``.

    All buffers are there, inputs included. One that was an array of the arguments has its dtype and
    shape, and is a tensor if it was one. A buffer of vectors has their axis last. Elements that
    were never written have the fill pattern.

    Args:
        report: The report as the command line prints it.
        document: The JSON document of ``launch --json``.
        arrays: The buffers.

    Attributes:
        report: As given.
        document: As given.
        printed: The output of the kernel's ``printf``.
    """

    def __init__(
        self, report: str, document: dict[str, Any], arrays: Mapping[str, Array] | None = None
    ) -> None:
        self.report = report
        self.document = document
        self.printed = printed_text(document)
        self._arrays = dict(arrays or {})

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        printed = f", printed {self.printed!r}" if self.printed else ""
        return f"<LaunchOutputs {', '.join(self._arrays) or 'without buffers'}{printed}>"

    @property
    def milliseconds(self) -> float | None:
        """The time of the kernel; with ``repeat`` the median; ``None`` with ``dry_run``."""
        result = self._result
        return None if result is None else result["milliseconds"]

    @property
    def timing(self) -> dict[str, Any] | None:
        """The times of ``repeat`` in milliseconds, as in the document; ``None`` without."""
        result = self._result
        return None if result is None else result["timing"]

    @property
    def _result(self) -> dict[str, Any] | None:
        outcomes = self.document.get("outcomes")
        return outcomes[0]["result"] if outcomes else None


class LoadedImages:
    """The report of a load that passed.

    Args:
        report: The report as the command line prints it.
        document: The JSON document of ``load --json``.
    """

    def __init__(self, report: str, document: dict[str, Any]) -> None:
        self.report = report
        self.document = document

    def __repr__(self) -> str:
        return f"<LoadedImages {', '.join(self.kernels) or 'without kernels'}>"

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all kernels in C++ spelling, each once."""
        found = (
            kernel["demangled"]
            for outcome in self.document["outcomes"]
            for result in outcome["results"]
            for kernel in result["kernels"]
        )
        return tuple(dict.fromkeys(found))


def mapped(file: int, copies: Sequence[BufferCopy]) -> dict[str, Array]:
    """Return the arrays in a file, which they share; they can be written.

    Args:
        file: The descriptor of the file, which may be closed afterwards.
    """
    filled = [copy for copy in copies if 0 not in copy.shape]
    memory = mmap.mmap(file, 0) if filled else bytearray()
    return {
        copy.name: np.ndarray(copy.shape, copy.dtype, memory, copy.offset)
        if copy in filled
        else np.empty(copy.shape, copy.dtype)
        for copy in copies
    }


def parameters(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters of the kernel that was launched."""
    results = [outcome["result"] for outcome in document.get("outcomes", ())]
    return [each["name"] for result in results[:1] if result for each in result["parameters"]]


def as_given(array: Array, given: object) -> Any:
    """Return a buffer with the dtype and the shape of the array that it was, if it was one.

    An array of complex64 is a buffer of ``float2``, for example. What was a tensor becomes one,
    and what came by DLPack an array of its library.
    """
    if not is_array(given):
        return array
    before = np.asarray(host_array("", given))
    if before.nbytes != array.nbytes:
        return array
    if (before.dtype, before.shape) != (array.dtype, array.shape):
        array = array.reshape(-1).view(before.dtype.newbyteorder("=")).reshape(before.shape)
    return array_like(array, given)


for _each in (LaunchOutputs, LoadedImages):
    _each.__module__ = "cudarun"  # where programs find them
