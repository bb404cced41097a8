"""The text of a spec: parsed as TOML, with the lines of its tables and keys.

``tomllib`` gives no lines, is quadratic in the parts of a dotted key and recurses into nested
values. So the text is scanned first, in one pass, which notes the lines and enforces limits.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cudarun.base.errors import RequestError
from cudarun.commands.inputs import DASH

CASES = "launch"  # the key of the array of cases
STEPS = "step"  # the key of the steps of a case
DEFAULTS = "defaults"  # the key of the table of defaults
MAX_KEY_PARTS = 16
MAX_NESTING = 16
MAX_NUMBER = 100  # the most characters of a number: 64 bits have 20

_FORM = "a spec consists of [[launch]] tables and a [defaults] table"
_TOKEN = re.compile(r'"""|\'\'\'|"|\'|#[^\n]*|[A-Za-z0-9_-]+|[\[\]{}=.,\n]')
_ENDS = {
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'''": re.compile("'{3,5}"),
    '"': re.compile(r'\\.|"|\n', re.DOTALL),
    "'": re.compile("'|\n"),
}
"""By the start of a string, its end, or an escape sequence in it."""


class SpecEntry(NamedTuple):
    """A key as written, its value, and its file and line."""

    key: str
    value: Any
    place: str


class TomlTable(NamedTuple):
    """A table: its file and line, and its entries by the normal form of their keys, with ``_``."""

    place: str
    entries: dict[str, SpecEntry]

    def place_of(self, normal: str | None) -> str:
        """Return the place of a key, or that of the table."""
        entry = self.entries.get(normal or "")
        return self.place if entry is None else entry.place


class SpecText:
    """A parsed spec; `RequestError` if it is not TOML, exceeds a limit, or has an unknown key."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path  # its name in messages
        self._lines: dict[tuple[int | None, tuple[str, ...]], int] = {}
        # False if the cases are one value, ``launch = […]``, which TOML cannot extend.
        self.is_extensible = True
        self._scan(text)
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            hint = "a spec is a TOML file"
            raise RequestError(str(error), hint=hint).of(place=path) from error
        tables, defaults = document.pop(CASES, []), document.pop(DEFAULTS, {})
        for key in document:
            place = f"{path}:{self._line(None, key)}"
            raise RequestError(f"unknown key '{key}': {_FORM}").of(place=place)
        if not _are_tables(tables):
            raise RequestError(_FORM).of(place=f"{path}:{self._line(None, CASES)}")
        if not isinstance(defaults, dict):
            raise RequestError(_FORM).of(place=f"{path}:{self._line(None, DEFAULTS)}")
        self.defaults = self._table(None, (DEFAULTS,), defaults)
        # The tables of the cases, in order; the value of the steps is a list of tables.
        self.tables = [self._case(index, table) for index, table in enumerate(tables)]

    def line_of_case(self, index: int) -> int:
        """Return the line of the ``index``-th case, from 1."""
        return self._line(index, CASES)

    def _line(self, case: int | None, *path: str, default: int = 1) -> int:
        return self._lines.get((case, path), default)

    def _case(self, index: int, raw: Mapping[str, Any]) -> TomlTable:
        if not _are_tables(raw.get(STEPS)):
            return self._table(index, (CASES,), raw)
        steps = [
            self._table(index, (CASES, STEPS, str(number)), step, self._line(index, CASES, STEPS))
            for number, step in enumerate(raw[STEPS])
        ]
        return self._table(index, (CASES,), {**raw, STEPS: steps})

    def _table(
        self, case: int | None, path: tuple[str, ...], raw: Mapping[str, object], default: int = 1
    ) -> TomlTable:
        """Return a table of ``tomllib`` with the places of its keys."""
        start = self._line(case, *path, default=default)
        entries = {
            key.replace("-", "_"): SpecEntry(
                key, value, f"{self.path}:{self._line(case, *path, key, default=start)}"
            )
            for key, value in raw.items()
        }
        return TomlTable(f"{self.path}:{start}", entries)

    def _scan(self, text: str) -> None:
        """Note the line of each header and key, and enforce the limits."""
        line, counted = 1, 0
        table: tuple[str, ...] = ()
        parts: list[str] = []
        case: int | None = None
        step = -1
        brackets = depth = dots = 0
        is_value = False
        for token, start in _tokens(text):
            line += text.count("\n", counted, start)
            counted = start
            dots = dots + 1 if token == "." else 0 if token in _SEPARATORS else dots
            if dots >= MAX_KEY_PARTS:
                raise self._over(line, f"a key has more than {MAX_KEY_PARTS} parts")
            if is_value:
                if token in ("[", "{"):
                    if (token, depth, parts) == ("{", 1, [CASES]) and not table:
                        case = 0 if case is None else case + 1
                        self._lines[case, (CASES,)] = line
                    depth += 1
                    if depth > MAX_NESTING:
                        raise self._over(
                            line, f"values are nested more than {MAX_NESTING} levels deep"
                        )
                elif token in ("]", "}"):
                    depth -= 1
                elif token == "\n" and depth <= 0:
                    is_value, parts, brackets = False, [], 0
                elif len(token) > MAX_NUMBER and token[0] not in "\"'":
                    raise self._over(
                        line, f"a number has {len(token)} characters; the limit is {MAX_NUMBER}"
                    )
            elif token == "\n":
                parts, brackets = [], 0
            elif token == "[":
                brackets += 1
            elif token in ("]", "="):
                path = tuple(parts) if brackets else (*table, *parts)
                if brackets:
                    table = path
                    if brackets > 1 and path == (CASES,):
                        case, step = 0 if case is None else case + 1, -1
                    elif brackets > 1 and path == (CASES, STEPS):
                        step += 1
                elif path == (CASES,):
                    self.is_extensible = False
                owner = case if path[:1] == (CASES,) else None
                for length in (1, 2):
                    self._lines.setdefault((owner, path[:length]), line)
                if path[:2] == (CASES, STEPS):
                    self._lines.setdefault((case, (*path[:2], str(step), *path[2:3])), line)
                is_value, depth = True, 0
            elif token not in (".", ",", "{", "}"):
                parts.append(_key(token))

    def _over(self, line: int, what: str) -> RequestError:
        return RequestError(f"{self.path}:{line}: {what}")


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


_SEPARATORS = frozenset("=[]{},\n")


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words, strings and marks of TOML with their positions; comments are skipped."""
    position = 0
    while match := _TOKEN.search(text, position):
        token, start, position = match[0], match.start(), match.end()
        if token in _ENDS:
            ends = _ENDS[token].finditer(text, position)
            end = next((each for each in ends if not each[0].startswith("\\")), None)
            position = len(text) if end is None else end.end()
            if end is not None and end[0] == "\n":  # invalid, which tomllib reports
                position = end.start()
            token = text[start:position]
        if not token.startswith("#"):
            yield token, start


def _key(token: str) -> str:
    """Return a part of a key, without its quotes."""
    if token[0] not in "\"'":
        return token
    try:
        key: str = tomllib.loads(f"key = {token}")["key"]
        return key
    except tomllib.TOMLDecodeError:
        return token


def spec_folder(path: str) -> Path:
    """Return the base of relative paths in a spec."""
    return Path() if is_stream(path) else Path(path).parent


def is_stream(path: str) -> bool:
    """Return whether a path is stdin, or a pipe of the shell: ``/dev/fd/63``."""
    return path == DASH or path.startswith(("/dev/", "/proc/"))
