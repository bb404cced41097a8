"""A bug in cudarun: tried once more in another process, and never blamed on the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cudarun.base.errors import InternalError, WorkerDied
from cudarun.session.spec.case import is_expected
from tests.support.processes import PATIENCE, PYTHON_PATH, ROOT

SITE = """
import importlib._bootstrap as bootstrap

load = bootstrap._load_unlocked


def loaded(spec):
    module = load(spec)
    if spec.name == "cudarun.session.launch.worker":
        run_on = module.run_on

        def with_bug(*arguments):
            with open({log!r}, "a+") as file:
                file.write("met\\n")
                file.seek(0)
                if len(file.readlines()) <= {times}:
                    raise ZeroDivisionError("a bug")
            return run_on(*arguments)

        module.run_on = with_bug
    return module


bootstrap._load_unlocked = loaded
"""
SPEC = """
[[launch]]
image = "hello.ptx"
threads = 1
args = ["2026", "1.5"]
"""


def cudarun(folder: Path, times: int, *words: str) -> Any:
    """Run a command in which the first calls of a launch meet a bug; return code, JSON, stderr."""
    site = folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(SITE.format(log=str(folder / "log"), times=times))
    for name, text in (("hello.ptx", (ROOT / "samples/hello.ptx").read_text()), ("s.toml", SPEC)):
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "cudarun", *words, "-d", "cpu", "--json"],
        cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(site), PYTHON_PATH))},
    )  # fmt: skip
    met = len((folder / "log").read_text().splitlines())
    return done.returncode, json.loads(done.stdout), done.stderr, met


LAUNCH = ("launch", "hello.ptx", "2026", "1.5", "--threads", "1")
NOTE = "note: internal error: ZeroDivisionError: a bug; repeated in another process\n"


def test_a_bug_of_one_process_does_not_meet_another(tmp_path: Path) -> None:
    code, document, errors, met = cudarun(tmp_path, 1, "launch", "--spec", "s.toml")
    assert (code, errors, met) == (0, NOTE, 2)
    assert [case["verdict"] for case in document["cases"]] == ["passed"]


def test_a_bug_of_every_process_is_ours(tmp_path: Path) -> None:
    code, document, errors, met = cudarun(tmp_path, 9, *LAUNCH)
    assert (code, errors, met) == (7, NOTE, 2)
    error = document["outcomes"][0]["error"]
    assert (error["kind"], error["message"]) == (
        "InternalError", "internal error: ZeroDivisionError: a bug",
    )  # fmt: skip
    assert "not in the kernel" in error["hint"]
    assert "Traceback" in error["log"]


def test_a_case_does_not_expect_a_bug() -> None:
    assert is_expected(WorkerDied("killed"), "WorkerDied")
    assert not is_expected(InternalError(ZeroDivisionError("a bug")), "WorkerDied")
