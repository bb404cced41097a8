"""The processor time and memory of reading large PTX files, compared with another checkout.

Usage: ``python benchmarks/load_time.py [--baseline FOLDER] [--megabytes N] [--repeat N]``. Needs no
GPU. The files are made of the repository's own PTX, repeated under other names.

Processor time is that of a process and its children. Every measured process runs on one core.
"""

from __future__ import annotations

import argparse
import compileall
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, os.fspath(ROOT))  # this checkout's parser finds the names to replace

from cudarun.ptx.errors import PtxError  # noqa: E402
from cudarun.ptx.parser import parse  # noqa: E402

SOURCES = ("samples", "tests/programs", "tests/programs/triton", "tests/emulator/nvcc")
VERSION = (9, 0)
HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n\n"
LAUNCHED = "saxpy"
"""The kernel that is launched; it is in the middle of the file."""

_HEADER_LINE = re.compile(r"^\s*\.(?:version|target|address_size|file)\b.*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^\s*\.loc\b.*$", re.MULTILINE)
_SECTION = re.compile(r"^\s*\.section\b[^{]*\{[^}]*\}\s*$", re.MULTILINE)


class Usage(NamedTuple):
    """The resources of a process and its children."""

    seconds: float  # of processors
    wall: float
    mebibytes: float  # of the largest process


def sources() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the texts of the repository without headers, each with the names that it declares."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).glob("*.ptx")):
            text = path.read_text(encoding="ascii")
            try:
                module = parse(text)
            except PtxError:
                continue
            if module.version > VERSION or "debug" in module.targets or module.aliases:
                continue
            if ".callprototype" in text:  # older versions add up the memory of all possible callees
                continue
            names = {each.name for each in (*module.functions, *module.variables)}
            defined = {each.name for each in module.functions if each.body is not None}
            externs = {each.name for each in module.functions} - defined
            for pattern in (_SECTION, _HEADER_LINE, _LINE_MARK):
                text = pattern.sub("", text)
            yield text, frozenset(names - externs)


def renamed(text: str, names: Iterable[str], suffix: str) -> str:
    """Return a text with other names; names of parameters that begin with them change, too."""
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    pattern = rf"(?<![\w$%])(?:{'|'.join(longest_first)})(?=_param_|(?![\w$.]))"
    return re.sub(pattern, lambda match: match[0] + suffix, text)


def large_text(size: int) -> str:
    """Return a PTX text of about ``size`` bytes, of many kernels."""
    parts = [HEADER]
    end, number = len(HEADER), 0
    launched, _ = next(s for s in sources() if s[1] == {LAUNCHED})
    has_launched = False
    originals = list(sources())
    while end < size:
        for text, names in originals:
            part = renamed(text, names, f"_{number}") + "\n"
            number += 1
            parts.append(part)
            end += len(part)
            if not has_launched and end > size / 2:
                parts.append(launched)
                has_launched = True
            if end >= size:
                break
    return "".join(parts)


def measure(command: list[str], folder: Path, environment: dict[str, str], status: int) -> Usage:
    """Run a command and return its usage.

    Raises:
        RuntimeError: It ended with another status.
    """
    script = (
        "import resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, capture_output=True)\n"
        "wall = time.perf_counter() - start\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "if done.returncode != int(sys.argv[1]):\n"
        "    sys.exit(f'{done.returncode}: {done.stdout[-2000:]} {done.stderr[-2000:]}')\n"
        "print(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(status), *command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return Usage(*map(float, done.stdout.split()))


def main() -> int:
    """Measure the commands, interleaved, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--baseline", type=Path, help="the root of another checkout of cudarun")
    parser.add_argument(
        "--megabytes", type=float, default=11, help="of the large file; default: 11"
    )
    parser.add_argument("--repeat", type=int, default=3, help="rounds counted; default: 3")
    parser.add_argument("--only", help="measure the cases whose names contain this")
    parser.add_argument("--keep", type=Path, help="write the files to this folder and keep them")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        large, small = folder / "large.ptx", folder / "1mb.ptx"
        large.write_text(large_text(int(options.megabytes * 1e6)), encoding="ascii")
        small.write_text(large_text(1_000_000), encoding="ascii")
        shutil.copy(ROOT / "samples" / "saxpy.ptx", folder / "saxpy.ptx")
        arguments = ["-k", LAUNCHED, "a=f32:2", "x=f32[n]:ones", "y=f32[n]:zeros", "n=i32:1024"]
        launch = [*arguments, "--threads", "n"]
        cases = {
            "saxpy.ptx: launch": (["launch", "saxpy.ptx", "-d", "cpu", *launch], 0),
            "saxpy.ptx: --dry-run": (["launch", "saxpy.ptx", "--dry-run", *launch], 0),
            "1 MB: --dry-run": (["launch", "1mb.ptx", "--dry-run", *launch], 0),
            "1 MB: launch": (["launch", "1mb.ptx", "-d", "cpu", *launch], 0),
            "1 MB: load": (["load", "1mb.ptx", "-d", "cpu"], 0),
            "large: misspelt -k": (["launch", "large.ptx", "-d", "cpu", "-k", "saxpi"], 2),
            "large: --dry-run": (["launch", "large.ptx", "--dry-run", *launch], 0),
            "large: launch": (["launch", "large.ptx", "-d", "cpu", *launch], 0),
            "large: load": (["load", "large.ptx", "-d", "cpu"], 0),
        }
        cases = {name: case for name, case in cases.items() if (options.only or "") in name}
        roots = {"this": ROOT} | ({"baseline": options.baseline} if options.baseline else {})
        found: dict[tuple[str, str], list[Usage]] = {}
        for root in roots.values():
            compileall.compile_dir(root / "cudarun", quiet=1)
        for _ in range(options.repeat):
            for name, (words, status) in cases.items():
                for which, root in roots.items():
                    environment = {"PYTHONPATH": os.fspath(root)}
                    command = [sys.executable, "-m", "cudarun", *words]
                    usage = measure(command, folder, environment, status)
                    found.setdefault((name, which), []).append(usage)
        size = large.stat().st_size / 1e6
        print(f"large file: {size:.1f} MB; medians of {options.repeat}: seconds of processor, MiB")
        for name in cases:
            texts = []
            for which in roots:
                usages = found[name, which]
                seconds = statistics.median(usage.seconds for usage in usages)
                memory = statistics.median(usage.mebibytes for usage in usages)
                texts.append((which, seconds, memory))
            line = "  ".join(f"{w} {s:7.2f} s {m:6.0f} MiB" for w, s, m in texts)
            ratio = f"  {texts[0][1] / texts[1][1]:5.2f} x" if len(texts) > 1 else ""
            print(f"{name:22} {line}{ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
