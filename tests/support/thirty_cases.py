"""Run the thirty cases of ``tests/data/specs/thirty.toml``; hold what comes of each to its name.

::

    python tools/hardware_spec.py -d all      # exit status 0 when everything is as it should be

Of each device: every verdict, the exit code of the whole, the JUnit file as an XML reader sees it.
Then the same without the faults and the hang, for the time: with them it is to take no more than
1.5 times as long and the time limit of the hang; 1.5 times both is told, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "tests" / "data" / "specs" / "thirty.toml"
OUT_OF_TIME = 6
HANG_SECONDS = 2.0


def expected(name: str) -> tuple[str, int]:
    """Verdict and exit code of a case, by its name."""
    kind, _, what = name.partition(": ")
    if kind == "wrong":
        return "failed", 1
    if kind == "fault":
        return ("passed", 0) if what == "expected" else ("failed", 5)
    if kind == "hang":
        return "failed", OUT_OF_TIME
    return ("skipped" if kind == "skipped" else "passed"), 0


def names() -> list[str]:
    """All cases, in order."""
    return [case["name"] for case in tomllib.loads(SPEC.read_text())["launch"]]


def run(device: str, *args: str) -> tuple[float, int, dict[str, Any]]:
    """Wall time in seconds, exit status and document of one run."""
    command = [sys.executable, "-m", "cudarun", "launch", "--spec", os.fspath(SPEC), "-d", device]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--json", *args], env=environment, stdout=subprocess.PIPE, text=True
    )
    return time.perf_counter() - start, done.returncode, json.loads(done.stdout)


def faults(document: dict[str, Any], status: int) -> list[str]:
    """What is not as it should be."""
    found = [
        f"{case['name']} on {case['device']}: {case['verdict']} ({case['exit_code']}): "
        f"{case['reason']}"
        for case in document["cases"]
        if (case["verdict"], case["exit_code"]) != expected(case["name"])
    ]
    devices = len({case["device"] for case in document["cases"]})
    if len(document["cases"]) != 30 * devices:
        found.append(f"{len(document['cases'])} cases on {devices} devices")
    if status != OUT_OF_TIME:
        found.append(f"exit status {status}, not {OUT_OF_TIME}")
    return found


def junit_faults(path: Path, document: dict[str, Any]) -> list[str]:
    """Where the JUnit file and the document differ."""
    root = ElementTree.parse(path).getroot()
    cases = [case for suite in root for case in suite]
    told = {
        "failed": sum(case.find("failure") is not None for case in cases)
        + sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    told["passed"] = len(cases) - told["failed"] - told["skipped"]
    return [
        f"JUnit has {number} {verdict}, not {document[verdict]}"
        for verdict, number in told.items()
        if number != document[verdict]
    ]


def main() -> int:
    """Run it all and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-d", "--device", default="all", help="as for cudarun; default: all")
    device = parser.parse_args().device
    with tempfile.TemporaryDirectory() as folder:
        junit = Path(folder) / "out.xml"
        seconds, status, document = run(device, "--junit", os.fspath(junit))
        found = faults(document, status) + junit_faults(junit, document)
    quiet = [name for name in names() if expected(name)[1] < 5 and not name.startswith("fault")]
    without, status, rest = run(device, *quiet)
    if status != 1 or rest["passed"] % 22:
        found.append(f"without the faults: exit status {status}, {rest['passed']} passed")
    print(
        f"{document['passed']} passed, {document['failed']} failed, {document['skipped']} skipped "
        f"in {seconds:.2f} s; without the faults and the hang {without:.2f} s: 1.5 times that and "
        f"the limit of the hang are {1.5 * without + HANG_SECONDS:.2f} s, 1.5 times both "
        f"{1.5 * (without + HANG_SECONDS):.2f} s"
    )
    print("\n".join(found) if found else "every verdict right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
