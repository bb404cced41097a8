"""Many launches through one spec, with a fault every tenth: is nothing lost, does memory stay flat?

``tests/reliability/test_soak.py`` does it with a few, ``tools/hardware/soak.py`` with a thousand.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.support.fault_matrix import case, good
from tests.support.processes import PYTHON_PATH

EVERY = 10
GROWTH = 8 << 20  # bytes; a thousand reports are kept for the end, some kilobytes each


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of it.

    Attributes:
        seconds: Wall time.
        problems: What is not as it should be.
        memory: Resident bytes of the parent after each verdict.
        processes: The most processes that it had at once, zombies among them.
    """

    seconds: float
    problems: tuple[str, ...]
    memory: tuple[int, ...]
    processes: int

    @property
    def growth(self) -> int:
        """Bytes, from the first fifth of the verdicts to the last one."""
        return self.memory[-1] - self.memory[len(self.memory) // 5] if self.memory else 0


def soak(launches: int, devices: str) -> Soaked:
    """Run so many cases on each of the devices."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cases.toml"
        names = [f"case {number}" for number in range(launches)]
        path.write_text("".join(map(_case, range(launches), names)))
        command = [sys.executable, "-m", "cudarun", "launch", "--spec", os.fspath(path)]
        started = time.monotonic()
        found: dict[tuple[str, str], str] = {}
        memory, processes = [], 0
        with subprocess.Popen(
            [*command, "-d", devices],
            env={**os.environ, "PYTHONPATH": PYTHON_PATH, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                verdict, _, rest = line.partition(" ")
                if verdict in ("passed", "failed", "skipped"):
                    name, _, place = rest.strip().partition(" on ")
                    found[name, place.split()[0]] = verdict
                    memory.append(_resident(process.pid))
                    processes = max(processes, _children(process.pid))
        seconds = time.monotonic() - started
    problems = [*_wrong(found, names)]
    if process.returncode != 5:
        problems.append(f"exit status {process.returncode}, not 5")
    return Soaked(seconds, tuple(problems), tuple(memory), processes)


def _case(number: int, name: str) -> str:
    if number % EVERY == EVERY - 1:
        return case("out_of_bounds", name=name)
    return good(name)


def _wrong(found: dict[tuple[str, str], str], names: list[str]) -> list[str]:
    """Verdicts that are missing or are not what they should be, the first ten."""
    devices = sorted({device for _, device in found}) or ["any device"]
    wanted = {
        (name, device): "failed" if number % EVERY == EVERY - 1 else "passed"
        for device in devices
        for number, name in enumerate(names)
    }
    return [
        f"{name} on {device}: {found.get((name, device), 'lost')}, not {verdict}"
        for (name, device), verdict in wanted.items()
        if found.get((name, device)) != verdict
    ][:10]


def _resident(pid: int) -> int:
    """Bytes; those of the end where the process has just gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> int:
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                status = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            count += int(status[1]) == pid
    return count
