"""Launches of real programs, recorded, replayed and shrunk.

The programs are in ``recorded/``: the runtime API, PyTorch, JAX, CuPy and cuda.core. Of each a
launch is recorded, and the program's own results and exit status are checked. The recording must
replay with equal bits on the GPU, and on ``cpu`` if it has PTX; so must what ``--shrink`` makes of
it.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.hardware.bench import Bench, Check, check, skipped

PROGRAMS = Path(__file__).with_name("recorded")
MOST_BYTES = 1 << 20
"""Of a shrunk recording: the kernels need less than that."""


TOLERANCE: dict[bool, tuple[str, ...]] = {False: (), True: ("--rtol", "1e-5", "--atol", "1e-7")}


@dataclass(frozen=True, slots=True)
class Case:
    """A program with the kernels to record.

    Attributes:
        name: The name of the check.
        module: The Python package that it requires; a compiled program where it is ``nvcc``.
        words: The program and its arguments.
        kernels: Patterns of kernel names.
        options: Further options of ``record``.
        shrinks: Whether the recordings are shrunk.
        is_approximate: Whether the emulated device can differ in the last bits.
    """

    name: str
    module: str
    words: tuple[str, ...]
    kernels: tuple[str, ...]
    options: tuple[str, ...] = ("--all-kernels",)
    shrinks: bool = True
    is_approximate: bool = False


CASES = (
    Case("runtime", "nvcc", ("runtime",), ("blend*", "settle*", "exchange*"), ("--all-kernels",)),
    Case("cuda.core", "cuda.core", ("core_ops.py",), ("triple",)),
    Case("cupy", "cupy", ("cupy_ops.py", "kernels"), ("square", "shift")),
    Case("cupy textures", "cupy", ("cupy_ops.py", "texture"), ("fetch",)),
    Case("graph", "nvcc", ("runtime", "graph"), ("increase*",), ("--nth", "3", "--count", "2")),
    Case("graph change", "nvcc", ("runtime", "change"), ("increase*",), ("--nth", "6"), False),
    Case("graph child", "nvcc", ("runtime", "child"), ("increase*",), ("--nth", "4"), False),
    Case("cupy graph", "cupy", ("cupy_ops.py", "graph"), ("shift",), ("--nth", "3"), shrinks=False),
    Case("torch", "torch", ("torch_ops.py", "eager"), ("*oftmax*", "*layer_norm*", "*gemm*")),
    Case(
        "torch graph", "torch", ("torch_ops.py", "graph"), ("*oftmax*",), ("--nth", "3"),
        shrinks=False,
    ),
    Case("jax", "jax", ("jax_ops.py",), ("*softmax*",), ("--nth", "3"), shrinks=False),
    Case(
        "torch compiled", "torch", ("torch_ops.py", "compiled"), ("triton*",), ("--nth", "4"),
        is_approximate=True,
    ),
)  # fmt: skip


def checks(bench: Bench) -> Iterator[Check]:
    """Record, replay and shrink each case."""
    if bench.is_emulated:
        yield skipped("record", "the emulated device is no driver that programs load")
        return
    for case in CASES:
        if bench.wants(case.name):
            yield from case_checks(bench, case)
    if bench.wants("graph fault"):
        yield fault_of_graph(bench)


def fault_of_graph(bench: Bench) -> Check:
    """Find and record the kernel of a graph that faults."""
    case = Case("graph fault", "nvcc", ("runtime", "fault"), ())
    command = program(bench, case)
    if command is None:
        return skipped(case.name, "nvcc is not installed")
    file = bench.work / "fault.cudarun"
    done = bench.cudarun("record", "--at-fault", "-o", file, "--", *command)
    replayed = bench.cudarun("launch", file, "-d", "cpu")
    good = "launch 2 of increase" in done.err and "faults with 700" in done.err
    good = good and replayed.exit_code == 5 and "illegal address" in replayed.err
    return check(case.name, good, (done.text + replayed.text)[-2000:], done.seconds)


def case_checks(bench: Bench, case: Case) -> Iterator[Check]:
    """Record the launches of a program, then look at each recording."""
    command = program(bench, case)
    if command is None:
        yield skipped(case.name, f"{case.module} is not installed")
        return
    folder = bench.work / f"{case.name} files"
    folder.mkdir()
    wanted = [word for kernel in case.kernels for word in ("-k", kernel)]
    words = ("record", *wanted, *case.options, "-o", folder / "x.cudarun", "--json")
    done = bench.cudarun(*words, "--", *command, limit=120)
    bench.keep(f"{case.name}.json", done.text)
    files = sorted(folder.glob("*.cudarun"))
    good = done.exit_code == 0 and "done" in done.err and files
    detail = f"{len(files)} recordings" if good else done.text[-2000:]
    yield check(f"{case.name}: record", good, detail, done.seconds)
    for file in files if good else ():
        yield from recording_checks(bench, case, file)


def program(bench: Bench, case: Case) -> list[object] | None:
    """Return the command of a program; ``None`` if it cannot run here."""
    if case.module != "nvcc":
        try:
            found = importlib.util.find_spec(case.module)
        except ModuleNotFoundError:
            found = None
        name, *rest = case.words
        return None if found is None else [bench.interpreter, PROGRAMS / name, *rest]
    if shutil.which("nvcc") is None:
        return None
    binary = bench.work / case.words[0]
    if not binary.exists():
        code = f"arch=compute_{bench.options.architecture[3:]},code=[sm_90,compute_90]"
        source = PROGRAMS / f"{case.words[0]}.cu"
        done = bench.run("nvcc", "-O2", "-lineinfo", "-gencode", code, "-o", binary, source)
        bench.keep("nvcc.txt", done.text)
    return [binary, *case.words[1:]] if binary.exists() else None


def recording_checks(bench: Bench, case: Case, file: Path) -> Iterator[Check]:
    """Replay a recording, shrink it, and replay the smaller one."""
    name = f"{case.name} {file.stem}"
    yield replayed(bench, name, file, bench.device)
    is_portable = has_ptx(file)
    if is_portable and not case.is_approximate:
        yield replayed(bench, name, file, "cpu")
    if not case.shrinks:
        return
    for device in (bench.device, *(("cpu",) if is_portable else ())):
        small = file.with_name(f"{file.stem}-small-{device}.cudarun")
        words = ("record", "--shrink", file, "-o", small, "-d", device)
        done = bench.cudarun(*words, limit=180)
        sizes = f"{file.stat().st_size} B"
        if done.exit_code == 0:
            sizes += f" to {small.stat().st_size} B; {done.err.strip()}"
        good = done.exit_code == 0 and small.stat().st_size <= MOST_BYTES + file.stat().st_size
        yield check(f"{name}: shrink on {device}", good, sizes if good else done.text, done.seconds)
        if good:
            yield replayed(bench, f"{name}, small", small, bench.device)
        if good and device == "cpu":
            yield replayed(bench, f"{name}, small", small, "cpu", *TOLERANCE[case.is_approximate])


def replayed(bench: Bench, name: str, file: Path, device: str, *options: str) -> Check:
    """Replay a recording with equal results."""
    done = bench.cudarun("launch", file, "-d", device, *options, limit=120)
    good = done.exit_code == 0 and "== recorded" in done.out and "FAIL" not in done.out
    text = done.out if good else done.text
    return check(f"{name}: replay on {device}", good, text[-1500:], done.seconds)


def has_ptx(file: Path) -> bool:
    """Return whether a recording has PTX."""
    import zipfile

    with zipfile.ZipFile(file) as archive:
        return "ptx" in archive.namelist()
