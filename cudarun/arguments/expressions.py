"""The expression language of ``--check`` and ``--print``, and of buffer dimensions: text to tree.

A small language with numpy's operators and a fixed list of functions; it reaches nothing else. It
has a parser of its own rather than Python's, because Python cannot read ``out == 2 * in`` (``in``
and ``lambda`` are good names for kernel parameters) nor ``4Ki``, and because its messages and
columns change from one version to the next. Nothing here imports numpy: the parent process checks
the text, the worker evaluates it (:mod:`cudarun.arguments.evaluation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cudarun.arguments.literals import UNSIGNED_NUMBER, LiteralError, as_number
from cudarun.arguments.scanner import IDENTIFIER, Scanner, did_you_mean
from cudarun.arguments.types import NAMED, ScalarType
from cudarun.errors import ArgumentSyntaxError, RequestError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_OPERATIONS = 150
"""Operators, calls and indexings in one expression: no text can make evaluation recurse deeply."""


class Signature(NamedTuple):
    """How many arguments a function takes, and which keywords."""

    minimum: int
    maximum: int
    keywords: frozenset[str] = frozenset()


_REDUCTION = Signature(1, 1, frozenset({"axis", "keepdims"}))
_ELEMENTWISE = Signature(1, 1)
_AXIS = Signature(1, 1, frozenset({"axis"}))
_MANY = 32

FUNCTIONS: dict[str, Signature] = {
    **dict.fromkeys(("sum", "prod", "min", "max", "mean", "all", "any"), _REDUCTION),
    **dict.fromkeys(("abs", "sqrt", "exp", "log", "sin", "cos", "tanh", "isnan"), _ELEMENTWISE),
    **dict.fromkeys(("cumsum", "sort"), _AXIS),
    "arange": Signature(1, 3),
    "where": Signature(3, 3),
    "dot": Signature(2, 2),
    "bincount": Signature(1, 1, frozenset({"minlength"})),
    "transpose": Signature(1, _MANY),
    "reshape": Signature(2, _MANY),
}
"""The functions of the language, but for ``old``, ``load`` and the casts by type name."""

CASTS: dict[str, ScalarType] = {
    name: named
    for name, named in NAMED.items()
    if isinstance(named, ScalarType) and IDENTIFIER.fullmatch(name)
}
"""The scalar types that can be called as functions."""

CONSTANTS: dict[str, float | bool] = {
    "pi": 3.141592653589793,
    "inf": float("inf"),
    "nan": float("nan"),
    "true": True,
    "false": False,
}
"""Names that mean something where no argument has them."""

RESERVED = frozenset({"and", "or", "not"})
"""Words that cannot name an argument: they are operators here, and in C++ too."""


# --- the tree ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; an integer adapts to the type of what it meets."""

    value: int | float


@dataclass(frozen=True, slots=True)
class Name:
    """An argument, or one of :data:`CONSTANTS`."""

    name: str
    column: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Sequence:
    """``[1, 2, 3]`` or ``(2, 3)``: an array written out, or a shape."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x``, ``+x``, ``~x`` or ``not x``."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right``, for all operators but comparisons."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a < b <= c``: one operator fewer than operands."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of :data:`FUNCTIONS` or a cast."""

    function: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Old:
    """``old(…)``: its operand with the values from before the run."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Load:
    """``load("ref.npy")``."""

    path: str


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step`` within an index."""

    start: Node | None
    stop: Node | None
    step: Node | None


@dataclass(frozen=True, slots=True)
class Rest:
    """``...`` within an index: all the axes not otherwise named."""


@dataclass(frozen=True, slots=True)
class Index:
    """``base[items]``."""

    base: Node
    items: tuple[Node | Slice | Rest, ...]


@dataclass(frozen=True, slots=True)
class MemberOf:
    """``base["name"]``: a member of a struct."""

    base: Node
    member: str


Node: TypeAlias = (
    Number | Name | Sequence | Unary | Binary | Comparison | Call | Old | Load | Index | MemberOf
)


