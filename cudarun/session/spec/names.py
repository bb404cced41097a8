"""Selection of cases by name: an exact name, all instances of a matrix, or ``*`` and ``?``."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import RequestError

if TYPE_CHECKING:
    from cudarun.session.spec.case import Case


def is_glob(text: str) -> bool:
    """Return whether a text contains ``*`` or ``?``."""
    return "*" in text or "?" in text


def glob(text: str) -> re.Pattern[str]:
    """Return the pattern of a text in which ``*`` and ``?`` match; brackets are characters."""
    return re.compile(fnmatch.translate(text.replace("[", "[[]")))


def named(cases: Sequence[Case], names: Sequence[str], origin: str) -> list[Case]:
    """Return the cases with these names, in the order of the spec; all without names.

    Raises:
        RequestError: A name selects no case.
    """
    if not names:
        return [*cases]
    selected: set[str] = set()
    known = {case.name for case in cases}
    for name in names:
        found = {name} & known or {case.name for case in cases if case.base == name}
        if not found and is_glob(name):
            pattern = glob(name)
            found = {each for each in known if pattern.fullmatch(each)}
        if not found:
            raise _unknown(name, dict.fromkeys([*known, *(case.base for case in cases)]), origin)
        selected |= found
    return [case for case in cases if case.name in selected]


def _unknown(name: str, known: Iterable[str], origin: str) -> RequestError:
    if is_glob(name):
        return RequestError(
            f"{origin}: no case matches '{name}'", hint="list the cases with --list"
        )
    hint = did_you_mean(name, known) or "list the cases with --list"
    return RequestError(f"{origin} has no case '{name}'", hint=hint)
