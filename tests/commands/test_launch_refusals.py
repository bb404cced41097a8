"""Bad input to ``cudarun launch``: one clear error each, the right exit code, nothing on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.support.register_kernels import kernel
from tests.support.toolkit import needs_nvjitlink

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--seed", "1")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")


def test_an_existing_output_is_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_text("precious")
    ran = run("launch", *SAXPY, "--save", "y=y.npy", *ARGUMENTS)
    assert ran.code == 2
    assert ran.err == "error: --save: y.npy exists\nhint: replace it with --force\n"
    assert (tmp_path / "y.npy").read_text() == "precious"


def test_an_array_of_objects_is_never_unpickled(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "evil.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    ran = run("launch", *SAXPY, "a=f32:2", "x=@evil.npy", *ARGUMENTS[2:])
    assert ran.code == 2
    assert "evil.npy" in ran.err
    assert "it contains Python objects, which are not unpickled" in ran.err
    assert ran.out == ""


@needs_nvjitlink
def test_registers_of_a_block(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(kernel(120))
    command = ("launch", "k.ptx", "-d", "cpu", "p=f32[120]:ones", "--block")
    refused = run(*command, "1024")
    assert refused.code == 5
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701" in refused.err
    assert "64 registers per thread are available to blocks of 1024 threads" in refused.err
    (tmp_path / "k.ptx").write_text(kernel(70))
    noted = run(*command, "1024")
    assert noted.code == 0
    assert "note: k: 64 registers per thread are available" in noted.err
