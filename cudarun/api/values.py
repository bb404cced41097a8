"""Values of a program as values of arguments: arrays are files in memory that a service reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cudarun.api.tensors import host_array, is_array
from cudarun.arguments.dtypes import element_type, scalar_type
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import StructType
from cudarun.arguments.values import Bytes, Null
from cudarun.base.records import dataclass
from cudarun.session.workers.service_messages import above_streams

ZIP_MAGIC = b"PK\x03\x04"
"""The start of a recording."""
ARRAY_NAME = "array"
"""The name of an array in texts."""
_REGISTERED = 2
"""`numpy.dtype.isbuiltin` of a dtype that a package added to numpy's."""


class SupportsArray(Protocol):
    """An object that numpy can convert to an array, or a tensor of PyTorch."""

    def __array__(self) -> npt.NDArray[Any]:
        """Return the array."""


ArgumentValue: TypeAlias = (
    npt.NDArray[Any]
    | SupportsArray
    | np.generic
    | str
    | int
    | float
    | bool
    | Mapping[str, Any]
    | None
)
"""An argument: an array, a number, a mapping of the members of a struct, ``None`` for a null
pointer, or a text in the syntax of ARG."""


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """An array in a file of a call.

    Attributes:
        number: The number of the file.
        buffer: The type and shape of an array whose file has bytes for items; ``""`` for others.
    """

    number: int
    buffer: str = ""


class ArrayFiles:
    """The arrays of a call, each in a file in memory.

    Attributes:
        files: The descriptors of the files.

    It is a context manager that closes the files.
    """

    def __init__(self) -> None:
        self.files: list[int] = []

    def __enter__(self) -> ArrayFiles:
        return self

    def __exit__(self, *_: object) -> None:
        while self.files:
            os.close(self.files.pop())

    def create(self) -> int:
        """Create an empty file, and return its number."""
        self.files.append(above_streams(os.memfd_create("cudarun-array")))
        return len(self.files) - 1

    def path_of(self, recording: bytes) -> str:
        """Return a path of a recording, whose memory is read where it is used."""
        file = self.files[self.create()]
        with os.fdopen(file, "wb", closefd=False) as stream:
            stream.write(recording)
        return f"/proc/{os.getpid()}/fd/{file}"

    def value(self, name: str, value: Any) -> Any:
        """Return an argument for `resolved`; see `ArgumentValue`.

        Raises:
            TypeError: There is no argument of the value's type.
        """
        if value is None:
            return Null()
        if isinstance(value, str):
            return value
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
            return UntypedNumber(repr(int(value)) if isinstance(value, bool) else repr(value))
        value = host_array(name, value)
        if np.ma.is_masked(value):
            raise TypeError(f"{name}: a kernel has no masked elements; pass {name}.filled(…)")
        if isinstance(value, Mapping):  # a struct by value
            return {key: self._member(f"{name}.{key}", each) for key, each in value.items()}
        if not hasattr(value, "__array__"):
            raise TypeError(f"{name}: {type(value).__name__} is neither a number nor an array")
        array = np.asarray(value)
        if array.ndim:
            return self.array(name, array)
        element = element_type(array.dtype)
        if isinstance(element, StructType) and all(each.name for each in element.members):
            names = array.dtype.names or ()
            return self.value(name, {each: _nested(array[each]) for each in names})
        data = array.astype(array.dtype.newbyteorder("=")).tobytes()
        if (scalar := scalar_type(array.dtype)) is not None:
            return Scalar(scalar, int.from_bytes(data, "little"))
        if element_type(array.dtype) is None:
            raise TypeError(f"{name}: a scalar of {array.dtype} is not an argument")
        return Bytes(data)

    def _member(self, name: str, value: object) -> Any:
        """Return a member of a struct; an array or a vector in it is a sequence."""
        if isinstance(value, list | tuple):
            return [self._member(name, each) for each in value]
        return self.value(name, value)

    def expected(self, name: str, value: Any) -> Any:
        """Return an expected array, whose elements have the type of the buffer."""
        return self.array(name, value) if is_array(value) else self.value(name, value)

    def array(self, name: str, value: Any) -> ArrayFile:
        """Return an array.

        Raises:
            TypeError: There is no type for its elements.
        """
        array = np.asarray(host_array(name, value))
        element = element_type(array.dtype)
        if element is None:
            raise TypeError(f"{name}: an array of {array.dtype} is not an argument")
        native = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        # numpy's format has no name for bf16 and fp8: such items are bytes in the file.
        is_foreign = array.dtype.isbuiltin == _REGISTERED
        number = self.create()
        with os.fdopen(self.files[number], "wb", closefd=False) as stream:
            items = native.view(f"V{native.itemsize}") if is_foreign else native
            np.lib.format.write_array(stream, items, allow_pickle=False)
        shape = ",".join(map(str, array.shape))
        return ArrayFile(number, f"{element}[{shape}]" if is_foreign else "")


def _nested(array: npt.NDArray[Any]) -> Any:
    """Return the elements of an array in a struct as lists."""
    return [_nested(np.asarray(each)) for each in array] if array.ndim else array
