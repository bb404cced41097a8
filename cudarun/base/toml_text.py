"""Values as TOML, also those of a spec, in which texts refer to the matrix of a case."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

REFERENCE = re.compile(r"\$\$|\$\{(?:([^{}]*)\})?")
"""A reference to a value of the matrix, such as ``${n}``; ``$$`` is a dollar sign."""


def toml_lines(entries: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield a line for each key and value."""
    # A JSON value is a TOML value, except for null and for characters above U+FFFF as escapes.
    for key, value in entries:
        yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")


def spec_lines(entries: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield a line for each key and value of a case, of which no text is a reference."""
    return toml_lines((key, escaped_references(value)) for key, value in entries)


def escaped_references(value: T) -> T:
    """Return a text, or a list of values, that is read as it is given."""
    if isinstance(value, list):
        return [*map(escaped_references, value)]  # type: ignore[return-value]
    if isinstance(value, str) and REFERENCE.search(value):
        return value.replace("$", "$$")  # type: ignore[return-value]
    return value
