"""LLVM IR as text: vectors of lanes, constants, and the builder of a function's code."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cudarun.base.cache import digest_of
from cudarun.base.records import dataclass
from cudarun.emulator.compiled.lanes.parts import PART
from cudarun.emulator.numerics.arrays import DType

WIDTH = 32  # lanes of a warp

_ELEMENTS = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.float16): "half",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    **{np.dtype(f"{kind}{size}"): f"i{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)},
}
_BITS = {"half": 16, "float": 32, "double": 64}
_LETTERS = {"half": "f16", "float": "f32", "double": "f64"}


def element_of(dtype: DType) -> str:
    """Return the LLVM type of one element; `KeyError` if there is none."""
    return _ELEMENTS[dtype]


def bits_of_element(element: str) -> int:
    """Return the width of an element type in bits."""
    return _BITS.get(element) or int(element[1:])


_NAME = re.compile(r"@([\w.-]+)")
_SUFFIX = (
    'attributes #0 = { nounwind "prefer-vector-width"="512" }',
    "!0 = !{}",
    '!1 = !{!"branch_weights", i32 10000, i32 1}',  # likely
    '!2 = !{!"branch_weights", i32 1, i32 10000}',  # unlikely
)


@dataclass(frozen=True, slots=True)
class LaneVector:
    """A value of vector type: its name or constant, the element type and the number of elements."""

    name: str
    element: str
    count: int = WIDTH

    @property
    def type(self) -> str:
        """The LLVM type."""
        return f"<{self.count} x {self.element}>"

    @property
    def typed(self) -> str:
        """The value with its type, as operands are written."""
        return f"{self.type} {self.name}"

    @property
    def bits(self) -> int:
        """The width of an element in bits."""
        return bits_of_element(self.element)


def vector_type(element: str, count: int = WIDTH) -> str:
    """Return the LLVM type of a vector."""
    return f"<{count} x {element}>"


def constant(values: npt.NDArray[Any]) -> LaneVector:
    """Return a constant vector with these values."""
    flat = np.ascontiguousarray(values).reshape(-1)
    element = element_of(flat.dtype)
    if element in _BITS:
        integer = constant(flat.view(f"u{flat.dtype.itemsize}"))
        kind = vector_type(element, len(flat))
        return LaneVector(f"bitcast ({integer.typed} to {kind})", element, len(flat))
    return LaneVector(_listed(element, tuple(flat.tolist())), element, len(flat))


def splat(element: str, value: int, count: int = WIDTH) -> LaneVector:
    """Return a constant vector with one integer in all elements."""
    return LaneVector(_listed(element, (value,) * count), element, count)


@lru_cache(1024)
def _listed(element: str, values: tuple[int, ...]) -> str:
    if not any(values):
        return "zeroinitializer"
    numbers = [f"{element} {str(value).lower()}" for value in values]  # or truth values
    return f"splat ({numbers[0]})" if len({*values}) == 1 else f"<{', '.join(numbers)}>"


class ModuleText:
    """The text of an LLVM module: declarations, each once, and definitions.

    Hidden functions that need nothing of the kernel are parts of their own: each is compiled once
    per machine. Others stay with the kernel, whose constants make them shorter, unless they read
    these constants from memory.
    """

    def __init__(self) -> None:
        # Whether functions read the kernel's constants from memory.
        self.shares_functions = False
        self._declarations: dict[str, str] = {}
        self._definitions: dict[str, str] = {}
        # The addresses of functions and data outside of the module, by name.
        self.symbols: dict[str, int] = {}

    def declare(self, text: str) -> None:
        """Add a declaration."""
        self._declarations[_NAME.findall(text)[0]] = text

    def define(self, name: str, text: str) -> None:
        """Add the definition of a function."""
        self._definitions[name] = text

    def define_constants(self, name: str, kind: str, values: Iterable[object]) -> None:
        """Define an array of constants of the kernel."""
        listed = [f"{kind} {value}" for value in values]
        linkage = "" if self.shares_functions else "internal "
        text = f"@{name} = {linkage}constant [{len(listed)} x {kind}] [{', '.join(listed)}]"
        self.define(name, text)

    def define_once(self, stem: str, text: str) -> str:
        """Define a function whose name in the text is empty; return its name, which is its text's.

        Functions that call it have the same text in all modules, so that they are compiled once.
        """
        name = f"{stem}.{digest_of([text.encode()])[:24]}"
        self.define(name, text.replace("@(", f"@{name}(", 1))
        return name

    def defines(self, name: str) -> bool:
        """Return whether a function has a definition."""
        return name in self._definitions

    def text(self) -> str:
        """Return the module: the part of the kernel, and one for each separate function."""
        own, separate = [], list[str]()
        for name, text in self._definitions.items():
            if text.startswith("define hidden "):
                if self.shares_functions or "kernel" not in self._needed([name], ()):
                    separate.append(name)
            elif " internal " not in text.partition("\n")[0]:
                own.append(name)
        declared = {*own, *separate}
        parts = [self._needed(names, declared) for names in [own, *([name] for name in separate)]]
        return PART.join("\n".join([*part.values(), *_SUFFIX]) + "\n" for part in parts)

    def _needed(self, names: list[str], declared: Collection[str]) -> dict[str, str]:
        """Return functions and all that they need, with declarations of those of other parts."""
        texts: dict[str, str] = {}
        left = names[::-1]
        while left:
            name = left.pop()
            text = self._definitions.get(name) or self._declarations.get(name)
            if text is None or name in texts:
                continue
            if name not in names:
                if name in declared and text.startswith("@"):
                    text = f"@{name} = external constant [0 x i8]"
                elif name in declared:
                    first = text.partition("\n")[0]
                    text = f"{first[: first.rindex(')') + 1].replace('define', 'declare', 1)} #0"
                else:
                    text = text.replace("define hidden ", "define internal ", 1)
            texts[name] = text
            left += _NAME.findall(text)
        return texts


class NumberParameter(NamedTuple):
    """A number that is a parameter of a function."""

    kind: str  # its LLVM type
    value: int


class CodeBuilder:
    """The code of one function."""

    def __init__(self, module: ModuleText) -> None:
        self.module = module  # the module that it belongs to
        self.lines: list[str] = []  # the instructions and labels
        # The numbers that are parameters; ``None`` if all are constants.
        self.numbers: list[NumberParameter] | None = None
        self.names = 0  # how many names have been made

    @contextmanager
    def separately(self, names: int = 0) -> Iterator[None]:
        """Begin a function whose numbers are parameters; go on with the other code afterwards.

        Args:
            names: The number of the first name that it does not use yet.
        """
        others = self.lines, self.numbers, self.names
        self.lines, self.numbers, self.names = [], [], names
        try:
            yield
        finally:
            self.lines, self.numbers, self.names = others

    def number(self, kind: str, value: int) -> str:
        """Return a number that differs from place to place: a constant, or a parameter."""
        if self.numbers is None:
            return str(value)
        self.numbers.append(NumberParameter(kind, value))
        return f"%n{len(self.numbers) - 1}"

    def define(self, head: str, attributes: str = "internal noinline") -> None:
        """Define a function with this code; the head is its type, its name and its parameters."""
        name = head.partition("@")[2].partition("(")[0]
        linkage, _, inlining = attributes.partition(" ")
        first = " ".join(filter(None, ["define", linkage, head, inlining, "#0 {"]))
        self.module.define(name, "\n".join([first, *self.lines, "}"]))

    # --- instructions ----------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{name}:")

    def fresh(self, stem: str = "v") -> str:
        """Return a new name, for a value or a label."""
        self.names += 1
        return f"{stem}{self.names}"

    def leave_if(self, condition: str, label: str, stem: str = "on", weights: str = "") -> None:
        """Jump to a block if a condition is true; else go on, in a new block."""
        on = self.fresh(stem)
        self.line(f"br i1 {condition}, label %{label}, label %{on}{weights}")
        self.label(on)

    def leave_unless(self, condition: str, label: str, stem: str = "on", weights: str = "") -> None:
        """Jump to a block if a condition is false; else go on, in a new block."""
        on = self.fresh(stem)
        self.line(f"br i1 {condition}, label %{on}, label %{label}{weights}")
        self.label(on)

    def combine(self, operation: str, variable: str, value: str) -> None:
        """Store the result of an operation of a variable and a value to the variable."""
        before = self.scalar(f"load i32, ptr %{variable}")
        after = self.scalar(f"{operation} i32 {before}, {value}")
        self.line(f"store i32 {after}, ptr %{variable}")

    def scalar(self, text: str) -> str:
        """Append an instruction and return its result."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def vector(self, text: str, element: str, count: int = WIDTH) -> LaneVector:
        """Append an instruction whose result is a vector."""
        return LaneVector(self.scalar(text), element, count)

    # --- vectors ---------------------------------------------------------------------------------

    def binary(self, operation: str, a: LaneVector, b: LaneVector) -> LaneVector:
        """Return the result of an operation of two vectors of one type."""
        return self.vector(f"{operation} {a.typed}, {b.name}", a.element, a.count)

    def compare(self, predicate: str, a: LaneVector, b: LaneVector) -> LaneVector:
        """Return the result of a comparison; ``predicate`` of ``icmp``, or of ``fcmp``."""
        operation = "fcmp" if a.element in _BITS else "icmp"
        return self.vector(f"{operation} {predicate} {a.typed}, {b.name}", "i1", a.count)

    def select(self, condition: LaneVector, a: LaneVector, b: LaneVector) -> LaneVector:
        """Return ``a`` where a condition is true, ``b`` elsewhere."""
        return self.vector(f"select {condition.typed}, {a.typed}, {b.typed}", a.element, a.count)

    def cast(self, operation: str, a: LaneVector, element: str) -> LaneVector:
        """Return a converted vector."""
        kind = vector_type(element, a.count)
        return self.vector(f"{operation} {a.typed} to {kind}", element, a.count)

    def bitcast(self, a: LaneVector, element: str) -> LaneVector:
        """Return the bits of a vector as elements of another type, maybe more or fewer ones."""
        if a.element == element:
            return a
        count = a.count * a.bits // bits_of_element(element)
        kind = vector_type(element, count)
        return self.vector(f"bitcast {a.typed} to {kind}", element, count)

    def shuffle(
        self, a: LaneVector, places: Iterable[int], b: LaneVector | None = None
    ) -> LaneVector:
        """Return elements of ``a``, or of ``a`` and ``b`` one after the other, by their places."""
        chosen = tuple(places)
        if b is None and chosen == tuple(range(a.count)):
            return a
        other = f"{a.type} poison" if b is None else b.typed
        mask = f"<{len(chosen)} x i32> " + _listed("i32", chosen)
        return self.vector(f"shufflevector {a.typed}, {other}, {mask}", a.element, len(chosen))

    def broadcast(self, element: str, value: str, count: int = WIDTH) -> LaneVector:
        """Return a vector with one value in all elements."""
        kind = vector_type(element, count)
        first = self.scalar(f"insertelement {kind} poison, {element} {value}, i32 0")
        zeros = f"<{count} x i32> zeroinitializer"
        return self.vector(f"shufflevector {kind} {first}, {kind} poison, {zeros}", element, count)

    def spread(self, element: str, value: int) -> LaneVector:
        """Return a vector with a number of an integer type in all elements."""
        if self.numbers is None:
            return splat(element, value)
        return self.broadcast(element, self.number(element, value))

    def intrinsic(self, name: str, *arguments: LaneVector) -> LaneVector:
        """Return the result of an LLVM intrinsic, named without its type."""
        first = arguments[0]
        full = f"@llvm.{name}.v{first.count}{_LETTERS.get(first.element, first.element)}"
        types = ", ".join(argument.type for argument in arguments)
        self.module.declare(f"declare {first.type} {full}({types})")
        given = ", ".join(argument.typed for argument in arguments)
        return self.vector(f"call {first.type} {full}({given})", first.element, first.count)

    # --- lane masks ------------------------------------------------------------------------------

    def to_mask(self, condition: LaneVector) -> str:
        """Return truth values as an ``i32`` with a bit for each lane."""
        return self.scalar(f"bitcast {condition.typed} to i{condition.count}")

    def from_mask(self, mask: str) -> LaneVector:
        """Return the truth values of an ``i32``."""
        return self.vector(f"bitcast i{WIDTH} {mask} to <{WIDTH} x i1>", "i1")