def children(node: Node | Slice | Rest) -> Iterator[Node | Slice | Rest]:
    """The nodes directly below."""
    match node:
        case Number() | Name() | Load() | Rest():
            return
        case Sequence():
            yield from node.items
        case Unary() | Old():
            yield node.operand
        case Binary():
            yield from (node.left, node.right)
        case Comparison():
            yield from node.operands
        case Call():
            yield from node.arguments
            yield from (value for _, value in node.keywords)
        case Index():
            yield node.base
            yield from node.items
        case MemberOf():
            yield node.base
        case Slice():
            yield from (part for part in (node.start, node.stop, node.step) if part is not None)


def walk(node: Node | Slice | Rest) -> Iterator[Node | Slice | Rest]:
    """``node`` and everything below it."""
    yield node
    for child in children(node):
        yield from walk(child)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression.

    Attributes:
        text: The text as given, without the space around it.
        node: Its syntax tree.
        source: The text that the columns of names count in; for a dimension, the whole argument.
    """

    text: str
    node: Node
    source: str = field(compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        """Every free name in it, those inside ``old(…)`` included."""
        return frozenset(n.name for n in walk(self.node) if isinstance(n, Name))

    @property
    def old_names(self) -> frozenset[str]:
        """The names whose values from before the run it needs."""
        olds = [n for n in walk(self.node) if isinstance(n, Old)]
        return frozenset(n.name for old in olds for n in walk(old) if isinstance(n, Name))

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that it loads, as written."""
        paths = (n.path for n in walk(self.node) if isinstance(n, Load))
        return tuple(dict.fromkeys(paths))

    def check_names(self, known: Iterable[str]) -> None:
        """Refuse names that are neither in ``known`` nor constants.

        Raises:
            ArgumentSyntaxError: At the first such name.
        """
        known = list(known)
        for node in walk(self.node):
            if isinstance(node, Name) and node.name not in known and node.name not in CONSTANTS:
                raise unknown_name(self, node, known)

    def __str__(self) -> str:
        return self.text


def unknown_name(expression: Expression, node: Name, known: Iterable[str]) -> ArgumentSyntaxError:
    """The error about a name that no argument has."""
    known = list(known)
    if node.name in FUNCTIONS or node.name in CASTS or node.name in ("old", "load"):
        hint: str | None = f"{node.name} is a function: {node.name}(…)"
    else:
        hint = did_you_mean(node.name, [*known, *CONSTANTS])
    names = f"; there are {', '.join(known)}" if known else ""
    message = f"unknown name {node.name!r}{names}"
    return ArgumentSyntaxError(message, expression.source, node.column, hint=hint)


# --- parsing -------------------------------------------------------------------------------------

_OPERATOR = re.compile(r"\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%@&|^~<>]|(?:and|or|not)\b")
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_PRECEDENCE = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(_COMPARISONS, 4),
    "|": 5,
    "^": 6,
    "&": 7,
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "//", "%", "@"), 10),
    "**": 12,
}
_NOT, _COMPARE, _SIGN = 3, 4, 11
_SIGNS = re.compile(r"[-+~]")
_NOT_WORD = re.compile(r"not\b")
_STRING = re.compile(r""""(?P<double>[^"\\]*)"|'(?P<single>[^'\\]*)'""")
_MISTAKES = {
    "&&": "write & between brackets, or and",
    "||": "write | between brackets, or or",
    "!": "write not",
    "?": "write where(condition, this, that)",
    "=": "write == to compare",
    ".": "there are no attributes here; functions are called: sum(x)",
    "if": "write where(condition, this, that)",
}


