"""The parser of an argument ``[NAME=]VALUE``; ``docs/reference/arguments.md`` has the grammar.

Everything that the text alone determines is checked here, before any driver call: numbers fit
their type, vectors have all components, lists are rectangular. :mod:`cudarun.arguments.binding`
checks what depends on the kernel or other arguments: dimensions, files, the parameter list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.literals import NUMBER, Form, LiteralError, read
from cudarun.arguments.scanner import IDENTIFIER, Scanner, did_you_mean
from cudarun.arguments.syntax import RESERVED, Expression
from cudarun.arguments.types import (
    NAMED,
    ArrayType,
    Kind,
    ScalarType,
    StructMember,
    StructType,
    Type,
    VectorType,
    inner_shape,
    innermost,
    scalars_of,
)
from cudarun.arguments.values import (
    Argument,
    ArrayValue,
    Buffer,
    Bytes,
    Constant,
    Element,
    Eye,
    FileBuffer,
    FileInitial,
    FileOrder,
    Initial,
    Iota,
    ListInitial,
    Member,
    Null,
    Rand,
    RandInt,
    Randn,
    Scalar,
    StructValue,
    SymbolAddress,
    UntypedNumber,
    Value,
    VectorValue,
)
from cudarun.errors import RequestError

__all__ = ["Argument", "parse_argument", "parse_arguments", "parse_type"]

INITIALS = ("zeros", "ones", "iota", "rand", "randn", "randint", "eye", "cast", "corder", "asis")
"""The words that start an initializer."""

_ORDERS = ("corder", "asis")

MAX_ARRAY = 1 << 20
"""The longest array member: its values are written individually."""

_ARGUMENT_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)")
_NUMBER_AHEAD = re.compile(r"[+-]?\s*(?:\.?[0-9]|(?:inf|nan|true|false)\b)")
_LITERAL_AHEAD = re.compile(rf"{_NUMBER_AHEAD.pattern}|\{{")
_SYMBOL = re.compile(r"[A-Za-z_$%][\w$]*(?:::[A-Za-z_$][\w$]*)*")
_HEX = re.compile(r"[0-9a-fA-F_]*")
_QUOTED = re.compile(r'"(?P<path>(?:[^"\\]|\\["\\])*)"')
_PATH_IN_STRUCT = re.compile(r"[^,}]*")
_PATH_IN_PARENTHESES = re.compile(r"[^,)]*")
_PATH = re.compile(r".*", re.DOTALL)
_PATH_ALONE = re.compile(r"(?P<path>[\w./~+-]+\.(?P<suffix>npy|bin|raw|dat))\s*$")
_COUNT = re.compile(r"[0-9]+")

_SEVERAL = "several numbers need a type, as in float4:1,2,3,4 or f32*5:1,2,3,4,5"
_A_VALUE = "a value is for instance f32:2.5, f32[n]:zeros, @x.npy or null"

_Kept = TypeVar("_Kept")


def parse_argument(text: str) -> Argument:
    """Parse one ARG.

    >>> parse_argument("x=float:0.5")
    Argument(name='x', value=Scalar(type=..., bits=1056964608), text='x=float:0.5')

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    scanner = Scanner(text)
    start = scanner.skip_space()
    found = scanner.match(_ARGUMENT_NAME)
    name = found["name"] if found else None
    if name in RESERVED:
        raise scanner.error(f"{name!r} is an operator of expressions: it names no argument", start)
    if scanner.at_end:
        raise scanner.error("expected a value, found the end")
    value = _ArgumentParser(scanner).whole_value(name)
    return Argument(name, value, text)


def parse_arguments(texts: Iterable[str]) -> tuple[Argument, ...]:
    """Parse all ARGs of a launch.

    Raises:
        ArgumentSyntaxError: With the column where a text goes wrong.
        RequestError: Two of them have the same name.
    """
    arguments = tuple(map(parse_argument, texts))
    seen: dict[str, Argument] = {}
    for argument in arguments:
        if argument.name is None:
            continue
        if argument.name in seen:
            first = seen[argument.name].text
            raise RequestError(
                f"two arguments are named {argument.name!r}: {first} and {argument.text}",
                argument=argument.name,
            )
        seen[argument.name] = argument
    return arguments


