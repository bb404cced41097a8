"""Files that a command makes: complete, or not there, and what was there before stays till then."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import IO

import pytest

from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse, OutputFile, check_outputs, whole_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def with_small_files(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test in a process whose files may have 1000 bytes: more fails as on a full disk."""

    @wraps(test)
    def in_child(**fixtures: object) -> None:
        pid = os.fork()
        if pid == 0:
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
            try:
                test(**fixtures)
            except BaseException:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0

    return in_child


def test_it_is_not_there_until_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with whole_file(OutputFile("-o", str(out), force=True)) as file:
        file.write(b"half")
        assert not out.exists()
        file.write(b"whole")
    assert out.read_bytes() == b"halfwhole"
    assert names(tmp_path) == ["out"]


def test_what_was_there_stays_until_then(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    with whole_file(OutputFile("-o", str(out), force=True)) as file:
        file.write(b"new")
        file.flush()
        assert out.read_text() == "old"
    assert out.read_text() == "new"


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_block_that_raises(
    tmp_path: Path, problem: type[BaseException]
) -> None:
    (tmp_path / "out").write_text("old")

    def write(file: IO[bytes]) -> None:
        file.write(b"half")
        raise problem

    with (
        pytest.raises(problem),
        whole_file(OutputFile("-o", str(tmp_path / "out"), force=True)) as file,
    ):
        write(file)
    assert (tmp_path / "out").read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_failed_writer_leaves_the_files_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = OutputFile("-o", str(tmp_path / "out"), force=True)
    replace = os.replace

    def fail_then_replace(source: str, target: str) -> None:
        with pytest.raises(ValueError, match="half"), whole_file(output):
            raise ValueError("half")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_then_replace)
    with whole_file(output) as file:
        file.write(b"whole")
    assert (tmp_path / "out").read_bytes() == b"whole"
    assert names(tmp_path) == ["out"]


@with_small_files
@pytest.mark.parametrize("size", [1001, 1 << 20], ids=["seen at the end", "seen while writing"])
def test_nothing_is_left_when_the_disk_is_full(tmp_path: Path, size: int) -> None:
    (tmp_path / "out").write_text("old")
    with (
        pytest.raises(RequestError) as caught,
        whole_file(OutputFile("-o", str(tmp_path / "out"), force=True)) as file,
    ):
        file.write(bytes(size))
    assert str(caught.value) == f"-o: {tmp_path}/out cannot be written: File too large"
    assert (tmp_path / "out").read_text() == "old"
    assert names(tmp_path) == ["out"]


@with_small_files
def test_an_error_without_a_number_is_said_too(tmp_path: Path) -> None:
    import numpy as np

    with (
        pytest.raises(RequestError) as caught,
        whole_file(OutputFile("-o", str(tmp_path / "out"), force=True)) as file,
    ):
        np.zeros(100_000, np.uint8).tofile(file)  # numpy says how much, not what went wrong
    assert "cannot be written: 100000 requested and " in str(caught.value)
    assert names(tmp_path) == []


def test_a_file_is_kept_if_it_may_not_be_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("precious")
    with pytest.raises(RequestError) as caught:
        check_outputs([OutputFile("--save", str(out), force=False)], ())
    assert (str(caught.value), caught.value.hint) == (
        f"--save: {out} exists",
        "replace it with --force",
    )
    with (
        pytest.raises(RequestError, match=r"--save: .*out exists"),
        whole_file(OutputFile("--save", str(out), force=False)) as file,
    ):
        file.write(b"new")
    assert out.read_text() == "precious"
    assert names(tmp_path) == ["out"]


def test_one_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with (
        pytest.raises(RequestError, match="exists"),
        whole_file(OutputFile("--save", str(out), force=False)),
    ):
        out.write_text("faster")
    assert out.read_text() == "faster"
    assert names(tmp_path) == ["out"]


