"""``--save``: results as files, complete or not at all; ``.npy`` and ``.bin`` part by part."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from cudarun.errors import RequestError
from cudarun.session.launch.request import Save
from cudarun.writing import check_writable, whole_file

if TYPE_CHECKING:  # `check_savable` runs in the parent, which does without numpy
    import numpy.typing as npt

    from cudarun.arguments.packing import BufferSpec
    from cudarun.report.types import Saved
    from cudarun.session.driver.transfers import Take

    Deliver = Callable[[Take], object]


def save(request: Save, device: str, spec: BufferSpec, deliver: Deliver, *, force: bool) -> Saved:
    """Write a buffer as the file's suffix says.

    ``.npy`` is numpy's format, ``.bin`` the bare bytes, ``.csv`` a line for each row, ``.png`` a
    picture.

    The file appears under its name only when it is complete.

    Args:
        request: Which buffer, and where.
        device: What the path calls the device.
        spec: The buffer.
        deliver: Gives what it is passed all parts of the buffer; where `takes_parts` says no, one.
        force: Whether a file that is there may go.

    Raises:
        RequestError: It exists and ``force`` is not set, or it cannot be written.
    """
    from cudarun.report.types import Saved

    path = request.path_on(device)
    with whole_file("--save", path, replace=force) as file:
        deliver(_WRITERS[_suffix(path)](file, spec))
    return Saved(request.name, path, os.stat(path).st_size)


def takes_parts(request: Save) -> bool:
    """Whether `save` can do without the whole buffer in memory."""
    return _suffix(request.path) in _PART_BY_PART


def check_savable(request: Save, device: str, *, force: bool) -> None:
    """Refuse, before anything runs, what `save` would refuse after it.

    Args:
        request: What is to be saved.
        device: As the user names it; of ``all`` nothing is known yet but the form of the path.
        force: Whether files that are there may go.

    Raises:
        RequestError: The format is unknown, the file exists, or its folder cannot be written.
    """
    path = request.path_on(device)
    if _suffix(path) not in _WRITERS:
        raise RequestError(
            f"{path}: the suffix must be one of {', '.join(_WRITERS)}", option="--save"
        )
    check_writable("--save", path, replace=force)


def check_saving(request: Save, spec: BufferSpec) -> None:
    """Refuse, before anything is launched, a buffer that its file's format cannot hold.

    Raises:
        RequestError: No image for a ``.png``, more than two axes for a ``.csv``.
    """
    from cudarun.session.launch.pictures import is_image

    suffix = _suffix(request.path)
    if suffix == ".png" and not is_image(spec):
        raise RequestError(
            f"{request.path}: {spec.name} is {spec}: no image",
            hint="an image is rows × columns, of numbers or of 3 or 4 of them, as uchar4[h,w]",
            option="--save",
        )
    if suffix == ".csv" and len(spec.array_shape) > 2:
        raise RequestError(
            f"{request.path}: {spec.name} is {spec}: a table has rows and columns only",
            hint="--save to .npy keeps all axes",
            option="--save",
        )


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _npy_writer(file: IO[bytes], spec: BufferSpec) -> Take:
    """Numpy's format, with the header that `numpy.save` would write."""
    from numpy.lib import format as npy

    descr = npy.dtype_to_descr(spec.dtype())
    header = {"descr": descr, "fortran_order": False, "shape": spec.array_shape}
    try:
        npy.write_array_header_1_0(file, header)
    except ValueError:  # a struct of very many members
        npy.write_array_header_2_0(file, header)
    return _bin_writer(file, spec)


def _bin_writer(file: IO[bytes], spec: BufferSpec) -> Take:
    return lambda part, first: file.write(part.view("u1").data)


def _csv_writer(file: IO[bytes], spec: BufferSpec) -> Take:
    """A line for each element along the first axis; structs have a first line of member names."""
    import csv
    import io

    def take(whole: npt.NDArray[Any], first: int) -> None:
        data = whole.reshape(spec.array_shape)
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        if data.dtype.names:
            writer.writerow(_columns(data.dtype))
        for row in data:
            writer.writerow(_cells(row))
        text.detach()

    return take


def _columns(dtype: Any, name: str = "") -> list[str]:
    """The names of a struct's numbers: ``v.0``, ``v.1`` for an array ``v``."""
    base, shape = dtype.subdtype or (dtype, ())
    if shape:
        import numpy as np

        indices = (".".join(map(str, index)) for index in np.ndindex(shape))
        return [column for i in indices for column in _columns(base, f"{name}.{i}")]
    if dtype.names is None:
        return [name]
    members = ((dtype[each], f"{name}.{each}" if name else each) for each in dtype.names)
    return [column for member, full in members for column in _columns(member, full)]


def _cells(value: Any) -> list[str]:
    """The numbers in a row, a struct or an array, each with all its digits."""
    if value.dtype.names:
        return [cell for name in value.dtype.names for cell in _cells(value[name])]
    if value.shape:
        return [cell for item in value for cell in _cells(item)]
    return [str(value)]


def _png_writer(file: IO[bytes], spec: BufferSpec) -> Take:
    from cudarun.session.launch.pictures import write_png

    return lambda whole, first: write_png(file, whole.reshape(spec.array_shape))


_PART_BY_PART = {".npy": _npy_writer, ".bin": _bin_writer}
_WRITERS = _PART_BY_PART | {".csv": _csv_writer, ".png": _png_writer}
