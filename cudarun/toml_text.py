"""Values as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator


def toml_lines(entries: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield a line for each key and value."""
    # A JSON value is a TOML value, except for null and for characters above U+FFFF as escapes.
    for key, value in entries:
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
