"""The parser of the expression language of ``--check``, ``--print`` and buffer dimensions.

The language has numpy's operators and a fixed list of functions, and no other access. It
has a parser of its own rather than Python's, because Python cannot read ``out == 2 * in`` (``in``
and ``lambda`` are good names for kernel parameters) nor ``4Ki``, and because its messages and
columns change from one version to the next. Nothing here imports numpy: the parent process checks
the text, the worker evaluates it (:mod:`cudarun.arguments.expressions.evaluation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.syntax import Expression, Node
from cudarun.arguments.literals import UNSIGNED_NUMBER, LiteralError, as_number
from cudarun.arguments.scanner import IDENTIFIER, SYMBOL, Scanner, cached, did_you_mean
from cudarun.base.errors import ArgumentSyntaxError

MAX_OPERATIONS = 150
"""Operators, calls and indexings allowed in one expression, which bounds the recursion."""

_HINT_WIDTH = 90  # columns

_OPERATOR = re.compile(r"\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%@&|^~<>]|(?:and|or|not)\b")
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_PRECEDENCE = {
    "or": 1, "and": 2, **dict.fromkeys(_COMPARISONS, 4), "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10, "**": 12,
}  # fmt: skip
_NOT, _COMPARE, _SIGN = 3, 4, 11
_NAME = re.compile(rf"(?P<first>{IDENTIFIER.pattern})(?:\.(?!T\b)(?:{IDENTIFIER.pattern}|[0-9]+))*")
"""An argument, or a member of a struct passed by value: ``s.n``, or ``s.0`` without a name."""

_QUALIFIED = re.compile(rf"{IDENTIFIER.pattern}(?:::{IDENTIFIER.pattern})+")
"""A variable in a namespace; not in an index, where ``a::b`` is a slice."""

_TRANSPOSED = re.compile(r"\.T\b")

_SIGNS = re.compile(r"[-+~]")
_POINTEE = re.compile(r"\*")
_MEMBER = re.compile(rf"(?P<operator>->|\.)\s*(?P<name>{IDENTIFIER.pattern})(?!\s*\()")
"""``.n`` or ``->n`` after a value."""

_FIRST = (tree.Number(0),)
_END_OF_PART = re.compile(r"[:,\]]")  # of a slice
_NEW_AXIS = re.compile(r"(?:None|newaxis)\b")
_NOT_WORD = re.compile(r"not\b")
_STRING = re.compile(r""""[^"\\]*"|'[^'\\]*'""")
_Item = TypeVar("_Item")
_MISTAKES = {
    "&&": "use 'and', or & between parenthesized operands",
    "||": "use 'or', or | between parenthesized operands",
    "!": "use 'not'",
    "?": "use where(condition, this, that)",
    "=": "use == to compare",
    ".": "the only attribute is .T; call functions as sum(x)",
    "if": "use where(condition, this, that)",
}


@cached
def parse_expression(text: str) -> Expression:
    """Parse the text of a ``--check`` or ``--print``.

    >>> sorted(parse_expression("y == a*x + old(y)").names)
    ['a', 'x', 'y']
    """
    return whole_expression(Scanner(text))


def whole_expression(scanner: Scanner) -> Expression:
    """Read one expression up to the end of a text."""
    expression = read_expression(scanner)
    if not scanner.at_end:
        raise unexpected(scanner)
    return expression


def read_expression(scanner: Scanner) -> Expression:
    """Read one expression in the middle of a text, up to the first foreign token."""
    start = scanner.skip_space()
    node = _ExpressionParser(scanner).expression()
    source = scanner.text
    return Expression(source[start : scanner.position].strip(), node, source)


def unexpected(scanner: Scanner) -> ArgumentSyntaxError:
    """Return the error about a text that does not continue an expression."""
    for mistake, hint in _MISTAKES.items():
        if scanner.peek(mistake):
            return scanner.error(f"unexpected {mistake!r}", hint=hint)
    return scanner.error(f"unexpected {scanner.found()}")


