"""``cudarun record``: the program runs with a library in it, and its raw files are converted."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from functools import cache
from itertools import count
from pathlib import Path

from cudarun.base.errors import RequestError
from cudarun.base.files import OutputFile, whole_file
from cudarun.images.demangler import base_name, demangle, spellings
from cudarun.images.kinds import ImageKind, identify
from cudarun.model.record import LaunchListing, ListedLaunches, RecordedFile, RecordReport
from cudarun.session.record import conversion
from cudarun.session.record.control import ControlPage, RecordMode, RecordService
from cudarun.session.record.raw_file import read_raw
from cudarun.session.record.request import RecordRequest
from cudarun.session.workers.c_library import build_libraries
from cudarun.session.workers.program import run_in_foreground, temporary_folder

SUFFIX = ".cudarun"
SOURCES = Path(__file__).parent / "native"
_LIBRARY = "librecord.so"
_FOLDER_VARIABLE = "CUDARUN_RECORD"
_CODECS = " (pip install lz4 zstandard)"
_NOTES = {
    "graph": "{} cannot be recorded in a CUDA graph with {}",
    "parameters": "the driver does not describe the parameters of {}",
    "image": "the image of {} was loaded in an unknown way",
    "size": "{} can reach at least {:,} bytes of memory, which exceeds --max-size",
    "unreadable": "memory to which a pointer leads cannot be read; it is left out",
    "array": "a mipmapped array, or one of an unusual format, is left out with its objects",
    "list": "the list of launches is not complete: {}",
    "write": "a raw file cannot be written: {}",
}
_RESERVED = (
    "a framework that reserves memory in advance makes recordings large; "
    "for JAX, set XLA_PYTHON_CLIENT_PREALLOCATE=false"
)
_ROW = struct.Struct("<QQd3I3III4040s")


def list_launches(request: RecordRequest) -> LaunchListing:
    """Run a program and list its launches."""
    with temporary_folder() as name:
        folder = Path(name)
        ControlPage(folder / "control", RecordMode.LIST)
        status = _run(request, folder)
        rows = read_lists(folder)
        notes = tuple(_notes(folder))
    wanted = _matcher(request.kernels)
    return LaunchListing(status, tuple(each for each in rows if wanted(each.kernel)), notes)


def record(request: RecordRequest) -> RecordReport:
    """Run a program and record launches of it."""
    with temporary_folder() as name:
        folder = Path(name)
        page = ControlPage(
            folder / "control",
            RecordMode.RECORD,
            nth=request.nth,
            count=request.count,
            max_bytes=request.max_bytes,
            each_kernel=request.all_kernels,
        )
        variables = _ImageVariables()
        service = RecordService(folder, _matcher(request.kernels), variables)
        try:
            status = _run(request, folder, service)
        except KeyboardInterrupt:  # SIGTERM, as of a job scheduler: what is recorded is kept
            _recordings(request, folder, sorted(folder.glob("*.raw")))
            raise
        notes = (*_notes(folder), *variables.notes)
        files, error = _recordings(request, folder, sorted(folder.glob("*.raw")))
        if not files and error is None:
            is_cut = any(folder.glob("*.part"))
            error = _nothing_recorded(request, page.matched, notes, is_cut=is_cut)
            notes = notes[1:]  # the error has the first one
    return RecordReport(status, files, notes, error)


def _recordings(
    request: RecordRequest, folder: Path, paths: Sequence[Path]
) -> tuple[tuple[RecordedFile, ...], RequestError | None]:
    """Write the recordings of raw files; return them, and the error that ended this.

    The program has run: its exit status is worth more than an exception.
    """
    files: list[RecordedFile] = []
    try:
        for path in paths:
            raw, output = read_raw(path), request.output
            base = (output or conversion.short_name(raw.texts["kernel"])).removesuffix(SUFFIX)
            names = (f"{base}{'' if nth == 1 else f'-{nth}'}{SUFFIX}" for nth in count(1))
            used = [each.path for each in files]
            # The first free one; without ``-o`` no file is replaced.
            name = next(n for n in names if n not in used and (output or not os.path.exists(n)))
            with whole_file(OutputFile("-o", name)) as file:
                manifest, has_ptx = conversion.convert(raw, folder, file)
            path.unlink()
            files.append(conversion.recorded_file(name, manifest, has_ptx=has_ptx))
    except RequestError as error:
        return tuple(files), error
    return tuple(files), None


def record_at_fault(request: RecordRequest) -> RecordReport:
    """Run a program to find the launch that faults or does not end; run it again to record it."""
    with temporary_folder() as name:
        folder = Path(name)
        page = ControlPage(folder / "control", RecordMode.WATCH)
        status = _run(request, folder, page=page)
        limit = request.limit
        fault = page.fault
        if fault is None and limit is not None:
            fault = page.hanging(time.monotonic_ns(), limit)
    if fault is None:
        hint = None if limit else "to find a launch that does not end, add --timeout SECONDS"
        return RecordReport(status, (), error=RequestError("no launch faults", hint=hint))
    kernel = fault.kernel
    end = "does not end" if fault.status is None else f"faults with {fault.status}"
    with temporary_folder() as name:
        folder = Path(name)
        page = ControlPage(
            folder / "control",
            RecordMode.RECORD,
            nth=fault.ordinal,
            max_bytes=request.max_bytes,
            each_kernel=True,
        )
        variables = _ImageVariables()
        service = RecordService(folder, lambda name: name == kernel, variables)
        _run(request, folder, service, page)
        found_launch = f"launch {fault.ordinal} of {demangle(kernel)} {end}"
        notes = (found_launch, *_notes(folder), *variables.notes)
        found = {
            path: read_raw(path) for path in sorted([*folder.glob("*.raw"), *folder.glob("*.part")])
        }
        paths = [path for path, raw in found.items() if raw.has_memory and raw.status != 0]
        files, error = _recordings(request, folder, paths)
    if not files and error is None:
        error = RequestError(
            "the second run did not fault at this launch",
            hint="run again: the order of launches can differ between runs",
        )
    return RecordReport(status, files, notes, error)


def _nothing_recorded(
    request: RecordRequest, matched: int, notes: Sequence[str], *, is_cut: bool
) -> RequestError:
    if notes:
        is_large = "--max-size" in notes[0]
        return RequestError(
            "no launch was recorded", cause=notes[0], hint=_RESERVED if is_large else None
        )
    if is_cut:
        return RequestError(
            "the program ended before the launch that is recorded",
            hint="to record a launch that faults or does not end: --at-fault",
        )
    if not matched:
        return RequestError(
            "no launch matches" if request.kernels else "the program launches no kernel",
            hint="list the launches: cudarun record --list -- COMMAND; without any, check the GPU "
            "with 'cudarun devices --doctor'",
        )
    return RequestError(
        f"--nth {request.nth}: the program has only {matched} matching launches",
        hint="list the launches: cudarun record --list -- COMMAND",
    )


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that says whether a kernel matches, by any spelling of its name."""

    @cache
    def matches(kernel: str) -> bool:
        names = [name.replace(" ", "") for name in spellings(kernel)]
        wanted = [pattern.replace(" ", "") for pattern in patterns]
        return not wanted or any(fnmatchcase(name, each) for name in names for each in wanted)

    return matches


