"""Write ``docs/reference/driver-calls.md``: the driver calls that the emulated device provides."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

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
    chapters: dict[str, list[str]] = {}
    for name, call in sorted(CALLS.items()):
        module = inspect.getmodule(inspect.unwrap(call))
        assert module is not None
        title = _first_line(module).split(":")[0]
        chapters.setdefault(title, []).append(f"| `{name}` | {_first_line(call)} |")
    sections = [_HEAD.format(count=len(CALLS))]
    for title in sorted(chapters):
        rows = "\n".join(chapters[title])
        sections.append(f"## {title}\n\n| call | behavior |\n|---|---|\n{rows}\n")
    return "\n".join(sections)


def _first_line(thing: object) -> str:
    lines = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(lines.replace("``", "`").split()).replace("|", "\\|")


def main() -> int:
    """Write the document, and say so when that changed it."""
    text = document()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
