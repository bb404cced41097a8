"""Files that never end or are larger than the limit of an image."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from cudarun.base.errors import RequestError
from cudarun.commands.inputs import open_input


class Endless(io.RawIOBase):
    """A stream that has a file descriptor and never ends; it counts what is read."""

    def __init__(self) -> None:
        self.given = 0

    def fileno(self) -> int:
        return 0

    def read(self, size: int | None = -1) -> bytes:
        assert size, "an endless stream is not read as a whole"
        assert size > 0, "an endless stream is not read as a whole"
        self.given += size
        return bytes(size)


class Standard:
    """Standard input with its bytes."""

    def __init__(self, buffer: object) -> None:
        self.buffer = cast(BinaryIO, buffer)


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_devices_are_not_read(path: str) -> None:
    with pytest.raises(RequestError, match=f"{path}: neither a regular file nor a pipe"):
        open_input(path)


def test_stdin_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless()
    monkeypatch.setattr("sys.stdin", Standard(endless))
    with pytest.raises(RequestError, match="the image is larger than the limit of 1000 bytes"):
        open_input("-", limit=1000)
    assert endless.given == 1001


def test_a_pipe_is_read_up_to_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keep = os.open(pipe, os.O_RDWR)
    os.write(keep, bytes(2000))
    with pytest.raises(RequestError, match="larger than the limit of 1000 bytes"):
        open_input(str(pipe), limit=1000)
    os.close(keep)


def test_a_sparse_file_is_not_read(tmp_path: Path) -> None:
    image = tmp_path / "x.ptx"
    with image.open("wb") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(RequestError, match="larger than the limit of 536870912 bytes") as caught:
        open_input(str(image))
    assert caught.value.hint == "raise the limit: --max-image BYTES"


def test_a_file_of_the_limit_is_read(tmp_path: Path) -> None:
    image = tmp_path / "x.ptx"
    image.write_bytes(bytes(1000))
    assert len(open_input(str(image), limit=1000).data) == 1000
    with pytest.raises(RequestError, match="larger than the limit of 999 bytes"):
        open_input(str(image), limit=999)


def test_a_path_with_a_null_character() -> None:
    with pytest.raises(RequestError, match="embedded null"):
        open_input("a\0b")