class _ImageVariables:
    """The symbols of the variables of images."""

    def __init__(self) -> None:
        self.notes: list[str] = []  # the images that could not be read
        self._known: dict[Path, list[str]] = {}

    def __call__(self, path: Path, architecture: int) -> list[str]:
        if path not in self._known:
            code = conversion.recorded_code(path.read_bytes(), architecture)
            facts = conversion.code_facts(code)
            is_unread = identify(code.image) is ImageKind.FATBIN  # so are its entries
            if facts is None or (is_unread and not facts.kernels):
                self.notes = ["an image cannot be read, its variables are not recorded" + _CODECS]
            self._known[path] = [each.name for each in facts.variables] if facts else []
        return self._known[path]


def recorder_environment(folder: Path) -> dict[str, str]:
    """Return the variables of a program with the library, which shares a folder with it."""
    library = os.fspath(build_library(folder))
    preloaded = os.environ.get("LD_PRELOAD")
    return {
        "LD_PRELOAD": f"{library}:{preloaded}" if preloaded else library,
        _FOLDER_VARIABLE: os.fspath(folder),
    }


def _run(
    request: RecordRequest,
    folder: Path,
    service: AbstractContextManager[object] | None = None,
    page: ControlPage | None = None,
) -> int:
    """Run the program with the library; return its exit status, as a shell does.

    Args:
        folder: The folder that is shared with it.
        service: Entered while it runs.
        page: The shared page, to end a program with a launch that exceeds the limit.
    """
    limit, is_stuck = request.limit, None
    if page is not None and limit is not None:

        def is_stuck() -> bool:
            return page.hanging(time.monotonic_ns(), limit) is not None

    return run_in_foreground(
        request.command,
        recorder_environment(folder),
        stdout_to_stderr=request.keeps_stdout,
        service=service,
        is_stuck=is_stuck,
    )


def _notes(folder: Path) -> Iterator[str]:
    """Yield what kept the library from recording, each reason once."""
    path = folder / "notes"
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    for line in dict.fromkeys(lines):
        word, _, rest = line.partition(" ")
        if word == "size":
            size, _, kernel = rest.partition(" ")
            yield _NOTES[word].format(demangle(kernel), int(size))
        elif word == "graph":
            kernel, _, obstacle = rest.partition(" ")
            yield _NOTES[word].format(demangle(kernel), obstacle)
        else:
            yield _NOTES[word].format(demangle(rest))


def read_lists(folder: Path) -> tuple[ListedLaunches, ...]:
    """Return the launches of all processes, those with the most time first."""
    found: dict[tuple[object, ...], ListedLaunches] = {}
    for path in sorted(folder.glob("list-*")):
        for each in _rows(path):
            key = each.kernel, each.grid, each.block, each.shared_bytes
            known = found.get(key)
            found[key] = each if known is None else known.plus(each)
    return tuple(sorted(found.values(), key=lambda each: (-each.milliseconds, -each.launches)))


def _rows(path: Path) -> Iterator[ListedLaunches]:
    with open(path, "rb") as file:
        while len(data := file.read(_ROW.size)) == _ROW.size:
            launches, measured, milliseconds, *numbers, kernel = _ROW.unpack(data)
            if not launches:
                return
            name = kernel.rstrip(b"\0").decode(errors="replace")
            x, y, z, a, b, c, shared, captured = numbers
            yield ListedLaunches(
                kernel=name,
                demangled=demangle(name),
                name=base_name(demangle(name)),
                grid=(x, y, z),
                block=(a, b, c),
                shared_bytes=shared,
                launches=launches,
                measured=measured,
                milliseconds=milliseconds,
                in_graph=bool(captured),
            )


def build_library(folder: Path, options: tuple[str, ...] = ()) -> Path:
    """Return the path of the recorder in a folder, which is built if the cache does not have it."""
    sources = sorted(SOURCES.glob("*.[ch]"))
    code = [os.fspath(each) for each in sources if each.suffix == ".c"]
    command = (*options, *code, "-Wl,-Bsymbolic")
    build_libraries(folder, "record", sources, lambda: {_LIBRARY: command})
    return folder / _LIBRARY
