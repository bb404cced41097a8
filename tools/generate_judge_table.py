"""Write the table of candidates in the guide to judging: what two judges report about each.

``python -m tools.generate_judge_table`` runs the specs of ``samples/judge`` with all candidates on
the device ``cpu``. `tests/commands/test_judge.py` checks that it would change nothing.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "how-to" / "judge-a-generated-kernel.md"
FOLDER = Path("samples/judge")
HEAD = "| candidate | what it does | naive judge | judge | first failure |\n|---|---|---|---|---|\n"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judges report about a candidate.

    Attributes:
        name: Its name.
        comment: The first line of its source.
        naive: The result of the naive judge.
        result: The result of the judge.
        failures: The names of the failed cases of the judge, without sizes.
        reason: Why the first of them failed.
    """

    name: str
    comment: str
    naive: str
    result: str
    failures: tuple[str, ...]
    reason: str | None

    @property
    def is_honest(self) -> bool:
        """True if its source says so."""
        return self.comment.startswith("Honest")

    @property
    def row(self) -> str:
        """Its row in the table."""
        does = self.comment.partition(": ")[2].removesuffix(".")
        first = "" if self.reason is None else f"{self.failures[0]}: {self.reason}"
        cells = (f"`{self.name}`", does, self.naive, self.result, first)
        return f"| {' | '.join(cells)} |\n"


def judged() -> list[Judged]:
    """Run both judges; return the candidates, honest ones first."""
    sources = sorted((ROOT / FOLDER).glob("*.cu"))
    reports = {spec: _candidates(spec, sources) for spec in ("naive", "judge")}
    found = [
        Judged(
            name=source.stem,
            comment=source.read_text().partition("\n")[0].removeprefix("// "),
            naive=naive["verdict"],
            result=own["verdict"],
            failures=tuple(name.partition(",")[0] for name in own["failures"]),
            reason=_reason(own["reason"]),
        )
        for source, naive, own in zip(sources, *reports.values(), strict=True)
    ]
    return sorted(found, key=lambda each: not each.is_honest)


def _candidates(spec: str, sources: list[Path]) -> list[dict[str, Any]]:
    """Run a spec with the PTX of all candidates; return their results."""
    images = [os.fspath(FOLDER / f"{source.stem}.ptx") for source in sources]
    words = [word for image in images for word in ("--candidate", image)]
    command = ["launch", "--spec", os.fspath(FOLDER / f"{spec}.toml"), "-d", "cpu", *words]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "samples").symlink_to(ROOT / "samples")
        environment = os.environ | {"PYTHONPATH": PYTHON_PATH}
        _, printed, _ = run_command([*command, "--json"], Path(folder), environment)
    candidates: list[dict[str, Any]] = json.loads(printed)["candidates"]
    assert [each["candidate"] for each in candidates] == images
    return candidates


def _reason(reason: str | None) -> str | None:
    """Return the first part of a reason, without the seed, which is random."""
    if reason is None:
        return None
    first, _, _ = reason.partition("\n")
    return re.sub(", the first with seed [0-9]+$", "", first.removeprefix("failed: "))


def table(candidates: list[Judged]) -> str:
    """The table as Markdown."""
    return HEAD + "".join(each.row for each in candidates)


def rewritten(page: str, candidates: list[Judged]) -> str:
    """Return the page with the table of candidates."""
    before, _, rest = page.partition(HEAD)
    after = rest.partition("\n\n")[2]
    return f"{before}{table(candidates)}\n{after}"


def main() -> int:
    """Write the table."""
    GUIDE.write_text(rewritten(GUIDE.read_text(), judged()))
    print(f"wrote {GUIDE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