def parse_expression(text: str) -> Expression:
    """Parse the text of a ``--check`` or ``--print``.

    >>> sorted(parse_expression("y == a*x + old(y)").names)
    ['a', 'x', 'y']

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    scanner = Scanner(text)
    expression = read_expression(scanner)
    if not scanner.at_end:
        raise _unexpected(scanner)
    return expression


def read_expression(scanner: Scanner) -> Expression:
    """Read one expression from the middle of a text, up to whatever cannot belong to it."""
    start = scanner.skip_space()
    node = _Parser(scanner).expression()
    source = scanner.text
    return Expression(source[start : scanner.position].strip(), node, source)


def _unexpected(scanner: Scanner) -> ArgumentSyntaxError:
    for mistake, hint in _MISTAKES.items():
        if scanner.peek(mistake):
            return scanner.error(f"unexpected {mistake!r}", hint=hint)
    return scanner.error(f"unexpected {scanner.found()}")


class _Parser:
    """Precedence climbing over a scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.operations = 0
        self.inside_old = False

    def expression(self, minimum: int = 0) -> Node:
        with self.scanner.nested():
            left = self.operand(minimum)
            while (found := self.operator(minimum)) is not None:
                self.count()
                if found in _COMPARISONS:
                    left = self.comparison(left, found)
                elif found == "**":  # binds to the right, and looser than a sign to its right
                    left = Binary(found, left, self.expression(_SIGN))
                else:
                    left = Binary(found, left, self.expression(_PRECEDENCE[found] + 1))
            return left

    def operator(self, minimum: int) -> str | None:
        """Take the operator that follows if it binds at least as tightly as ``minimum``."""
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
                return Comparison(tuple(operands), tuple(operators))
            self.count()
            operators.append(found.group())

    def operand(self, minimum: int) -> Node:
        scanner = self.scanner
        if sign := scanner.match(_SIGNS):
            self.count()
            return Unary(sign.group(), self.expression(_SIGN))
        if minimum <= _NOT and scanner.match(_NOT_WORD):
            self.count()
            return Unary("not", self.expression(_NOT))
        return self.postfix(self.primary())

    def primary(self) -> Node:
        scanner = self.scanner
        start = scanner.skip_space()
        if scanner.accept("("):
            return self.group(")", start)
        if scanner.accept("["):
            return self.group("]", start)
        if number := scanner.match(UNSIGNED_NUMBER):
            return self.number(number.group(), start)
        word = scanner.match(IDENTIFIER)
        if word is None:
            if scanner.looks_at(_STRING):
                raise scanner.error('a string stands only in load("…") and in x["member"]')
            if scanner.at_end:
                raise scanner.error("expected a value, found the end")
            if scanner.text[start].isdecimal():
                raise scanner.error(f"{scanner.found()} is not a number")
            raise _unexpected(scanner)
        if word.group() in RESERVED:
            raise scanner.error(f"expected a value, found {word.group()!r}", start)
        if scanner.accept("("):
            return self.call(word.group(), start)
        return Name(word.group(), start)

    def number(self, text: str, start: int) -> Node:
        try:
            value = as_number(text)
        except LiteralError as error:
            raise self.scanner.error(str(error), start) from None
        if isinstance(value, int) and value > _HIGHEST:
            raise self.scanner.error(f"{text} does not fit 64 bits", start)
        return Number(value)

    def group(self, closing: str, start: int) -> Node:
        """The rest of ``(…)`` or ``[…]``; round brackets around one value are only brackets."""
        items, comma = self.items(closing)
        if closing == ")" and len(items) == 1 and not comma:
            return items[0]
        if not items:
            raise self.scanner.error("empty brackets", start)
        return Sequence(tuple(items))

    def items(self, closing: str) -> tuple[list[Node], bool]:
        """Values with commas between them up to ``closing``, and whether one came last."""
        items: list[Node] = []
        comma = True
        while not self.scanner.accept(closing):
            if not comma:
                self.scanner.expect(closing, "or ','")
            items.append(self.expression())
            comma = self.scanner.accept(",")
        return items, comma and bool(items)

    def postfix(self, node: Node) -> Node:
        while self.scanner.accept("["):
            self.count()
            if member := self.scanner.match(_STRING):
                self.scanner.expect("]", "after a member's name")
                node = MemberOf(node, _contents(member))
            else:
                node = Index(node, tuple(self.index_items()))
        return node

    def index_items(self) -> list[Node | Slice | Rest]:
        items = [self.index_item()]
        while self.scanner.accept(","):
            if self.scanner.peek("]"):
                break
            items.append(self.index_item())
        self.scanner.expect("]", "or ','")
        return items

    def index_item(self) -> Node | Slice | Rest:
        if self.scanner.accept("..."):
            return Rest()
        parts: list[Node | None] = [self.slice_part()]
        while len(parts) < 3 and self.scanner.accept(":"):
            parts.append(self.slice_part())
        if len(parts) > 1:
            return Slice(parts[0], parts[1], parts[2] if len(parts) == 3 else None)
        if parts[0] is None:
            raise self.scanner.error(f"expected an index, found {self.scanner.found()}")
        return parts[0]

    def slice_part(self) -> Node | None:
        if any(self.scanner.peek(end) for end in (":", ",", "]")):
            return None
        return self.expression()

    def call(self, name: str, start: int) -> Node:
        """The rest of ``name(…)``."""
        self.count()
        if name == "load":
            return self.load()
        if name == "old":
            return self.old(start)
        signature = _ELEMENTWISE if name in CASTS else FUNCTIONS.get(name)
        if signature is None:
            known = [*FUNCTIONS, *CASTS, "old", "load"]
            raise self.scanner.error(
                f"unknown function {name!r}", start, hint=did_you_mean(name, known)
            )
        arguments, keywords = self.call_arguments(name, signature)
        if not signature.minimum <= len(arguments) <= signature.maximum:
            raise self.scanner.error(_wrong_count(name, signature, len(arguments)), start)
        return Call(name, tuple(arguments), tuple(keywords))

    def call_arguments(
        self, name: str, signature: Signature
    ) -> tuple[list[Node], list[tuple[str, Node]]]:
        scanner = self.scanner
        arguments: list[Node] = []
        keywords: dict[str, Node] = {}
        comma = True
        while not scanner.accept(")"):
            if not comma:
                scanner.expect(")", "or ','")
            start = scanner.skip_space()
            if keyword := scanner.match(_KEYWORD):
                if keyword["name"] not in signature.keywords:
                    raise scanner.error(_wrong_keyword(name, signature, keyword["name"]), start)
                if keyword["name"] in keywords:
                    raise scanner.error(f"{keyword['name']}= is given twice", start)
                keywords[keyword["name"]] = self.expression()
            elif keywords:
                raise scanner.error("a value without a keyword after one with", start)
            else:
                arguments.append(self.expression())
            comma = scanner.accept(",")
        return arguments, list(keywords.items())

    def load(self) -> Node:
        found = self.scanner.match(_STRING)
        if found is None:
            raise self.scanner.error('load takes the path of a file in quotes: load("ref.npy")')
        self.scanner.expect(")", "after the path")
        return Load(_contents(found))

    def old(self, start: int) -> Node:
        if self.inside_old:
            raise self.scanner.error("old(…) within old(…)", start)
        self.inside_old = True
        operand = self.expression()
        self.inside_old = False
        self.scanner.expect(")", "after the one value that old takes")
        return Old(operand)

    def count(self) -> None:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            raise self.scanner.error(f"more than {MAX_OPERATIONS} operations in one expression")


