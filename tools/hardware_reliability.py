"""The fault matrix on GPUs: the same rows as in the suite, and a table of what came of them.

::

    python3 tools/hardware_reliability.py                  # on GPU 0
    python3 tools/hardware_reliability.py -d all           # on all of them at once
    python3 tools/hardware_reliability.py --only trap assert
    python3 tools/generate_reliability_docs.py --ran $OUT/reliability.json

``reliability.json`` in ``$OUT`` (or here) has what the last line writes into
``docs/reliability.md``.
Exit status 1 when a cell is not as it should be; its output is shown.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.fault_matrix import COMMANDS, FAULTS, Fault
from tests.support.fault_runner import ROOT, Cell, Scene

SHOWN_LINES = 15


def devices_of(text: str) -> list[dict[str, Any]]:
    """The devices as ``cudarun devices --json`` has them."""
    command = [sys.executable, "-m", "cudarun", "devices", "-d", text, "--json"]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["devices"]
    return found


def run_row(scene: Scene, fault: Fault) -> dict[str, Any]:
    """Run a row's cells and then a good launch; each with its exit code, seconds and problems."""
    row: dict[str, Any] = {}
    for command in COMMANDS:
        cell = fault.cell(command)
        if not isinstance(cell, Cell):
            continue
        try:
            result = scene.run(cell)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            row[command] = {"exit_code": None, "seconds": None, "problems": [str(error)]}
            continue
        row[command] = {
            "exit_code": result.exit_code,
            "seconds": round(result.seconds, 2),
            "problems": result.problems,
        }
        if result.problems:
            print(f"{fault.name}, {command}: {'; '.join(result.problems)}")
            lines = [line for line in result.output.splitlines() if " = CUDA_SUCCESS" not in line]
            print("\n".join(f"    {line}" for line in lines[-SHOWN_LINES:]), flush=True)
    after = scene.is_fine()
    row["after"] = {"problems": [after] if after else []}
    if after:
        print(f"{fault.name}: the next launch: {after}")
    return row


def main() -> int:
    """Run all rows; a line for each, and the table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-d", "--device", default="0", help="as for cudarun; default: 0")
    parser.add_argument("--only", nargs="*", metavar="FAULT", help="rows, by name")
    options = parser.parse_args()
    devices = devices_of(options.device)
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="cudarun-faults-") as folder:
        scene = Scene(Path(folder), [device["label"] for device in devices])
        for fault in FAULTS:
            if options.only and fault.name not in options.only:
                continue
            row = rows[fault.name] = run_row(scene, fault)
            bad = [command for command, cell in row.items() if cell["problems"]]
            codes = ", ".join(
                f"{command} {cell['exit_code']} ({cell['seconds']} s)"
                for command, cell in row.items()
                if command != "after"
            )
            print(f"{'WRONG' if bad else 'ok':6}{fault.name}: {codes}", flush=True)
    wrong = sum(bool(cell["problems"]) for row in rows.values() for cell in row.values())
    ran = {
        "date": datetime.date.today().isoformat(),
        "devices": [device["name"] for device in devices],
        "driver": devices[0]["driver_version"],
        "rows": rows,
    }
    path = Path(os.environ.get("OUT", ".")) / "reliability.json"
    path.write_text(json.dumps(ran, indent=1))
    cells = sum(len(row) - 1 for row in rows.values())
    print(f"{cells} cells on {len(devices)} devices, {wrong} not as they should be; {path}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
