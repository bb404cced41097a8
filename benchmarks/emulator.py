"""The emulated device: how long kernels take on ``-d cpu``, beside Oclgrind where it is installed.

Usage: ``python benchmarks/emulator.py [--repeat N] [--no-oclgrind] [NAME…]``. Needs no GPU;
Oclgrind is Debian's package ``oclgrind``.

``by difference`` is the time of the whole process less that of the same command with a kernel of
the same parameters and an empty body: start-up, compiling and filling buffers drop out, and what
is left is the execution of the kernel. It is how Oclgrind's figure is found, from ``kernels.cl``
with the same kernels, data, grid and block, on all cores. For a kernel of a few milliseconds the
difference of two processes drowns in noise, so ``launch`` is the time that cudarun itself reports,
from the launch call to the end of the synchronisation, and the ratio is Oclgrind's figure to the
larger of the two. Before anything is timed both answers are compared with numpy's.

``--numba PYTHON`` compares with numba's CUDA simulator instead, in an interpreter that has numba
and numba-cuda: the same kernels in Python (``numba_simulator.py``), of `SMALL` sizes, since it runs
every thread as a thread of Python. Both times are those of one launch.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from emulator_cases import FULL, SMALL, Argument, Case, agrees, cases
from timing import ROOT, Failed, cudarun_command, interleaved

HERE = Path(__file__).resolve().parent


# --- cudarun -------------------------------------------------------------------------------------


def our_command(case: Case, image: Path) -> list[str]:
    """The launch of a case's kernel out of ``image``."""
    return [
        *cudarun_command(),
        *("launch", os.fspath(image), "-d", "cpu", "-k", case.name),
        *("--threads", _pair(case.threads), "--block", _pair(case.block)),
        *(argument.text for argument in case.arguments),
    ]


def _pair(extent: Sequence[int]) -> str:
    return ",".join(map(str, extent))


def empty_image(case: Case, folder: Path) -> Path:
    """A PTX file whose kernel has the case's name and parameters, and does nothing."""
    names = (f"p{index}" for index in range(len(case.arguments)))
    parameters = ", ".join(
        argument.parameter.format(name)
        for argument, name in zip(case.arguments, names, strict=False)
    )
    path = folder / f"{case.name}-empty.ptx"
    path.write_text(
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        f".visible .entry {case.name}({parameters})\n{{\n\tret;\n}}\n"
    )
    return path


def verify_ours(case: Case, folder: Path) -> None:
    """Run a case once and compare its answer with numpy's.

    Raises:
        Failed: It does not run, or the answer is wrong.
    """
    target = folder / f"{case.name}-ours.npy"
    command = our_command(case, ROOT / "samples" / case.image)
    output = _output_of([*command, "--save", f"{case.output.name}={target}"])
    if not agrees(case, np.load(target)):
        raise Failed(f"cudarun, {case.name}: the answer is wrong\n{output}")


# --- Oclgrind ------------------------------------------------------------------------------------


