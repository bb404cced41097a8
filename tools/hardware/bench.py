"""The bench that a chapter works at: its device and folders, commands, and the checks it makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.support.processes import PYTHON_PATH, ROOT

Verdict = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: Unique in its chapter, and the same in every run.
        verdict: What came of it.
        detail: The reason where it did not pass; else figures, where there are some.
        seconds: Wall time, where one command is the check.
    """

    name: str
    verdict: Verdict
    detail: str = ""
    seconds: float = 0.0


def check(name: str, good: object, detail: str = "", seconds: float = 0.0) -> Check:
    """Return a check that passed or failed."""
    return Check(name, "passed" if good else "failed", detail.strip(), round(seconds, 2))


def skipped(name: str, reason: str) -> Check:
    """Return a check that could not be made here."""
    return Check(name, "skipped", reason.strip())


def guarded(name: str, checks: Iterator[Check]) -> Iterator[Check]:
    """Yield checks; an error of their own code is a failed check and ends them."""
    try:
        yield from checks
    except Exception:
        yield check(f"{name}: the chapter's own code", False, traceback.format_exc(limit=-4))


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says to chapters.

    Attributes:
        device: As for ``cudarun -d``; without it, chapters that compare devices take all.
        architecture: Of cubins that are made here.
        only: Checks, where a chapter can choose: parts of their names.
        fuzz: Damaged images.
        libraries: Cubins out of NVIDIA's libraries.
        mutants: Mutants of PTX.
        programs: Random programs.
        seed: Of the mutants and of the programs.
        jobs: Mutants at once.
        gib: The largest buffer; 5, on the emulated device 0.02.
        launches: Cases of the long spec.
        scratch: A folder for large files.
    """

    device: str | None = None
    architecture: str = "sm_90"
    only: tuple[str, ...] = ()
    fuzz: int = 200
    libraries: int = 4
    mutants: int = 300
    programs: int = 300
    seed: int = 1
    jobs: int = 8
    gib: float | None = None
    launches: int = 1000
    scratch: Path | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a command left; ``exit_code`` is ``None`` when it had to be ended."""

    exit_code: int | None
    out: str
    err: str
    seconds: float

    @property
    def text(self) -> str:
        """Its exit status and all that it wrote."""
        status = "killed" if self.exit_code is None else f"exit status {self.exit_code}"
        return f"{status}\n{self.out}{self.err}"

    @property
    def document(self) -> Any:
        """Its stdout as a JSON document.

        Raises:
            ValueError: There is none.
        """
        try:
            return json.loads(self.out)
        except json.JSONDecodeError:
            raise ValueError(self.text) from None


class Bench:
    """Where one chapter works.

    Args:
        options: Of the command line.
        work: An empty folder, which is gone afterwards.
        out: A folder for what is kept.
    """

    interpreter = sys.executable

    def __init__(self, options: Options, work: Path, out: Path) -> None:
        self.options = options
        self.work = work
        self.out = out

    @property
    def device(self) -> str:
        """The device, for a chapter that works on one."""
        return "0" if self.options.device in (None, "all") else str(self.options.device)

    @property
    def devices(self) -> str:
        """All devices, unless the command line names some."""
        return self.options.device or "all"

    @property
    def ordinal(self) -> int:
        """The number of the device to the driver."""
        return 0 if self.is_emulated else int(self.device)

    @property
    def is_emulated(self) -> bool:
        """Whether the emulated device stands in for a GPU."""
        return self.device.startswith("cpu")

    def wants(self, name: str) -> bool:
        """Return whether a check is to be made."""
        return not self.options.only or any(text in name for text in self.options.only)

    def run(
        self, *command: object, limit: float = 120.0, cwd: Path = ROOT, **environment: str
    ) -> Done:
        """Run a command with the package and its tests on the path, at most so many seconds."""
        variables = os.environ | {"PYTHONPATH": PYTHON_PATH} | environment
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [*map(str, command)], cwd=cwd, env=variables,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                timeout=limit, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as expired:
            out, err = ((text or b"").decode(errors="replace") for text in (
                expired.stdout, expired.stderr))  # fmt: skip
            return Done(None, out, f"{err}\nno end after {limit:g} s", limit)
        except OSError as error:
            return Done(None, "", str(error), 0.0)
        return Done(done.returncode, done.stdout, done.stderr, time.perf_counter() - started)

    def python(self, *words: object, **options: Any) -> Done:
        """Run Python with some arguments."""
        return self.run(self.interpreter, *words, **options)

    def cudarun(self, *words: object, **options: Any) -> Done:
        """Run the command line."""
        return self.python("-m", "cudarun", *words, **options)

    def document(self, *words: object, **options: Any) -> Any:
        """Return the JSON document of a command.

        Raises:
            ValueError: There is none.
        """
        return self.cudarun(*words, "--json", **options).document

    def keep(self, name: str, content: str | object) -> Path:
        """Keep a text, or anything else as JSON, under a name."""
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, str):
            content = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        path.write_text(content)
        return path


def pytest_checks(
    bench: Bench, *words: str, limit: float = 580.0, **environment: str
) -> Iterator[Check]:
    """Run tests; each is a check."""
    from xml.etree import ElementTree

    junit = bench.out / "junit.xml"
    junit.parent.mkdir(parents=True, exist_ok=True)
    junit.unlink(missing_ok=True)
    done = bench.python("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={junit}",
                        *words, limit=limit, **environment)  # fmt: skip
    bench.keep("pytest.txt", done.text)
    count = failed = 0
    for case in ElementTree.parse(junit).iter("testcase") if junit.exists() else ():
        name = f"{case.get('classname', '').rpartition('.')[2]}: {case.get('name')}"
        bad = [*case.findall("failure"), *case.findall("error")]
        left_out = case.find("skipped")
        count, failed = count + 1, failed + bool(bad)
        if left_out is not None:
            yield skipped(name, left_out.get("message", ""))
        else:
            reason = "\n".join(each.get("message", "") for each in bad)
            yield check(name, not bad, reason, float(case.get("time", 0)))
    good = done.exit_code == (1 if failed else 0)
    yield check("pytest", good and count, "" if good and count else done.text[-2000:])
