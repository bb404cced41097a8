"""The parser of ``tensormap(TENSOR, box=64x64, …)``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.elements import ElementRules
from cudarun.arguments.scanner import IDENTIFIER, did_you_mean
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
from cudarun.arguments.values import AddressOf, Buffer, FileBuffer, TensorMapValue, Value

_NAME = re.compile(
    rf"(?P<name>{IDENTIFIER.pattern}(?:\.(?:{IDENTIFIER.pattern}|[0-9]+))*)\s*(?=[,)])"
)
_SIZES = re.compile(r"-?[0-9]{1,20}(?:x-?[0-9]{1,20})*(?![\w.])")
_WORD = re.compile(r"\w+")
_SETTINGS = {"swizzle": SWIZZLES, "interleave": INTERLEAVES, "l2": PROMOTIONS, "oob": FILLS}
_OPTIONS = ("box", "im2col", "shape", "strides", "element_strides", "type", *_SETTINGS)
_CORNERS = ("lower", "upper")
_COUNTS = ("channels", "pixels")
_EXAMPLE = "example: tensormap(x, box=64x64, swizzle=128B)"


class TensorMapRules(ElementRules):
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
            given = self._options(_OPTIONS, "a tensor map") if scanner.accept(",") else {}
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

    def _options(self, known: Sequence[str], whole: str) -> dict[str, Any]:
        """Parse ``NAME=VALUE, …``."""
        scanner = self.scanner
        given: dict[str, Any] = {}
        while not given or scanner.accept(","):
            start = scanner.skip_space()
            name = self.required(IDENTIFIER, "an option")
            if name not in known:
                hint = did_you_mean(name, known) or f"the options are {', '.join(known)}"
                raise scanner.error(f"{whole} has no option {name!r}", start, hint=hint)
            if name in given:
                raise scanner.error(f"{name} is given twice", start)
            given[name] = self._im2col() if name == "im2col" else self._option(name)
        return given

    def _option(self, name: str) -> object:
        self.scanner.expect("=", f"after {name}")
        if name in _SETTINGS:
            return self._one_of(name, _SETTINGS[name])
        if name == "type":
            return self._one_of(name, ELEMENTS)
        if name in _COUNTS:
            return read_dimension(self.scanner)
        return self.sizes()

    def _one_of(self, name: str, values: Mapping[str, object]) -> str:
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
        names = (*_CORNERS, *_COUNTS)
        given = self._options(names, "im2col")
        scanner.expect(")", "or ',' after an option of im2col")
        if missing := [name for name in names if name not in given]:
            raise scanner.error(f"im2col requires {', '.join(missing)}", start)
        return Im2col(**given)
