"""The syntax tree of the expression language, and its vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from cudarun.arguments.scanner import IDENTIFIER, did_you_mean
from cudarun.arguments.types import NAMED, ScalarType
from cudarun.base.errors import ArgumentSyntaxError
from cudarun.base.records import dataclass


class Signature(NamedTuple):
    """The number of arguments and the keywords of a function."""

    minimum: int
    maximum: int
    keywords: frozenset[str] = frozenset()


_REDUCTION = Signature(1, 1, frozenset({"axis", "keepdims"}))
_SPREAD = Signature(1, 1, frozenset({"axis", "keepdims", "ddof"}))
_CLOSE = Signature(2, 2, frozenset({"rtol", "atol", "equal_nan"}))
ELEMENTWISE = Signature(1, 1)  # the signature of functions of one value, including casts

_AXIS = Signature(1, 1, frozenset({"axis"}))
MANY = 32  # the maximum number of arguments of a variadic function

OF_FLOAT = (
    *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan"),
    *("arcsinh", "arccosh", "arctanh", "isnan", "isinf", "isfinite"),
)
OF_TWO_FLOATS = ("arctan2", "hypot", "fmod", "copysign")
EXTREMES = ("maximum", "minimum", "fmax", "fmin")
ROUNDING = ("floor", "ceil", "trunc", "rint")
"""Elementwise functions of numpy: of a float64, of two, the larger or smaller one, rounded."""

FUNCTIONS: dict[str, Signature] = {
    **dict.fromkeys((*OF_FLOAT, *ROUNDING), ELEMENTWISE),
    **dict.fromkeys(("abs", "sign", "square", "rsqrt", "erf", "erfc"), ELEMENTWISE),
    "round": Signature(1, 2),
    **dict.fromkeys(("pow", *OF_TWO_FLOATS, *EXTREMES), Signature(2, 2)),
    **dict.fromkeys(("clip", "where"), Signature(3, 3)),
    **dict.fromkeys(("sum", "prod", "min", "max", "mean", "median"), _REDUCTION),
    **dict.fromkeys(("all", "any", "argmin", "argmax", "count_nonzero"), _REDUCTION),
    **dict.fromkeys(("std", "var"), _SPREAD),
    **dict.fromkeys(("allclose", "isclose"), _CLOSE),
    "array_equal": Signature(2, 2),
    **dict.fromkeys(("cumsum", "cumprod", "sort", "argsort", "flip", "squeeze"), _AXIS),
    **dict.fromkeys(("diff", "concatenate", "stack"), _AXIS),
    **dict.fromkeys(("roll", "repeat"), Signature(2, 2, frozenset({"axis"}))),
    **dict.fromkeys(("tril", "triu", "diag", "trace"), Signature(1, 2)),
    "tile": Signature(2, MANY),
    **dict.fromkeys(("ravel", "unique"), ELEMENTWISE),
    "arange": Signature(1, 3),
    "linspace": Signature(3, 3),
    **dict.fromkeys(("zeros", "ones"), Signature(1, MANY)),
    "full": Signature(2, 2),
    "eye": Signature(1, 1),
    **dict.fromkeys(("dot", "outer"), Signature(2, 2)),
    "einsum": Signature(1, MANY),
    "bincount": Signature(1, 1, frozenset({"minlength"})),
    "transpose": Signature(1, MANY),
    "reshape": Signature(2, MANY),
}
"""The functions of the language, except ``old``, ``load``, ``symbol`` and casts by type name."""

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
    "True": True,
    "False": False,
}
"""Names that have a meaning unless an argument has the same name."""

RESERVED = frozenset({"and", "or", "not"})
"""Words that cannot name an argument: they are operators here and in C++."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; an integer adapts to the type of the other operand."""

    value: int | float


@dataclass(frozen=True, slots=True)
class NamedVariable:
    """``symbol("ns::counter", u32)``: a variable of the image, with its type unless it is known."""

    name: str
    type: ScalarType | None = None

    def __str__(self) -> str:
        return f'symbol("{self.name}"{"" if self.type is None else f", {self.type}"})'


@dataclass(frozen=True, slots=True)
class Name:
    """An argument, a variable of the image, or one of :data:`CONSTANTS`."""

    name: str  # the name; of a ``symbol(…)`` the whole text
    column: int = field(compare=False)
    symbol: NamedVariable | None = None  # the variable, if only a variable can be meant


