"""The words of a command line whose files are arrays of this process."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from cudarun.arguments.dtypes import element_type, scalar_type
from cudarun.arguments.scalars import Scalar
from cudarun.arguments.types import StructType
from cudarun.arguments.values import Bytes
from cudarun.session.workers.service import above_streams

if TYPE_CHECKING:
    from types import TracebackType

_MARK = "\ud800"
"""Around the number of a file in a word: no path and no text of a file can contain it."""
FILES = "/proc/self/fd/"
"""The folder of the files in the service."""
_REGISTERED = 2
"""`numpy.dtype.isbuiltin` of a dtype that a package added to numpy's."""
_FILE = re.compile(rf"{_MARK}(\d+){_MARK}")


class SupportsArray(Protocol):
    """An object that numpy can convert to an array, such as a tensor in host memory."""

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


class CommandWords:
    """CommandWords, and files in memory that they name.

    Args:
        words: The first words.

    Attributes:
        words: The words; a file is its number between marks, see `filled`.
        files: The descriptors of the files.
        names: The name of each file in the report.

    It is a context manager that closes the files.
    """

    def __init__(self, *words: str) -> None:
        self.words = [*words]
        self.files: list[int] = []
        self.names: list[str] = []

    def __enter__(self) -> CommandWords:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        while self.files:
            os.close(self.files.pop())

    def add(self, *words: str) -> None:
        """Add words."""
        self.words += words

    def image(self, image: str | os.PathLike[str] | bytes) -> str:
        """Return the word of an image: its path, or a file with its contents.

        A text with a newline is the contents.
        """
        if isinstance(image, str) and "\n" in image:
            image = image.encode()
        if isinstance(image, bytes | bytearray | memoryview):
            word = self.file("image")
            with os.fdopen(self.files[-1], "wb", closefd=False) as file:
                file.write(image)
            return word
        path = os.fspath(image)
        return "./-" if path == "-" else path  # which is stdin on the command line

    def file(self, name: str) -> str:
        """Create an empty file and return its word.

        Args:
            name: The file's name in the report.
        """
        self.files.append(above_streams(os.memfd_create(f"cudarun-{name}")))
        self.names.append(name)
        return f"{_MARK}{len(self.files) - 1}{_MARK}"

    def value(self, name: str, value: Any, *, is_file: bool = False) -> str:
        """Return the text of an argument, see `ArgumentValue`.

        Args:
            name: The argument, for messages.
            value: The value.
            is_file: Only an array in a file is accepted, without a type of its own.

        Raises:
            TypeError: There is no argument of the value's type.
        """
        if value is None:
            return "null"
        if isinstance(value, str):
            return value
        if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
            return repr(int(value)) if isinstance(value, bool) else repr(value)
        if np.ma.is_masked(value):
            raise TypeError(f"{name}: a kernel has no masked elements; pass {name}.filled(…)")
        if isinstance(value, Mapping):  # a struct by value
            members = (
                f"{key}={self._member(f'{name}.{key}', each)}" for key, each in value.items()
            )
            return f"{{{', '.join(members)}}}"
        if not hasattr(value, "__array__"):
            raise TypeError(f"{name}: {type(value).__name__} is neither a number nor an array")
        array = np.asarray(value)
        if array.ndim == 0 and not is_file:
            element = element_type(array.dtype)
            if isinstance(element, StructType) and all(each.name for each in element.members):
                names = array.dtype.names or ()
                return self.value(name, {each: _nested(array[each]) for each in names})
            return _scalar(name, array)
        return self._array(name, array, is_file=is_file)

    def _member(self, name: str, value: Any) -> str:
        """Return the text of a member of a struct; an array or a vector in it is a sequence."""
        if isinstance(value, list | tuple):
            return f"{{{', '.join(self._member(name, each) for each in value)}}}"
        return self.value(name, value)

    def _array(self, name: str, array: npt.NDArray[Any], *, is_file: bool) -> str:
        element = element_type(array.dtype)
        if element is None:
            raise TypeError(f"{name}: an array of {array.dtype} is not an argument")
        native = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)
        # numpy's format has no name for bf16 and fp8: such items are bytes in the file.
        is_foreign = array.dtype.isbuiltin == _REGISTERED
        file = self.file("array")
        with os.fdopen(self.files[-1], "wb", closefd=False) as stream:
            items = native.view(f"V{native.itemsize}") if is_foreign else native
            np.lib.format.write_array(stream, items, allow_pickle=False)
        if is_file or not is_foreign:
            return f"@{file}"
        return f"{element}[{','.join(map(str, array.shape))}]:@{file}"


def _scalar(name: str, array: npt.NDArray[Any]) -> str:
    """Return the text of a number of a type."""
    data = array.astype(array.dtype.newbyteorder("=")).tobytes()
    if (scalar := scalar_type(array.dtype)) is not None:
        return str(Scalar(scalar, int.from_bytes(data, "little")))
    if element_type(array.dtype) is None:
        raise TypeError(f"{name}: a scalar of {array.dtype} is not an argument")
    return str(Bytes(data))


def _nested(array: npt.NDArray[Any]) -> Any:
    """Return the elements of an array in a struct as lists."""
    return [_nested(np.asarray(each)) for each in array] if array.ndim else array


def filled(word: str, paths: list[str]) -> str:
    """Return a word with the paths of its files."""
    return _FILE.sub(lambda file: paths[int(file[1])], word)
