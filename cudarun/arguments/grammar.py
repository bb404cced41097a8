"""The parser of an argument ``[NAME=]VALUE``; ``docs/reference/arguments.md`` has the grammar.

Everything that the text alone determines is checked here, before any driver call: numbers fit
their type, vectors have all components, lists are rectangular. :mod:`cudarun.arguments.binding`
checks what depends on the kernel or other arguments: dimensions, files, the parameter list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cudarun.arguments import types, values
from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.expressions.syntax import RESERVED
from cudarun.arguments.frameworks import FRAMEWORKS, FrameworkRules
from cudarun.arguments.objects import OBJECTS, ObjectRules
from cudarun.arguments.scanner import (
    DOTTED,
    IDENTIFIER,
    MEMBER,
    SYMBOL,
    Scanner,
    cached,
    did_you_mean,
)
from cudarun.arguments.value_rules import EXPRESSION_AHEAD, NUMBER_AHEAD, ORDERS
from cudarun.arguments.values import walk
from cudarun.base.errors import RequestError

MAX_ARRAY = 1 << 20  # the longest array member: its values are written individually

_ARGUMENT_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=(?!=)")
ARGUMENT_OR_SYMBOL = re.compile(rf"{IDENTIFIER.pattern}{MEMBER}+|{SYMBOL.pattern}")
"""A buffer, also one within a struct or a list (``s.p``, ``ptrs.0``), or a variable."""
_SETTING = re.compile(rf"(?P<name>{SYMBOL.pattern})\s*=(?!=)")
_REFERENCE = re.compile(rf"{DOTTED}(?=\s*(?:[,}}]|\Z))")
_CONSTRUCTS = frozenset((*FRAMEWORKS, *ORDERS, *OBJECTS, "tensormap", "bytes"))
_AFTER_TYPE = re.compile(r"[:\[=]")
_HEX = re.compile(r"[0-9a-fA-F_]*")
_COUNT = re.compile(r"[0-9]+")

_SEVERAL = "several numbers are float4:1,2,3,4, f32*5:1,2,3,4,5 or in a buffer f32[3]:[1,2,3]"
_A_VALUE = "examples of values: f32:2.5, f32[n]:zeros, @x.npy, texture(f32[n]:rand), null"


def parse_argument(text: str | values.Argument) -> values.Argument:
    """Parse one ARG; that of a program may be parsed already.

    >>> parse_argument("x=float:0.5")
    Argument(name='x', value=Scalar(type=..., bits=1056964608), text='x=float:0.5')

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    return text if isinstance(text, values.Argument) else _parse_argument(text)


@cached
def _parse_argument(text: str) -> values.Argument:
    scanner = Scanner(text)
    start = scanner.skip_space()
    parser = _ArgumentParser(scanner)
    name = parser.name()
    if name in RESERVED:
        raise scanner.error(
            f"{name!r} is an operator of expressions and cannot name an argument", start
        )
    if scanner.at_end:
        raise scanner.error("expected a value, found the end")
    return values.Argument(name, parser.whole_value(name), text)


def parse_setting(text: str | values.Argument) -> values.Argument:
    """Parse ``NAME=VALUE`` of ``--set``: a variable of the image and its value.

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    if isinstance(text, values.Argument):
        return text
    scanner = Scanner(text)
    start = scanner.skip_space()
    found = scanner.match(_SETTING)
    if found is None:
        raise scanner.error("expected NAME=VALUE", start, hint="example: 'coef=f32[5]:zeros'")
    start = scanner.skip_space()
    value = _ArgumentParser(scanner).whole_value(found["name"])
    for each in walk(value):
        if isinstance(each, values.ObjectValue):
            hint = "pass it as an argument; CUDA 12 has no texture references"
            raise scanner.error(f"a {each.word} cannot be written to a variable", start, hint=hint)
        if isinstance(each, values.TensorMapValue):
            raise scanner.error("a tensor map cannot be written to a variable", start)
    return values.Argument(found["name"], value, text)


def parse_buffer(given: str | values.Argument) -> values.Argument:
    """Parse ``NAME=VALUE`` of ``--buffer``: memory that is not a parameter.

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    argument = parse_argument(given)
    text = argument.text
    scanner = Scanner(text)
    if argument.name is None:
        raise scanner.error("expected NAME=VALUE", 0, hint="example: 'tmp=f32[n]'")
    if not isinstance(argument.value, values.Buffer | values.FileBuffer):
        raise scanner.error(
            f"{argument.value} is not a buffer", len(text) - len(text.split("=", 1)[1]),
            hint="examples: f32[n]:zeros, @x.npy",
        )  # fmt: skip
    return argument


