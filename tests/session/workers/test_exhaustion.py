"""A resource of the machine that is used up is no bug: an error that names it, not a traceback."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from cudarun.errors import CudarunError, RequestError, WorkerDied
from cudarun.session.workers.worker import attempt


def failed(error: BaseException, cause: BaseException | None = None) -> CudarunError | None:
    def fail() -> None:
        raise error from cause

    return attempt(fail)[1]


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
    error = attempt(lambda: np.ones(1 << 60, np.uint8))[1]
    assert isinstance(error, RequestError)
    assert error.message.startswith("out of host memory: Unable to allocate 1.00 EiB")
    assert str(failed(MemoryError())) == "out of host memory"


def test_other_errors_are_bugs() -> None:
    assert isinstance(failed(OSError(errno.EIO, "Input/output error")), WorkerDied)
    assert isinstance(failed(ValueError("3")), WorkerDied)