def their_command(
    case: Case, folder: Path, *, empty: bool = False, dump: bool = False
) -> list[str]:
    """A run of ``oclgrind-kernel`` on the case's kernel, or on one with an empty body."""
    source = (HERE / "kernels.cl").read_text()
    suffix = "empty" if empty else "dump" if dump else "run"
    kernels = folder / f"{case.name}-{suffix}.cl"
    kernels.write_text(_emptied(source, case.name) if empty else source)

    # The grid is whole blocks, as it is for CUDA.
    extent = [-(-t // b) * b for t, b in zip(case.threads, case.block, strict=True)]
    lines = [os.fspath(kernels), case.name, f"{extent[0]} {extent[1]} 1"]
    lines += [f"{case.block[0]} {case.block[1]} 1", ""]
    for argument in case.arguments:
        lines += _their_argument(argument, dump=dump and argument.output)
    simulation = folder / f"{case.name}-{suffix}.sim"
    simulation.write_text("\n".join(lines) + "\n")
    return ["oclgrind-kernel", os.fspath(simulation)]


def _their_argument(argument: Argument, *, dump: bool) -> list[str]:
    """An argument of a simulation file: a header, and the values unless the header implies them."""
    flat = argument.value.ravel()
    kind = {"uint8": "uchar", "uint32": "uint", "int32": "int", "float32": "float"}[str(flat.dtype)]
    words = [f"size={flat.nbytes}", kind, *(["dump"] if dump else [])]
    values: list[str] = []
    if flat.size > 1 and np.all(flat == flat[0]):
        words.append(f"fill={flat[0]}")
    elif flat.size > 2 and np.array_equal(flat, np.arange(flat.size)):
        words.append(f"range=0:1:{flat.size - 1}")
    else:
        values = [" ".join(map(str, flat.tolist()))]
    return [f"<{' '.join(words)}>", *values]


def _emptied(source: str, kernel: str) -> str:
    """The source with one kernel's body taken out."""
    head = re.search(rf"kernel void {kernel}\([^)]*\) ", source)
    assert head is not None, f"kernels.cl has no {kernel}"
    end = source.index("\n}\n", head.end())
    return source[: head.end()] + "{" + source[end:]


def verify_theirs(case: Case, folder: Path) -> None:
    """Run a case once under Oclgrind and compare its answer with numpy's.

    Raises:
        Failed: It does not run, or the answer is wrong.
    """
    output = _output_of(their_command(case, folder, dump=True))
    values = re.findall(r"^\s+\S+\[\d+\] = (\S+)$", output, re.MULTILINE)
    if len(values) != case.answer.size or not agrees(case, np.array(values, np.float64)):
        raise Failed(f"oclgrind, {case.name}: the answer is wrong\n{output[:2000]}")


# --- numba ---------------------------------------------------------------------------------------


def compare_with_numba(python: str, chosen: Sequence[str], repeat: int) -> None:
    """Print a line for each case of small size: our launch beside the simulator's.

    Raises:
        Failed: One of the two does not run, or its answer is wrong.
    """
    print(
        f"{SMALL.n} elements, {SMALL.side}×{SMALL.side}: launch, medians of {repeat} runs in turn"
    )
    print("                  cudarun      numba      ratio")
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as name:
        folder = Path(name)
        for case in cases(folder, SMALL):
            if chosen and case.name not in chosen:
                continue
            verify_ours(case, folder)
            pairs = [(launch_time(case), numba_time(python, case)) for _ in range(repeat)]
            ours, theirs = (median(times) for times in zip(*pairs, strict=True))
            print(f"{case.name:<14} {ours:10.4f} {theirs:10.3f} {theirs / ours:10.0f}", flush=True)


def numba_time(python: str, case: Case) -> float:
    """Seconds of one launch under numba's simulator."""
    script = os.fspath(HERE / "numba_simulator.py")
    command = [python, script, case.name, str(SMALL.n), str(SMALL.side)]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise Failed(f"numba, {case.name}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds of one case, as the module's docstring names them."""

    launch: float
    difference: float
    whole: float
    oclgrind: float | None

    def __str__(self) -> str:
        ours = f"{self.launch:8.3f} {self.difference:15.3f} {self.whole:15.3f}"
        if self.oclgrind is None:
            return ours
        ratio = self.oclgrind / max(self.launch, self.difference)
        return f"{ours} {self.oclgrind:10.3f} {ratio:7.1f}"


def _output_of(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[:2000]}")
    return done.stdout


def launch_time(case: Case) -> float:
    """Seconds between the launch call and the end of the synchronisation, as cudarun tells it."""
    report = json.loads(_output_of([*our_command(case, ROOT / "samples" / case.image), "--json"]))
    milliseconds: float = report["outcomes"][0]["result"]["milliseconds"]
    return milliseconds / 1000


def measure(case: Case, folder: Path, repeat: int, *, oclgrind: bool) -> Figures:
    """Time a case; of interleaved runs the fastest count, as all that disturbs them adds time."""
    commands = {
        "ours": our_command(case, ROOT / "samples" / case.image),
        "ours, empty": our_command(case, empty_image(case, folder)),
    }
    if oclgrind:
        commands["theirs"] = their_command(case, folder)
        commands["theirs, empty"] = their_command(case, folder, empty=True)
    times = {name: min(t) for name, t in interleaved(commands, repeat).items()}
    return Figures(
        launch=median(launch_time(case) for _ in range(repeat)),
        difference=times["ours"] - times["ours, empty"],
        whole=times["ours"],
        oclgrind=times["theirs"] - times["theirs, empty"] if oclgrind else None,
    )


def main() -> int:
    """Verify and time every case, and print a line for each; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="rounds counted; default: 5")
    parser.add_argument("--no-oclgrind", action="store_true", help="leave Oclgrind out")
    parser.add_argument("name", nargs="*", help="kernels to time; default: all")
    parser.add_argument("--numba", metavar="PYTHON", help="compare with numba's simulator instead")
    options = parser.parse_args()

    if options.numba:
        try:
            compare_with_numba(options.numba, options.name, options.repeat)
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 1
        return 0
    oclgrind = not options.no_oclgrind and shutil.which("oclgrind-kernel") is not None
    print(f"{os.cpu_count()} cores, {options.repeat} interleaved runs; seconds")
    print("                 launch   by difference   whole process   oclgrind   ratio")
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as name:
        folder = Path(name)
        for case in cases(folder, FULL):
            if options.name and case.name not in options.name:
                continue
            try:
                verify_ours(case, folder)
                if oclgrind:
                    verify_theirs(case, folder)
                figures = measure(case, folder, options.repeat, oclgrind=oclgrind)
            except Failed as failed:
                print(failed, file=sys.stderr)
                return 1
            print(f"{case.name:<14} {figures}", flush=True)
    if not oclgrind:
        print("Oclgrind not compared (apt-get install oclgrind)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