_KEYWORD = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)")


def _contents(string: re.Match[str]) -> str:
    return string["double"] if string["double"] is not None else string["single"]


def _wrong_count(name: str, signature: Signature, given: int) -> str:
    least, most = signature.minimum, signature.maximum
    wanted = (
        str(least)
        if least == most
        else f"{least} or more"
        if most == _MANY
        else f"{least} to {most}"
    )
    keywords = ", ".join(f"{keyword}=" for keyword in sorted(signature.keywords))
    keywords = keywords and f" (and {keywords})"
    return f"{name} takes {wanted} value{'s' * (wanted != '1')}{keywords}; {given} given"


def _wrong_keyword(name: str, signature: Signature, keyword: str) -> str:
    known = ", ".join(f"{each}=" for each in sorted(signature.keywords))
    return f"{name} takes no {keyword}=" + (f", only {known}" if known else "")


# --- integers, exactly ---------------------------------------------------------------------------

_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise RequestError(f"{base} ** {exponent}: an integer to a negative power")
    if abs(base) > 1 and exponent > 64:
        return _HIGHEST + 1  # too large whatever the base: not worth computing
    return int(base**exponent)


def _shift(value: int, count: int) -> int:
    if count < 0:
        raise RequestError(f"shift by {count}: a shift counts from 0")
    return value << min(count, 65)


