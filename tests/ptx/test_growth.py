"""The work of reading PTX grows with its length, not faster, and not with its numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.images.ptx_facts import ptx_facts
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support.work import calls, growth

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(body: str, before: str = "") -> str:
    return f"{HEADER}{before}\n.visible .entry k() {{\n{body}\nret;\n}}\n"


def read(text: str) -> object:
    """Parse a text, extract its facts and decode it, or parse as far as it goes."""
    try:
        module = parse(text)
        return ptx_facts(module), compile_module(module)
    except PtxError as error:
        return error


def function(number: int, callees: list[int]) -> str:
    calls_of = "".join(f"call f{callee};\n" for callee in callees)
    return f".func f{number}() {{\n{calls_of}ret;\n}}\n"


_TEXTS: dict[str, Callable[[int], str]] = {
    "instructions": lambda n: kernel(".reg .b32 %r<9>;" + "add.u32 %r1, %r1, %r1;\n" * n),
    "registers": lambda n: kernel("\n".join(f".reg .b32 %a{i}x;" for i in range(n))),
    "numbered registers": lambda n: kernel("\n".join(f".reg .b32 %r{i};" for i in range(n))),
    "blocks": lambda n: kernel("{ .reg .b32 %s; }\n" * n),
    "shared variables": lambda n: kernel("{ .shared .u32 s; }\n" * n),
    "loops": lambda n: kernel("\n".join(f"L{i}: bra L{i};" for i in range(n))),
    "jumps back": lambda n: kernel(
        ".reg .pred %p;\n" + "".join(f"L{i}:\n" for i in range(n)) + "@%p bra L0;\n" * n
    ),
    "variables": lambda n: kernel("", "".join(f".global .u32 v{i};\n" for i in range(n))),
    "initial values": lambda n: kernel("", f".global .u32 v[] = {{{','.join('1' * n)}}};"),
    "kernels": lambda n: "".join((HEADER, *(f".entry e{i}() {{ ret; }}\n" for i in range(n)))),
    "a chain of calls": lambda n: kernel(
        f"call f{n - 1};", "".join(function(i, [i - 1] if i else []) for i in range(n))
    ),
    "calls of two functions each": lambda n: kernel(
        f"call f{n - 1};",
        "".join(function(i, [j for j in (i - 1, i - 2) if j >= 0]) for i in range(n)),
    ),
    "open comments": lambda n: HEADER + "/*" * n,
    "digits": lambda n: kernel(f".reg .b64 %r; mov.u64 %r, {'1' * n};"),
}


@pytest.mark.parametrize("what", _TEXTS)
def test_the_work_is_linear(what: str) -> None:
    assert growth(lambda n: read(_TEXTS[what](n)), 100) < 3


def test_a_declaration_of_many_registers_costs_as_much_as_one() -> None:
    def declaring(count: int) -> Callable[[], object]:
        return lambda: read(kernel(f".reg .b32 %r<{count}>; mov.u32 %r5, 1;"))

    declaring(10)()
    assert calls(declaring(1_000_000_000)) < 1.1 * calls(declaring(10))


@pytest.mark.parametrize("digits", [5_000, 100_000])
@pytest.mark.parametrize(
    "text",
    [
        "mov.b32 r{}, 1;",
        "mov.b32 %r{}, 1;",
        "mov.b32 %r1, {};",
        "mov.b32 %r1, 0x{};",
        "mov.b32 %r1, {}.5;",
        "mov.b32 %r1, 1.{};",
        "mov.b32 %r1, 1e{};",
        ".reg .b32 %q<{}>;",
        ".local .b8 x[{}];",
        ".local .align {} .b8 x[4];",
        ".loc {} 1 1",
    ],
)
def test_long_numbers_are_read(text: str, digits: int) -> None:
    read(kernel(".reg .b32 r<9>; .reg .b32 %r<9>;" + text.format("1" * digits)))
