"""Running the command line as a user does: a process, its two streams and its status."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.images.golden_files import golden
from tests.support.forked_processes import run_command
from tests.support.json_documents import validate
from tests.support.shared_folders import made_once
from tests.support.stub_driver import PTX, build_stub

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit status and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its stdout as one JSON document, which is as its schema says."""
        document = json.loads(self.out)
        validate(document)
        return document


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``cudarun`` in an empty folder; ``samples/`` leads to the samples."""
    (tmp_path / "samples").symlink_to(SAMPLES)

    def run(*args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Ran:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("CUDARUN_")}
        whole = clean | {"PYTHONPATH": str(ROOT)} | (env or {})
        code, out, err = run_command(args, tmp_path, whole, stdin)
        return Ran(code, out.decode(), err.decode())

    return run


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., str]:
    """Write a golden file, or what is made of it, where the command finds it."""

    def put(name: str, data: bytes | None = None) -> str:
        (tmp_path / name).write_bytes(golden(name) if data is None else data)
        return name

    return put


class Recorder:
    """The command with the stub as its driver."""

    def __init__(self, run: Run, stub: Path, cache: Path) -> None:
        self._run = run
        self.stub = stub
        self.places = {"LD_LIBRARY_PATH": os.fspath(stub), "XDG_CACHE_HOME": os.fspath(cache)}
        self.folder = Path()

    def __call__(self, *options: str, task: str, **env: str) -> Ran:
        program = [os.fspath(self.stub / "program"), task, os.fspath(PTX)]
        return self.of(*options, "--", *program, **env)

    def of(self, *words: str, **env: str) -> Ran:
        return self._run("record", *words, env=self.places | env)

    def replay(self, name: str, *options: str) -> Ran:
        return self._run("launch", name, "-d", "cpu", *options)


@pytest.fixture
def recorder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    stub = made_once(tmp_path_factory, "record-stub", build_stub)
    return Recorder(run, stub, stub / "cache")
