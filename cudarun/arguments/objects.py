"""Textures, surfaces and tensor maps in arguments: ``texture(f32[h,w]:rand, filter=linear)``."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

from cudarun.arguments import tensor_map_options, values
from cudarun.arguments.buffers import BufferRules
from cudarun.arguments.dimensions import read_dimension
from cudarun.arguments.sampling import (
    ADDRESS_MODES,
    FILTERS,
    MOST_AXES,
    READ_MODES,
    ArrayForm,
    Sampling,
)
from cudarun.arguments.scanner import DOTTED, IDENTIFIER
from cudarun.arguments.types import MAX_DEPTH, SCALARS, Type

OBJECTS = ("texture", "surface")  # the words that start a texture or surface object

_NAME = re.compile(rf"(?P<name>{DOTTED})\s*(?=[,)])")
_ALL = re.compile(r"all\b")
_MOST_LEVELS = 32
_MOST_ANISOTROPY = 16

_SIZES = re.compile(r"-?[0-9]{1,20}(?:x-?[0-9]{1,20})*(?![\w.])")
_WORD = re.compile(r"\w+")
_WORDS: dict[str, Mapping[str, object]] = {
    "type": tensor_map_options.ELEMENTS,
    "swizzle": tensor_map_options.SWIZZLES,
    "interleave": tensor_map_options.INTERLEAVES,
    "l2": tensor_map_options.PROMOTIONS,
    "oob": tensor_map_options.FILLS,
}
"""The words that are values of options."""
_EXAMPLE = "example: tensormap(x, box=64x64, swizzle=128B)"

_Kept = TypeVar("_Kept")


class ObjectRules(BufferRules):
    """Texture and surface objects with their memory and options, and tensor maps."""

    def object(self, word: str) -> values.ObjectValue:
        """Parse ``(SOURCE, OPTION, …)`` after ``texture`` or ``surface``."""
        scanner = self.scanner
        start = scanner.skip_space()
        given: dict[str, Any] = {}
        with self.enclosed(")"), scanner.nested(MAX_DEPTH):
            scanner.expect("(", f"after {word}")
            source = self.source(word)
            if scanner.accept(","):
                given = self.options(self.parsers(word), word)
            scanner.expect(")", f"or ',' after an option of {word}")
        names = given.keys() & {each.name for each in fields(ArrayForm)}
        form = ArrayForm(**{name: given.pop(name) for name in names})
        sampling = Sampling(**given) if word == "texture" else None
        found = values.ObjectValue(source, form, sampling)
        self.check(found, start)
        return found

    def source(self, word: str) -> tuple[values.Buffer | values.FileBuffer, ...] | str:
        """Parse the memory of an object: a buffer's text, a list of levels, or a name."""
        scanner = self.scanner
        if shared := scanner.match(_NAME):
            return shared["name"]
        if not scanner.accept("["):
            return (self.level(word),)
        with self.enclosed("]"):
            levels = tuple(scanner.several(lambda: self.level(word)))
            scanner.expect("]", "or ',' after a level")
        return levels

    def level(self, word: str) -> values.Buffer | values.FileBuffer:
        """Parse the contents of an array, or of one of its levels."""
        start = self.scanner.skip_space()
        found = self.value()
        if not isinstance(found, values.Buffer | values.FileBuffer):
            raise self.scanner.error(
                f"a {word} requires an array, found {found}",
                start,
                hint=f"examples: {word}(f32[h,w]:zeros), {word}(@image.png), {word}(NAME)",
            )
        return found

    def check(self, found: values.ObjectValue, start: int) -> None:
        """Refuse options that exclude each other, as far as the text has the array."""
        source, form, sampling = found.source, found.form, found.sampling
        problem = None if sampling is None else sampling.problem
        if isinstance(source, str):
            others = [each for each in form.texts if each != "linear"]
            if others:
                problem = problem or f"{others[0]} belongs to the array, which {source} has"
        elif len(source) > 1 and (form.levels != 1 or form.linear):
            problem = problem or f"{form.texts[-1]} cannot be combined with a list of levels"
        if form.linear and form.texts != ["linear"]:
            problem = problem or f"linear memory cannot be {form.texts[0]}"
        buffer = source[0]
        if isinstance(buffer, values.Buffer):
            axes = len(buffer.dimensions)
            problem = problem or form.problem(buffer.type, axes)
            if sampling is not None:
                levels = max(len(source), 1 if form.levels == 1 else 2)
                problem = problem or sampling.mismatch(buffer.type, form, levels, axes)
        if problem:
            raise self.scanner.error(problem, start)

    # --- the values of options -------------------------------------------------------------------

    def parsers(self, word: str) -> dict[str, Callable[[], Any] | None]:
        """Return the options, each with the parser of its value; ``None`` for a flag."""
        flags = dict.fromkeys(("layered", "cube"))
        if word == "surface":
            return {**flags}
        mode, filters = partial(self.choice, ADDRESS_MODES), partial(self.choice, FILTERS)
        return {
            **flags,
            **dict.fromkeys(("gather", "linear")),
            "levels": lambda: 0 if self.scanner.match(_ALL) else self.count(_MOST_LEVELS),
            "filter": filters,
            "address": partial(self.one_or_list, MOST_AXES, mode),
            "normalized": None,
            "read": partial(self.choice, READ_MODES),
            "srgb": None,
            "border": partial(self.one_or_list, 4, self.finite_number),
            "mip_filter": filters,
            "mip_bias": self.finite_number,
            "mip_clamp": self.clamps,
            "anisotropy": partial(self.count, _MOST_ANISOTROPY),
            "seamless": None,
        }

    def choice(self, words: tuple[str, ...]) -> str:
        """Parse one of some words."""
        start = self.scanner.skip_space()
        word = self.required(IDENTIFIER, " or ".join(words))
        if word not in words:
            expected = f"{', '.join(words[:-1])} or {words[-1]}"
            raise self.scanner.error(f"expected {expected}, found {word!r}", start)
        return word

    def one_or_list(self, most: int, parse: Callable[[], _Kept]) -> tuple[_Kept, ...]:
        """Parse one value, or a list of at most ``most``."""
        scanner = self.scanner
        start = scanner.skip_space()
        if not scanner.accept("["):
            return (parse(),)
        found = scanner.several(parse)
        scanner.expect("]", "or ',' in a list")
        if len(found) > most:
            raise scanner.error(f"expected at most {most} values, got {len(found)}", start)
        return tuple(found)

    def finite_number(self) -> float:
        """Parse a number that f32 can represent."""
        start = self.scanner.skip_space()
        value = self.number().as_float(SCALARS["f32"])
        if not math.isfinite(value):
            raise self.scanner.error("expected a finite number", start)
        return value

    def count(self, most: int) -> int:
        """Parse an integer from 1 on."""
        start = self.scanner.skip_space()
        text = self.number().text
        if not text.isdigit() or not 1 <= int(text) <= most:
            raise self.scanner.error(f"expected an integer from 1 to {most}", start)
        return int(text)

    def clamps(self) -> tuple[float, ...]:
        """Parse ``[smallest, largest]``, or the largest level alone."""
        found = self.one_or_list(2, self.finite_number)
        return found if len(found) == 2 else (0.0, *found)

    # --- tensor maps ------------------------------------------------------------------------------

    def tensor_map(self) -> values.TensorMapValue:
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
        return values.TensorMapValue(tensor, tensor_map_options.TensorMapOptions(**given))

    def tensor(self) -> values.AddressOf | values.Buffer | values.FileBuffer:
        """Parse the tensor: the name of a buffer, an address in one, or a buffer."""
        scanner = self.scanner
        start = scanner.skip_space()
        if named := scanner.match(_NAME):
            return values.AddressOf(named["name"])
        found = self.type_or_value()
        if not isinstance(found, values.AddressOf | values.Buffer | values.FileBuffer):
            raise scanner.error(f"expected the tensor, found {found}", start, hint=_EXAMPLE)
        return found

    def _one_of(self, name: str) -> str:
        known = _WORDS[name]
        start = self.scanner.skip_space()
        word = self.required(_WORD, f"a value of {name}")
        found = next((each for each in known if each.lower() == word.lower()), None)
        if found is None:
            listed = f"the values are {', '.join(known)}"
            raise self.scanner.error(f"unknown {name} {word!r}", start, hint=listed)
        return found

    def sizes(self) -> tensor_map_options.Sizes:
        """Parse ``64x32`` or ``[m, 2*k]``."""
        scanner = self.scanner
        if numbers := scanner.match(_SIZES):
            return tensor_map_options.sizes_of(*map(int, numbers.group().split("x")))
        if not scanner.accept("["):
            raise scanner.error(
                f"expected sizes, found {scanner.found()}", hint="examples: 64x64, [64, 2*k]"
            )
        found = tuple(scanner.several(partial(read_dimension, scanner)))
        scanner.expect("]", "or ',' after a size")
        return found

    def _im2col(self) -> tensor_map_options.Im2col:
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
        return tensor_map_options.Im2col(**given)

    @abstractmethod
    def value(self) -> values.Value:
        """Parse a value."""

    @abstractmethod
    def type_or_value(self) -> Type | values.Value:
        """Parse a value, or a type without a value."""
