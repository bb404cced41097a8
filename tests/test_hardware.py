"""The runner of what only a GPU can show: chapters, verdicts, the report, the exit status."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PATIENCE, ROOT
from tools.hardware.__main__ import CHAPTERS, module_of
from tools.hardware.bench import Bench, Check, Options, check, guarded, skipped
from tools.hardware.report import SHOWN_FAILURES, Chapter, shown

HELPERS = {"__init__", "__main__", "bench", "report", "other_cubins", "triton_kernels"}


def hardware(*words: str, out: Path) -> tuple[subprocess.CompletedProcess[str], Any]:
    """Run the runner; return what it left and its report."""
    command = [sys.executable, "-m", "tools.hardware", *words, "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    return done, json.loads((out / "report.json").read_text())


def test_every_module_is_a_chapter_and_every_chapter_makes_checks() -> None:
    files = {path.stem for path in (ROOT / "tools" / "hardware").glob("*.py")}
    assert {f"tools.hardware.{name}" for name in files - HELPERS} == {*map(module_of, CHAPTERS)}
    assert all(callable(importlib.import_module(module_of(name)).checks) for name in CHAPTERS)


def test_verdicts_are_counted_and_an_error_is_a_failure() -> None:
    def checks() -> Iterator[Check]:
        yield check("good", True, "1 GB/s", 0.5)
        yield check("bad", False, " why\nmore ")
        yield skipped("absent", "no nvcc")
        raise ValueError("oops")

    log = io.StringIO()
    chapter = Chapter("images")
    chapter.run(guarded("images", checks()), log)
    assert chapter.document["passed"] == 1
    assert chapter.document["failed"] == 2
    assert chapter.document["skipped"] == 1
    assert chapter.document["checks"][1] == {
        "name": "bad", "verdict": "failed", "detail": "why\nmore", "seconds": 0.0,
    }  # fmt: skip
    assert chapter.failures[1].name == "images: the chapter's own code"
    assert "ValueError: oops" in chapter.failures[1].detail
    assert [*shown(chapter)][:3] == ["  FAILED bad", "      why", "      more"]
    assert "failed   bad\n    why\n    more\n" in log.getvalue()


def test_many_failures_are_not_all_shown() -> None:
    chapter = Chapter("images", checks=[check(str(n), False) for n in range(SHOWN_FAILURES + 5)])
    assert [*shown(chapter)][-1] == "  and 5 more: see images.log"


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    bench = Bench(Options(), tmp_path, tmp_path)
    done = bench.python("-c", "print('begun', flush=True)\nwhile True: pass", limit=2)
    assert done.exit_code is None
    assert "no end after 2 s" in done.text
    assert bench.run("/not/there").exit_code is None


def test_a_chapter_on_the_emulated_device(tmp_path: Path) -> None:
    done, report = hardware("sanitize", "soak", "--launches", "10", "--device", "cpu", out=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert report["devices"][0]["label"] == "cpu"
    assert [chapter["name"] for chapter in report["chapters"]] == ["sanitize", "soak"]
    assert (report["passed"], report["failed"], report["skipped"]) == (2, 0, 1)
    assert (tmp_path / "soak.log").read_text().count("passed") == 2


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="a GPU is here")
def test_no_gpu_is_a_failure(tmp_path: Path) -> None:
    done, report = hardware("sanitize", out=tmp_path)
    assert done.returncode == 1
    assert "no CUDA driver" in done.stdout
    assert report["failed"] == 1
