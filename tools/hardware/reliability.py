"""The fault matrix: the same rows as in the suite, on GPUs.

``reliability.json`` is kept, which ``python -m tools.generate_reliability_docs --ran`` writes into
``docs/evidence/reliability.md``.
"""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.support.fault_matrix import COMMANDS, FAULTS, Fault
from tests.support.fault_runner import Cell, Scene
from tools.hardware.bench import Bench, Check, check

PATIENCE = 120.0
SHOWN_LINES = 15


def checks(bench: Bench) -> Iterator[Check]:
    """Run all rows; a check for each cell, and one for the good launch after each row."""
    device = bench.options.device or "0"
    devices = bench.document("devices", "-d", device)["devices"]
    scene = Scene(bench.work, [each["label"] for each in devices], patience=PATIENCE)
    rows: dict[str, Any] = {}
    for fault in FAULTS:
        if bench.wants(fault.name):
            rows[fault.name] = row = {}
            yield from run_row(scene, fault, row)
    bench.keep("reliability.json", {
        "date": datetime.date.today().isoformat(),
        "devices": [each["name"] for each in devices],
        "driver": devices[0]["driver_version"],
        "rows": rows,
    })  # fmt: skip


def run_row(scene: Scene, fault: Fault, row: dict[str, Any]) -> Iterator[Check]:
    """Run a row's cells and then a good launch; ``row`` gets what is kept of each."""
    for command in COMMANDS:
        cell = fault.cell(command)
        if not isinstance(cell, Cell):
            continue
        name = f"{fault.name}, {command}"
        try:
            result = scene.run(cell)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            row[command] = {"exit_code": None, "seconds": None, "problems": [str(error)]}
            yield check(name, False, str(error))
            continue
        seconds = round(result.seconds, 2)
        row[command] = {
            "exit_code": result.exit_code, "seconds": seconds, "problems": result.problems,
        }  # fmt: skip
        detail = f"exit status {result.exit_code}"
        if result.problems:
            lines = [line for line in result.output.splitlines() if " = CUDA_SUCCESS" not in line]
            detail = "\n".join([*result.problems, *lines[-SHOWN_LINES:]])
        yield check(name, not result.problems, detail, seconds)
    after = scene.is_fine()
    row["after"] = {"problems": [after] if after else []}
    yield check(f"{fault.name}, the next launch", not after, after)
