"""Large data of ``cudarun launch``: from files, to files, and what it takes of memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.arguments.grammar import parse_type
from cudarun.arguments.initial_values import Constant
from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.scalars import UntypedNumber
from cudarun.session.launch.buffers import check_free_memory

Run = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
LAUNCH = (sys.executable, "-m", "cudarun", "launch")
ONE = ("-d", "cpu", "--threads", "1")
ITEMS = 48 * MIB  # of 4 bytes: goes through page-locked memory

NOTHING = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry nothing(.param .u64 x)
{
    ret;
}
"""


@pytest.fixture
def nothing(tmp_path: Path) -> str:
    """A kernel that does nothing with its one buffer."""
    (tmp_path / "nothing.ptx").write_text(NOTHING)
    return "nothing.ptx"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.npy"
    np.save(path, np.arange(ITEMS, dtype=np.int32))
    return path


# In between, since the most that a process had in memory counts from the one it was forked off.
MEASURED = """
import resource, subprocess, sys

code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def test_a_file_goes_to_the_device_and_back_without_being_in_memory(
    nothing: str, large: Path, tmp_path: Path
) -> None:
    launch = (
        *LAUNCH,
        nothing,
        "-d",
        "cpu",
        "--threads",
        "1",
        "x=@large.npy",
        "--save",
        "x=out.npy",
    )
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *launch],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert (tmp_path / "out.npy").read_bytes() == large.read_bytes()
    # The device's memory is this process's too: 192 MiB, 64 of blocks, the program itself.
    assert int(done.stdout) >> 10 < 192 + 64 + 130, "the array was in host memory"


def test_a_check_of_large_buffers(run: Run, nothing: str, large: Path) -> None:
    ran = run(
        "launch", nothing, *ONE, "x=@large.npy", "--check", "x == old(x)",
        "--print", "x[-2:]",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert f"x[-2:] = [{ITEMS - 2} {ITEMS - 1}]" in ran.out


def test_of_an_index_in_numbers_no_more_is_copied(run: Run, nothing: str) -> None:
    launch = ("launch", nothing, *ONE, "x=i32[10,3]:iota", "--trace", "--check-strength=off")
    ran = run(*launch, "--print", "x[2,1] + x[4][0]", "--check", "old(x)[9,2] == 29")
    assert (ran.code, ran.out.splitlines()[1]) == (0, "x[2,1] + x[4][0] = 19")
    copies = [line for line in ran.err.splitlines() if line.startswith("cuMemcpyDtoH")]
    assert [line[: line.index(")")].split(", ")[-1] for line in copies] == ["36"]  # three rows


def test_such_an_index_beside_other_uses_and_a_file(run: Run, nothing: str, tmp_path: Path) -> None:
    ran = run(
        "launch", nothing, *ONE, "x=i32[4]:iota",
        "--print", "x[-1]", "--print", "x[9]", "--save", "x=x.npy",
    )  # fmt: skip
    assert ran.code == 2
    assert "--print: x[9]: […]: index 9 is out of bounds for axis 0 with size 4\n" in ran.err
    assert "x[-1] = 3\n" in ran.out
    assert np.load(tmp_path / "x.npy").tolist() == [0, 1, 2, 3]


def test_what_was_never_written_is_counted_as_elements(run: Run, nothing: str) -> None:
    ran = run("launch", nothing, *ONE, f"x=float4[{ITEMS // 4}]", "--json")
    [outcome] = ran.document["outcomes"]
    assert [b["never_written"] for b in outcome["result"]["buffers"]] == [ITEMS // 4]


@pytest.mark.parametrize("suffix", ["npy", "bin"])
def test_a_disk_that_is_full(nothing: str, tmp_path: Path, suffix: str) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 * MIB, 100 * MIB))

    done = subprocess.run(
        [*LAUNCH, nothing, *ONE, f"x=i32[{ITEMS}]:zeros", "--save", f"x=out.{suffix}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=little_room,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --save: out.{suffix} cannot be written: File too large")
    assert [path.name for path in tmp_path.iterdir()] == [nothing]


def test_more_than_the_device_has(run: Run, nothing: str) -> None:
    ran = run("launch", nothing, *ONE, "x=u8[1099511627776]:ones")
    assert ran.code == 5
    assert f"buffer 'x' of {1 << 40} bytes: cuMemAlloc: out of memory" in ran.err
    assert "are free on the device" in ran.err
    assert "are free on the device" in ran.err


def test_more_than_the_host_has() -> None:
    check_free_memory(4000)
    with pytest.raises(MemoryError, match=rf"{1 << 50} bytes are required, \d+ are free"):
        check_free_memory(1 << 50)


STRUCT = "{n=i8, v=float2, s={i8, b=bool}, w=i16*3}"


@pytest.mark.parametrize(
    ("element", "shape"),
    [
        ("f32", (6,)), ("f64", (2, 3)), ("float4", (3,)), ("bf16", (5,)), (STRUCT, (4,)),
        ("u8", (0,)),
    ],
)  # fmt: skip
def test_a_saved_file_is_what_numpy_would_write(
    run: Run, nothing: str, tmp_path: Path, element: str, shape: tuple[int, ...]
) -> None:
    buffer = f"{element}[{','.join(map(str, shape))}]"
    np.save(tmp_path / "wanted.npy", filled_with_ones(element, shape))
    wanted = (tmp_path / "wanted.npy").read_bytes()
    ran = run("launch", nothing, *ONE, f"x={buffer}:ones", "--save", "x=x.npy")
    assert ran.code == 0, ran.err
    assert (tmp_path / "x.npy").read_bytes() == wanted
    ran = run(
        "launch", nothing, *ONE, f"x={buffer}:@x.npy",
        "--save", "x=x.bin", "--save", "x=y.npy",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert (tmp_path / "y.npy").read_bytes() == wanted
    assert wanted.endswith((tmp_path / "x.bin").read_bytes())


def filled_with_ones(element: str, shape: tuple[int, ...]) -> Any:
    return fill(Constant(UntypedNumber("1")), parse_type(element), shape, seeded(0, "x"))
