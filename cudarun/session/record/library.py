"""The library in the recorded program: built by the system's C compiler, and cached."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from cudarun.errors import RequestError
from cudarun.result_cache import cache_folder
from cudarun.session.workers.program import SupervisedProgram
from cudarun.session.workers.shared_file import SharedFile
from cudarun.writing import OutputFile, whole_file

SOURCES = Path(__file__).parent / "native"
_COMPILERS = ("cc", "gcc", "clang")
_OPTIONS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_LINKING = ("-Wl,-Bsymbolic", "-Wl,-z,now", "-ldl")
_LIMIT = 120.0  # seconds


def build_library(folder: Path, options: tuple[str, ...] = ()) -> Path:
    """Return the path of the library, which is built if the cache does not have it.

    Args:
        folder: A folder for it if there is no cache.
        options: Further options of the compiler.

    Raises:
        RequestError: There is no compiler, or it fails.
    """
    compiler = _compiler()
    sources = sorted(SOURCES.glob("*.[ch]"))
    digest = hashlib.sha256()
    for part in (os.fsencode(compiler), *map(os.fsencode, options)):
        digest.update(part + b"\0")
    for source in sources:
        digest.update(source.read_bytes())
    cached = (_writable_cache() or folder) / f"record-{digest.hexdigest()[:16]}.so"
    if cached.is_file():
        return cached
    built = folder / "librecord.so"
    code = [os.fspath(each) for each in sources if each.suffix == ".c"]
    _compile([compiler, *_OPTIONS, *options, "-o", os.fspath(built), *code, *_LINKING])
    if cached.parent == folder:
        return built
    with whole_file(OutputFile("-o", os.fspath(cached), force=True)) as file:
        file.write(built.read_bytes())
    return cached


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


def _compiler() -> str:
    wanted = [os.environ["CC"]] if os.environ.get("CC") else _COMPILERS
    for name in wanted:
        found = shutil.which(name)
        if found is not None:
            return found
    raise RequestError(
        f"no C compiler: {' or '.join(wanted)} is not installed",
        hint="install gcc or clang: cudarun record builds a small library once",
    )


def _writable_cache() -> Path | None:
    """Return the folder of the cache; ``None`` if there is none that can be written."""
    folder = cache_folder("record")
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
