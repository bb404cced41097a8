"""The thirty cases of ``tests/data/specs/thirty.toml``, and what is to become of each by its name.

``tests/test_thirty_cases.py`` runs them on two emulated devices, ``tools/hardware/spec.py`` on
GPUs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.support.processes import PYTHON_PATH, ROOT

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


def quiet_names() -> list[str]:
    """Return the cases without the faults and the hang."""
    return [name for name in names() if expected(name)[1] < 5 and not name.startswith("fault")]


def run(device: str, *args: str) -> tuple[float, int, dict[str, Any]]:
    """Wall time in seconds, exit status and document of one run."""
    command = [sys.executable, "-m", "cudarun", "launch", "--spec", os.fspath(SPEC), "-d", device]
    environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
    start = time.perf_counter()
    done = subprocess.run(
        [*command, "--json", *args], env=environment, capture_output=True, text=True
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