def parse_type(text: str) -> Type:
    """Parse a type on its own, such as ``float4`` or ``{n=i32, f32*4}``.

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    scanner = Scanner(text)
    found = _ArgumentParser(scanner).type_or_value()
    if not isinstance(found, Type):
        raise scanner.error("expected a type, found a value", 0)
    scanner.expect_end()
    return found


class _ArgumentParser:
    """A recursive-descent parser; each method parses what its name says from the scanner."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.in_struct = 0
        self.in_parentheses = 0

    # --- values ---

    def whole_value(self, name: str | None) -> Value:
        self.refuse_path(f"{name}=" if name else "")
        value = self.value()
        scanner = self.scanner
        if scanner.peek(",") and isinstance(value, VectorValue | ArrayValue):
            raise scanner.error(f"{value.type} takes no more than {value.type.count} values")
        if scanner.peek(",") and isinstance(value, UntypedNumber):
            raise scanner.error("unexpected ','", hint=_SEVERAL)
        scanner.expect_end()
        return value

    def refuse_path(self, before: str) -> None:
        """Refuse the path of a file without ``@``."""
        scanner = self.scanner
        if path := _PATH_ALONE.match(scanner.text, scanner.skip_space()):
            typed = "" if before.endswith(":") or path["suffix"] == "npy" else "f32[n]:"
            raise scanner.error(
                f"{path['path']!r} is a path without '@'",
                hint=f"did you mean {before}{typed}@{path['path']}?",
            )

    def value(self) -> Value:
        start = self.scanner.skip_space()
        found = self.type_or_value()
        if isinstance(found, Type):
            raise self._without_value(found, start)
        return found

    def type_or_value(self) -> Type | Value:
        """Parse a value, or a type without a value: only the context knows which is allowed."""
        scanner = self.scanner
        if scanner.accept("@"):
            return FileBuffer(self.path())
        if scanner.accept("&"):
            return SymbolAddress(self.required(_SYMBOL, "the name of a variable after '&'"))
        if scanner.looks_at(_NUMBER_AHEAD):
            return self.number()
        if scanner.peek("{"):
            found = self.braces()
            if isinstance(found, StructValue):
                return found
            return self.after_type(found)
        return self.word()

    def word(self) -> Type | Value:
        """Parse a construct that starts with a word: ``null``, ``bytes:`` or a type."""
        scanner = self.scanner
        start = scanner.skip_space()
        word = self.required(IDENTIFIER, "a value")
        if word == "null":
            return Null()
        if word == "bytes" and scanner.accept(":"):
            return self.bytes()
        if word in _ORDERS and scanner.peek("("):
            scanner.position = start
            return FileBuffer(*self.ordered_path())
        if word == "cast" and scanner.peek("("):
            raise scanner.error(
                "cast needs the buffer's type", start, hint="for instance x=f32[n]:cast(@x.npy)"
            )
        named = self.longest_name(word)
        if named is None:
            hint = did_you_mean(word, [*NAMED, "null", "bytes"]) or _A_VALUE
            if scanner.peek("="):
                hint = "an argument is NAME=VALUE"
            raise scanner.error(f"unknown type {word!r}", start, hint=hint)
        return self.after_type(named)

    def longest_name(self, word: str) -> ScalarType | VectorType | None:
        """Parse the type whose name starts with ``word``: C's type names have up to four words."""
        scanner = self.scanner
        name, named, end = word, NAMED.get(word), scanner.position
        for _ in range(3):
            more = scanner.match(IDENTIFIER)
            if more is None:
                break
            name += f" {more.group()}"
            if name in NAMED:
                named, end = NAMED[name], scanner.position
        scanner.position = end
        return named

    def after_type(self, element: Type) -> Type | Value:
        """Parse the optional ``*COUNT``, ``[DIMENSIONS]`` and ``:VALUE`` after a type."""
        scanner = self.scanner
        while scanner.accept("*"):
            element = self.array_type(element)
        if scanner.peek("["):
            return self.buffer(element)
        if scanner.accept(":"):
            return self.element(element)
        return element

    def array_type(self, element: Type) -> ArrayType:
        start = self.scanner.skip_space()
        count = self.required(_COUNT, f"the length of the array after '{element}*'")
        if len(count) > 9 or not 0 < int(count) <= MAX_ARRAY:
            raise self.scanner.error(f"an array has 1 to {MAX_ARRAY} elements", start)
        return ArrayType(element, int(count))

    def number(self) -> UntypedNumber:
        start = self.scanner.skip_space()
        text = self.required(NUMBER, "a number")
        with self.located(start):
            read(text)
        return UntypedNumber("".join(text.split()))

    def bytes(self) -> Bytes:
        start = self.scanner.skip_space()
        digits = self.required(_HEX, "hexadecimal digits").replace("_", "")
        if not digits:
            raise self.scanner.error("bytes: takes hexadecimal digits, two for each byte", start)
        if len(digits) % 2:
            raise self.scanner.error("an odd number of hexadecimal digits: two make a byte", start)
        return Bytes(bytes.fromhex(digits))

    def path(self) -> str:
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
        if self.in_parentheses:
            return _PATH_IN_PARENTHESES
        return _PATH_IN_STRUCT if self.in_struct else _PATH

    def parenthesized(self, word: str, parse: Callable[[], _Kept]) -> _Kept:
        """Parse the file in the parentheses after ``word``."""
        self.scanner.expect("(", f"after {word}")
        self.in_parentheses += 1
        found = parse()
        self.in_parentheses -= 1
        self.scanner.expect(")", f"after the file of {word}")
        return found

    def ordered_path(self) -> tuple[str, FileOrder]:
        """Parse ``@path``, ``corder(@path)`` or ``asis(@path)``."""
        word = self.scanner.match(IDENTIFIER)
        if word is None:
            self.scanner.expect("@", "before the path of a file")
            return self.path(), FileOrder.PLAIN
        if word.group() not in _ORDERS:
            expected = "@path, corder(@path) or asis(@path)"
            raise self.scanner.error(f"expected {expected}, found {word.group()!r}", word.start())
        order = FileOrder(word.group())
        path, inner = self.parenthesized(word.group(), self.ordered_path)
        if inner is not FileOrder.PLAIN:
            raise self.scanner.error(f"{order.value} and {inner.value} exclude each other")
        return path, order

    # --- structs ---

    def braces(self) -> StructType | StructValue:
        """Parse ``{…}``: a struct value when all members have a value, a type when none has."""
        scanner = self.scanner
        start = scanner.skip_space()
        members: list[tuple[str | None, Type | Value, int]] = []
        self.in_struct += 1
        with scanner.nested():
            scanner.expect("{", "before the members of a struct")
            while True:
                if not members and scanner.peek("}"):
                    raise scanner.error("a struct without members", start)
                members.append(self.member(taken=[name for name, _, _ in members]))
                if not scanner.accept(","):
                    break
            scanner.expect("}", "or ',' after a member")
        self.in_struct -= 1
        return self._struct(members)

    def member(self, taken: list[str | None]) -> tuple[str | None, Type | Value, int]:
        start = self.scanner.skip_space()
        found = self.scanner.match(_ARGUMENT_NAME)
        name = found["name"] if found else None
        if name is not None and name in taken:
            raise self.scanner.error(f"two members are named {name!r}", start)
        start = self.scanner.skip_space()
        what = self.type_or_value()
        if isinstance(what, UntypedNumber):
            raise self.scanner.error(
                f"{what} needs a type: in a struct the kernel cannot tell it",
                start,
                hint=f"i32:{what}, f32:{what}, …",
            )
        return name, what, start

    def _struct(
        self, members: list[tuple[str | None, Type | Value, int]]
    ) -> StructType | StructValue:
        types = [what for _, what, _ in members if isinstance(what, Type)]
        if len(types) == len(members):
            return StructType(
                tuple(StructMember(name, w) for name, w, _ in members if isinstance(w, Type))
            )
        for _, what, start in members:
            if isinstance(what, Type):
                raise self._without_value(what, start)
        return StructValue(
            tuple(Member(name, w) for name, w, _ in members if not isinstance(w, Type))
        )

    def _without_value(self, element: Type, start: int) -> RequestError:
        return self.scanner.error(
            f"{element} needs a value or dimensions",
            start,
            hint=f"a value: {element}:…   a buffer: {element}[n]",
        )

    # --- literals of a type ---

    def element(self, element: Type) -> Element:
        """Parse a value without its type: ``1,2,3,4`` for ``float4``."""
        match element:
            case ScalarType():
                return self.scalar(element)
            case VectorType():
                components = self.run(element, element.count, lambda: self.scalar(element.scalar))
                return VectorValue(element, components)
            case ArrayType():
                inner = element.element
                return ArrayValue(
                    element, self.run(element, element.count, lambda: self.element(inner))
                )
            case StructType():
                return self.struct_literal(element)
            case _:
                raise AssertionError(f"no text gives the type {element}")

    def scalar(self, scalar: ScalarType) -> Scalar:
        start = self.scanner.skip_space()
        found = self.scanner.match(NUMBER)
        if found is None:
            raise self.scanner.error(
                f"expected {_described(scalar)}, found {self.scanner.found()}", start
            )
        with self.located(start):
            return UntypedNumber(found.group()).of(scalar)

    def run(self, whole: Type, count: int, one: Callable[[], _Kept]) -> tuple[_Kept, ...]:
        """Parse ``count`` comma-separated values."""
        scanner = self.scanner
        values = [one()]
        while len(values) < count:
            if not (scanner.accept(",") and scanner.looks_at(_LITERAL_AHEAD)):
                raise scanner.error(f"{whole} takes {count} values; {len(values)} given")
            values.append(one())
        return tuple(values)

    def struct_literal(self, struct: StructType) -> StructValue:
        scanner = self.scanner
        scanner.expect("{", f"before the members of {struct}")
        members: list[Member] = []
        with scanner.nested():
            for member in struct.members:
                if members:
                    scanner.expect(",", f"before member {len(members) + 1} of {struct}")
                members.append(Member(member.name, self.element(member.type)))
            scanner.expect("}", f"after the {len(members)} members of {struct}")
        return StructValue(tuple(members))

    # --- buffers ---

    def buffer(self, element: Type) -> Buffer:
        scanner = self.scanner
        scanner.expect("[", "before dimensions")
        if scanner.peek("]"):
            raise scanner.error(
                f"a buffer needs its dimensions: {element}[n]; one element is {element}[1]"
            )
        dimensions = [read_dimension(scanner)]
        while scanner.accept(","):
            dimensions.append(read_dimension(scanner))
        scanner.expect("]", "or ',' after a dimension")
        initial = self.initial(element, tuple(dimensions)) if scanner.accept(":") else None
        return Buffer(element, tuple(dimensions), initial)

    def initial(self, element: Type, dimensions: tuple[Expression, ...]) -> Initial:
        scanner = self.scanner
        start = scanner.skip_space()
        if scanner.accept("@"):
            return FileInitial(self.path())
        self.refuse_path(scanner.text[:start].rstrip())
        if scanner.peek("["):
            return self.list_initial(element, len(dimensions) + len(inner_shape(element)))
        if scanner.looks_at(_NUMBER_AHEAD):
            return self.constant(element)
        word = self.required(IDENTIFIER, "an initialiser")
        if word not in INITIALS:
            raise scanner.error(
                f"unknown initialiser {word!r}", start, hint=did_you_mean(word, INITIALS)
            )
        return self.named_initial(word, element, len(dimensions), start)

    def constant(self, element: Type) -> Constant:
        start = self.scanner.skip_space()
        number = self.number()
        self.fits(number, element, start)
        return Constant(number)

    def named_initial(self, word: str, element: Type, axes: int, start: int) -> Initial:
        scalars = scalars_of(element)
        match word:
            case "cast":
                if not isinstance(innermost(element), ScalarType):
                    raise self.scanner.error(f"cast converts to numbers, not to {element}", start)
                path, order = self.parenthesized(word, self.ordered_path)
                return FileInitial(path, order, cast=True)
            case "corder" | "asis":
                self.scanner.position = start
                return FileInitial(*self.ordered_path())
            case "zeros" | "ones":
                return Constant(UntypedNumber("0" if word == "zeros" else "1"))
            case "iota":
                self.refuse(scalars, Kind.BOOL, "iota counts; a bool cannot", start)
                return Iota(*self.parameters(word, element, (0, 1, 2)))
            case "rand" | "randn":
                hint = f"randint(lo,hi) for {_plural(scalars)}"
                for kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.BOOL):
                    self.refuse(scalars, kind, f"{word} gives fractions", start, hint=hint)
                return Rand(*self.parameters(word, element, (0, 2))) if word == "rand" else Randn()
            case "randint":
                return self.randint(element, start)
            case _:
                if axes < 2 or not isinstance(element, ScalarType):
                    raise self.scanner.error("eye is for buffers of scalars with two axes", start)
                return Eye()

    def randint(self, element: Type, start: int) -> RandInt:
        low, high = self.parameters("randint", element, (2,), ends_open=True)
        first, end = read(low.text), read(high.text)
        if first.form is not Form.INTEGER or end.form is not Form.INTEGER:
            raise self.scanner.error("randint takes two integers", start)
        if first.integer >= end.integer:
            raise self.scanner.error(f"randint({low},{high}) leaves nothing to choose", start)
        self.fits(UntypedNumber(str(end.integer - 1)), element, start)
        return RandInt(low, high)

    def parameters(
        self, word: str, element: Type, counts: tuple[int, ...], *, ends_open: bool = False
    ) -> list[UntypedNumber]:
        """Parse ``(number, …)``; with ``ends_open`` the last may exceed the type by 1."""
        scanner = self.scanner
        numbers: list[UntypedNumber] = []
        start = scanner.skip_space()
        if scanner.accept("("):
            while True:
                at = scanner.skip_space()
                numbers.append(self.number())
                if not (ends_open and len(numbers) == counts[-1]):
                    self.fits(numbers[-1], element, at)
                if not scanner.accept(","):
                    break
            scanner.expect(")", f"after the numbers of {word}")
        if len(numbers) not in counts:
            wanted = " or ".join(str(count) for count in counts if count)
            raise scanner.error(f"{word} takes {wanted} numbers; {len(numbers)} given", start)
        return numbers

    def list_initial(self, element: Type, levels: int) -> ListInitial:
        """Parse nested lists, a level for each of the buffer's axes, including the element's."""
        scanner = self.scanner
        start = scanner.skip_space()
        if not scanner.accept("["):
            raise scanner.error(
                f"expected a list, as the buffer has more axes; found {scanner.found()}"
            )
        items: list[ListInitial | Scalar | StructValue] = []
        with scanner.nested():
            while not scanner.peek("]"):
                at = scanner.skip_space()
                item = self.list_item(element, levels)
                first = items[0] if items else item
                shapes = [i.shape for i in (first, item) if isinstance(i, ListInitial)]
                if len(set(shapes)) > 1:
                    raise scanner.error(
                        f"a list of shape {_shape(shapes[1])} after one of {_shape(shapes[0])}", at
                    )
                items.append(item)
                if not scanner.accept(","):
                    break
            scanner.expect("]", "or ',' in a list")
        if not items and levels > 1:
            raise scanner.error("an empty list says nothing of the axes within it", start)
        return ListInitial(tuple(items))

    def list_item(self, element: Type, levels: int) -> ListInitial | Scalar | StructValue:
        if levels > 1:
            return self.list_initial(element, levels - 1)
        inner = innermost(element)
        if isinstance(inner, StructType):
            return self.struct_literal(inner)
        if not isinstance(inner, ScalarType):
            raise AssertionError(f"no text gives the type {inner}")
        if self.scanner.peek("["):
            raise self.scanner.error("a list where the buffer has no more axes")
        return self.scalar(inner)

    # --- small things ---

    def required(self, pattern: re.Pattern[str], what: str) -> str:
        found = self.scanner.match(pattern)
        if found is None:
            raise self.scanner.error(f"expected {what}, found {self.scanner.found()}")
        return found.group()

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

    def refuse(
        self,
        scalars: tuple[ScalarType, ...],
        kind: Kind,
        why: str,
        column: int,
        *,
        hint: str | None = None,
    ) -> None:
        for scalar in scalars:
            if scalar.kind is kind:
                raise self.scanner.error(f"{why}: not for {scalar}", column, hint=hint)


def _described(scalar: ScalarType) -> str:
    return {Kind.FLOAT: "a number", Kind.BOOL: "true or false"}.get(scalar.kind, "an integer")


def _plural(scalars: tuple[ScalarType, ...]) -> str:
    return " and ".join(map(str, scalars))


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))
