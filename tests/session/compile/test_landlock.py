"""Calls that can open a few files only."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.compile.landlock import call_confined
from tests.support.landlock import needs_landlock

pytestmark = needs_landlock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "outside").write_text("secret")
    (folder / "file").write_text("text")
    (folder / "link").symlink_to("../outside")
    return folder


def test_what_is_readable(folder: Path, tmp_path: Path) -> None:
    confined = partial(call_confined, folder=str(folder))
    assert confined((folder / "file").read_text) == "text"
    for path in ("../outside", "link", "/etc/hostname", "/proc/self/environ"):
        with pytest.raises(PermissionError):
            confined((folder / path).read_bytes)
    outside = tmp_path / "outside"
    assert call_confined(outside.read_text, str(folder), [str(outside)]) == "secret"


@pytest.mark.parametrize("path", ["file", "new", "../new"])
def test_nothing_is_writable(folder: Path, path: str) -> None:
    with pytest.raises(PermissionError):
        call_confined(partial((folder / path).write_text, ""), str(folder))
    assert (folder / "file").read_text() == "text"


def test_other_calls_are_not_confined(folder: Path) -> None:
    call_confined(lambda: None, str(folder))
    assert (folder / "link").read_text() == "secret"
    assert call_confined((folder / "link").read_text, None) == "secret"


def test_a_kernel_that_refuses(folder: Path) -> None:
    """Without the restrictions nothing is called: Linux permits 16 of them in one thread."""
    calls: list[int] = []

    def nested(depth: int) -> None:
        calls.append(depth)
        call_confined(partial(nested, depth + 1), "/")

    with pytest.raises(RequestError, match="--confine compiles CUDA source only where Linux has"):
        nested(0)
    assert calls == [*range(17)]
