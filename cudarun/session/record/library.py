"""The library in the recorded program: built by the system's C compiler, and cached."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from cudarun.base.cache import ResultCache, cache_folder, digest_of
from cudarun.base.errors import RequestError
from cudarun.session.workers.program import SupervisedProgram
from cudarun.session.workers.shared_file import SharedFile

SOURCES = Path(__file__).parent / "native"
_COMPILERS = ("cc", "gcc", "clang")
_OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_LINKING = ("-Wl,-Bsymbolic", "-Wl,-z,now", "-ldl")
_LIMIT = 120.0  # seconds
_SPLITTING = re.compile(r"[\s:$]")  # ld.so(8): LD_PRELOAD is split and expanded there


def build_library(folder: Path, options: tuple[str, ...] = ()) -> Path:
    """Return the path of the library in a folder, which is built if the cache does not have it.

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
            f"LD_PRELOAD cannot name a file in {folder}: its path has a space, a colon or a $",
            hint="set TMPDIR to another directory",
        )
    compiler = _compiler()
    sources = sorted(SOURCES.glob("*.[ch]"))
    words = map(os.fsencode, (*compiler, *_OPTIONS, *options, *_LINKING))
    key = digest_of([*words, *(source.read_bytes() for source in sources)])
    cache = ResultCache(cache_folder("record"))
    library = folder / "librecord.so"
    # The cached file is not loaded itself: other processes could replace it after it was checked.
    if (found := cache.load(key)) is not None:
        library.write_bytes(found["library"])
        return library
    code = [os.fspath(each) for each in sources if each.suffix == ".c"]
    _compile([*compiler, *_OPTIONS, *options, "-o", os.fspath(library), *code, *_LINKING])
    cache.store(key, {"library": library.read_bytes()})
    return library


def _compile(command: list[str]) -> None:
    with SharedFile() as output:
        descriptor = output.fileno()
        with SupervisedProgram(
            command, stdout=descriptor, stderr=descriptor, environment={"LC_ALL": "C"}
        ) as program:
            status = program.wait(_LIMIT)
        if status != 0:
            raise RequestError(
                f"{command[0]} cannot build the recording library",
                log=output.read().decode(errors="replace"),
                hint="set CC to another C compiler",
            )


def _compiler() -> list[str]:
    """Return the compiler with its options: CC has them, too, as for make."""
    words = os.environ.get("CC", "").split()
    wanted = words[:1] or _COMPILERS
    for name in wanted:
        found = shutil.which(name)
        if found is not None:
            return [found, *words[1:]]
    raise RequestError(
        f"no C compiler: {' or '.join(wanted)} is not installed",
        hint="install gcc or clang: cudarun record builds a small library once",
    )
