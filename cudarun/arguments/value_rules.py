"""The rules of the grammar that all other rules share: numbers, values of a type, paths."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from cudarun.arguments import types
from cudarun.arguments.expressions.parser import read_expression
from cudarun.arguments.initial_values import FileOrder
from cudarun.arguments.literals import NUMBER, LiteralError, read
from cudarun.arguments.scalars import Computed, Scalar, UntypedNumber
from cudarun.arguments.scanner import IDENTIFIER, Scanner, did_you_mean
from cudarun.arguments.types import Kind, ScalarType, Type, scalars_of
from cudarun.arguments.values import Element, Leaf, Member, Pointer, SequenceValue, StructValue

NUMBER_AHEAD = re.compile(r"[+-]?\s*(?:\.?[0-9]|(?:inf|nan|true|false)\b)")  # the start of a number

EXPRESSION_AHEAD = re.compile(r"[-+~]?\s*\(|[-+~]\s*[A-Za-z_]|~")
"""The start of an expression that begins neither with a number nor with a name."""

_OPERATOR_AHEAD = re.compile(r"[-+*/%&|^<>]")
_LITERAL_AHEAD = re.compile(rf"{NUMBER_AHEAD.pattern}|\{{")

ORDERS = ("corder", "asis")  # the words that start a file in an explicit order

_QUOTED = re.compile(r'"(?P<path>(?:[^"\\]|\\["\\])*)"')
_PATH_WITHIN = {closing: re.compile(rf"[^,\{closing}]*") for closing in "]})"}
_PATH = re.compile(r".*", re.DOTALL)
_PATH_ALONE = re.compile(r"(?P<path>[\w./~+-]+\.(?P<suffix>npy|png|bin|raw|dat))\s*$")

_Kept = TypeVar("_Kept")


class ValueRules:
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

    def options(
        self,
        parsers: Mapping[str, Callable[[], Any] | None],
        whole: str,
        calls: Container[str] = (),
    ) -> dict[str, Any]:
        """Parse ``NAME=VALUE, …``, at least one.

        Args:
            parsers: The parser of each value; ``None`` of a name that is a flag.
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

    # --- values of a type ------------------------------------------------------------------------

    def element(self, element: Type) -> Element:
        """Parse a value without its type: ``1,2,3,4`` for ``float4``."""
        match element:
            case ScalarType():
                return self.scalar(element)
            case types.VectorType() | types.ArrayType():
                return SequenceValue(element, self.elements(element))
            case types.StructType():
                scanner = self.scanner
                scanner.expect("{", f"before the members of {element}")
                members: list[Member] = []
                with self.enclosed("}"), scanner.nested(types.MAX_DEPTH):
                    for member in element.members:
                        if members:
                            scanner.expect(",", f"before member {len(members) + 1} of {element}")
                        members.append(Member(member.name, self.member_value(member.type)))
                    scanner.expect("}", f"after the {len(members)} members of {element}")
                return StructValue(tuple(members))
            case _:
                raise AssertionError(f"the type {element} has no text form")

    def member_value(self, element: Type) -> Leaf:
        """Parse a value without its type, or a pointer: an address, ``null`` or a buffer."""
        return self.pointer() if isinstance(element, types.PointerType) else self.element(element)

    @abstractmethod
    def pointer(self) -> Pointer:
        """Parse the value of a pointer."""

    def scalar(self, scalar: ScalarType) -> Scalar:
        """Parse one number of a type."""
        start = self.scanner.skip_space()
        expected = {Kind.FLOAT: "a number", Kind.BOOL: "true or false"}
        text = self.required(NUMBER, expected.get(scalar.kind, "an integer"))
        with self.located(start):
            return UntypedNumber(text).of(scalar)

    def elements(self, whole: types.VectorType | types.ArrayType) -> tuple[Element, ...]:
        """Parse the comma-separated values of a vector or an array."""
        scanner, count = self.scanner, whole.count
        values = [self.element(whole.element)]
        while len(values) < count:
            if not (scanner.accept(",") and scanner.looks_at(_LITERAL_AHEAD)):
                raise scanner.error(f"{whole} takes {count} values, got {len(values)}")
            values.append(self.element(whole.element))
        return tuple(values)

    # --- the path of a file, whose end depends on the brackets around it -------------------------

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
            pattern = _PATH_WITHIN[self.closing[-1]] if self.closing else _PATH
            path = self.required(pattern, "a path").rstrip()
        if not path:
            raise scanner.error("expected the path of a file after '@'", start)
        return path

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
