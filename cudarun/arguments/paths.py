"""Files in arguments: ``@path``, ``corder(@path)`` and ``asis(@path)``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from cudarun.arguments.initial_values import FileOrder
from cudarun.arguments.numbers import NumberRules
from cudarun.arguments.scanner import IDENTIFIER

ORDERS = ("corder", "asis")
"""The words that start a file in an explicit order."""

_QUOTED = re.compile(r'"(?P<path>(?:[^"\\]|\\["\\])*)"')
_PATH_WITHIN = {closing: re.compile(rf"[^,\{closing}]*") for closing in "]})"}
_PATH = re.compile(r".*", re.DOTALL)
_PATH_ALONE = re.compile(r"(?P<path>[\w./~+-]+\.(?P<suffix>npy|png|bin|raw|dat))\s*$")

_Kept = TypeVar("_Kept")


class PathRules(NumberRules):
    """The path of a file; its end depends on the brackets around it."""

    def refuse_path(self, before: str) -> None:
        """Refuse the path of a file without ``@``."""
        scanner = self.scanner
        if path := _PATH_ALONE.match(scanner.text, scanner.skip_space()):
            typed = "" if before.endswith(":") or path["suffix"] in ("npy", "png") else "f32[n]:"
            raise scanner.error(
                f"{path['path']!r} is a path without '@'",
                hint=f"did you mean {before}{typed}@{path['path']}?",
            )

    def path(self) -> str:
        """Parse the path of a file after ``@``, quoted or not."""
        scanner = self.scanner
        start = scanner.skip_space()
        if quoted := scanner.match(_QUOTED):
            path = re.sub(r"\\(.)", r"\1", quoted["path"])
        else:
            path = self.required(self.path_pattern(), "a path").rstrip()
        if not path:
            raise scanner.error("expected the path of a file after '@'", start)
        return path

    def path_pattern(self) -> re.Pattern[str]:
        """Return the pattern of an unquoted path, which ends at the next bracket or comma."""
        return _PATH_WITHIN[self.closing[-1]] if self.closing else _PATH

    def parenthesized(self, word: str, parse: Callable[[], _Kept]) -> _Kept:
        """Parse the file in the parentheses after ``word``."""
        self.scanner.expect("(", f"after {word}")
        with self.enclosed(")"):
            found = parse()
        self.scanner.expect(")", f"after the file of {word}")
        return found

    def ordered_path(self) -> tuple[str, FileOrder]:
        """Parse ``@path``, ``corder(@path)`` or ``asis(@path)``."""
        word = self.scanner.match(IDENTIFIER)
        if word is None:
            self.scanner.expect("@", "before the path of a file")
            return self.path(), FileOrder.PLAIN
        if word.group() not in ORDERS:
            expected = "@path, corder(@path) or asis(@path)"
            raise self.scanner.error(f"expected {expected}, found {word.group()!r}", word.start())
        order = FileOrder(word.group())
        path, inner = self.parenthesized(word.group(), self.ordered_path)
        if inner is not FileOrder.PLAIN:
            raise self.scanner.error(f"{order.value} and {inner.value} cannot be combined")
        return path, order
