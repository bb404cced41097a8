"""Large buffers on a device: what is made there, copied there and back, and what does not fit.

The scratch folder takes up to three times the largest buffer for a moment. Each case is a launch;
what comes back is compared with what numpy says it should be. The emulated device goes through the
same code with little, but for the kernels that make sequences.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.processes import PYTHON_PATH
from tools.hardware.bench import Bench, Check, check

GIB = 5.0
EMULATED_GIB = 0.02
CHUNK = 1 << 22
LARGE = 80 << 20  # bytes that surely go through page-locked memory

# Copies n bytes; the last thread's index is beyond 32 bits where n is.
COPY = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry copy(.param .u64 x, .param .u64 y, .param .u64 n)
{
    .reg .pred %done;
    .reg .b32 %r<4>;
    .reg .b64 %i, %stride, %n, %x, %y, %at;
    .reg .b16 %byte;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %nctaid.x;
    mul.wide.u32 %i, %r0, %r1;
    cvt.u64.u32 %at, %r2;
    add.u64 %i, %i, %at;
    mul.wide.u32 %stride, %r3, %r1;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u64 %n, [n];
next:
    setp.ge.u64 %done, %i, %n;
    @%done bra end;
    add.u64 %at, %x, %i;
    ld.global.u8 %byte, [%at];
    add.u64 %at, %y, %i;
    st.global.u8 [%at], %byte;
    add.u64 %i, %i, %stride;
    bra.uni next;
end:
    ret;
}
"""
NOTHING = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry nothing(.param .u64 x)
{
    ret;
}
"""
SEQUENCES = [
    ("u8", 250, 3), ("i16", -5, -7), ("i32", 7, 3), ("u64", 2**64 - 2, 2**40 + 1),
    ("f32", 0, 1), ("f32", 0.1, 0.3), ("f32", 0, 1e-45), ("f64", 0.1, 0.1),
]  # fmt: skip


ONE = ("--threads", "1")  # the kernel does nothing


class Desk:
    """A folder and a device for launches of the two kernels."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder = folder
        self.device = device
        (folder / "copy.ptx").write_text(COPY)
        (folder / "nothing.ptx").write_text(NOTHING)

    def launch(self, *args: str) -> tuple[int, str, str, int]:
        """Return the status, stdout, stderr, and the most MiB resident in one process of it."""
        with (self.folder / "stderr").open("w+") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cudarun", "launch", *args, "-d", self.device, "--force"],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
                env=os.environ | {"PYTHONPATH": PYTHON_PATH},
            )  # fmt: skip
            assert process.stdout is not None
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            return process.returncode, out, log.read(), usage.ru_maxrss >> 10


def checks(bench: Bench) -> Iterator[Check]:
    """Run all cases."""
    gib = bench.options.gib or (EMULATED_GIB if bench.is_emulated else GIB)
    nbytes = int(gib * (1 << 30)) + 13
    with tempfile.TemporaryDirectory(dir=scratch(bench, nbytes), prefix="cudarun-data-") as folder:
        desk = Desk(Path(folder), bench.device)
        for name, start, step in SEQUENCES:
            yield case(f"{name} iota({start},{step})", sequence, desk, name, start, step)
        yield case("constants", constants, desk)
        yield case("a file there and back", there_and_back, desk, nbytes)
        yield case("the last items printed", last_items, desk, nbytes)
        yield case("out of device memory", out_of_memory, desk)


def scratch(bench: Bench, nbytes: int) -> Path:
    """The folder for large files: in memory, where there is room."""
    if bench.options.scratch is not None:
        bench.options.scratch.mkdir(parents=True, exist_ok=True)
        return bench.options.scratch
    with contextlib.suppress(OSError):
        if shutil.disk_usage("/dev/shm").free > 3 * nbytes:
            return Path("/dev/shm")
    return bench.work


def case(name: str, run: Callable[..., tuple[bool, str]], *args: object) -> Check:
    """Run one case."""
    started = time.perf_counter()
    held, words = run(*args)
    return check(name, held, words, time.perf_counter() - started)


def parts(path: Path, dtype: str) -> Iterator[tuple[int, Any]]:
    """A saved array, part by part."""
    array = np.load(path, mmap_mode="r")
    assert array.dtype == dtype
    for first in range(0, array.size, CHUNK):
        yield first, np.asarray(array[first : first + CHUNK])


