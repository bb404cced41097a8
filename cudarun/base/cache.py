"""Caches of results of compilers, in files of the user.

Results are executed, so folder and file must belong to the user, and no other user may write to
them. An entry begins with a digest of its key and contents. A damaged or foreign entry is none, and
where the folder is foreign or cannot be written nothing is cached.

A cache is bounded: storing a result deletes those that were unused for the longest time.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

LIMIT = 256 << 20  # bytes of all entries
_BLOCK = 4096  # bytes of a small file on a disk
_untrimmed: dict[Path, int] = {}
"""The bytes that this process has written to a folder since it has deleted others there."""
_DIGEST_SIZE = hashlib.sha256().digest_size


def cache_folder(name: str) -> Path | None:
    """Return the folder of a cache; ``None`` without a home, or where caches are turned off.

    ``CUDARUN_CACHE=off`` does so, and ``CUDA_CACHE_DISABLE=1``, which the driver's own cache of
    compiled code obeys, too.
    """
    environment = os.environ
    if environment.get("CUDARUN_CACHE") == "off" or environment.get("CUDA_CACHE_DISABLE") == "1":
        return None
    base, home = (os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "HOME"))
    if not os.path.isabs(base):  # to be ignored (XDG Base Directory Specification)
        base = os.path.join(home, ".cache")
    return Path(base) / "cudarun" / name if os.path.isabs(base) else None


def digest_of(parts: Iterable[bytes]) -> str:
    """Return the key of a result that depends on these parts, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part) + part)
    return digest.hexdigest()


class ResultCache:
    """Results by key."""

    def __init__(self, folder: Path | None, limit: int = LIMIT) -> None:
        self._folder = folder  # its folder; ``None`` for a cache that is off
        self._limit = limit  # the most bytes of all entries

    def load(self, key: str) -> dict[str, bytes] | None:
        """Return the parts of a result; ``None`` where there is none."""
        with suppress(OSError), self._opened() as folder, _own(key, folder, stat.S_ISREG) as entry:
            if os.fstat(entry).st_size <= self._limit:
                with open(entry, "rb", closefd=False) as file:
                    digest, data = file.read(_DIGEST_SIZE), file.read()
                if digest == _digest(key, data):
                    with suppress(OSError):  # read-only
                        os.utime(entry)  # its last use
                    with zipfile.ZipFile(io.BytesIO(data)) as parts:
                        return {name: parts.read(name) for name in parts.namelist()}
        return None

    def store(self, key: str, parts: Mapping[str, bytes]) -> None:
        """Store the parts of a result, and delete others beyond the limit."""
        if self._folder is None:
            return
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as entry:
            for name, part in parts.items():
                entry.writestr(name, part)
        data = stream.getvalue()
        if len(data) > self._limit // 4:
            return
        with suppress(OSError):  # read-only, full
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._opened(make=True) as folder:
                _write(folder, key, _digest(key, data) + data)
                before = _untrimmed.get(self._folder, self._limit)
                _untrimmed[self._folder] = before + max(len(data), _BLOCK)
                if _untrimmed[self._folder] > self._limit // 64:  # it looks at every entry
                    # Those that were unused for the longest time go, down to the limit.
                    entries = []
                    for name in os.listdir(folder):
                        with suppress(FileNotFoundError):  # another process deletes, too
                            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                            entries.append((status.st_mtime_ns, max(status.st_size, _BLOCK), name))
                    total = sum(size for _, size, _ in entries)
                    for _, size, name in sorted(entries):
                        if total <= self._limit:
                            break
                        with suppress(FileNotFoundError):
                            os.unlink(name, dir_fd=folder)
                        total -= size
                    _untrimmed[self._folder] = 0

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """Open the folder, which is no link; the one that contains it can be one of the user.

        Raises:
            OSError: There is none, or others can write to it.
        """
        if self._folder is None:
            raise FileNotFoundError
        status = os.lstat(self._folder.parent)
        is_own_link = stat.S_ISLNK(status.st_mode) and status.st_uid == os.geteuid()
        flags = os.O_PATH | os.O_DIRECTORY | (0 if is_own_link else os.O_NOFOLLOW)
        parent = os.open(self._folder.parent, flags)
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(self._folder.name, 0o700, dir_fd=parent)
            with _own(self._folder.name, parent, stat.S_ISDIR) as folder:
                yield folder
        finally:
            os.close(parent)


@contextmanager
def _own(name: str, folder: int, is_kind: Callable[[int], bool]) -> Iterator[int]:
    """Open a file or a folder that only this user can change, for reading.

    Args:
        name: Its name; no link is followed.
        is_kind: Whether a mode is that of the wanted kind.

    Raises:
        OSError: It cannot be opened, or others can change it.
    """
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not is_kind(status.st_mode) or is_shared or status.st_uid != os.geteuid():
            raise PermissionError
        yield descriptor
    finally:
        os.close(descriptor)


def _write(folder: int, name: str, data: bytes) -> None:
    """Write a file under a temporary name, and give it its own when it is complete."""
    temporary = f".{name}.{os.getpid()}.{threading.get_native_id()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        with open(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
            file.write(data)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _digest(key: str, data: bytes) -> bytes:
    return hashlib.sha256(b"%s\0%b" % (key.encode(), data)).digest()
