"""Run every command of ``samples/README.md`` on a GPU, from the PTX and from cubins built here.

::

    python tools/hardware_samples.py                  # GPU 0, cubins by nvcc -arch=native
    python tools/hardware_samples.py --device 1 --arch sm_90
    python tools/hardware_samples.py --ptx-only       # no nvcc at hand

One line per command: what ran, from which kind of image, the exit code expected and got, wall time.
The output of a command that did not do what was expected follows its line. Exit status: 0 when all
of them did, 1 otherwise, 3 without nvcc.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.support.samples_readme import ROOT, Sample, samples

SAMPLES = ROOT / "samples"
TIME_LIMIT = 120.0  # seconds per command; a command's own --timeout is far below


@dataclass(frozen=True, slots=True)
class Run:
    """What became of one command; ``exit_code`` is None when it had to be ended."""

    exit_code: int | None
    seconds: float
    text: str


def build_cubins(folder: Path, nvcc: str, architecture: str) -> None:
    """Compile every sample's source to ``folder/<name>.cubin``.

    Raises:
        subprocess.CalledProcessError: A source does not compile.
    """

    def build(source: Path) -> None:
        target = folder / f"{source.stem}.cubin"
        command = [nvcc, "-cubin", f"-arch={architecture}", "-lineinfo", "-o", str(target)]
        subprocess.run([*command, str(source)], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [path for name in ("", "detect") for path in (SAMPLES / name).glob("*.cu")]
        list(pool.map(build, sorted(sources)))


def run(sample: Sample, folder: Path) -> Run:
    """Run one command in a folder where ``samples/…`` resolves."""
    command = [sys.executable, "-m", "cudarun", *sample.arguments]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    start = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired as expired:
        text = (expired.stdout or b"").decode(errors="replace")
        return Run(None, time.perf_counter() - start, text)
    return Run(done.returncode, time.perf_counter() - start, done.stdout)


def cases(device: str, cubins: Path | None) -> Iterator[tuple[str, Sample]]:
    """Every command with its kind of image; the cubin's beside the PTX's."""
    for sample in samples():
        on_device = sample.on_device(device)
        yield "ptx", on_device
        if cubins is not None:
            yield "cubin", on_device.with_image(str(cubins / f"{Path(sample.image).stem}.cubin"))


def main() -> int:
    """Run what the command line asks for; see the module's docstring for the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="0", help="as for cudarun -d; default: 0")
    parser.add_argument("--nvcc", default=shutil.which("nvcc"), help="default: the one on PATH")
    parser.add_argument("--arch", default="native", help="nvcc -arch; default: native")
    parser.add_argument("--ptx-only", action="store_true", help="build and run no cubins")
    parser.add_argument("name", nargs="*", help="kernels to run; default: all")
    options = parser.parse_args()

    if not options.ptx_only and options.nvcc is None:
        print("hardware_samples: no nvcc on PATH; see --nvcc and --ptx-only", file=sys.stderr)
        return 3

    with tempfile.TemporaryDirectory(prefix="cudarun-samples-") as name:
        folder = Path(name)
        (folder / "samples").symlink_to(ROOT / "samples")
        cubins = None if options.ptx_only else folder
        if cubins is not None:
            build_cubins(cubins, options.nvcc, options.arch)

        outcomes = []
        for kind, sample in cases(options.device, cubins):
            if options.name and sample.name not in options.name:
                continue
            done = run(sample, folder)
            good = done.exit_code == sample.exit_code
            outcomes.append(good)
            got = "killed" if done.exit_code is None else done.exit_code
            print(
                f"{'ok    ' if good else 'FAILED'}  {sample.name:<28} {kind:<6} "
                f"exit {sample.exit_code} got {got:<7} {done.seconds:6.2f} s",
                flush=True,
            )
            if not good:
                print("\n".join(f"        {line}" for line in done.text.splitlines()))

    print(f"{sum(outcomes)} passed, {len(outcomes) - sum(outcomes)} failed")
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
