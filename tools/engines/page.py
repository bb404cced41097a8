"""The page with the comparison of the engines: its tables, and whether they can be true."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.engines.comparison import Comparison
from tools.engines.recorded import chapters

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "engines.md"
COMMAND = "python -m tools.engines --write"

_HEAD = "| {} | cases | compared | not compared |\n|---|---|---|---|"
_RAN = "Run on both engines: "
_LISTED = re.compile(r"^- (?P<reason>.+?) \((?P<count>\d+)\): (?P<names>.*)$", re.MULTILINE)


def table(what: str, compared: Sequence[Comparison]) -> str:
    """Return a row per group, and one with their sums."""
    total = Comparison.merged("**all**", compared)
    total.interpreted = {
        f"{each.name} {name}": "" for each in compared for name in each.interpreted
    }
    return "\n".join([_HEAD.format(what), *map(_row, (*compared, total))])


def _row(compared: Comparison) -> str:
    share = compared.compiled / max(compared.cases, 1)
    counts = (
        f"{compared.cases:,}",
        f"{compared.compiled:,} ({100 * share:.1f} %)",
        f"{len(compared.interpreted):,}",
    )
    name = compared.name if compared.name.startswith("*") else f"`{compared.name}`"
    return f"| {name} | {' | '.join(counts)} |"


def listed(compared: Sequence[Comparison]) -> str:
    """Return the interpreted cases by reason, and the different ones."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for each in compared:
        for name, reason in each.interpreted.items():
            reasons[reason].append(name)
        if each.different:
            reasons["**different**"] += each.different
    lines = []
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        unique = list(dict.fromkeys(names))
        shown = ", ".join(f"`{name}`" for name in unique)
        lines.append(f"- {reason} ({len(names)}): {shown}")
    return "\n".join(lines) or "- none"


def section(what: str, compared: Sequence[Comparison], run: str) -> str:
    """Return the table of groups, what ran, and the list of what is not compiled.

    Args:
        what: The head of the first column.
        compared: The groups.
        run: The description of the run.
    """
    equal, different, untested = (
        sum(len(getattr(each, name)) for each in compared)
        for name in ("equal", "different", "untested")
    )
    ran = equal + different
    share = f" of {ran + untested:,}" if untested else ""
    line = f"{_RAN}{ran:,}{share} cases ({run}); {different:,} gave different bits."
    return f"{table(what, compared)}\n\n{line}\n\nNot compared, by reason:\n\n{listed(compared)}"


def this_run(commit: str | None = None) -> str:
    """Return the date and the commit of a run; by default that of git."""
    return f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or _commit()}"


def _commit() -> str:
    """Return the commit of this checkout, and whether it has other changes."""
    command = ["git", "describe", "--always", "--exclude=*", "--dirty= with changes"]
    try:
        done = subprocess.run(command, cwd=PAGE.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


def without_runs(text: str) -> str:
    """Return a page without the numbers of cases that ran, which each run chooses."""
    return re.sub(rf"^{_RAN}.*$", _RAN, text, flags=re.MULTILINE)


def between(text: str, mark: str, content: str) -> str:
    """Return a text with other contents between the marks of a part."""
    pattern = re.compile(rf"(<!-- {mark}: .*? -->\n).*?(<!-- /{mark} -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text)


def marked(text: str, mark: str) -> str:
    """Return the contents between the marks of a part; empty without one."""
    found = re.search(rf"<!-- {mark}: .*? -->\n(.*?)\n<!-- /{mark} -->", text, re.DOTALL)
    return found[1] if found else ""


def faults() -> Iterator[str]:
    """Yield what cannot be true of the page: other forms than the recorded ones."""
    part = marked(PAGE.read_text(), "forms")
    recorded = chapters()
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", part, re.MULTILINE))
    if rows != {name: f"{len(names):,}" for name, names in recorded.items()}:
        yield f"other numbers of forms than are recorded; run {COMMAND}"
    known = {name for names in recorded.values() for name in names}
    for match in _LISTED.finditer(part):
        names = re.findall(r"`(.*?)`", match["names"])
        for name in names:
            if name not in known:
                yield f"'{name}' is no recorded form; run {COMMAND}"
