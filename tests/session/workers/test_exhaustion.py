"""A resource of the machine that is used up is no bug: an error that names it, not a traceback."""

from __future__ import annotations

import errno
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from cudarun.base.errors import CudarunError, ExitCode, RequestError, WorkerDied
from cudarun.cli import main
from cudarun.commands.inputs import open_input
from cudarun.session.workers.worker import attempt


def failed(error: BaseException, cause: BaseException | None = None) -> CudarunError | None:
    def fail() -> None:
        raise error from cause

    return attempt(fail).error


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOSPC])
def test_a_limit_of_the_system(number: int) -> None:
    error = failed(OSError(number, os.strerror(number)))
    assert isinstance(error, RequestError)
    assert error.message == f"operating system: {os.strerror(number)}"
    assert error.hint


def test_open_files_behind_another_error() -> None:
    cause = OSError(errno.EMFILE, "Too many open files")
    assert isinstance(failed(ImportError("no module"), cause), RequestError)


def test_memory() -> None:
    assert isinstance(failed(OSError(errno.ENOMEM, "Cannot allocate memory")), RequestError)
    error = attempt(lambda: np.ones(1 << 60, np.uint8)).error
    assert isinstance(error, RequestError)
    assert error.message.startswith("out of host memory: Unable to allocate 1.00 EiB")
    assert str(failed(MemoryError())) == "out of host memory"


def test_other_errors_are_bugs() -> None:
    assert isinstance(failed(OSError(errno.EIO, "Input/output error")), WorkerDied)
    assert isinstance(failed(ValueError("3")), WorkerDied)


def test_memory_of_the_command_itself(capsys: pytest.CaptureFixture[str]) -> None:
    def begin() -> None:
        raise MemoryError

    assert main(["--version"], begin=begin) == ExitCode.UNUSABLE_REQUEST
    assert capsys.readouterr().err == (
        "error: out of host memory\nhint: free memory, or raise its limit: ulimit -v\n"
    )


def test_a_small_file_needs_little_memory(tmp_path: Path) -> None:
    image = tmp_path / "image.ptx"
    image.write_bytes(b"x" * 1000)
    tracemalloc.start()
    try:
        assert bytes(open_input(str(image)).data) == image.read_bytes()
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
