"""A fuzzer: cases made from a seed, and the exit code that each ends with."""

from __future__ import annotations

import contextlib
import io
import os
import random
import tempfile
import traceback
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from cudarun.base.errors import CudarunError

C = TypeVar("C", str, bytes, tuple[str, ...])

METHODS = (*(zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) * 25, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
"""How the members of archives are compressed."""

TRIES = 300
"""The number of runs that a minimal reproducer may take."""


class Unexpected(Exception):
    """An outcome that no documented exit code has; the message describes it."""


@dataclass(frozen=True)
class Failure:
    """A case with an undocumented outcome.

    Attributes:
        number: Of the case; with the seed it makes the case again.
        problem: The outcome.
        reproducer: The shortest case found with this outcome.
    """

    number: int
    problem: str
    reproducer: str

    @property
    def kind(self) -> str:
        """The last line of the problem: the exception, or the exit code."""
        return self.problem.rstrip().rpartition("\n")[2][:120]


class Fuzzer(ABC, Generic[C]):
    """Cases of one kind of input.

    Attributes:
        name: For the command line.
        allowed: The documented exit codes that a case can have.
        is_process: Whether a case is a process of its own.
    """

    name: str
    allowed = frozenset({0, 2})
    is_process = False

    @classmethod
    def unavailable(cls) -> str | None:
        """Return why no case can run on this machine."""
        return None

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def case(self, chance: random.Random) -> C:
        """Return a case."""

    @abstractmethod
    def exit_code(self, case: C) -> int:
        """Run a case; return its exit code.

        Raises:
            CudarunError: It counts with its exit code.
            Unexpected: Another failure.
        """

    def numbered(self, seed: int, number: int) -> C:
        """Return a case, the same for the same seed and number."""
        return self.case(random.Random(f"{self.name}/{seed}/{number}"))

    def problem(self, case: C) -> str | None:
        """Return what is wrong with the outcome of a case; ``None`` if it is a documented one."""
        try:
            code = self.exit_code(case)
        except CudarunError as error:
            code = error.exit_code
        except Unexpected as error:
            return str(error)
        except Exception:  # a bug
            return traceback.format_exc(limit=-6)
        return None if code in self.allowed else f"exit code {code}"

    def reproducer(self, case: C, problem: str) -> C:
        """Return the shortest case found that ends with the same last line."""
        kind = Failure(0, problem, "").kind
        for _, candidate in zip(range(TRIES), self._shorter(case, kind), strict=False):
            case = candidate
        return case

    def _shorter(self, case: C, kind: str) -> Iterator[C]:
        """Yield ever shorter cases with the outcome, and each other try's predecessor."""
        size = len(case) // 2
        while size:
            at = 0
            while at < len(case):
                candidate: C = case[:at] + case[at + size :]
                problem = self.problem(candidate)
                if problem is not None and Failure(0, problem, "").kind == kind:
                    case = candidate
                else:
                    at += size
                yield case
            size //= 2


def command(arguments: Sequence[str]) -> int:
    """Run ``cudarun`` in this process; return its exit code.

    Raises:
        Unexpected: It printed a traceback or a warning, or its exit code is 7.
    """
    from cudarun.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*arguments])
    text = err.buffer.getvalue().decode(errors="replace")  # type: ignore[attr-defined]
    if code == 7 or "Traceback" in text or "Warning: " in text:
        raise Unexpected(text[-3000:] or f"exit code {code}")
    return code


@contextlib.contextmanager
def file(folder: Path, name: str, data: bytes) -> Iterator[Path]:
    """Write a file for the time of a case."""
    path = folder / name
    path.write_bytes(data)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """Make an empty folder the current one; a short one, as paths are in every message."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)
