"""``.npy`` files and other files that are damaged, endless or larger than any memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.array_files import load_npy, npy_header
from cudarun.arguments.files import check_raw_size, is_npy
from cudarun.base.errors import RequestError


def npy(path: Path, header: str, data: bytes = b"") -> Path:
    text = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data)
    return path


def described(shape: str, dtype: str = "'<f4'") -> str:
    return f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize(
    "header",
    [
        described("(True, 2)"),
        described("(4611686018427387904, 4611686018427387904)"),
        described("(4611686018427387904,)"),
        described(f"({'9' * 5000},)"),
        described("(-1,)"),
        described("(2.0,)"),
        described("None"),
        described("(2,)", "(" * 4000 + ")" * 4000),
        described("(2,)", "[" * 400 + "]" * 400),
        described("(2,)", "[('a', '<f4', (4611686018427387904, 4))]"),
        described("(2,)", "'<f99999999999'"),
        described("(2,)", "[('a', '<f4'), ('a', '<f4')]"),
        described("(2,)", "{'names': 5}"),
        described("(2,)", "'O'"),
        "{" * 4000,
        "-" * 9000 + "1",
        "",
        "None",
        "{1: 2}",
        "{'descr': '<f4', 'fortran_order': 3, 'shape': (2,)}",
    ],
)
def test_damaged_headers(tmp_path: Path, header: str) -> None:
    path = npy(tmp_path / "x.npy", header, bytes(8))
    for read in (npy_header, load_npy):
        with pytest.raises(RequestError, match=r"x\.npy"):
            read(path)


def test_a_file_is_mapped_not_loaded(tmp_path: Path) -> None:
    """A sparse file of 100 GB takes neither memory nor time until its elements are used."""
    path = npy(tmp_path / "x.npy", described("(25000000000,)"))
    with path.open("r+b") as file:
        file.truncate(file.seek(0, os.SEEK_END) + 100_000_000_000)
    array = load_npy(path)
    assert array.shape == (25_000_000_000,)
    assert array[:2].tolist() == [0, 0]


def test_loaded_elements_are_native(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(6, dtype=">f4").reshape(2, 3).T)
    array = load_npy(path)
    assert array.dtype == np.dtype("f4")
    assert array.flags.c_contiguous
    assert array.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_only_regular_files_are_read(path: str) -> None:
    with pytest.raises(RequestError, match="not a regular file"):
        is_npy(Path(path))
    with pytest.raises(RequestError, match="not a regular file"):
        check_raw_size(Path(path), 0, "x")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RequestError, match="not a regular file"):
        is_npy(tmp_path / "pipe")


def test_a_path_with_a_null_character() -> None:
    with pytest.raises(RequestError, match=r"cannot read a\\0b: embedded null"):
        is_npy(Path("a\0b"))
