"""Output files: the rule for all of them, and writing them whole.

The rule (`check_outputs`): an output is neither an input of the command nor another output, and no
existing file without ``--force``. It is checked before any work is done.

A file appears under its name only when it is complete. Until then an existing file stays unchanged.
Special files (a pipe, a terminal, ``/dev/null``) are written to directly, and no rule applies.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import IO, TypeAlias

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

_DESCRIPTORS = "/proc/self/fd"
# open(2): the errors of file systems and kernels without O_TMPFILE.
_NO_NAMELESS_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}


class FileUse(Enum):
    """The use of a file that an option names. `Option` declares it."""

    INPUT = auto()  # it is read, or it is a folder that is searched
    OUTPUT = auto()  # it is written; an existing file is replaced only with ``--force``
    JUNIT = auto()  # likewise, but a JUnit report is replaced by the next one
    METRICS = auto()  # likewise, but one of OpenMetrics is
    APPENDED = auto()  # it is extended; an existing file is not replaced

    @property
    def is_output(self) -> bool:
        """Return whether the file is written."""
        return self is not FileUse.INPUT


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write."""

    option: str  # the option that names it, for messages: ``--save``
    path: str
    use: FileUse = FileUse.OUTPUT  # the treatment of an existing file
    force: bool = False  # replace an existing file
    case: tuple[str, str] | None = None  # the case of a spec, as ``file:line`` and name

    @property
    def replaces(self) -> bool:
        """Return whether an existing file is replaced, or extended."""
        if self.force or self.use is FileUse.APPENDED:
            return True
        return self.use in _REPORTS and _REPORTS[self.use][0](self.path)

    def refused(self, what: str, hint: str | None = None) -> RequestError:
        """Return the error that the file cannot be the output."""
        error = RequestError(what, hint=hint, option=self.option)
        if self.case is not None:
            place, name = self.case
            error.of(case=name, shown=f"case '{name}'").of(place=place)
        return error


def check_outputs(outputs: Iterable[OutputFile], inputs: Iterable[str]) -> None:
    """Apply the rule for outputs, before any work is done.

    Files are compared by device and inode, so that links do not hide that two are one.

    Raises:
        RequestError: An output is an input or another output, exists and must not be replaced, or
            cannot be written: it is a directory, is read-only, or is in no writable folder.
    """
    outputs = [*outputs]
    if not outputs:
        return
    read = {identity: path for path in inputs if (identity := _identity(path)) is not None}
    written: dict[_Identity, OutputFile] = {}
    for output in outputs:
        if "\0" in output.path:
            raise _cannot(output, "the name contains a NUL character")
        if is_special(output.path):
            continue
        if (identity := _identity(output.path)) is not None:
            if identity in read:
                what = "an input of this command"
                raise output.refused(_is_same(output.path, read[identity], what))
            if identity in written:
                other = written[identity]
                where = f" of case '{other.case[1]}'" if other.case else ""
                what = f"written by {other.option}{where}"
                raise output.refused(_is_same(output.path, other.path, what))
            written[identity] = output
        path = output.path
        if os.path.isdir(path):
            raise output.refused(f"{path} is a directory")
        if os.path.exists(path):
            if not output.replaces:
                raise _exists(output)
            if not os.access(path, os.W_OK):
                raise _cannot(output, "it is read-only")
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            named = os.path.dirname(path) or folder
            raise _cannot(output, f"the directory {named} does not exist")
        if not os.access(folder, os.W_OK):
            raise _cannot(output, "the directory is not writable")


_Identity: TypeAlias = tuple[int, int, str]
"""The device and the inode of a file; for a file to be made, those of its folder and its name."""


def _identity(path: str) -> _Identity | None:
    """Return the identity of a file; ``None`` for a special one, and where none can be."""
    with suppress(OSError, ValueError):  # a NUL is a ValueError
        place = os.path.realpath(path)
        with suppress(FileNotFoundError):
            status = os.stat(place)
            return None if _is_special_mode(status.st_mode) else (status.st_dev, status.st_ino, "")
        folder, name = os.path.split(place)
        status = os.stat(folder)
        return status.st_dev, status.st_ino, name
    return None


