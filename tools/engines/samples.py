"""The commands of ``samples/README.md`` on both engines: their JSON documents and all buffers.

The commands run without detectors and ``--stats``: the interpreter observes what these report.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from cudarun.emulator.engines import COMPILE, ENGINE_VARIABLE, INTERPRET
from cudarun.emulator.tiers import ORDER
from tests.support.forked_processes import run_command
from tests.support.samples_readme import README, ROOT, Sample, samples
from tools.engines.comparison import Comparison, Part

MOST = 4  # commands in a part

_OBSERVERS = {"--detect": 2, "--stats": 1}  # options, and the number of their words
_VOLATILE = {"milliseconds", "engines"}
_REFUSED = re.compile(r"cannot be compiled: (.*)")


@dataclass
class Outcome:
    """What a command did.

    Attributes:
        exit_code: Its exit code.
        document: Its JSON document, without what differs between two runs.
        files: The contents of the buffers, by name.
        engines: What the engine says of each kernel.
    """

    exit_code: int
    document: Any
    files: Mapping[str, bytes]
    engines: Sequence[str] = field(compare=False)

    @property
    def buffers(self) -> list[str]:
        """The names of its buffers."""
        result = self.document["outcomes"][0]["result"] or {"buffers": []}
        return [each["name"] for each in result["buffers"]]


def groups() -> list[str]:
    """Return the chapters of the document."""
    return list(_chapters())


def parts(only: str = "", every: int = 1) -> list[Part]:
    """Return the commands of all chapters in parts.

    Args:
        only: Leave out the commands without this in their names.
        every: Ignored: all commands run.
    """
    found = []
    for chapter, all_names in _chapters().items():
        names = [name for name in all_names if only in name]
        for start in range(0, len(names), MOST):
            found.append(Part(chapter, len(found), tuple(names[start : start + MOST])))
    return found


def compare(part: Part) -> Comparison:
    """Run commands of a chapter on both engines."""
    found = Comparison(part.group)
    for sample in samples():
        if sample.name not in part.cases:
            continue
        if any(line.startswith("FAIL race") for line in sample.output):
            found.interpreted[sample.name] = "a data race: undefined results"
            continue
        buffers = _run(sample, INTERPRET, ()).buffers
        interpreted, compiled = (_run(sample, mode, buffers) for mode in (INTERPRET, COMPILE))
        refusal = _REFUSED.search(json.dumps(compiled.document))
        if refusal:
            found.interpreted[sample.name] = refusal[1]
        elif compiled == interpreted:
            found.equal.append(sample.name)
        elif any(reason.startswith(ORDER) for reason in compiled.engines):
            found.interpreted[sample.name] = "results that can show the order of warps"
        else:
            found.different.append(sample.name)
    return found


@cache
def _chapters() -> dict[str, list[str]]:
    """Return the names of the commands by the heading above them."""
    found: dict[str, list[str]] = {}
    lines = README.read_text().splitlines()
    for sample in samples():
        above = reversed(lines[: sample.line])
        heading = next(line for line in above if line.startswith("## "))
        found.setdefault(heading[3:], []).append(sample.name)
    return found


def _run(sample: Sample, mode: str, buffers: Sequence[str]) -> Outcome:
    """Run a command, and save buffers of it."""
    words = [*sample.arguments]
    for option, length in _OBSERVERS.items():
        if option in words:
            place = words.index(option)
            del words[place : place + length]
    for name in buffers:
        words += ["--save", f"{name}={name}.bin"]
    environment = {**os.environ, ENGINE_VARIABLE: mode}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "samples").symlink_to(ROOT / "samples")
        code, out, _ = run_command([*words, "--json"], folder, environment)
        files = {path.name: path.read_bytes() for path in sorted(folder.glob("*.bin"))}
    document = json.loads(out)
    result = document["outcomes"][0]["result"] or {"engines": []}
    engines = [each["reason"] or "" for each in result["engines"]]
    return Outcome(code, _stable(document), files, engines)


def _stable(value: Any) -> Any:
    """Return a value of a document without what differs between two runs."""
    if isinstance(value, dict):
        return {name: _stable(each) for name, each in value.items() if name not in _VOLATILE}
    return [_stable(each) for each in value] if isinstance(value, list) else value