def _shift_right(value: int, count: int) -> int:
    if count < 0:
        raise RequestError(f"shift by {count}: a shift counts from 0")
    return value >> min(count, 65)


_INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": _power,
    "<<": _shift,
    ">>": _shift_right,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def integer_operation(operator: str, left: int, right: int) -> int:
    """``left operator right`` for two integers, exactly.

    Raises:
        RequestError: The result does not fit 64 bits, or there is none.
    """
    if operator in ("//", "%") and right == 0:
        raise RequestError(f"{left} {operator} 0: division by zero")
    result = _INTEGER_OPERATORS[operator](left, right)
    if not _LOWEST <= result <= _HIGHEST:
        raise RequestError(f"{left} {operator} {right} does not fit 64 bits")
    return result


def read_dimension(scanner: Scanner) -> Expression:
    """Read the dimension of a buffer: an expression of integers and names, such as ``2*n+1``.

    Raises:
        ArgumentSyntaxError: It has anything else in it.
    """
    start = scanner.skip_space()
    expression = read_expression(scanner)
    for node in walk(expression.node):
        problem = _not_of_a_dimension(node)
        if problem:
            raise scanner.error(f"{problem} in the dimension {expression.text!r}", start)
    return expression


def _not_of_a_dimension(node: Node | Slice | Rest) -> str | None:
    match node:
        case Number(float()):
            return f"{node.value} is not an integer"
        case Binary("/"):
            return "'/' does not give an integer (write '//')"
        case Binary(operator) | Unary(operator) if operator in (*_INTEGER_OPERATORS, "~"):
            return None
        case Number() | Name():
            return None
        case _:
            return "only numbers, names and integer operators can stand"


def evaluate_dimension(expression: Expression, integers: Mapping[str, int]) -> int:
    """The value of a dimension.

    Raises:
        RequestError: A name is not among ``integers``, or the value is negative or over 64 bits.
    """
    value = _integer(expression, expression.node, integers)
    if value < 0:
        raise RequestError(f"the dimension {expression.text!r} is {value}")
    return value


def _integer(expression: Expression, node: Node, integers: Mapping[str, int]) -> int:
    match node:
        case Number(int(value)):
            return value
        case Name(name) if name in integers:
            return integers[name]
        case Name(name):
            known = ", ".join(integers) or "none"
            raise RequestError(
                f"the dimension {expression.text!r} needs an integer argument named {name!r}; "
                f"the integer arguments are: {known}",
                hint=did_you_mean(name, integers),
            )
        case Unary(operator, operand):
            value = _integer(expression, operand, integers)
            return {"-": -value, "+": value, "~": ~value}[operator]
        case Binary(operator, left, right):
            return integer_operation(
                operator,
                _integer(expression, left, integers),
                _integer(expression, right, integers),
            )
        case _:
            raise AssertionError(f"read_dimension let {node} pass")


# --- evaluation ----------------------------------------------------------------------------------


def evaluate(
    expression: Expression,
    values: Mapping[str, Any],
    old: Mapping[str, Any],
    directory: Path = Path(),
) -> npt.NDArray[Any] | np.generic:
    """The value of an expression; see :mod:`cudarun.arguments.evaluation` for what it means.

    Args:
        expression: What to evaluate.
        values: Arrays and numpy scalars by name, after the run.
        old: The same before the run; only :attr:`Expression.old_names` are needed.
        directory: What relative paths in ``load(…)`` start from.

    Raises:
        ArgumentSyntaxError: A name that is not there.
        RequestError: The operation is not possible.
    """
    from cudarun.arguments.evaluation import Evaluator

    result: npt.NDArray[Any] | np.generic = Evaluator(expression, values, old, directory).result()
    return result
