"""The names of what was recorded."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

FORMS = Path(__file__).resolve().parents[2] / "tests" / "golden" / "isa-h200"


def chapters() -> dict[str, list[str]]:
    """Return the names of the recorded instruction forms by chapter."""
    found = {}
    for path in sorted(FORMS.glob("*.xz")):
        with lzma.open(path) as file:
            found[path.stem] = [case["name"] for case in json.loads(file.readline())["cases"]]
    return found
