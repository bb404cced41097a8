"""The cost of the detectors: processor time of launches on ``-d cpu`` with and without them.

Usage: ``python benchmarks/detectors.py [--detect NAMES] [--repeat N] [--wait] [--findings FILE]
[NAME…]``.
Needs no GPU.

It launches every sample, every program of ``tests/programs`` and the pipelines of
``tests/emulator/nvcc`` in this process, alternately without and with detectors, and measures the
processor time of the kernel alone, without reading, decoding, buffers and checks. A ratio is
that of the smallest times. Launches that an engine other than compiled code has observed, in part
at least, are marked and counted apart; with ``CUDARUN_CPU_ENGINE=compile``, all others are compiled
with and without detectors. With ``--wait``, the interpreter waits for the compiler where it pays to
compile, so that a launch is not compared with one whose code was not ready. ``--findings`` writes
what was found as JSON, to compare two versions.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, os.fspath(ROOT))

from cudarun.base.errors import CudarunError  # noqa: E402
from cudarun.emulator import driver, execution  # noqa: E402
from cudarun.emulator.detectors.detector_observer import DetectorObserver  # noqa: E402
from cudarun.emulator.engines import COMPILE  # noqa: E402
from cudarun.emulator.host import process as process_module  # noqa: E402
from cudarun.emulator.host.process import process  # noqa: E402
from cudarun.emulator.machine.observer import NO_OBSERVER  # noqa: E402
from cudarun.emulator.tiers import PROCESS_TIERS  # noqa: E402
from cudarun.session.driver.contexts import Target  # noqa: E402
from cudarun.session.driver.selection import parse_devices  # noqa: E402
from cudarun.session.launch.request import Detection, Program  # noqa: E402
from cudarun.session.launch.steps import load_libraries  # noqa: E402
from cudarun.session.launch.worker import run_on  # noqa: E402
from cudarun.session.workers.session import Session  # noqa: E402
from tests.emulator.device import Device  # noqa: E402
from tests.support.samples_readme import samples  # noqa: E402

CHAPTERS = sorted((ROOT / "tests" / "programs").glob("*.toml"))
_LEAST = 2e-3
"""Seconds of a launch that is compared: others are shorter than a few ticks of the clock."""

UNENDING = {"endless", "deadlock"}
"""Samples that end at a time limit or with a fault, which is not the detectors' cost."""

Findings = list[tuple[Any, ...]]
Run = Callable[[tuple[str, ...]], tuple[float, Findings]]


@dataclass(slots=True)
class Clock:
    """The processor time of the kernels that were executed."""

    seconds: float = 0.0
    launches: int = 0

    def timed(self, execute: Callable[..., None]) -> Callable[..., None]:
        """Return a function that adds its processor time."""

        @functools.wraps(execute)
        def run(*arguments: Any, **options: Any) -> None:
            start = time.process_time()
            self.launches += 1
            try:
                execute(*arguments, **options)
            finally:
                self.seconds += time.process_time() - start

        return run


# --- launches of the command line ----------------------------------------------------------------


def requests() -> Iterator[tuple[str, Program]]:
    """Yield the launch of every sample and of every case of the programs."""
    from cudarun.commands.spec_file import read_spec

    where = Target(parse_devices("cpu"))
    for sample in samples():
        if sample.arguments[0] == "launch" and sample.emulated and sample.name not in UNENDING:
            request = _sample(sample.arguments[1:])
            if request is not None:
                yield f"sample {sample.name}", request
    for path in CHAPTERS:
        if path.stem == "inexact":
            continue
        for case in read_spec(os.fspath(path), [], where):
            if case.request is not None:
                yield f"{path.stem}: {case.name}", case.request


def _sample(arguments: Sequence[str]) -> Program | None:
    from cudarun.commands.declaration import filled
    from cudarun.commands.inputs import read_input
    from cudarun.commands.launch import command
    from cudarun.commands.launch_request import program_request
    from cudarun.session.image.image import CompileOptions

    with command.make_context("launch", [*arguments]) as context:
        values = context.params
        if values["spec"] is not None or values["dry_run"] or values["sanitize"] is not None:
            return None
        image = read_input(values["image"], filled(CompileOptions, values), values["max_image"])
        return program_request([values], Target(parse_devices("cpu")), lambda values: image)


