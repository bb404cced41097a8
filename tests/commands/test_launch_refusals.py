"""Bad input to ``cudarun launch``: one clear error each, the right exit code, nothing on stdout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.register_kernels import kernel
from tests.support.toolkit import needs_nvjitlink, without_driver

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--seed", "1")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")


def refused(run: Run, *args: str, code: int, says: str) -> None:
    """The command ends with the code, an error of exactly these lines, and no result."""
    ran = run("launch", *args)
    assert ran.err == says
    assert ran.out == ""
    assert ran.code == code


# --- the image -----------------------------------------------------------------------------------


def test_missing_file(run: Run) -> None:
    refused(
        run, "none.ptx", "-d", "cpu", code=2, says="error: none.ptx: No such file or directory\n"
    )


def test_a_directory(run: Run) -> None:
    refused(run, "samples", "-d", "cpu", code=2, says="error: samples: Is a directory\n")


def test_empty_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.ptx").write_bytes(b"")
    refused(run, "empty.ptx", "-d", "cpu", code=4, says="error: empty.ptx: the file is empty\n")


def test_a_text_that_is_no_ptx(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.ptx").write_text("Dear driver,\n")
    refused(
        run, "text.ptx", "-d", "cpu", code=4,
        says="error: text.ptx: not an image\n"
        "hint: pass PTX text, a cubin, a fatbin or CUDA source\n",
    )  # fmt: skip


def test_empty_stdin(run: Run) -> None:
    refused(run, "-", "-d", "cpu", code=4, says="error: <stdin>: the file is empty\n")


# --- arguments and options -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (
            ("a=f3:2",),
            "error: unknown type 'f3'\n  a=f3:2\n    ^\nhint: did you mean f32?\n",
        ),
        (
            ("--grid", "1", *ARGUMENTS),
            "error: --grid and --threads cannot be combined: each sets the total size\n",
        ),
        (
            ("--block", "0", *ARGUMENTS),
            "error: --block: 0: a dimension must be 1 to 4294967295\n",
        ),
        (
            ("--check", "y ==", *ARGUMENTS),
            "error: expected a value, found the end\n  y ==\n      ^\n",
        ),
        (
            ("--check", "y.sum()", *ARGUMENTS),
            "error: unexpected '.'\n  y.sum()\n   ^\n"
            "hint: the only attribute is .T; call functions as sum(x)\n",
        ),
        (
            ("--limit", "stacks=4", *ARGUMENTS),
            "error: invalid value for '--limit': 'stacks=4' is not NAME=SIZE with NAME one of "
            "stack, "
            "printf-fifo, malloc-heap, sync-depth, pending-launches, l2-fetch-granularity, "
            "persisting-l2\nhint: see 'cudarun launch --help'\n",
        ),
        (
            ("--save", "y=out.txt", *ARGUMENTS),
            "error: --save: out.txt: the suffix must be one of .npy, .bin, .csv, .png\n",
        ),
        (
            ("--save", "y", *ARGUMENTS),
            "error: --save: 'y' is not NAME=PATH\nhint: name the buffer: --save y=y\n",
        ),
        (
            ("-d", "gpu", *ARGUMENTS),
            "error: --device: 'gpu' is not a device\nhint: use an index, 'all', a GPU UUID, "
            "a PCI bus id, 'cpu', 'cpu:N', 'cpu:all' or 'cpu@GPU'\n",
        ),
    ],
)  # fmt: skip
def test_unusable_before_any_driver_is_touched(run: Run, args: tuple[str, ...], says: str) -> None:
    refused(run, *SAXPY, *args, code=2, says=says)


@without_driver
def test_no_gpu_is_never_silently_the_cpu(run: Run) -> None:
    refused(
        run, "samples/saxpy.ptx", *ARGUMENTS, code=3,
        says="error: no CUDA driver: libcuda.so.1 was not found\n  in device 0\n"
        "hint: find the cause with 'cudarun devices --doctor'; -d cpu selects the emulated "
        "device\n",
    )  # fmt: skip


# --- outputs -------------------------------------------------------------------------------------


def test_an_existing_output_is_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "y.npy").write_text("precious")
    refused(
        run, *SAXPY, "--save", "y=y.npy", *ARGUMENTS, code=2,
        says="error: --save: y.npy exists\nhint: replace it with --force\n",
    )  # fmt: skip
    assert (tmp_path / "y.npy").read_text() == "precious"


def test_an_output_without_a_folder(run: Run) -> None:
    refused(
        run, *SAXPY, "--save", "y=no/y.npy", *ARGUMENTS, code=2,
        says="error: --save: no/y.npy cannot be written: the directory no does not exist\n",
    )  # fmt: skip


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
