"""Shared libraries for programs of others: built by the system's C compiler, and cached."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from cudarun.base.cache import ResultCache, cache_folder, digest_of
from cudarun.base.errors import RequestError
from cudarun.session.workers.program import run_compiler

_COMPILERS = ("cc", "gcc", "clang")
_OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_LINKING = ("-Wl,-z,now", "-ldl")
_LIMIT = 120.0  # seconds
_SPLITTING = re.compile(r"[\s:$]")  # ld.so(8): LD_PRELOAD and LD_AUDIT are split and expanded there


def build_libraries(
    folder: Path,
    command: str,
    sources: Iterable[Path],
    options: Callable[[], Mapping[str, Sequence[str]]],
) -> None:
    """Build libraries in a folder, or copy them from the cache.

    Args:
        command: The command of cudarun that needs them, by which the cache is called.
        sources: The files that determine their contents.
        options: Returns the compiler's options and sources of each library by its name, in the
            order of building; called if the cache does not have them.

    Raises:
        RequestError: There is no compiler, it fails, or the folder's libraries cannot be loaded.
    """
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise RequestError(
            f"no library can be loaded from {folder}, which is mounted with 'noexec'",
            hint="set TMPDIR to another directory",
        )
    if _SPLITTING.search(os.fspath(folder)):
        raise RequestError(
            f"ld.so cannot load a library from {folder}: its path has a space, a colon or a $",
            hint="set TMPDIR to another directory",
        )
    compiler = _compiler(command)
    words = map(os.fsencode, (*compiler, *_OPTIONS, *_LINKING))
    key = digest_of([*words, *(source.read_bytes() for source in sources)])
    cache = ResultCache(cache_folder(command))
    # The cached file is not loaded itself: other processes could replace it after it was checked.
    found = cache.load(key)
    if found is not None:
        for name, data in found.items():
            (folder / name).write_bytes(data)
        return
    libraries = options()
    for name, own in libraries.items():
        call = [*compiler, *_OPTIONS, "-o", os.fspath(folder / name), *own, *_LINKING]
        status, log = run_compiler(call, _LIMIT, LC_ALL="C")
        if status != 0:
            what, hint = f"{compiler[0]} cannot build {name}", "set CC to another C compiler"
            raise RequestError(what, log=log, hint=hint)
    cache.store(key, {name: (folder / name).read_bytes() for name in libraries})


def _compiler(command: str) -> list[str]:
    """Return the compiler with its options: CC has them, too, as for make."""
    words = os.environ.get("CC", "").split()
    wanted = words[:1] or _COMPILERS
    for name in wanted:
        found = shutil.which(name)
        if found is not None:
            return [found, *words[1:]]
    raise RequestError(
        f"no C compiler: {' or '.join(wanted)} is not installed",
        hint=f"install gcc or clang: cudarun {command} builds a small library once",
    )
