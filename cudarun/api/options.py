"""The keywords of a call as values of the options of a command.

A keyword is the option's name with underscores; ``shared`` is another name of ``smem``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from cudarun.api.values import ArrayFiles

_NAMES = {"shared": "smem"}
"""The other names of keywords."""
_NAMED = ("buffer", "set", "expect")
"""The keywords whose values are arguments or arrays, by name."""


def option_values(given: Mapping[str, Any], known: Iterable[str], call: str) -> dict[str, Any]:
    """Return the values of options, except those of `named_values`.

    Args:
        given: The keywords.
        known: The keywords of the call.
        call: The call, for messages: ``launch``.

    Raises:
        TypeError: There is no such keyword.
    """
    accepted = sorted(known)
    values: dict[str, Any] = {}
    for keyword, value in given.items():
        if keyword not in accepted:
            near = get_close_matches(keyword, accepted, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {keyword!r}{hint}")
        name = _NAMES.get(keyword, keyword)
        if name != keyword and name in given:
            raise TypeError(f"{call}() got {keyword!r} and {name!r}, which are the same")
        is_named = isinstance(value, Mapping) and keyword in _NAMED
        if value is not None and value is not False and not is_named:
            values[name] = _plain(value)
    return values


def _plain(value: Any) -> Any:
    """Return the value of an option as a text, a list of them or of lists, or ``True``."""
    if value is True:
        return value
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def named_values(
    files: ArrayFiles, given: Mapping[str, Any]
) -> dict[str, list[tuple[str | None, Any]]]:
    """Return the values of options that are arguments or arrays, by the option."""
    values: dict[str, list[tuple[str | None, Any]]] = {}
    for keyword in _NAMED:
        if isinstance(given.get(keyword), Mapping):
            convert = files.expected if keyword == "expect" else files.value
            values[keyword] = [(name, convert(name, each)) for name, each in given[keyword].items()]
    return values