@pytest.fixture
def named_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without ``O_TMPFILE``."""
    real = os.open

    def opened(path: str, flags: int, *rest: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", opened)


@with_small_files
@pytest.mark.parametrize("replace", [False, True])
def test_file_systems_without_nameless_files(
    tmp_path: Path, named_files_only: None, *, replace: bool
) -> None:
    out = tmp_path / "out"
    with whole_file(OutputFile("-o", str(out), force=replace)) as file:
        assert len(names(tmp_path)) == 1
        file.write(b"new")
    assert out.read_text() == "new"
    out.unlink()
    with (
        pytest.raises(RequestError, match="too large"),
        whole_file(OutputFile("-o", str(out), force=replace)) as file,
    ):
        file.write(bytes(2000))
    assert names(tmp_path) == []


@pytest.mark.parametrize("before", [False, True])
def test_a_killed_process_leaves_nothing(tmp_path: Path, *, before: bool) -> None:
    out = tmp_path / "out"
    if before:
        out.write_text("old")
    pid = os.fork()
    if pid == 0:
        with whole_file(OutputFile("-o", str(out), force=True)) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert names(tmp_path) == (["out"] if before else [])


def test_without_hard_links_too(
    tmp_path: Path, named_files_only: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    with whole_file(OutputFile("--save", str(tmp_path / "out"), force=False)) as file:
        file.write(b"new")
    assert (tmp_path / "out").read_text() == "new"
    with (
        pytest.raises(RequestError, match="exists"),
        whole_file(OutputFile("--save", str(tmp_path / "out"), force=False)) as file,
    ):
        file.write(b"newer")
    assert (tmp_path / "out").read_text() == "new"
    assert names(tmp_path) == ["out"]


def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with whole_file(OutputFile("-o", str(tmp_path / "new"), force=True)):
            pass
    finally:
        os.umask(mask)
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o600)
    with whole_file(OutputFile("-o", str(tmp_path / "old"), force=True)):
        pass
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("new", "old")]
    assert modes == [0o640, 0o600]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    with whole_file(OutputFile("-o", str(tmp_path / "link"), force=True)) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    out = tmp_path / "pipe"
    os.mkfifo(out)
    reader = os.open(out, os.O_RDONLY | os.O_NONBLOCK)
    check_outputs([OutputFile("-o", str(out), force=False)], ())
    with whole_file(OutputFile("-o", str(out), force=True)) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(out.stat().st_mode)


def test_a_device_that_takes_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(RequestError) as caught,
        whole_file(OutputFile("-o", "/dev/full", force=True)) as file,
    ):
        file.write(b"lost")
    assert str(caught.value) == "-o: /dev/full cannot be written: No space left on device"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("folder", "folder is a directory"),
        ("no/out", "no/out cannot be written: the directory no does not exist"),
        ("file/out", "file/out cannot be written: the directory file does not exist"),
    ],
)
def test_places_that_no_file_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(RequestError) as caught:
        check_outputs([OutputFile("-o", path, force=True)], ())
    assert str(caught.value) == f"-o: {says}"
    with (
        pytest.raises(RequestError, match=r"-o: .* cannot be written: "),
        whole_file(OutputFile("-o", path, force=True)),
    ):
        pass
    assert names(tmp_path) == ["file", "folder"]


@pytest.mark.parametrize("path", ["out", "new"])
def test_what_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Root may write everywhere, so the answer of ``access`` is what another user gets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").touch()
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(RequestError) as caught:
        check_outputs([OutputFile("-o", path, force=True)], ())
    why = "it is read-only" if path == "out" else "the directory is not writable"
    assert str(caught.value) == f"-o: {path} cannot be written: {why}"


# --- the rule for all outputs --------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file ``data``, a symbolic and a hard link to it, and a dangling link."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").write_text("precious")
    (tmp_path / "soft").symlink_to("data")
    (tmp_path / "hard").hardlink_to(tmp_path / "data")
    (tmp_path / "dangling").symlink_to("new")
    (tmp_path / "sub").symlink_to(".")
    return tmp_path


def refusal(*outputs: OutputFile, inputs: tuple[str, ...] = ()) -> str:
    with pytest.raises(RequestError) as caught:
        check_outputs(outputs, inputs)
    return str(caught.value)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("use", [FileUse.OUTPUT, FileUse.JUNIT, FileUse.APPENDED])
def test_an_output_is_no_input(use: FileUse) -> None:
    said = refusal(OutputFile("-o", "data", use, force=True), inputs=("data",))
    assert said == "-o: data is also an input of this command"
    for link in ("soft", "hard", "sub/data"):
        said = refusal(OutputFile("-o", link, use, force=True), inputs=("data",))
        assert said == f"-o: {link} is the same file as data, an input of this command"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["soft", "hard", "sub/data"])
def test_two_outputs_are_two_files(path: str) -> None:
    outputs = [OutputFile("-o", "data", force=True), OutputFile("--save", path, force=True)]
    assert refusal(*outputs) == f"--save: {path} is the same file as data, written by -o"
    outputs[1] = OutputFile("--save", "./data", force=True)
    assert refusal(*outputs) == "--save: ./data is also written by -o"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("path", ["new", "sub/new"])
def test_so_are_two_that_are_yet_to_be_made(path: str) -> None:
    first = OutputFile("-o", "dangling", case=("cases.toml:1", "one"))
    second = OutputFile("--save", path, case=("cases.toml:7", "two"))
    assert refusal(first, second) == (
        f"cases.toml:7: case 'two': --save: {path} is the same file as dangling, "
        "written by -o of case 'one'"
    )
    check_outputs([first, OutputFile("--save", "newer")], ["data"])


@pytest.mark.usefixtures("folder")
def test_special_files_are_free() -> None:
    null = OutputFile("--save", "/dev/null")
    check_outputs([null, null], ["/dev/null"])


def test_a_name_with_nul_is_refused() -> None:
    assert refusal(OutputFile("-o", "a\0b")).endswith("the name contains a NUL character")


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("<?xml version='1.0'?>\n<!-- by pytest -->\n<testsuites/>", True),
        ("<testsuite name='x'>", True),  # cut off
        ("<project/>", False),
        ("testsuites", False),
        ("", False),
    ],
)
def test_a_junit_report_replaces_only_a_junit_report(
    tmp_path: Path, text: str, *, replaced: bool
) -> None:
    path = tmp_path / "report.xml"
    path.write_text(text)
    output = OutputFile("--junit", str(path), FileUse.JUNIT)
    if replaced:
        check_outputs([output], ())
    else:
        assert refusal(output) == f"--junit: {path} exists and is not a JUnit report"
    assert OutputFile("--junit", str(path), FileUse.JUNIT, force=True).replaces
    assert OutputFile("--write-spec", str(path), FileUse.APPENDED).replaces


def test_a_replaced_file_lends_no_rights_to_its_new_contents(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.touch()
    out.chmod(0o7751)
    with whole_file(OutputFile("-o", str(out), force=True)):
        pass
    assert stat.S_IMODE(out.stat().st_mode) == 0o751
