"""Judges the submissions of ``samples/submissions``: honest ones pass, each cheat breaks its rule.

    python -m tools.judge_submissions [--device 0] [--python EXE]

With PyTorch (of ``--python``) also those of the folder ``torch``. The first word of a cheat's
docstring is the rule that it breaks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent.parent / "samples" / "submissions"
STYLES = ("gpumode", "kernelbench", "torch")
PROBLEMS = {"cheats": "gpumode/center.py", "torch/cheats": "torch/scaled_relu.py"}
"""The problems of the cheats, by folder."""
MOST_BYTES = 4000
"""The bytes of the document of a submission."""


class Outcome(NamedTuple):
    """The rule that a submission should break, and the one that it breaks; ``None`` for none."""

    submission: str
    expected: str | None
    found: str | None
    message: str | None
    size: int  # the bytes of its document

    @property
    def is_right(self) -> bool:
        """True if both are the same, and the document is short."""
        return self.expected == self.found and self.size < MOST_BYTES


def expected_rule(path: Path) -> str | None:
    """Return the rule of a cheat."""
    return path.read_text().partition(":")[0].strip('"') if path.parent.name == "cheats" else None


def judged(problem: str, paths: Sequence[Path], *options: str) -> list[Outcome]:
    """Judge submissions for a problem, by the command line."""
    words = [sys.executable, "-m", "cudarun", "judge", "--json", "--problem", problem, *options]
    done = subprocess.run([*words, *map(str, paths)], stdout=subprocess.PIPE, cwd=FOLDER)
    document: dict[str, Any] = json.loads(done.stdout)
    if "submissions" not in document:
        raise SystemExit(f"{problem}: {document['error']}")
    return [
        Outcome(
            each["submission"],
            expected_rule(path),
            each["rule"],
            each["message"],
            len(json.dumps(each, ensure_ascii=False).encode()),
        )
        for path, each in zip(paths, document["submissions"], strict=True)
    ]


def outcomes(styles: Sequence[str], *options: str) -> Iterator[Outcome]:
    """Judge everything in some folders."""
    for style in styles:
        for problem in sorted((FOLDER / style).glob("*.py")):
            honest = problem.parent / "honest" / problem.name
            yield from judged(str(problem), [honest], *options)
    for folder, problem in PROBLEMS.items():
        if folder.partition("/")[0] in ("cheats", *styles):
            paths = sorted((FOLDER / folder).glob("*.py"))
            memory = ("--max-memory", str(1 << 28)) if folder == "cheats" else ()
            yield from judged(problem, paths, *options, "--timeout", "20", *memory)


def main() -> int:
    """Judge, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--python", default=None)
    given = parser.parse_args()
    python = () if given.python is None else ("--python", given.python)
    styles = STYLES if given.python else STYLES[:2]
    found = []
    for each in outcomes(styles, "-d", given.device, *python):
        found.append(each)
        mark = "ok   " if each.is_right else "WRONG"
        print(mark, each.submission, each.found or "passed", flush=True)
        if not each.is_right:
            print(f"      expected {each.expected or 'passed'}: {each.message}", flush=True)
    print(f"the largest document has {max(each.size for each in found)} bytes")
    print(f"{sum(each.is_right for each in found)} of {len(found)} as expected")
    return int(not all(each.is_right for each in found))


if __name__ == "__main__":
    sys.exit(main())