def launched(clock: Clock, request: Program) -> Run:
    """Return a function that launches a request with some detectors."""
    cpu = parse_devices("cpu")
    plain = request.without_results().with_options(timing=None)

    def run(detect: tuple[str, ...]) -> tuple[float, Findings]:
        clock.seconds, clock.launches = 0.0, 0
        process.reset()  # after a fault, nothing else is possible
        with _silence():
            session = Session(Target(cpu), cpu)
            detection = Detection(detect)
            libraries = load_libraries(session, plain)  # compiled once
            observed = plain.with_options(detection=detection)
            try:
                result = run_on(session, libraries, observed, session.devices[0])
                findings = result.watched.findings if result.watched is not None else ()
            except CudarunError as error:
                if not clock.launches:
                    raise
                findings = error.findings
        return clock.seconds, [_plain(finding) for finding in findings]

    return run


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard what kernels print."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        for number, copy in enumerate(kept, 1):
            os.dup2(copy, number)
            os.close(copy)


def _plain(finding: Any) -> tuple[Any, ...]:
    places = [
        (p.access, p.function, p.ptx_line, p.source, *p.block, *p.thread) for p in finding.places
    ]
    memory = finding.space, finding.memory, finding.offset, finding.nbytes
    return finding.kind, finding.kernel, *memory, finding.count, places


# --- launches of the bare device -----------------------------------------------------------------


def pipelines() -> Iterator[tuple[str, Run]]:
    """Yield the launches of the kernels with mbarrier objects and asynchronous copies."""
    items = np.arange(2048, dtype=np.int32)
    for target in ("sm80", "sm90"):
        path = ROOT / "tests" / "emulator" / "nvcc" / f"pipelines_{target}.ptx"
        for kernel, grid, block in (
            ("split", 2, 256),
            ("copied", 1, 64),
            ("grouped", 1, 128),
            ("piped", 1, 64),
        ):
            x = items.astype(np.float32) if kernel in ("split", "copied") else items
            count = len(x) // 4 if kernel == "copied" else len(x)
            run = functools.partial(_bare, path, kernel, grid, block, x, count)
            yield f"pipelines {target}: {kernel}", run


def _bare(
    path: Path,
    kernel: str,
    grid: int,
    block: int,
    x: np.ndarray,
    count: int,
    detect: tuple[str, ...],
) -> tuple[float, Findings]:
    observer = DetectorObserver(detect) if detect else NO_OBSERVER
    device = Device.from_file(path, observer=observer)
    arguments = device.buffer(x), device.buffer(np.zeros_like(x)), count
    start = time.process_time()
    device.launch(kernel, (grid,), (block,), *arguments)
    seconds = time.process_time() - start
    found = observer.findings if isinstance(observer, DetectorObserver) else []
    return seconds, [
        (f.kind, f.kernel, f.memory.space, f.memory.offset, f.memory.size, f.count,
         [(p.access, p.site.line, *p.block, *p.thread) for p in f.places])
        for f in found
    ]  # fmt: skip


# --- measurement ---------------------------------------------------------------------------------


def main() -> int:
    """Measure and print a line per launch, then the largest ratio and the median."""
    options = _options()
    detect = tuple(options.detect.split(","))
    clock = Clock()
    execution.execute = process_module.execute = clock.timed(execution.execute)
    PROCESS_TIERS.waits = options.wait
    os.chdir(ROOT)
    runs = [(name, launched(clock, request)) for name, request in requests()]
    runs += [*pipelines()]
    ratios: dict[str, list[float]] = {"compiled": [], "interpreted": []}
    found: dict[str, Findings] = {}
    print("  without      with   ratio")
    for name, run in runs:
        if options.names and not any(part in name for part in options.names):
            continue
        without, watched = [], []
        process.reset()  # forget what earlier launches have noted
        run(())  # the first runs import, bind and compile
        run(detect)
        for _ in range(options.repeat):
            without.append(run(())[0])
            seconds, found[name] = run(detect)
            watched.append(seconds)
        if min(without) < _LEAST:
            continue
        notes = driver.engine_notes()
        is_compiled = bool(notes) and all(note.engine == COMPILE for note in notes)
        how, ratio = "compiled" if is_compiled else "interpreted", min(watched) / min(without)
        ratios[how].append(ratio)
        times = f"{1e3 * min(without):6.1f} ms {1e3 * min(watched):6.1f} ms {ratio:7.1f}"
        print(f"{times}  {name}{'' if is_compiled else ' (interpreted)'}", flush=True)
    if options.findings:
        Path(options.findings).write_text(json.dumps(found, indent=1) + "\n")
    for how, each in ratios.items():
        if each:
            print(f"{len(each)} {how}: median {median(each):.2f}, largest {max(each):.1f}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names of launches")
    parser.add_argument("--detect", default="race,uninit", help="the detectors")
    parser.add_argument("--repeat", type=int, default=3, help="timed runs of each launch")
    parser.add_argument("--wait", action="store_true", help="wait for the compiler")
    parser.add_argument("--findings", metavar="FILE", help="write the findings as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
