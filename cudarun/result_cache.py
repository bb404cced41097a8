"""Caches of results of compilers, in files of the user.

It is bounded: storing a result deletes those that were unused for the longest time. A damaged entry
is none, and where the folder cannot be written nothing is cached.
"""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cudarun.errors import RequestError
from cudarun.writing import OutputFile, whole_file

LIMIT = 256 << 20  # bytes of all entries


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
    """Results by key.

    Args:
        folder: Its folder; ``None`` for a cache that is off.
        limit: The most bytes of all entries.
    """

    def __init__(self, folder: Path | None, limit: int = LIMIT) -> None:
        self._folder = folder
        self._limit = limit

    def load(self, key: str) -> dict[str, bytes] | None:
        """Return the parts of a result; ``None`` where there is none."""
        if self._folder is None:
            return None
        path = self._folder / key
        try:
            with zipfile.ZipFile(path) as entry:
                parts = {name: entry.read(name) for name in entry.namelist()}
        except (OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error):
            return None  # RuntimeError: a damaged flag marks a part as encrypted
        with suppress(OSError):
            os.utime(path)  # its last use
        return parts

    def store(self, key: str, parts: Mapping[str, bytes]) -> None:
        """Store the parts of a result, and delete others beyond the limit."""
        if self._folder is None:
            return
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as entry:
            for name, part in parts.items():
                entry.writestr(name, part)
        if data.tell() > self._limit // 4:
            return
        with suppress(OSError, RequestError):  # read-only, full
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            entry_file = OutputFile("--compiler", os.fspath(self._folder / key), force=True)
            with whole_file(entry_file) as file:
                file.write(data.getvalue())
            self._trim()

    def _trim(self) -> None:
        """Delete the entries that were unused for the longest time, down to the limit."""
        assert self._folder is not None
        entries = []
        for path in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another process deletes, too
                status = path.stat()
                entries.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self._limit:
                break
            with suppress(FileNotFoundError):
                path.unlink()
            total -= size
