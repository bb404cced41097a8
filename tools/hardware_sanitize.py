"""What compute-sanitizer says of kernels with known faults, raw and through ``launch --sanitize``.

::

    python3 tools/hardware_sanitize.py           # on GPU 0, about three minutes

The kernels are those of ``tests/data/faults``. The tool's own text and XML of each run
are kept in the folder ``$OUT/sanitize`` (``sanitize-output`` where ``OUT`` is not set). Exit status
1 when a fault was not found, one found where there is none, or a finding does not say where it is.
Failed calls of the driver do not count: cuda-bindings ask a driver for functions of newer ones.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
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
    return [
        f"{FOLDER}/{image}.ptx",
        "-k",
        kernel,
        "--block",
        "64",
        f"out=i32[n]{initial}",
        "n=i32:64",
    ]


def raw(sanitizer: str, tool: str, kernel: str, device: str, folder: Path) -> tuple[int, float]:
    """Run the tool over a bare launch; its exit status, and seconds."""
    stem = folder / f"{tool}-{kernel}"
    command = [
        *(sanitizer, "--tool", tool, "--target-processes", "all", "--error-exitcode", str(FOUND)),
        *OPTIONS.get(tool, ()),
        *("--xml", "--save", f"{stem}.xml", "--log-file", f"{stem}.log"),
        *(sys.executable, "-m", "cudarun", "launch", *arguments(kernel), "--profile"),
        *("-d", device),
    ]
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT,
    )
    Path(f"{stem}.out").write_text(done.stdout)
    return done.returncode, time.perf_counter() - started


def through_launch(tool: str, kernel: str, device: str, folder: Path) -> tuple[str, str, float]:
    """Launch with ``--sanitize``; what is wrong with that, what was found, and seconds."""
    command = [sys.executable, "-m", "cudarun", "launch", *arguments(kernel), "-d", device]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--sanitize", tool, "--json", "--timeout", str(TIME_LIMIT)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    (folder / f"{tool}-{kernel}.json").write_text(done.stdout)
    (folder / f"{tool}-{kernel}.err").write_text(done.stderr)
    wanted = 0 if kernel == "clean" else 1
    try:
        [outcome] = json.loads(done.stdout)["outcomes"]
        found = outcome["sanitizer"]["findings"]
    except (ValueError, KeyError, TypeError):
        return "WRONG", f"exit code {done.returncode}: {done.stderr[-300:]}", seconds
    if not found:
        return ("" if done.returncode == wanted == 0 else "WRONG"), "nothing found", seconds
    first = found[0]
    lines = [f"{place['file']}:{place['line']}" for place in first["places"]]
    told = (
        f"{len(found)} × {first['kind']} in {first['kernel']} at {', '.join(lines)}, "
        f"block {first['block']}, thread {first['thread']}, address {first['address']}"
    )
    good = done.returncode == wanted == 1 and _is_placed(first, kernel)
    return ("" if good else "WRONG"), f"exit code {done.returncode}: {told}", seconds


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


def main() -> int:
    """Run all of it and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-d", "--device", default="0", help="as for cudarun; default: 0")
    options = parser.parse_args()
    sanitizer = find_tool()
    if sanitizer is None:
        print("compute-sanitizer is not installed")
        return 1
    folder = Path(os.environ.get("OUT", "sanitize-output")) / "sanitize"
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([sanitizer, "--version"], capture_output=True, text=True).stdout
    (folder / "version.txt").write_text(f"{sanitizer}\n{version}")
    print(sanitizer, version.splitlines()[-1] if version else "")
    wrong = 0
    for tool, kernels in FAULTS.items():
        for kernel in (*kernels, "clean"):
            status, seconds = raw(sanitizer, tool, kernel, options.device, folder)
            good = status == (0 if kernel == "clean" else FOUND)
            wrong += not good
            print(
                f"{'ok' if good else 'WRONG':6} {tool} {kernel}: status {status}, {seconds:.1f} s"
            )
            problem, told, seconds = through_launch(tool, kernel, options.device, folder)
            wrong += bool(problem)
            print(f"{problem or 'ok':6}   --sanitize: {told}, {seconds:.1f} s", flush=True)
    for name in ("memcheck-out_of_bounds", "racecheck-shared_race"):
        for suffix in (".log", ".xml"):
            path = folder / (name + suffix)
            print(f"--- {path.name}")
            print("\n".join(path.read_text().splitlines()[:20]) if path.exists() else "not there")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
