"""``--save``: results as files, complete or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO

from cudarun.errors import RequestError
from cudarun.session.requests import Save

if TYPE_CHECKING:  # `check_savable` runs in the parent, which does without numpy
    import numpy.typing as npt

    from cudarun.report.types import Saved


def save(request: Save, device: str, data: npt.NDArray[Any], *, force: bool) -> Saved:
    """Write an array as its suffix says: ``.npy``, or ``.bin`` for the bare bytes.

    The file appears under its name only when it is complete.

    Raises:
        RequestError: It exists and ``force`` is not set, or it cannot be written.
    """
    import tempfile

    from cudarun.report.types import Saved

    path = request.path_on(device)
    try:
        folder, name = os.path.split(path)
        handle, temporary = tempfile.mkstemp(dir=folder or ".", prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, 0o666 & ~_umask())
                _WRITERS[_suffix(path)](file, data)
            if force:
                os.replace(temporary, path)
            else:
                os.link(temporary, path)  # unlike a rename, never replaces a file
                os.unlink(temporary)
        except BaseException:
            os.unlink(temporary)
            raise
    except FileExistsError:
        raise RequestError(f"--save: {path} exists", hint="--force replaces it") from None
    except OSError as error:
        raise RequestError(f"--save: {path} cannot be written: {error.strerror}") from error
    return Saved(request.name, path, os.stat(path).st_size)


def check_savable(request: Save, *, force: bool) -> None:
    """Refuse, before anything runs, what `save` would refuse after it.

    Raises:
        RequestError: The format is unknown, the file exists, or its folder cannot be written.
    """
    path = request.path_on("")
    folder = os.path.dirname(path) or "."
    if _suffix(path) not in _WRITERS:
        raise RequestError(f"--save: {path}: the suffix must be one of {', '.join(_WRITERS)}")
    if os.path.isdir(path):
        raise RequestError(f"--save: {path} is a directory")
    if os.path.exists(path) and not force:
        raise RequestError(f"--save: {path} exists", hint="--force replaces it")
    if not os.path.isdir(folder):
        raise RequestError(f"--save: {path} cannot be written: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise RequestError(f"--save: {path} cannot be written: the folder is not writable")


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_npy(file: BinaryIO, data: npt.NDArray[Any]) -> None:
    import numpy as np

    np.save(file, data, allow_pickle=False)


def _write_bin(file: BinaryIO, data: npt.NDArray[Any]) -> None:
    data.tofile(file)


_WRITERS = {".npy": _write_npy, ".bin": _write_bin}