def parse_arguments(texts: Iterable[str | values.Argument]) -> tuple[values.Argument, ...]:
    """Parse all ARGs of a launch.

    Raises:
        ArgumentSyntaxError: With the column where a text goes wrong.
        RequestError: Two of them have the same name.
    """
    arguments = tuple(map(parse_argument, texts))
    seen: dict[str, values.Argument] = {}
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


def parse_type(text: str) -> types.Type:
    """Parse a type on its own, such as ``float4`` or ``{n=i32, f32*4}``.

    Raises:
        ArgumentSyntaxError: With the column where the text goes wrong.
    """
    scanner = Scanner(text)
    found = _ArgumentParser(scanner).type_or_value()
    if not isinstance(found, types.Type):
        raise scanner.error("expected a type, found a value", 0)
    scanner.expect_end()
    return found


class _ArgumentParser(ObjectRules, FrameworkRules):
    """The values and types of arguments."""

    def name(self) -> str | None:
        """Parse the optional ``NAME=``."""
        found = self.scanner.match(_ARGUMENT_NAME)
        return found["name"] if found else None

    def whole_value(self, name: str | None) -> values.Value:
        self.refuse_path(f"{name}=" if name else "")
        value = self.value()
        scanner = self.scanner
        if scanner.peek(",") and isinstance(value, values.SequenceValue):
            raise scanner.error(f"{value.type} accepts at most {value.type.count} values")
        if scanner.peek(","):
            raise scanner.error("unexpected ','", hint=_SEVERAL)
        scanner.expect_end()
        return value

    def value(self) -> values.Value:
        start = self.scanner.skip_space()
        found = self.type_or_value()
        if isinstance(found, types.Type):
            raise self._without_value(found, start)
        return found

    def type_or_value(self) -> types.Type | values.Value:
        """Parse a value, or a type without a value: only the context knows which is allowed."""
        scanner = self.scanner
        if scanner.accept("@"):
            return values.FileBuffer(self.path())
        if scanner.peek("&"):
            return self.address()
        if scanner.looks_at(NUMBER_AHEAD) or scanner.looks_at(EXPRESSION_AHEAD):
            return self.computed() or self.number()
        if scanner.peek("[") and self.closing[-1:] == ["}"]:
            return self.listed()
        if scanner.peek("{"):
            found = self.braces()
            if isinstance(found, values.StructValue):
                return found
            return self.after_type(found)
        return self.word()

    def address(self) -> values.AddressOf:
        """Parse ``&NAME`` or ``&NAME[INDEX]``."""
        scanner = self.scanner
        scanner.expect("&", "before a name")
        name = self.required(ARGUMENT_OR_SYMBOL, "the name of a buffer or a variable after '&'")
        index = None
        if scanner.accept("["):
            index = read_dimension(scanner)
            scanner.expect("]", "after the index")
        return values.AddressOf(name, index)

    def pointer(self) -> values.Pointer:
        start = self.scanner.skip_space()
        value = self.value()
        if not isinstance(value, values.Pointer):
            raise self.scanner.error(
                f"expected an address, found {value}", start, hint="examples: &a, &a[128], null"
            )
        return value

    def word(self) -> types.Type | values.Value:
        """Parse a construct that starts with a word: ``null``, ``bytes:`` or a type."""
        scanner = self.scanner
        start = scanner.skip_space()
        if scanner.peek("["):
            raise scanner.error("a list requires a type", hint=_SEVERAL)
        word = self.required(IDENTIFIER, "a value")
        if word == "null":
            return values.Null()
        if word == "bytes" and scanner.accept(":"):
            return self.bytes()
        if word in FRAMEWORKS and scanner.peek("("):
            return self.framework(word, start)
        if word == "tensormap" and scanner.peek("("):
            return self.tensor_map()
        if word == "ptr":
            return self.after_type(types.ADDRESS)
        if word in ORDERS and scanner.peek("("):
            scanner.position = start
            return values.FileBuffer(*self.ordered_path())
        if word in OBJECTS and scanner.peek("("):
            return self.object(word)
        if word == "cast" and scanner.peek("("):
            raise scanner.error(
                "cast requires the type of the buffer", start, hint="example: x=f32[n]:cast(@x.npy)"
            )
        # C's type names have up to four words: the longest one is meant.
        name, named, end = word, types.NAMED.get(word), scanner.position
        for _ in range(3):
            more = scanner.match(IDENTIFIER)
            if more is None:
                break
            name += f" {more.group()}"
            if name in types.NAMED:
                named, end = types.NAMED[name], scanner.position
        scanner.position = end
        if named is None and word not in _CONSTRUCTS and not scanner.looks_at(_AFTER_TYPE):
            scanner.position = start
            if reference := scanner.match(_REFERENCE):
                return values.Reference(reference.group())
            found = self.computed()
            assert found is not None, "an expression may start with a word"
            return found
        if named is None:
            hint = did_you_mean(word, [*types.NAMED, "null", "bytes", "tensormap"]) or _A_VALUE
            if scanner.peek("="):
                hint = "write an argument as NAME=VALUE"
            raise scanner.error(f"unknown type {word!r}", start, hint=hint)
        return self.after_type(named)

    def after_type(self, element: types.Type) -> types.Type | values.Value:
        """Parse the optional ``*COUNT``, ``[DIMENSIONS]`` and ``:VALUE`` after a type."""
        scanner = self.scanner
        while scanner.accept("*"):
            start = scanner.skip_space()
            if types.has_pointers(element):
                hint = "use a struct: {&a, &b}"
                raise scanner.error(
                    "an array of addresses is not passed by value", start, hint=hint
                )
            count = self.required(_COUNT, f"the length of the array after '{element}*'")
            if len(count) > 9 or not 0 < int(count) <= MAX_ARRAY:
                raise scanner.error(f"an array has 1 to {MAX_ARRAY} elements", start)
            element = types.ArrayType(element, int(count))
            self.check_depth(element, start)
        if scanner.peek("["):
            return self.buffer(element)
        if scanner.accept(":"):
            if isinstance(element, types.ScalarType) and (found := self.computed(element)):
                return found
            return self.filled_array(element) or self.member_value(element)
        return element

    def bytes(self) -> values.Bytes:
        start = self.scanner.skip_space()
        digits = self.required(_HEX, "hexadecimal digits").replace("_", "")
        if not digits:
            raise self.scanner.error("bytes: requires hexadecimal digits, two per byte", start)
        if len(digits) % 2:
            raise self.scanner.error("odd number of hexadecimal digits; each byte has two", start)
        return values.Bytes(bytes.fromhex(digits))

    def braces(self) -> types.StructType | values.StructValue:
        """Parse ``{…}``: a struct value when all members have a value, a type when none has."""
        scanner = self.scanner
        start = scanner.skip_space()
        taken: set[str] = set()
        with self.enclosed("}"), scanner.nested(types.MAX_DEPTH):
            scanner.expect("{", "before the members of a struct")
            if scanner.peek("}"):
                raise scanner.error("the struct has no members", start)
            members = scanner.several(lambda: self.member(taken))
            scanner.expect("}", "or ',' after a member")
        typed = [
            types.StructMember(n, each) for n, each, _ in members if isinstance(each, types.Type)
        ]
        if len(typed) == len(members):
            struct = types.StructType(tuple(typed))
            self.check_depth(struct, start)
            return struct
        given: list[values.Member] = []
        for name, each, at in members:
            if isinstance(each, types.Type):
                raise self._without_value(each, at)
            given.append(values.Member(name, each))
        found = values.StructValue(tuple(given))
        if values.has_type(found):
            self.check_depth(found.type, start)
        return found

    def listed(self) -> values.StructValue:
        """Parse ``[…]``, an array in a struct; ``{…}`` is the same."""
        scanner = self.scanner
        with scanner.nested(types.MAX_DEPTH):
            scanner.expect("[", "before the elements of an array")
            elements = scanner.several(self.value)
            scanner.expect("]", "or ',' after an element")
        return values.StructValue(tuple(values.Member(None, each) for each in elements))

    def check_depth(self, element: types.Type, start: int) -> None:
        """Bound the recursion of all that follows a type into its parts."""
        if types.depth(element) > types.MAX_DEPTH:
            raise self.scanner.error(f"a type has more than {types.MAX_DEPTH} levels", start)

    def member(self, taken: set[str]) -> tuple[str | None, types.Type | values.Value, int]:
        start = self.scanner.skip_space()
        name = self.name()
        if name in taken:
            raise self.scanner.error(f"two members are named {name!r}", start)
        taken |= {name} if name else set()
        start = self.scanner.skip_space()
        return name, self.type_or_value(), start

    def _without_value(self, element: types.Type, start: int) -> RequestError:
        return self.scanner.error(
            f"{element} requires a value or dimensions",
            start,
            hint=f"a value: {element}:…   a buffer: {element}[n]",
        )