class _ExpressionParser:
    """A precedence-climbing parser over a scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.operations = 0
        self.inside_old = False
        self.inside_index = False

    def expression(self, minimum: int = 0) -> Node:
        with self.scanner.nested():
            left = self.operand(minimum)
            while (found := self.operator(minimum)) is not None:
                self.count()
                if found in _COMPARISONS:
                    left = self.comparison(left, found)
                elif found == "**":  # right-associative, and weaker than a sign to its right
                    left = tree.Binary(found, left, self.expression(_SIGN))
                else:
                    left = tree.Binary(found, left, self.expression(_PRECEDENCE[found] + 1))
            return left

    def operator(self, minimum: int) -> str | None:
        """Consume the next operator if it binds at least as tightly as ``minimum``."""
        scanner = self.scanner
        before = scanner.position
        found = scanner.match(_OPERATOR)
        if found is None:
            return None
        doubled = found.group() in "&|" and scanner.text.startswith(found.group(), scanner.position)
        if doubled or _PRECEDENCE.get(found.group(), -1) < minimum:
            scanner.position = before
            return None
        return found.group()

    def comparison(self, first: Node, operator: str) -> Node:
        operands, operators = [first], [operator]
        while True:
            operands.append(self.expression(_COMPARE + 1))
            following = self.scanner.position
            found = self.scanner.match(_OPERATOR)
            if found is None or found.group() not in _COMPARISONS:
                self.scanner.position = following
                return tree.Comparison(tuple(operands), tuple(operators))
            self.count()
            operators.append(found.group())

    def operand(self, minimum: int) -> Node:
        scanner = self.scanner
        if sign := scanner.match(_SIGNS):
            self.count()
            return tree.Unary(sign.group(), self.expression(_SIGN))
        if scanner.match(_POINTEE):
            self.count()
            return tree.Index(self.expression(_SIGN), _FIRST)
        if minimum <= _NOT and scanner.match(_NOT_WORD):
            self.count()
            return tree.Unary("not", self.expression(_NOT))
        node = self.primary()
        while True:
            if self.scanner.match(_TRANSPOSED):
                self.count()
                node = tree.Call("transpose", (node,))
                continue
            if selected := self.scanner.match(_MEMBER):
                self.count()
                struct = tree.Index(node, _FIRST) if selected["operator"] == "->" else node
                node = tree.MemberOf(struct, selected["name"])
                continue
            if not self.scanner.accept("["):
                return node
            self.count()
            if member := self.scanner.match(_STRING):
                self.scanner.expect("]", "after a member's name")
                node = tree.MemberOf(node, member.group()[1:-1])
            else:
                outer, self.inside_index = self.inside_index, True
                if self.scanner.peek("]"):
                    raise self.scanner.error("expected an index, found ']'")
                node = tree.Index(node, tuple(self.items("]", self.index_item)[0]))
                self.inside_index = outer

    def primary(self) -> Node:
        scanner = self.scanner
        start = scanner.skip_space()
        if scanner.accept("("):
            return self.group(")", start)
        if scanner.accept("["):
            return self.group("]", start)
        if number := scanner.match(UNSIGNED_NUMBER):
            return self.number(number.group(), start)
        if not self.inside_index and (qualified := scanner.match(_QUALIFIED)):
            return tree.Name(qualified.group(), start)
        word = scanner.match(_NAME)
        if word is None:
            if scanner.looks_at(_STRING):
                raise scanner.error(
                    'a string is allowed only in load("…"), symbol("…"), einsum("…"), x["member"]'
                )
            if scanner.at_end:
                raise scanner.error("expected a value, found the end")
            if scanner.text[start].isdecimal():
                raise scanner.error(f"{scanner.found()} is not a number")
            raise unexpected(scanner)
        if word.group() in tree.RESERVED:
            raise scanner.error(f"expected a value, found {word.group()!r}", start)
        if scanner.peek("(") and "." in word.group():
            raise scanner.error("unexpected '.'", word.end("first"), hint=_MISTAKES["."])
        if scanner.accept("("):
            return self.call(word.group(), start)
        return tree.Name(word.group(), start)

    def number(self, text: str, start: int) -> Node:
        try:
            value = as_number(text)
        except LiteralError as error:
            raise self.scanner.error(str(error), start) from None
        if isinstance(value, int) and value >= 1 << 64:
            raise self.scanner.error(f"{text} exceeds 64 bits", start)
        return tree.Number(value)

    def group(self, closing: str, start: int) -> Node:
        """Parse the rest of ``(…)`` or ``[…]``; parentheses around one value only group."""
        items, comma = self.items(closing, self.expression)
        if closing == ")" and len(items) == 1 and not comma:
            return items[0]
        if not items:
            raise self.scanner.error("empty brackets", start)
        return tree.SequenceLiteral(tuple(items))

    def items(self, closing: str, parse: Callable[[], _Item]) -> tuple[list[_Item], bool]:
        """Parse comma-separated values up to ``closing``; also return whether a comma came last."""
        items: list[_Item] = []
        comma = True
        while not self.scanner.accept(closing):
            if not comma:
                self.scanner.expect(closing, "or ','")
            items.append(parse())
            comma = self.scanner.accept(",")
        return items, comma and bool(items)

    def index_item(self) -> tree.IndexItem:
        if self.scanner.accept("..."):
            return tree.Rest()
        if self.scanner.match(_NEW_AXIS):
            return tree.NewAxis()
        parts: list[Node | None] = []
        while not parts or (len(parts) < 3 and self.scanner.accept(":")):
            parts.append(None if self.scanner.looks_at(_END_OF_PART) else self.expression())
        if len(parts) > 1:
            return tree.Slice(parts[0], parts[1], parts[2] if len(parts) == 3 else None)
        if parts[0] is None:
            raise self.scanner.error(f"expected an index, found {self.scanner.found()}")
        return parts[0]

    def call(self, name: str, start: int) -> Node:
        """Parse the rest of ``name(…)``."""
        scanner = self.scanner
        self.count()
        if name == "load":
            path, _ = self.quoted('load requires the path of a file in quotes: load("ref.npy")')
            scanner.expect(")", "after the path")
            return tree.FileLoad(path)
        if name == "old":
            return self.old(start)
        if name == "symbol":
            return self.symbol(start)
        signature = tree.ELEMENTWISE if name in tree.CASTS else tree.FUNCTIONS.get(name)
        if signature is None:
            known = [*tree.FUNCTIONS, *tree.CASTS, "old", "load", "symbol"]
            from textwrap import wrap  # only this error needs it

            listed = f"functions: {', '.join(sorted({*known} - tree.CASTS.keys()))}, casts"
            near = "use arange(n)" if name == "iota" else did_you_mean(name, known)
            lines = [near, *wrap(listed, _HINT_WIDTH)]
            hint = "\n".join(filter(None, lines))
            raise scanner.error(f"unknown function {name!r}", start, hint=hint)
        text = self.subscripts() if name == "einsum" else ""
        arguments: list[Node] = []
        keywords: dict[str, Node] = {}

        def argument() -> None:
            at = scanner.skip_space()
            if keyword := scanner.match(_KEYWORD):
                word = keyword["name"]
                if word not in signature.keywords:
                    known = ", ".join(f"{each}=" for each in sorted(signature.keywords))
                    only = f", only {known}" if known else ""
                    raise scanner.error(f"{name} does not accept {word}={only}", at)
                if word in keywords:
                    raise scanner.error(f"{word}= is given more than once", at)
                keywords[word] = self.expression()
            elif keywords:
                raise scanner.error("a positional argument follows a keyword argument", at)
            else:
                arguments.append(self.expression())

        self.items(")", argument)
        if not signature.minimum <= len(arguments) <= signature.maximum:
            least, most = signature.minimum, signature.maximum
            wanted = f"{least} or more" if most == tree.MANY else f"{least} to {most}"
            wanted = str(least) if least == most else wanted
            named = ", ".join(f"{keyword}=" for keyword in sorted(signature.keywords))
            what = f"{wanted} value{'s' * (wanted != '1')}{f' (and {named})' if named else ''}"
            raise scanner.error(f"{name} takes {what}, got {len(arguments)}", start)
        return tree.Call(name, tuple(arguments), tuple(keywords.items()), text)

    def quoted(self, otherwise: str) -> tuple[str, int]:
        """Parse a string; return its contents and its column."""
        found = self.scanner.match(_STRING)
        if found is None:
            raise self.scanner.error(otherwise)
        return found.group()[1:-1], found.start()

    def symbol(self, start: int) -> Node:
        """Parse the rest of ``symbol("NAME")`` or ``symbol("NAME", TYPE)``."""
        scanner = self.scanner
        name, column = self.quoted(
            'symbol requires the name of a variable in quotes: symbol("ns::counter")'
        )
        if not SYMBOL.fullmatch(name):
            raise scanner.error(f"'{name}' is not the name of a variable", column)
        element = None
        if scanner.accept(","):
            at = scanner.skip_space()
            word = scanner.match(IDENTIFIER)
            if word is None or word.group() not in tree.CASTS:
                hint = did_you_mean(word.group(), [*tree.CASTS]) if word else None
                raise scanner.error("expected a scalar type, such as f32", at, hint=hint)
            element = tree.CASTS[word.group()]
        scanner.expect(")", "after the variable")
        symbol = tree.NamedVariable(name, element)
        return tree.Name(str(symbol), start, symbol)

    def subscripts(self) -> str:
        """Parse the first argument of ``einsum``, up to the comma."""
        scanner = self.scanner
        text, column = self.quoted(
            'einsum requires subscripts in quotes: einsum("ij,jk->ik", a, b)'
        )
        text = text.replace(" ", "")
        if not _SUBSCRIPTS.fullmatch(text):
            raise scanner.error(f"'{text}' is not of the form \"ij,jk->ik\"", column)
        scanner.expect(",", "after the subscripts")
        return text

    def old(self, start: int) -> Node:
        if self.inside_old:
            raise self.scanner.error("old(…) within old(…)", start)
        self.inside_old = True
        operand = self.expression()
        self.inside_old = False
        self.scanner.expect(")", "after the value of old")
        return tree.Old(operand)

    def count(self) -> None:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            raise self.scanner.error(f"more than {MAX_OPERATIONS} operations in one expression")


_SUBSCRIPTS = re.compile(r"[A-Za-z]*(?:,[A-Za-z]*)*(?:->[A-Za-z]*)?")
_KEYWORD = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)")
