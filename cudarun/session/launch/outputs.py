"""``--save``: files of results, complete or not written at all; ``.npy`` and ``.bin`` in chunks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import IO, TYPE_CHECKING, Any

from cudarun.base.errors import RequestError
from cudarun.base.files import OutputFile, check_outputs, whole_file
from cudarun.session.launch.step_request import Save

if TYPE_CHECKING:  # `check_savable` runs in the parent, which does not import numpy
    from cudarun.arguments.dtypes import Array, DType
    from cudarun.arguments.packing import BufferSpec
    from cudarun.model.launch import Saved
    from cudarun.session.driver.transfers import ChunkSink

    Deliver = Callable[[ChunkSink], object]


def save(request: Save, device: str, spec: BufferSpec, deliver: Deliver, *, force: bool) -> Saved:
    """Write a buffer in the format of the file's suffix; `RequestError` if it cannot be written.

    ``.npy`` is numpy's format, ``.bin`` the raw bytes, ``.csv`` has a line per row, ``.png`` is a
    picture.

    The file appears under its name only when it is complete.

    Args:
        device: The device's name in the path.
        deliver: Passes all chunks of the buffer to a function; one unless `takes_parts`.
        force: Replace an existing file.
    """
    from cudarun.model.launch import Saved

    path = request.path_on(device)
    with whole_file(OutputFile("--save", path, force=force)) as file:
        deliver(_WRITERS[_suffix(path)](file, spec))
    return Saved(request.name, path, os.stat(path).st_size)


def takes_parts(request: Save) -> bool:
    """Return whether `save` works without the whole buffer in memory."""
    return _suffix(request.path) in _PART_BY_PART


def check_format(request: Save) -> None:
    """Refuse a path whose suffix is no format."""
    if _suffix(request.path) not in _WRITERS:
        raise RequestError(
            f"{request.path}: the suffix must be one of {', '.join(_WRITERS)}", option="--save"
        )


def check_on_device(saves: Iterable[Save], device: str, *, force: bool) -> None:
    """Apply the rule for outputs to the files of a device, not known before with ``all``."""
    outputs = [OutputFile("--save", save.path_on(device), force=force) for save in saves]
    check_outputs(outputs, ())


def check_saving(request: Save, spec: BufferSpec) -> None:
    """Refuse, before the launch, a buffer that the file's format cannot represent."""
    from cudarun.session.launch.pictures import require_image

    suffix = _suffix(request.path)
    if suffix == ".png":
        require_image(spec, "--save", f"{request.path}: ")
    if suffix == ".csv" and len(spec.array_shape) > 2:
        raise RequestError(
            f"{request.path}: {spec.name} is {spec}: a table has only rows and columns",
            hint="save to .npy to keep all axes",
            option="--save",
        )


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _npy_writer(file: IO[bytes], spec: BufferSpec) -> ChunkSink:
    """Write numpy's format, with the header that `numpy.save` would write."""
    from numpy.lib import format as npy

    descr = npy.dtype_to_descr(spec.dtype())
    header = {"descr": descr, "fortran_order": False, "shape": spec.array_shape}
    try:
        npy.write_array_header_1_0(file, header)
    except ValueError:  # a struct with very many members
        npy.write_array_header_2_0(file, header)
    return _bin_writer(file, spec)


def _bin_writer(file: IO[bytes], spec: BufferSpec) -> ChunkSink:
    return lambda part, first: file.write(part.view("u1").data)


def _csv_writer(file: IO[bytes], spec: BufferSpec) -> ChunkSink:
    """Write a line for each element along the first axis; structs get a line of member names."""
    import csv
    import io

    def take(whole: Array, first: int) -> None:
        data = whole.reshape(spec.array_shape)
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        if data.dtype.names:
            writer.writerow(_columns(data.dtype))
        for row in data:
            writer.writerow(_cells(row))
        text.detach()

    return take


def _columns(dtype: DType, name: str = "") -> list[str]:
    """Return the names of a struct's numbers: ``v.0``, ``v.1`` for an array ``v``."""
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
    """Return the numbers in a row, a struct or an array, each with all digits."""
    if value.dtype.names:
        return [cell for name in value.dtype.names for cell in _cells(value[name])]
    if value.shape:
        return [cell for item in value for cell in _cells(item)]
    return [str(value)]


def _png_writer(file: IO[bytes], spec: BufferSpec) -> ChunkSink:
    from cudarun.session.launch.pictures import write_png

    return lambda whole, first: write_png(file, whole.reshape(spec.array_shape))


_PART_BY_PART = {".npy": _npy_writer, ".bin": _bin_writer}
_WRITERS = _PART_BY_PART | {".csv": _csv_writer, ".png": _png_writer}
