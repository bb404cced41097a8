"""The parser of ``tensormap(TENSOR, box=64x64, …)``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial

from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.scanner import IDENTIFIER
from cudarun.arguments.tensor_map_options import (
    ELEMENTS,
    FILLS,
    INTERLEAVES,
    PROMOTIONS,
    SWIZZLES,
    Im2col,
    Sizes,
    TensorMapOptions,
    sizes_of,
)
from cudarun.arguments.types import MAX_DEPTH, Type
from cudarun.arguments.value_rules import ValueRules
from cudarun.arguments.values import AddressOf, Buffer, FileBuffer, TensorMapValue, Value

_NAME = re.compile(
    rf"(?P<name>{IDENTIFIER.pattern}(?:\.(?:{IDENTIFIER.pattern}|[0-9]+))*)\s*(?=[,)])"
)
_SIZES = re.compile(r"-?[0-9]{1,20}(?:x-?[0-9]{1,20})*(?![\w.])")
_WORD = re.compile(r"\w+")
_WORDS: dict[str, Mapping[str, object]] = {
    "type": ELEMENTS,
    "swizzle": SWIZZLES,
    "interleave": INTERLEAVES,
    "l2": PROMOTIONS,
    "oob": FILLS,
}
"""The words that are values of options."""
_EXAMPLE = "example: tensormap(x, box=64x64, swizzle=128B)"


class TensorMapRules(ValueRules):
    """The text of a tensor map."""

    @abstractmethod
    def type_or_value(self) -> Type | Value:
        """Parse a value, or a type without a value."""

    def tensor_map(self) -> TensorMapValue:
        """Parse ``(TENSOR, OPTION, …)`` after ``tensormap``."""
        scanner = self.scanner
        with self.enclosed(")"), scanner.nested(MAX_DEPTH):
            scanner.expect("(", "after tensormap")
            tensor = self.tensor()
            start = scanner.skip_space()
            given = {}
            if scanner.accept(","):
                sizes = dict.fromkeys(("box", "shape", "strides", "element_strides"), self.sizes)
                words = {name: partial(self._one_of, name) for name in _WORDS}
                parsers = sizes | words | {"im2col": self._im2col}
                given = self.options(parsers, "a tensor map", calls=("im2col",))
            scanner.expect(")", "or ',' after an option")
        if ("box" in given) == ("im2col" in given):
            what = "has no box" if "box" not in given else "has both box= and im2col(…)"
            raise scanner.error(f"the tensor map {what}", start, hint=_EXAMPLE)
        return TensorMapValue(tensor, TensorMapOptions(**given))

    def tensor(self) -> AddressOf | Buffer | FileBuffer:
        """Parse the tensor: the name of a buffer, an address in one, or a buffer."""
        scanner = self.scanner
        start = scanner.skip_space()
        if named := scanner.match(_NAME):
            return AddressOf(named["name"])
        found = self.type_or_value()
        if not isinstance(found, AddressOf | Buffer | FileBuffer):
            raise scanner.error(f"expected the tensor, found {found}", start, hint=_EXAMPLE)
        return found

    def _one_of(self, name: str) -> str:
        values = _WORDS[name]
        start = self.scanner.skip_space()
        word = self.required(_WORD, f"a value of {name}")
        found = next((each for each in values if each.lower() == word.lower()), None)
        if found is None:
            listed = f"the values are {', '.join(values)}"
            raise self.scanner.error(f"unknown {name} {word!r}", start, hint=listed)
        return found

    def sizes(self) -> Sizes:
        """Parse ``64x32`` or ``[m, 2*k]``."""
        scanner = self.scanner
        if numbers := scanner.match(_SIZES):
            return sizes_of(*map(int, numbers.group().split("x")))
        if not scanner.accept("["):
            raise scanner.error(
                f"expected sizes, found {scanner.found()}", hint="examples: 64x64, [64, 2*k]"
            )
        found = tuple(scanner.several(partial(read_dimension, scanner)))
        scanner.expect("]", "or ',' after a size")
        return found

    def _im2col(self) -> Im2col:
        scanner = self.scanner
        start = scanner.skip_space()
        scanner.expect("(", "after im2col")
        count = partial(read_dimension, scanner)
        parsers: dict[str, Callable[[], object]]
        parsers = {"lower": self.sizes, "upper": self.sizes, "channels": count, "pixels": count}
        given = self.options(parsers, "im2col")
        scanner.expect(")", "or ',' after an option of im2col")
        if missing := [name for name in parsers if name not in given]:
            raise scanner.error(f"im2col requires {', '.join(missing)}", start)
        return Im2col(**given)
