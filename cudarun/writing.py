"""Output files, which appear under their name only when they are complete.

Until then an existing file stays unchanged. Special files (a pipe, a terminal, ``/dev/null``) are
written to directly.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from cudarun.errors import RequestError

_DESCRIPTORS = "/proc/self/fd"
# open(2): the errors of file systems and kernels without O_TMPFILE.
_NO_NAMELESS_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}


@contextmanager
def whole_file(option: str, path: str, *, replace: bool = True) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place at the end of the block.

    If the block raises, or the disk is full, nothing is left. A file that is replaced keeps its
    permissions; of a symbolic link, the target is replaced.

    Args:
        option: The option that named the file, for messages: ``--save``.
        path: The file.
        replace: Replace an existing file.

    Raises:
        RequestError: The file exists and ``replace`` is not set, or it cannot be written.
    """
    try:
        if _is_special(path):
            with open(path, "wb") as special:
                yield special
        else:
            with _beside(os.path.realpath(path), replace=replace) as file:
                yield file
    except FileExistsError:
        raise _exists(option, path) from None
    except OSError as error:
        raise _cannot(option, path, error.strerror or str(error)) from error


def check_writable(option: str, path: str, *, replace: bool = True) -> None:
    """Refuse, before any work is done, a path that `whole_file` would refuse afterwards.

    Raises:
        RequestError: The path is a directory, exists and must not be replaced, is read-only, or is
            not in a writable folder.
    """
    if os.path.isdir(path):
        raise RequestError(f"{path} is a directory", option=option)
    if _is_special(path):
        return
    if os.path.exists(path):
        if not replace:
            raise _exists(option, path)
        if not os.access(path, os.W_OK):
            raise _cannot(option, path, "it is read-only")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise _cannot(option, path, f"there is no folder {os.path.dirname(path) or folder}")
    if not os.access(folder, os.W_OK):
        raise _cannot(option, path, "the folder is not writable")


@contextmanager
def _beside(place: str, *, replace: bool) -> Iterator[IO[bytes]]:
    """Open a file in the same folder without a name until it is complete.

    So nothing is left even if the process is killed. On file systems that require names the file
    has a temporary one.
    """
    folder, name = os.path.split(place)
    handle = _nameless(folder)
    if handle is None:
        with _named_beside(place, replace=replace) as file:
            yield file
        return
    with os.fdopen(handle, "wb") as file:
        os.fchmod(handle, _permissions(place))
        yield file
        file.flush()
        if not replace:
            _give_name(handle, place)
            return
        temporary = f"{folder}/.{name[:64]}.{os.getpid()}"
        with suppress(FileNotFoundError):  # of a killed process with the same process ID
            os.unlink(temporary)
        _give_name(handle, temporary)
        try:
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise


def _nameless(folder: str) -> int | None:
    """Open a file without a name (open(2), ``O_TMPFILE``); ``None`` if unsupported."""
    if not os.path.exists(_DESCRIPTORS):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError as error:
        if error.errno in _NO_NAMELESS_FILES:
            return None
        raise


def _give_name(handle: int, place: str) -> None:
    """Give a nameless file its name.

    Raises:
        FileExistsError: A file of that name already exists.
    """
    # With a folder's descriptor Python calls linkat(2), which follows the link in /proc.
    os.link(f"{_DESCRIPTORS}/{handle}", place, src_dir_fd=handle, follow_symlinks=True)


@contextmanager
def _named_beside(place: str, *, replace: bool) -> Iterator[IO[bytes]]:
    """Open a file in the same folder with a temporary name, to be renamed to ``place``."""
    import tempfile  # 5 ms, unnecessary for a command that writes nothing

    folder, name = os.path.split(place)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:64]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, _permissions(place))
            yield file
        if replace:
            os.replace(temporary, place)
        else:
            _rename_to_new(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _rename_to_new(temporary: str, place: str) -> None:
    """Rename without replacing an existing file.

    Raises:
        FileExistsError: A file of that name already exists.
    """
    try:
        os.link(temporary, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: create the name first
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
        os.replace(temporary, place)
    else:
        os.unlink(temporary)


def _permissions(place: str) -> int:
    """Return the permissions of the file that is replaced, or those of a new one."""
    try:
        return stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _is_special(path: str) -> bool:
    """Return whether the path exists and is neither a file nor a directory."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _exists(option: str, path: str) -> RequestError:
    # Only --save does not replace, and --force makes it do so.
    return RequestError(f"{path} exists", hint="--force replaces it", option=option)


def _cannot(option: str, path: str, why: str) -> RequestError:
    return RequestError(f"{path} cannot be written: {why}", option=option)
