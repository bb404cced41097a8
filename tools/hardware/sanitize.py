"""What compute-sanitizer says of kernels with known faults, raw and through ``launch --sanitize``.

The kernels are those of ``tests/data/faults``. The tool's own text and XML of each run are kept.
A fault that is not found is a failed check; so is one found where there is none, and a finding that
does not say where it is. Failed calls of the driver do not count: cuda-bindings ask a driver for
functions of newer ones.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

from tools.hardware.bench import Bench, Check, check, skipped

FOLDER = "tests/data/faults"
PLACES = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer")
TIME_LIMIT = 120.0
FOUND = 99  # what compute-sanitizer is told to end with when it has found something

FAULTS = {
    "memcheck": ("out_of_bounds", "misaligned", "illegal_address", "trap", "assertion"),
    "racecheck": ("shared_race",),
    "initcheck": ("uninitialised_read",),
    "synccheck": ("divergent_barrier",),
}
"""Of each tool the kernels in which it is to find something; in ``clean`` none is."""

OPTIONS = {"memcheck": ("--report-api-errors", "no")}
WITH_ADDRESS = ("out_of_bounds", "misaligned", "illegal_address", "uninitialised_read")


def checks(bench: Bench) -> Iterator[Check]:
    """Run each tool over its kernels and the clean one."""
    if bench.is_emulated:
        yield skipped("compute-sanitizer", "it watches GPUs")
        return
    sanitizer = find_tool()
    if sanitizer is None:
        yield check("compute-sanitizer", False, "it is not installed")
        return
    version = bench.run(sanitizer, "--version")
    bench.keep("version.txt", f"{sanitizer}\n{version.out}")
    yield check("compute-sanitizer", version.exit_code == 0, f"{sanitizer}\n{version.out}")
    for tool, kernels in FAULTS.items():
        for kernel in (*kernels, "clean"):
            yield raw(bench, sanitizer, tool, kernel)
            yield through_launch(bench, tool, kernel)


def find_tool() -> str | None:
    """The path of compute-sanitizer, where it is installed."""
    homes = [os.environ.get(name, "") + "/bin" for name in ("CUDA_HOME", "CUDA_PATH")]
    return shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path=os.pathsep.join((*homes, *PLACES))
    )


def arguments(kernel: str) -> list[str]:
    """A launch of the kernel that needs nothing but its buffer."""
    initial = "" if kernel == "uninitialised_read" else ":zeros"
    image = "faults" if kernel in FAULTS["memcheck"] else "findings"
    words = [f"{FOLDER}/{image}.ptx", "-k", kernel, "--block", "64"]
    return [*words, f"out=i32[n]{initial}", "n=i32:64"]


def raw(bench: Bench, sanitizer: str, tool: str, kernel: str) -> Check:
    """Run the tool over a bare launch."""
    stem = f"{tool}-{kernel}"
    done = bench.run(
        *(sanitizer, "--tool", tool, "--target-processes", "all", "--error-exitcode", FOUND),
        *OPTIONS.get(tool, ()),
        *("--xml", "--save", bench.out / f"{stem}.xml", "--log-file", bench.out / f"{stem}.log"),
        *(bench.interpreter, "-m", "cudarun", "launch", *arguments(kernel), "--profile"),
        *("-d", bench.device),
        limit=TIME_LIMIT,
    )
    bench.keep(f"{stem}.out", done.text)
    good = done.exit_code == (0 if kernel == "clean" else FOUND)
    return check(f"{tool} {kernel}", good, "" if good else done.text, done.seconds)


def through_launch(bench: Bench, tool: str, kernel: str) -> Check:
    """Launch with ``--sanitize``."""
    done = bench.cudarun(
        "launch", *arguments(kernel), "-d", bench.device, "--sanitize", tool, "--json",
        "--timeout", TIME_LIMIT, limit=2 * TIME_LIMIT,
    )  # fmt: skip
    bench.keep(f"{tool}-{kernel}.json", done.out)
    bench.keep(f"{tool}-{kernel}.err", done.err)
    name = f"--sanitize {tool}: {kernel}"
    wanted = 0 if kernel == "clean" else 1
    try:
        [outcome] = done.document["outcomes"]
        found = outcome["sanitizer"]["findings"]
    except (ValueError, KeyError, TypeError):
        return check(name, False, done.text[-2000:], done.seconds)
    if not found:
        detail = f"exit status {done.exit_code}: nothing found"
        return check(name, done.exit_code == wanted == 0, detail, done.seconds)
    first = found[0]
    lines = [f"{place['file']}:{place['line']}" for place in first["places"]]
    told = (
        f"exit status {done.exit_code}: "
        f"{len(found)} × {first['kind']} in {first['kernel']} at {', '.join(lines)}, "
        f"block {first['block']}, thread {first['thread']}, address {first['address']}"
    )
    good = done.exit_code == wanted == 1 and _is_placed(first, kernel)
    return check(name, good, told, done.seconds)


def _is_placed(finding: dict[str, Any], kernel: str) -> bool:
    """Whether a finding says all that is known of where it is."""
    files = [place["file"] or "" for place in finding["places"]]
    # The sanitizer follows no frame out of __assertfail; the assertion itself says its line.
    has_lines = kernel == "assertion" or all(file.endswith(".cu") for file in files)
    return (
        finding["kernel"] == kernel
        and has_lines
        and len(files) == (2 if kernel in ("shared_race", "assertion") else 1)
        and (finding["address"] is not None) == (kernel in WITH_ADDRESS)
    )