@dataclass(frozen=True, slots=True)
class SequenceLiteral:
    """``[1, 2, 3]`` or ``(2, 3)``: an array written out, or a shape."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x``, ``+x``, ``~x`` or ``not x``."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """``left operator right``, for all operators except comparisons."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """``a < b <= c``: one operator fewer than operands."""

    operands: tuple[Node, ...]
    operators: tuple[str, ...]
    is_claim: bool = False  # whether a check claims it, so that ``==`` has the check's tolerance


@dataclass(frozen=True, slots=True)
class Call:
    """A function of :data:`FUNCTIONS` or a cast; ``text`` is the first argument of ``einsum``."""

    function: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Old:
    """``old(…)``: its operand with the values from before the launch."""

    operand: Node


@dataclass(frozen=True, slots=True)
class FileLoad:
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
    """``...`` within an index: all remaining axes."""


@dataclass(frozen=True, slots=True)
class NewAxis:
    """``None`` within an index: a further axis of length 1."""


@dataclass(frozen=True, slots=True)
class Index:
    """``base[items]``."""

    base: Node
    items: tuple[IndexItem, ...]


@dataclass(frozen=True, slots=True)
class MemberOf:
    """``base["name"]``: a member of a struct."""

    base: Node
    member: str


Node: TypeAlias = (
    Number
    | Name
    | SequenceLiteral
    | Unary
    | Binary
    | Comparison
    | Call
    | Old
    | FileLoad
    | Index
    | MemberOf
)

IndexItem: TypeAlias = Node | Slice | Rest | NewAxis


def children(node: IndexItem) -> Iterator[IndexItem]:
    """Yield the direct children of a node."""
    parts: list[object] = [getattr(node, name) for name in node.__match_args__]
    while parts:
        part = parts.pop(0)
        if isinstance(part, IndexItem):
            yield part
        elif isinstance(part, tuple):
            parts[:0] = part


def with_children(node: IndexItem, change: Callable[[IndexItem], IndexItem]) -> Any:
    """Return a node with ``change`` applied to each direct child."""

    def changed(part: object) -> Any:
        if isinstance(part, tuple):
            return tuple(map(changed, part))
        return change(part) if isinstance(part, IndexItem) else part

    parts = (changed(getattr(node, name)) for name in node.__match_args__)
    return type(node)(*parts)


def walk(node: IndexItem) -> Iterator[IndexItem]:
    """Yield ``node`` and all its descendants."""
    yield node
    for child in children(node):
        yield from walk(child)


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression."""

    text: str  # the text as given, without surrounding space
    node: Node
    # The text that columns of names refer to; for a dimension, the whole argument.
    source: str = field(compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        """Every free name in the expression, including those inside ``old(…)``."""
        return frozenset(n.name for n in walk(self.node) if isinstance(n, Name))

    @property
    def old_names(self) -> frozenset[str]:
        """The names whose values from before the launch are needed."""
        olds = [n for n in walk(self.node) if isinstance(n, Old)]
        return frozenset(n.name for old in olds for n in walk(old) if isinstance(n, Name))

    @property
    def symbols(self) -> dict[str, NamedVariable]:
        """The variables that only ``symbol(…)`` names, by the names of their nodes."""
        names = (n for n in walk(self.node) if isinstance(n, Name))
        return {n.name: n.symbol for n in names if n.symbol is not None}

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that the expression loads, as written."""
        paths = (n.path for n in walk(self.node) if isinstance(n, FileLoad))
        return tuple(dict.fromkeys(paths))

    def check_names(
        self, known: Iterable[str], others: Callable[[], Iterable[str]] = tuple
    ) -> None:
        """Refuse names that are neither in ``known`` nor constants.

        Args:
            others: Returns further names for the message.

        Raises:
            ArgumentSyntaxError: At the first such name.
        """
        known = list(known)
        for node in walk(self.node):
            if isinstance(node, Name) and node.name not in known and node.name not in CONSTANTS:
                raise unknown_name(self, node, dict.fromkeys([*known, *others()]))

    def __str__(self) -> str:
        return self.text


def unknown_name(expression: Expression, node: Name, known: Iterable[str]) -> ArgumentSyntaxError:
    """Return the error about a name that no argument has."""
    known = list(known)
    if node.name in FUNCTIONS or node.name in CASTS or node.name in ("old", "load", "symbol"):
        hint: str | None = f"{node.name} is a function; call it: {node.name}(…)"
    else:
        hint = did_you_mean(node.name, [*known, *CONSTANTS])
        if hint is None and "." in node.name:
            hint = "a dot selects a member of a struct passed by value"
    names = f"; known names: {', '.join(known)}" if known else ""
    message = f"unknown name {node.name!r}{names}"
    return ArgumentSyntaxError(message, expression.source, node.column, hint=hint)
