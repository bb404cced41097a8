"""The work of parsing and packing an argument grows with its length, not faster."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.packing import BufferSpec, pack
from cudarun.arguments.types import MAX_DEPTH, SCALARS
from cudarun.arguments.values import Buffer
from cudarun.base.errors import ArgumentSyntaxError
from tests.support.work import growth


def bound(text: str) -> object:
    """Parse an argument and pack it, with a layout row for each member."""
    spec = BufferSpec("x", SCALARS["f32"], (1,))
    value = parse_argument(text).value
    size = value.type.size if isinstance(value, Buffer) else 0
    return pack(value, "x", lambda *_: spec), size


_TEXTS: dict[str, tuple[int, Callable[[int], str]]] = {
    "structs in a struct": (MAX_DEPTH // 2, lambda n: "{" * n + "i32:1" + "}" * n),
    "a buffer of structs in structs": (MAX_DEPTH // 2, lambda n: "{" * n + "i32" + "}" * n + "[2]"),
    "arrays of arrays": (MAX_DEPTH // 2 - 1, lambda n: "i32" + "*1" * n + "[2]"),
    "lists in lists": (MAX_DEPTH // 2, lambda n: f"i32[{','.join('1' * n)}]:{'[' * n}1{']' * n}"),
    "members": (300, lambda n: f"{{{','.join(f'm{i}=i32:1' for i in range(n))}}}"),
    "nested members": (150, lambda n: f"{{{','.join('{i32:1,{i8:2}}' for _ in range(n))}}}"),
    "buffers in a struct": (150, lambda n: f"{{{','.join(['f32[1]:ones'] * n)}}}"),
    "elements of an array": (300, lambda n: f"i32*{n}:{','.join('1' * n)}"),
    "elements of a list": (300, lambda n: f"i32[{n}]:[{','.join('1' * n)}]"),
    "rows of a list": (150, lambda n: f"i32[{n},2]:[{','.join(['[1,2]'] * n)}]"),
}


@pytest.mark.parametrize("what", _TEXTS)
def test_the_work_is_linear(what: str) -> None:
    size, text = _TEXTS[what]
    names = count()  # what a text has been parsed to is kept
    assert growth(lambda n: bound(f"x{next(names)}={text(n)}"), size) < 3


@pytest.mark.parametrize(
    "text",
    [
        "{" * 22 + "i32:1" + "}" * 22,
        "{" * 22 + "i32" + "}" * 22 + "[1]",
        "f32" + "*1" * 3000 + "[1]",
        "f32" + "*2" * 3000 + ":1",
        "{{{{" + "i32" + "*2" * 8 + "}*2}*2}*2*2*2*2*2}[1]",
        "i32[" + "1," * 64 + "1]",
        "i32[1]:" + "[" * 60,
    ],
)
def test_the_depth_is_limited(text: str) -> None:
    with pytest.raises(ArgumentSyntaxError, match=rf"more than {MAX_DEPTH}|deeper than the axes"):
        parse_argument(text)
