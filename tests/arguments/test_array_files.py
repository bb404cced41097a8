"""Files of arrays that crash numpy."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudarun.arguments.array_files import load_npy
from cudarun.base.errors import RequestError


def test_elements_of_no_bytes_are_refused(tmp_path: Path) -> None:
    """The process would end by SIGFPE: numpy divides by their size."""
    header = b"{'descr': [], 'fortran_order': True, 'shape': (-1,)}\n"
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
    with pytest.raises(RequestError, match="its elements have no bytes"):
        load_npy(path)


@pytest.mark.filterwarnings("error")
def test_a_header_that_is_not_python_gives_no_warning(tmp_path: Path) -> None:
    header = b"{'descr': '', 'shape'(1 << 3,){:  (8not not },}\n"
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(RequestError, match="its header is malformed"):
        load_npy(path)
