"""Numbers in arguments: the rules of the grammar that all other rules share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cudarun.arguments.expressions.parser import read_expression
from cudarun.arguments.literals import NUMBER, LiteralError, read
from cudarun.arguments.scalars import Computed, UntypedNumber
from cudarun.arguments.scanner import IDENTIFIER, Scanner, did_you_mean
from cudarun.arguments.types import Kind, ScalarType, Type, scalars_of

NUMBER_AHEAD = re.compile(r"[+-]?\s*(?:\.?[0-9]|(?:inf|nan|true|false)\b)")
"""The start of a number."""

EXPRESSION_AHEAD = re.compile(r"[-+~]?\s*\(|[-+~]\s*[A-Za-z_]|~")
"""The start of an expression that begins neither with a number nor with a name."""

_OPERATOR_AHEAD = re.compile(r"[-+*/%&|^<>]")


class NumberRules:
    """A recursive-descent parser; each method parses what its name says from the scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.closing: list[str] = []

    @contextmanager
    def enclosed(self, closing: str) -> Iterator[None]:
        """Parse within brackets; the innermost ones end an unquoted path."""
        self.closing.append(closing)
        yield
        self.closing.pop()

    def required(self, pattern: re.Pattern[str], what: str) -> str:
        """Parse a match of a pattern that the grammar requires here."""
        found = self.scanner.match(pattern)
        if found is None:
            raise self.scanner.error(f"expected {what}, found {self.scanner.found()}")
        return found.group()

    def computed(self, scalar: ScalarType | None = None) -> Computed | None:
        """Parse an expression over other numbers; ``None`` where one number or none follows."""
        scanner = self.scanner
        start = scanner.skip_space()
        if scanner.looks_at(NUMBER_AHEAD):
            scanner.match(NUMBER)
            is_expression = scanner.looks_at(_OPERATOR_AHEAD)
        else:
            is_expression = scanner.looks_at(EXPRESSION_AHEAD) or scanner.looks_at(IDENTIFIER)
        scanner.position = start
        if not is_expression:
            return None
        expression = read_expression(scanner)
        if expression.old_names or expression.files or expression.symbols:
            raise scanner.error("only numbers, names, operators and functions are allowed", start)
        return Computed(expression, scalar)

    def number(self) -> UntypedNumber:
        """Parse a number without a type."""
        start = self.scanner.skip_space()
        text = self.required(NUMBER, "a number")
        with self.located(start):
            read(text)
        return UntypedNumber("".join(text.split()))

    @contextmanager
    def located(self, column: int) -> Iterator[None]:
        """Turn a refused number into an error at ``column``."""
        try:
            yield
        except LiteralError as error:
            raise self.scanner.error(str(error), column) from None

    def fits(self, number: UntypedNumber, element: Type, column: int) -> None:
        """Check that every scalar of ``element`` can represent ``number``."""
        for scalar in scalars_of(element):
            with self.located(column):
                number.of(scalar)

    def finite(self, word: str, number: UntypedNumber, element: Type, column: int) -> None:
        """Refuse infinities and NaNs for the floating scalars of ``element``."""
        with self.located(column):
            for scalar in scalars_of(element):
                if scalar.is_float and not math.isfinite(number.as_float(scalar)):
                    raise LiteralError(f"{word} takes finite numbers")

    def options(
        self,
        parsers: Mapping[str, Callable[[], Any] | None],
        whole: str,
        calls: Container[str] = (),
    ) -> dict[str, Any]:
        """Parse ``NAME=VALUE, …``, at least one.

        Args:
            parsers: The parser of each value; ``None`` of a name that is a flag.
            whole: The construct that has them.
            calls: The names that are not followed by ``=``.
        """
        scanner = self.scanner
        given: dict[str, Any] = {}
        while not given or scanner.accept(","):
            start = scanner.skip_space()
            name = self.required(IDENTIFIER, f"an option of {whole}")
            if name not in parsers:
                hint = did_you_mean(name, parsers) or f"the options are {', '.join(parsers)}"
                raise scanner.error(f"{whole} has no option {name!r}", start, hint=hint)
            if name in given:
                raise scanner.error(f"{name} is given twice", start)
            parse = parsers[name]
            if parse is not None and name not in calls:
                scanner.expect("=", f"after {name}")
            given[name] = True if parse is None else parse()
        return given

    def refuse(
        self,
        scalars: tuple[ScalarType, ...],
        kind: Kind,
        why: str,
        column: int,
        *,
        hint: str | None = None,
    ) -> None:
        """Refuse scalars of a kind."""
        for scalar in scalars:
            if scalar.kind is kind:
                raise self.scanner.error(f"{why}: not for {scalar}", column, hint=hint)
