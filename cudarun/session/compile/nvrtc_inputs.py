"""Everything that a result of NVRTC depends on, as the key of its cache.

NVRTC's own preprocessor lists the files that it reads. So no ``#include`` is interpreted here: a
header that changed, or that appeared in a folder before another one, is on the list of the next
run. The option for it, ``-M``, is one of the front end's and not documented, and the same in CUDA
12.0 and 13. Where it makes no list, nothing is cached.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from cudarun import __version__
from cudarun.result_cache import digest_of
from cudarun.session.compile.task import CompileTask
from cudarun.session.workers.shared_file import SharedFile

_HAS_INCLUDE = re.compile(rb"has_include\w*\s*\(\s*[<\"]([^>\"\n]+)", re.IGNORECASE)
_CHANGES = re.compile(
    rb"__(?:DATE|TIME|TIMESTAMP)__"
    rb"|(?<!ifdef )(?<!defined )(?<!defined\()__has_include(?:_next)?\b(?!\s*\(\s*[<\"])"
)
"""What can change although no file does, or depends on files that are not known."""


def cache_key(
    task: CompileTask,
    options: Sequence[str],
    instantiate: Sequence[str],
    folders: Sequence[str],
    headers: Mapping[str, str],
    preprocess: Callable[[Sequence[str]], object],
) -> str | None:
    """Return the key of a compilation; ``None`` if it depends on something unknown.

    Args:
        task: The compilation.
        options: The options.
        instantiate: The name expressions.
        folders: The folders of CUDA's headers.
        headers: The headers that are no files.
        preprocess: Runs the compiler with further options.
    """
    with SharedFile() as listing:
        front_end = ("-M", "-o", listing.path)
        preprocess([word for each in front_end for word in ("-Xcudafe", each)])
        paths = _listed(listing.read(), os.fsencode(task.source.origin))
    library = _library()
    texts = _texts(task, paths, headers)
    if library is None or texts is None:
        return None
    of_cuda = tuple(os.path.join(folder, "") for folder in folders)
    found: dict[str, None] = {}
    for path, text in texts.items():
        if not path.startswith(of_cuda) and _CHANGES.search(text):
            return None
        for name in {*map(os.fsdecode, _HAS_INCLUDE.findall(text))}:
            searched = (os.path.dirname(path), *task.folders, *folders)
            candidates = (os.path.join(folder, name) for folder in searched)
            found |= dict.fromkeys(filter(os.path.exists, candidates))
    described = (
        *(__version__, library, os.getcwd(), task.source.origin, task.form),
        *(*options, "", *instantiate, "", *sorted(found), ""),
    )
    named = [part for path, text in texts.items() for part in (os.fsencode(path), text)]
    return digest_of([*map(os.fsencode, described), *named])


def _listed(listing: bytes, origin: bytes) -> list[str]:
    """Return the paths in a listing, ``NAME.o: PATH`` each, after that of the source."""
    first, *others = listing.split(b"\n")
    prefix = first.removesuffix(origin)
    if prefix == first or not all(line.startswith(prefix) for line in others if line):
        return []
    return [os.fsdecode(line.removeprefix(prefix)) for line in others if line]


def _texts(
    task: CompileTask, paths: Sequence[str], headers: Mapping[str, str]
) -> dict[str, bytes] | None:
    """Return the texts that the compiler reads; ``None`` if one is not known."""
    texts = {task.source.origin: task.text}
    for path in paths:
        if path in headers:
            texts[path] = headers[path].encode()
        elif not os.path.basename(path).startswith("__nv_"):  # which are the library's own
            try:
                with open(path, "rb") as file:
                    texts[path] = file.read()
            except OSError:
                return None
    return texts if paths else None


def _library() -> str | None:
    """Return the identity of the loaded library, whose updates can keep the version."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libnvrtc.so" in line}
    if len(paths) != 1:
        return None
    [path] = paths
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}"
