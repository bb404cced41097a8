"""Every command of ``samples/README.md``, from the PTX and from cubins built here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.support.processes import ROOT
from tests.support.samples_readme import Sample, samples
from tools.hardware.bench import Bench, Check, Done, check, skipped

SAMPLES = ROOT / "samples"


def checks(bench: Bench) -> Iterator[Check]:
    """Run each command on the device, with each kind of image."""
    (bench.work / "samples").symlink_to(SAMPLES)
    built: set[str] = set()
    nvcc = shutil.which("nvcc")
    if bench.is_emulated:
        yield skipped("cubins", "the emulated device runs none")
    elif nvcc is None:
        yield check("cubins", False, "no nvcc on PATH")
    else:
        for source, done in build_cubins(bench, nvcc):
            built.add(source.stem)
            yield check(f"{source.stem}: nvcc -cubin", done.exit_code == 0, done.err, done.seconds)
    for sample in samples():
        if not bench.wants(sample.name):
            continue
        here = sample.on_device(bench.device)
        yield run(bench, here, "ptx")
        stem = Path(sample.image).stem
        if stem in built:
            yield run(bench, here.with_image(str(bench.work / f"{stem}.cubin")), "cubin")


def build_cubins(bench: Bench, nvcc: str) -> list[tuple[Path, Done]]:
    """Compile every sample's source to a cubin for the GPU that is here."""

    def build(source: Path) -> tuple[Path, Done]:
        target = bench.work / f"{source.stem}.cubin"
        command = (nvcc, "-cubin", "-arch=native", "-lineinfo", "-o", target, source)
        return source, bench.run(*command)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [path for name in ("", "detect") for path in (SAMPLES / name).glob("*.cu")]
        return list(pool.map(build, sorted(sources)))


def run(bench: Bench, sample: Sample, kind: str) -> Check:
    """Run one command; it ends as the document says, and its checks pass."""
    done = bench.cudarun(*sample.arguments, cwd=bench.work)
    wrong = []
    if done.exit_code != sample.exit_code:
        wrong.append(f"exit status {done.exit_code}, not {sample.exit_code}")
    if "Traceback" in done.err:
        wrong.append("a traceback")
    wrong += [f"'{text}' did not pass" for text in sample.checks if f"PASS {text}" not in done.out]
    detail = "\n".join([*wrong, done.text]) if wrong else ""
    return check(f"{sample.name}, {kind}", not wrong, detail, done.seconds)