def _is_same(path: str, other: str, what: str) -> str:
    if os.path.normpath(path) == os.path.normpath(other):
        return f"{path} is also {what}"
    return f"{path} is the same file as {other}, {what}"


def _is_junit(path: str) -> bool:
    """Return whether a file is XML whose root is ``testsuites`` or ``testsuite``."""
    from xml.etree import ElementTree  # most commands write no JUnit

    with suppress(OSError, ElementTree.ParseError), open(path, "rb") as file:
        for _, root in ElementTree.iterparse(file, ["start"]):
            return root.tag in ("testsuites", "testsuite")
    return False


def _is_openmetrics(path: str) -> bool:
    """Return whether a file ends as an exposition of OpenMetrics does."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read().endswith(b"# EOF\n")
    return False


_REPORTS: dict[FileUse, tuple[Callable[[str], bool], str]] = {
    FileUse.JUNIT: (_is_junit, "a JUnit report"),
    FileUse.METRICS: (_is_openmetrics, "an OpenMetrics file"),
}
"""The files that the next one of their kind replaces: the test of a path, and their name."""


@contextmanager
def whole_file(output: OutputFile) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its place at the end of the block.

    If the block raises, or the disk is full, nothing is left. A file that is replaced keeps its
    permissions, but no set-user-ID, set-group-ID or sticky bit; of a symbolic link, the target is
    replaced.

    Raises:
        RequestError: The file exists and must not be replaced, or it cannot be written.
    """
    try:
        if is_special(output.path):
            with open(output.path, "wb") as special:
                yield special
        else:
            with _beside(os.path.realpath(output.path), replace=output.replaces) as file:
                yield file
    except FileExistsError:
        raise _exists(output) from None
    except OSError as error:
        raise _cannot(output, error.strerror or str(error)) from error


def append_text(path: str, text: str) -> None:
    """Append to a file that others write, too; it is created if necessary.

    Raises:
        RequestError: The file cannot be written.
    """
    try:
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _beside(place: str, *, replace: bool) -> Iterator[IO[bytes]]:
    """Open a file in the same folder without a name until it is complete.

    So nothing is left even if the process is killed. On file systems that require names the file
    has a temporary one.
    """
    folder, name = os.path.split(place)
    temporary, handle = "", None  # the name of this file, which no other one has
    if os.path.exists(_DESCRIPTORS):
        try:
            handle = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
        except OSError as error:
            if error.errno not in _NO_NAMELESS_FILES:
                raise
    is_nameless = handle is not None
    if handle is None:
        import tempfile  # 5 ms, unnecessary for most commands

        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:64]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, _permissions(place))
            yield file
            file.flush()
            if is_nameless:
                own, named = f"{_DESCRIPTORS}/{handle}", place
                if replace:
                    named = f"{folder}/.{name[:64]}.{os.getpid()}"
                    with suppress(FileNotFoundError):  # of a killed process with the same ID
                        os.unlink(named)
                # With a folder's descriptor Python calls linkat(2), which follows links in /proc.
                os.link(own, named, src_dir_fd=handle, follow_symlinks=True)
                temporary = named if replace else ""
        if replace:
            os.replace(temporary, place)
        elif not is_nameless:
            try:
                os.link(temporary, place)
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links: create the name first
                os.close(os.open(place, os.O_CREAT | os.O_EXCL))
                os.replace(temporary, place)
            else:
                os.unlink(temporary)
    except BaseException:
        if temporary:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
        raise


def _permissions(place: str) -> int:
    """Return the permissions of the file that is replaced, or those of a new one.

    The bits above them would lend the new contents the rights that the old ones were trusted with.
    """
    try:
        return os.stat(place).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def is_special(path: str) -> bool:
    """Return whether the path exists and is neither a file nor a folder: no rule applies."""
    try:
        return _is_special_mode(os.stat(path).st_mode)
    except OSError:
        return False


def _is_special_mode(mode: int) -> bool:
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _exists(output: OutputFile) -> RequestError:
    what = f" and is not {_REPORTS[output.use][1]}" if output.use in _REPORTS else ""
    return output.refused(f"{output.path} exists{what}", hint="replace it with --force")


def _cannot(output: OutputFile, why: str) -> RequestError:
    return output.refused(f"{output.path} cannot be written: {why}")
