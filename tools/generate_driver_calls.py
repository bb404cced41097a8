"""Write ``docs/reference/driver-calls.md``: the driver calls that the emulated device provides."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cudarun.emulator import driver  # noqa: F401 - enters all calls
from cudarun.emulator.api.calls import CALLS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "driver-calls.md"

_HEAD = """\
# Driver calls of the emulated device

Written by `python -m tools.generate_driver_calls` from `cudarun.emulator.driver`: change the
docstrings, not this file. [emulated-device.md](emulated-device.md) describes the emulated device.

Each call has the parameters and the result tuple of the call of the same name in
`cuda.bindings.driver`, and returns the results that were observed on a GPU's driver. {count} calls
are supported. Every other call of the bindings raises `NotProvided` with its name when it is looked
up; `NotProvided` is an `AttributeError` and a `NotImplementedError`.
"""


def document() -> str:
    """The whole document."""
    return "\n".join([_HEAD.format(count=len(CALLS)), *chapters_of(CALLS)])


def chapters_of(calls: Mapping[str, Callable[..., Any]]) -> list[str]:
    """A section with a table for each module that has calls."""
    chapters: dict[str, list[str]] = {}
    for name, call in sorted(calls.items()):
        module = inspect.getmodule(inspect.unwrap(call))
        assert module is not None
        title = _first_line(module).split(":")[0].removesuffix(".")
        chapters.setdefault(title, []).append(f"| `{name}` | {_first_line(call)} |")
    rows = {title: "\n".join(chapters[title]) for title in sorted(chapters)}
    return [f"## {title}\n\n| call | behavior |\n|---|---|\n{rows[title]}\n" for title in rows]


def _first_line(thing: object) -> str:
    lines = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(lines.replace("``", "`").split()).replace("|", "\\|")


def main() -> int:
    """Write the document, and say so when that changed it."""
    return write(TARGET, document())


def write(target: Path, text: str) -> int:
    """Write a document, and say so when that changed it."""
    if not target.exists() or target.read_text() != text:
        target.write_text(text)
        print(f"wrote {target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
