"""Buffers in arguments: dimensions and initializers."""

from __future__ import annotations

import math
import re
from functools import partial

from cudarun.arguments import types
from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.initial_values import DEFAULT_NUMBERS, Constant, FileInitial, Generated
from cudarun.arguments.literals import Form, read
from cudarun.arguments.scalars import UntypedNumber
from cudarun.arguments.scanner import IDENTIFIER, did_you_mean
from cudarun.arguments.value_rules import NUMBER_AHEAD, ValueRules
from cudarun.arguments.values import Buffer, Initial, Leaf, ListInitial

INITIALS = ("zeros", "ones", "iota", "rand", "randn", "randint", "eye", "cast", "corder", "asis")
"""The words that start an initializer."""

_ZEROS = re.compile(r"zeros\b")
_ADDRESSES = "examples: ptr[2]:[&a, &b[16]], {p=ptr, n=i32}[1]:[{&a, 4}], ptr[n]:zeros"
_ALL = "use zeros, ones, iota, rand, randn, randint, eye, a number, a list or @FILE"


class BufferRules(ValueRules):
    """The dimensions and the initializer of a buffer; the type of its elements is known."""

    def buffer(self, element: types.Type) -> Buffer:
        """Parse ``[DIMENSIONS]`` and the optional ``:INITIALIZER``."""
        scanner = self.scanner
        start = scanner.skip_space()
        scanner.expect("[", "before dimensions")
        if scanner.peek("]"):
            raise scanner.error(
                f"a buffer requires dimensions: {element}[n], or {element}[1] for one element"
            )
        dimensions = tuple(scanner.several(partial(read_dimension, scanner)))
        scanner.expect("]", "or ',' after a dimension")
        if scanner.peek("["):  # as a declaration of C++
            raise scanner.error(
                "unexpected '['", hint=f"separate dimensions by commas: {element}[m,n]"
            )
        if len(dimensions) + len(types.inner_shape(element)) > types.MAX_DEPTH:
            raise scanner.error(f"a buffer has more than {types.MAX_DEPTH} axes", start)
        initial = self.initial(element, dimensions) if scanner.accept(":") else None
        return Buffer(element, dimensions, initial)

    def initial(self, element: types.Type, dimensions: tuple[Expression, ...]) -> Initial:
        """Parse an initializer."""
        scanner = self.scanner
        start = scanner.skip_space()
        if types.has_pointers(element) and not (scanner.peek("[") or scanner.looks_at(_ZEROS)):
            raise scanner.error("a buffer of addresses requires a list", start, hint=_ADDRESSES)
        if scanner.accept("@"):
            return FileInitial(self.path())
        self.refuse_path(scanner.text[:start].rstrip())
        if scanner.peek("["):
            return self.list_initial(element, len(dimensions) + len(types.inner_shape(element)))
        if scanner.looks_at(NUMBER_AHEAD):
            number = self.number()
            self.fits(number, element, start)
            return Constant(number)
        word = self.required(IDENTIFIER, "an initializer")
        if word not in INITIALS:
            raise scanner.error(
                f"unknown initializer {word!r}", start, hint=did_you_mean(word, INITIALS) or _ALL
            )
        axes = len(dimensions)
        scalars = types.scalars_of(element)
        match word:
            case "cast":
                if not isinstance(types.innermost(element), types.ScalarType):
                    raise self.scanner.error(f"cast converts to numbers, not to {element}", start)
                path, order = self.parenthesized(word, self.ordered_path)
                return FileInitial(path, order, cast=True)
            case "corder" | "asis":
                self.scanner.position = start
                return FileInitial(*self.ordered_path())
            case "zeros" | "ones":
                return Constant(UntypedNumber("0" if word == "zeros" else "1"))
            case "iota":
                self.refuse(scalars, types.Kind.BOOL, "iota requires a numeric type", start)
                return Generated(word, self.parameters(word, element, (0, 1, 2)))
            case "rand" | "randn":
                hint = f"randint(lo,hi) for {' and '.join(map(str, scalars))}"
                for kind in (types.Kind.SIGNED, types.Kind.UNSIGNED, types.Kind.BOOL):
                    self.refuse(scalars, kind, f"{word} produces fractions", start, hint=hint)
                return self.rand(element, start) if word == "rand" else Generated(word)
            case "randint":
                return self.randint(element, start)
            case _:
                if axes < 2 or not isinstance(element, types.ScalarType):
                    raise self.scanner.error(
                        "eye requires a buffer of scalars with two axes", start
                    )
                return Generated(word)

    def rand(self, element: types.Type, start: int) -> Generated:
        """Parse the bounds of ``rand``."""
        low, high = self.parameters("rand", element, (0, 2))
        rand = Generated("rand", (low, high))
        for scalar in types.scalars_of(element):
            if not math.isfinite(high.as_float(scalar) - low.as_float(scalar)):
                raise self.scanner.error(f"{rand}: the range is too wide for a double", start)
        return rand

    def randint(self, element: types.Type, start: int) -> Generated:
        """Parse the bounds of ``randint``."""
        low, high = self.parameters("randint", element, (2,), ends_open=True)
        first, end = read(low.text), read(high.text)
        if first.form is not Form.INTEGER or end.form is not Form.INTEGER:
            raise self.scanner.error("randint requires two integers", start)
        if first.integer >= end.integer:
            raise self.scanner.error(f"randint({low},{high}) is an empty range", start)
        self.fits(UntypedNumber(str(end.integer - 1)), element, start)
        return Generated("randint", (low, high))

    def parameters(
        self, word: str, element: types.Type, counts: tuple[int, ...], *, ends_open: bool = False
    ) -> tuple[UntypedNumber, ...]:
        """Parse ``(number, …)``, and complete it by the defaults.

        With ``ends_open`` the last number may exceed the type by 1.
        """
        scanner = self.scanner
        numbers: list[UntypedNumber] = []
        start = scanner.skip_space()
        if scanner.accept("("):
            while not numbers or scanner.accept(","):
                at = scanner.skip_space()
                numbers.append(self.number())
                if not (ends_open and len(numbers) == counts[-1]):
                    self.fits(numbers[-1], element, at)
                for scalar in types.scalars_of(element):
                    with self.located(at):
                        value = numbers[-1].as_float(scalar) if scalar.is_float else 0.0
                    if not math.isfinite(value):
                        raise scanner.error(f"{word} takes finite numbers", at)
            scanner.expect(")", f"after the numbers of {word}")
        if len(numbers) not in counts:
            wanted = " or ".join(str(count) for count in counts if count)
            raise scanner.error(f"{word} takes {wanted} numbers, got {len(numbers)}", start)
        return (*numbers, *DEFAULT_NUMBERS.get(word, ())[len(numbers) :])

    def list_initial(self, element: types.Type, levels: int) -> ListInitial:
        """Parse nested lists, a level for each of the buffer's axes, including the element's."""
        scanner, inner = self.scanner, types.innermost(element)
        start = scanner.skip_space()
        if not scanner.accept("["):
            raise scanner.error(
                f"expected a list for the next axis of the buffer, found {scanner.found()}"
            )
        items: list[ListInitial | Leaf] = []
        with self.enclosed("]"), scanner.nested(types.MAX_DEPTH):
            while not scanner.peek("]"):
                at = scanner.skip_space()
                item: ListInitial | Leaf
                if levels > 1:
                    item = self.list_initial(element, levels - 1)
                elif isinstance(inner, types.ScalarType) and scanner.peek("["):
                    raise scanner.error("a list is nested deeper than the axes of the buffer")
                else:
                    item = self.member_value(inner)
                first = items[0] if items else item
                shapes = [i.shape for i in (first, item) if isinstance(i, ListInitial)]
                if len(set(shapes)) > 1:
                    raise scanner.error(
                        f"a list of shape {types.by_times(shapes[1])} follows one of shape "
                        f"{types.by_times(shapes[0])}",
                        at,
                    )
                items.append(item)
                if not scanner.accept(","):
                    break
            scanner.expect("]", "or ',' in a list")
        if not items and levels > 1:
            raise scanner.error("an empty list does not determine the axes within it", start)
        return ListInitial(tuple(items))
