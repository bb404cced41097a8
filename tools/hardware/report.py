"""What a run of chapters leaves: a log of each, one JSON document of all, and a short summary."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TextIO

import cudarun
from tests.support.processes import ROOT
from tools.hardware.bench import Bench, Check

SHOWN_FAILURES = 12
SHOWN_CHARACTERS = 400
PACKAGES = ("cuda-bindings", "numpy", "click", "rich", "ml_dtypes", "pyelftools", "pytest")


@dataclass(slots=True)
class Chapter:
    """What came of a chapter."""

    name: str
    seconds: float = 0.0
    checks: list[Check] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """Return the number of checks with a verdict."""
        return sum(check.verdict == verdict for check in self.checks)

    @property
    def failures(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if check.verdict == "failed"]

    @property
    def document(self) -> dict[str, Any]:
        """The chapter as JSON has it."""
        counts = {verdict: self.count(verdict) for verdict in ("passed", "failed", "skipped")}
        seconds = round(self.seconds, 1)
        checks = [asdict(check) for check in self.checks]
        return {"name": self.name, **counts, "seconds": seconds, "checks": checks}

    @property
    def line(self) -> str:
        """The chapter in the summary."""
        return (
            f"{self.name:12} {self.count('passed'):5} passed {self.count('failed'):4} failed "
            f"{self.count('skipped'):4} skipped {self.seconds:7.1f} s"
        )

    def run(self, checks: Iterable[Check], log: TextIO) -> None:
        """Make the checks; the log has a line for each as it is made, and the detail below."""
        started = time.perf_counter()
        for check in checks:
            self.checks.append(check)
            self.seconds = time.perf_counter() - started
            log.write(f"{self.seconds:7.1f} s  {check.verdict:8} {check.name}\n")
            log.writelines(f"    {line}\n" for line in check.detail.splitlines())
            log.flush()
        self.seconds = time.perf_counter() - started


def shown(chapter: Chapter) -> Iterator[str]:
    """Yield the failures of a chapter, shortened."""
    for check in chapter.failures[:SHOWN_FAILURES]:
        yield f"  FAILED {check.name}"
        detail = check.detail[:SHOWN_CHARACTERS]
        yield from (f"      {line}" for line in detail.splitlines()[:6])
    left = len(chapter.failures) - SHOWN_FAILURES
    if left > 0:
        yield f"  and {left} more: see {chapter.name}.log"


def surroundings(bench: Bench) -> dict[str, Any]:
    """Return what the report says of the machine, and of what runs on it.

    Raises:
        ValueError: The devices cannot be listed, or are not there.
    """
    listed = bench.cudarun("devices", "-d", bench.devices, "--json")
    if listed.exit_code != 0:
        raise ValueError(listed.document["error"]["message"])
    devices = listed.document["devices"]
    names = ("label", "name", "uuid", "compute_capability", "multiprocessors", "memory_total")
    return {
        "devices": [{name: device[name] for name in names} for device in devices],
        "driver": _driver(),
        "cuda": devices[0]["driver_version"],
        "host": {"system": platform.platform(), "python": platform.python_version()},
        "packages": {name: _version(name) for name in PACKAGES},
    }


def document(start: datetime, commit: str | None, facts: dict[str, Any],
             chapters: list[Chapter]) -> dict[str, Any]:  # fmt: skip
    """Return the whole report."""
    return {
        "schema": "cudarun/hardware/1",
        "date": start.isoformat(timespec="seconds"),
        "cudarun": {"version": cudarun.__version__, "commit": commit or _commit()},
        **facts,
        "passed": sum(chapter.count("passed") for chapter in chapters),
        "failed": sum(chapter.count("failed") for chapter in chapters),
        "skipped": sum(chapter.count("skipped") for chapter in chapters),
        "chapters": [chapter.document for chapter in chapters],
    }


def write(path: Path, report: dict[str, Any]) -> None:
    """Write the report, whole: a run that is ended later leaves the chapters before."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    new.replace(path)


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def _driver() -> str | None:
    """Return the version of the kernel's driver, where there is one."""
    with suppress(OSError):
        words = Path("/proc/driver/nvidia/version").read_text().split()
        return next((word for word in words if word.count(".") == 2), None)
    return None


def _version(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return None


def _commit() -> str | None:
    """Return the commit that is checked out, with a mark where files differ from it."""
    with suppress(OSError, subprocess.CalledProcessError):
        command = ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()
    return None