def sequence(desk: Desk, name: str, start: float, step: float) -> tuple[bool, str]:
    """``iota(start,step)`` of a type, to the last bit."""
    dtype = np.dtype({"u": "u", "i": "i", "f": "f"}[name[0]] + str(int(name[1:]) // 8))
    count = LARGE // dtype.itemsize + 3
    argument = f"x={name}[{count}]:iota({start},{step})"
    code, _, err, _ = desk.launch("nothing.ptx", *ONE, argument, "--save", "x=x.npy")
    if code:
        return False, err
    different = 0
    for first, part in parts(desk.folder / "x.npy", dtype.name):
        index = np.arange(first, first + part.size)
        if dtype.kind == "f":
            made = (start + index.astype(np.float64) * step).astype(dtype)
        else:
            wrap = (1 << 64) - 1
            made = index.astype(np.uint64) * np.uint64(int(step) & wrap)
            made = (made + np.uint64(int(start) & wrap)).astype(dtype)
        different += int(np.count_nonzero(made.view(np.uint8) != part.view(np.uint8)))
    return different == 0, f"{count} items, {different} bytes differ"


def constants(desk: Desk) -> tuple[bool, str]:
    """What repeats, of numbers and of structs."""
    count = LARGE // 8 + 1
    for argument, value in [
        (f"x=f64[{count}]:-0.1", np.full(1, -0.1)),
        (f"x=u64[{count}]:0x0123456789abcdef", np.full(1, 0x0123456789ABCDEF, np.uint64)),
    ]:
        code, _, err, _ = desk.launch(
            "nothing.ptx", "--threads", "1", argument, "--save", "x=x.npy"
        )
        if code:
            return False, err
        if any((part != value).any() for _, part in parts(desk.folder / "x.npy", value.dtype)):
            return False, argument
    struct = f"x={{i8,f64}}[{count}]:ones"
    code, _, err, _ = desk.launch(
        "nothing.ptx", "--threads", "1", struct, "--check", 'all(x["f1"] == 1)'
    )
    return code == 0, err or "f64, u64 and a struct"


def there_and_back(desk: Desk, nbytes: int) -> tuple[bool, str]:
    """A file of more than 2^31 items and an odd number of bytes, copied by a kernel, saved."""
    source = desk.folder / "in.bin"
    pattern = np.random.default_rng(0).integers(0, 256, CHUNK - 1, np.uint8)
    with source.open("wb") as file:
        for first in range(0, nbytes, pattern.size):
            file.write(pattern[: nbytes - first].data)
    code, out, err, resident = desk.launch(
        "copy.ptx", "--grid", "4096", "--block", "256", f"x=u8[{nbytes}]:@in.bin",
        f"y=u8[{nbytes}]", f"u64:{nbytes}", "--save", "y=out.bin", "--json",
    )  # fmt: skip
    if code:
        return False, err
    [buffer] = [b for b in json.loads(out)["outcomes"][0]["result"]["buffers"] if b["name"] == "y"]
    same = subprocess.run(["cmp", source, desk.folder / "out.bin"]).returncode == 0
    (desk.folder / "out.bin").unlink()
    words = f"{nbytes} bytes, at most {resident} MiB resident"
    counted = buffer["never_written"]
    if counted:
        words += f"; {counted} bytes counted as never written"
    return same and not counted, words


def last_items(desk: Desk, nbytes: int) -> tuple[bool, str]:
    """The end of a buffer that is printed; the array is on the host then."""
    _, out, err, resident = desk.launch(
        "copy.ptx", "--grid", "4096", "--block", "256", f"x=u8[{nbytes}]:iota",
        f"y=u8[{nbytes}]", f"u64:{nbytes}", "--print", "y[-4:]",
    )  # fmt: skip
    wanted = f"y[-4:] = {np.arange(nbytes - 4, nbytes).astype(np.uint8)}"
    return wanted in out, err or f"{wanted}, at most {resident} MiB resident"


def out_of_memory(desk: Desk) -> tuple[bool, str]:
    """Two buffers of which the second does not fit: it is named, with what is free."""
    code, out, _, _ = desk.launch("nothing.ptx", *ONE, "--json", "x=u8[1]")
    total = json.loads(out)["outcomes"][0]["result"]["device"]["memory_total"]
    size = total * 6 // 10
    code, _, err, _ = desk.launch(
        "copy.ptx", f"x=u8[{size}]", f"y=u8[{size}]", "u64:0", "--grid", "1"
    )
    said = f"buffer 'y' of {size} bytes" in err and "bytes are free" in err and code == 5
    return said, err.replace("\n", " | ")
