"""Large buffers on a device: what is made there, copied there and back, and what does not fit.

Usage: ``python tools/hardware_data.py FOLDER [--device 0] [--gib 5]``

FOLDER takes up to three times ``--gib`` for a moment. Each case is a launch; what comes back is
compared with what numpy says it should be. Prints a line for each case, exit status 1 where one is
wrong. On ``--device cpu`` a small ``--gib`` (0.1) goes through the same code, but for the kernels
that make sequences.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
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


class Bench:
    """Runs launches in a folder, and remembers whether all was well."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder = folder
        self.device = device
        self.wrong = 0
        (folder / "copy.ptx").write_text(COPY)
        (folder / "nothing.ptx").write_text(NOTHING)

    def launch(self, *args: str) -> tuple[int, str, str, int]:
        """Status, stdout, stderr, and the most MiB resident in one process of it."""
        log = (self.folder / "stderr").open("w+")
        process = subprocess.Popen(
            [sys.executable, "-m", "cudarun", "launch", *args, "-d", self.device, "--force"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        return process.returncode, out, log.read(), usage.ru_maxrss >> 10

    def case(self, name: str, run: Callable[[], tuple[bool, str]]) -> None:
        """Run one case and print how it ended."""
        start = time.perf_counter()
        held, words = run()
        self.wrong += not held
        seconds = time.perf_counter() - start
        print(f"{'held ' if held else 'WRONG'} {name}  ({words}; {seconds:.1f} s)", flush=True)


def parts(path: Path, dtype: str) -> Iterator[tuple[int, Any]]:
    """A saved array, part by part."""
    array = np.load(path, mmap_mode="r")
    assert array.dtype == dtype
    for first in range(0, array.size, CHUNK):
        yield first, np.asarray(array[first : first + CHUNK])


def sequence(bench: Bench, name: str, start: float, step: float) -> tuple[bool, str]:
    """``iota(start,step)`` of a type, to the last bit."""
    dtype = np.dtype({"u": "u", "i": "i", "f": "f"}[name[0]] + str(int(name[1:]) // 8))
    count = LARGE // dtype.itemsize + 3
    argument = f"x={name}[{count}]:iota({start},{step})"
    code, _, err, _ = bench.launch("nothing.ptx", argument, "--save", "x=x.npy")
    if code:
        return False, err
    different = 0
    for first, part in parts(bench.folder / "x.npy", dtype.name):
        index = np.arange(first, first + part.size)
        if dtype.kind == "f":
            made = (start + index.astype(np.float64) * step).astype(dtype)
        else:
            wrap = (1 << 64) - 1
            made = index.astype(np.uint64) * np.uint64(int(step) & wrap)
            made = (made + np.uint64(int(start) & wrap)).astype(dtype)
        different += int(np.count_nonzero(made.view(np.uint8) != part.view(np.uint8)))
    return different == 0, f"{count} items, {different} bytes differ"


def constants(bench: Bench) -> tuple[bool, str]:
    """What repeats, of numbers and of structs."""
    count = LARGE // 8 + 1
    for argument, value in [
        (f"x=f64[{count}]:-0.1", np.full(1, -0.1)),
        (f"x=u64[{count}]:0x0123456789abcdef", np.full(1, 0x0123456789ABCDEF, np.uint64)),
    ]:
        code, _, err, _ = bench.launch("nothing.ptx", argument, "--save", "x=x.npy")
        if code:
            return False, err
        if any((part != value).any() for _, part in parts(bench.folder / "x.npy", value.dtype)):
            return False, argument
    struct = f"x={{i8,f64}}[{count}]:ones"
    code, _, err, _ = bench.launch("nothing.ptx", struct, "--check", 'all(x["f1"] == 1)')
    return code == 0, err or "f64, u64 and a struct"


def there_and_back(bench: Bench, nbytes: int) -> tuple[bool, str]:
    """A file of more than 2^31 items and an odd number of bytes, copied by a kernel, saved."""
    source = bench.folder / "in.bin"
    pattern = np.random.default_rng(0).integers(0, 256, CHUNK - 1, np.uint8)
    with source.open("wb") as file:
        for first in range(0, nbytes, pattern.size):
            file.write(pattern[: nbytes - first].data)
    code, out, err, resident = bench.launch(
        "copy.ptx", "--grid", "4096", "--block", "256", f"x=u8[{nbytes}]:@in.bin",
        f"y=u8[{nbytes}]", f"u64:{nbytes}", "--save", "y=out.bin", "--json",
    )  # fmt: skip
    if code:
        return False, err
    [buffer] = [b for b in json.loads(out)["outcomes"][0]["result"]["buffers"] if b["name"] == "y"]
    poison = int(np.count_nonzero(pattern == 0xA5))
    whole, rest = divmod(nbytes, pattern.size)
    poison = whole * poison + int(np.count_nonzero(pattern[:rest] == 0xA5))
    same = subprocess.run(["cmp", source, bench.folder / "out.bin"]).returncode == 0
    (bench.folder / "out.bin").unlink()
    words = f"{nbytes} bytes, at most {resident} MiB resident"
    counted = buffer["never_written"]
    if counted != poison:
        words += f"; {counted} bytes counted as never written, {poison} have the pattern"
    return same and counted == poison, words


def last_items(bench: Bench, nbytes: int) -> tuple[bool, str]:
    """The end of a buffer that is printed; the array is on the host then."""
    _, out, err, resident = bench.launch(
        "copy.ptx", "--grid", "4096", "--block", "256", f"x=u8[{nbytes}]:iota",
        f"y=u8[{nbytes}]", f"u64:{nbytes}", "--print", "y[-4:]",
    )  # fmt: skip
    wanted = f"y[-4:] = {np.arange(nbytes - 4, nbytes).astype(np.uint8)}"
    return wanted in out, err or f"{wanted}, at most {resident} MiB resident"


def out_of_memory(bench: Bench) -> tuple[bool, str]:
    """Two buffers of which the second does not fit: it is named, with what is free."""
    code, out, _, _ = bench.launch("nothing.ptx", "--json", "x=u8[1]")
    total = json.loads(out)["outcomes"][0]["result"]["device"]["memory_total"]
    size = total * 6 // 10
    code, _, err, _ = bench.launch(
        "copy.ptx", f"x=u8[{size}]", f"y=u8[{size}]", "u64:0", "--grid", "1"
    )
    said = f"buffer 'y' of {size} bytes" in err and "bytes free" in err and code == 5
    return said, err.replace("\n", " | ")


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="0")
    parser.add_argument("--gib", type=float, default=5, help="size of the largest; default: 5")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.folder.resolve(), options.device)
    nbytes = int(options.gib * (1 << 30)) + 13
    for name, start, step in SEQUENCES:
        what = f"{name} iota({start},{step})"
        bench.case(what, lambda n=name, a=start, b=step: sequence(bench, n, a, b))
    bench.case("constants", lambda: constants(bench))
    bench.case("a file there and back", lambda: there_and_back(bench, nbytes))
    bench.case("the last items printed", lambda: last_items(bench, nbytes))
    bench.case("out of device memory", lambda: out_of_memory(bench))
    for name in ("in.bin", "x.npy", "copy.ptx", "nothing.ptx", "stderr"):
        (bench.folder / name).unlink(missing_ok=True)
    print(f"{bench.wrong} wrong" if bench.wrong else "all held")
    return 1 if bench.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
