"""Random functions of products and sums, and what ptxas's code of them computes.

A function has one type, and eight lanes. It loads six operands, computes in straight lines, with
guarded instructions, branches or loops, and stores some registers. A result is ``None`` where a
value of the lane is not finite.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tests.emulator.device import Device
from tests.emulator.reference import FORMATS

PATH = Path(__file__).with_name("contraction-ptxas.xz")
BITS = {"f32": 32, "f64": 64, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32}
SHAPES = ("straight", "guarded", "branches", "loops")
LANES, STRIDE, RESULTS = 8, 128, 8
"""The lanes, the bytes of the operands and of the results of each, and the number of results."""

_OPERANDS = [f"v{place}" for place in range(6)]
_FLAGS, _TRIPS = 64, 80  # where they are among the operands


@dataclass(frozen=True)
class Function:
    """A function named ``test``, and its results by lane, if they are known."""

    kind: str
    text: str
    results: tuple[str | None, ...] = ()


@dataclass
class _Writer:
    kind: str
    shape: str
    chance: random.Random
    lines: list[str] = field(default_factory=list)
    labels: int = 0
    depth: int = 0

    def modifiers(self, opcode: str) -> str:
        """Return a few modifiers that the opcode can have."""
        found, chance = "", self.chance
        if opcode != "fma.rn" and chance.random() < 0.02:
            found += ".rn"
        if self.kind in ("f32", "f16", "f16x2"):
            found += ".ftz" if chance.random() < 0.05 else ""
            found += ".sat" if chance.random() < 0.02 else ""
        return found

    def statement(self) -> None:
        chance, kind = self.chance, self.kind
        d, *sources = chance.choices(_OPERANDS, k=4)
        guard = ""
        if self.shape in ("guarded", "branches") and chance.random() < 0.12:
            guard = f"@{chance.choice(['', '!'])}p{chance.randrange(3)} "
        opcode = chance.choices(
            ["mul", "add", "sub", "fma.rn", "mov", "neg", "st"], [42, 28, 14, 8, 4, 4, 2]
        )[0]
        if opcode == "st":
            text = f"st.global.b{BITS[kind]} [out+{8 * chance.choice([6, 7])}], {d};"
        elif opcode == "mov":
            text = f"mov.b{BITS[kind]} {d}, {sources[0]};"
        elif opcode == "neg":
            text = f"neg.{kind} {d}, {sources[0]};"
        else:
            given = sources[: 3 if opcode == "fma.rn" else 2]
            text = f"{opcode}{self.modifiers(opcode)}.{kind} {', '.join([d, *given])};"
        self.lines.append(guard + text)

    def block(self, count: int) -> None:
        """Write about this many statements, some of them in a branch or in a loop."""
        chance = self.chance
        while count > 0:
            size, kind = min(count, chance.randint(1, 5)), chance.random()
            nested = self.depth < 2 and count > 1 and self.shape in ("branches", "loops")
            if nested and kind < 0.15:
                self._nested(self._branch, size)
            elif nested and self.shape == "loops" and self.depth == 0 and kind < 0.3:
                self._nested(self._loop, size)
            else:
                size = 1
                self.statement()
            count -= size

    def _nested(self, write: Callable[[int, int], None], size: int) -> None:
        self.labels, self.depth = self.labels + 1, self.depth + 1
        write(self.labels, size)
        self.depth -= 1

    def _branch(self, label: int, size: int) -> None:
        guard = f"@{self.chance.choice(['', '!'])}p{self.chance.randrange(3)}"
        self.lines.append(f"{guard} bra E{label};")
        self.block(size)
        if self.chance.random() < 0.4:
            self.lines.append(f"bra X{label}; E{label}:")
            self.block(size)
            self.lines.append(f"X{label}:")
        else:
            self.lines.append(f"E{label}:")

    def _loop(self, label: int, size: int) -> None:
        """Write a loop that ptxas must not unroll."""
        self.lines.append(f'mov.u32 i, 0; L{label}: .pragma "nounroll";')
        self.block(size)
        self.lines.append(f"add.u32 i, i, 1; setp.lt.u32 q, i, n; @q bra L{label};")


def random_function(kind: str, shape: str, seed: int) -> Function:
    """Return a function of a type (`BITS`) and of a shape (`SHAPES`)."""
    chance = random.Random(f"{kind} {shape} {seed}")
    writer, bits = _Writer(kind, shape, chance), BITS[kind]
    writer.block(chance.randint(8, 24))
    kept = [place for place in range(len(_OPERANDS)) if chance.random() < 0.6] or [0]
    lines = [
        ".visible .entry test(.param .u64 from, .param .u64 to) {",
        f".reg .b{bits} {', '.join(_OPERANDS)}; .reg .pred p0, p1, p2, q;",
        ".reg .b32 t, n, i; .reg .b64 in, out, o; mov.u32 t, %tid.x;",
        f"ld.param.u64 in, [from]; ld.param.u64 out, [to]; mul.wide.u32 o, t, {STRIDE};",
        "add.u64 in, in, o; add.u64 out, out, o;",
        *(f"ld.global.b{bits} v{place}, [in+{8 * place}];" for place in range(len(_OPERANDS))),
        *(
            f"ld.global.u32 i, [in+{_FLAGS + 4 * place}]; setp.ne.u32 p{place}, i, 0;"
            for place in range(3)
        ),
        f"ld.global.u32 n, [in+{_TRIPS}];",
        *writer.lines,
        *(f"st.global.b{bits} [out+{8 * place}], v{place};" for place in kept),
        "ret; }",
    ]
    return Function(kind, "\n".join(lines))


def module(functions: Sequence[Function]) -> str:
    """Return a module in which the functions are ``test0``, ``test1`` …."""
    texts = (each.text.replace("test", f"test{n}", 1) for n, each in enumerate(functions))
    return "\n".join([".version 9.0\n.target sm_90\n.address_size 64", *texts])


def operands(kind: str) -> bytes:
    """Return the operands of all lanes: about 1, so that most results are, too."""
    chance, found = random.Random(kind), bytearray(LANES * STRIDE)
    element = FORMATS[kind.removesuffix("x2")]
    for lane in range(LANES):
        words = [lane >> place & 1 for place in range(3)]
        for place in range(len(_OPERANDS)):
            parts = [chance.uniform(0.6, 1.5) * chance.choice([1, -1]) for _ in range(2)]
            low, high = (element.rounded(Fraction(part), "rn") for part in parts)
            value = low | high << element.width if kind.endswith("x2") else low
            at = lane * STRIDE + 8 * place
            found[at : at + 8] = value.to_bytes(8, "little")
        for at, word in zip(
            (_FLAGS, _FLAGS + 4, _FLAGS + 8, _TRIPS), [*words, chance.randint(1, 5)], strict=True
        ):
            found[lane * STRIDE + at : lane * STRIDE + at + 4] = word.to_bytes(4, "little")
    return bytes(found)


def emulated(functions: Sequence[Function], **options: Any) -> list[list[str]]:
    """Return the results of the emulated device, by function and lane."""
    device, found = Device(module(functions), **options), []
    for number, function in enumerate(functions):
        given = device.buffer(np.frombuffer(operands(function.kind), "u1"))
        wanted = device.buffer(np.zeros(LANES * STRIDE, "u1"))
        device.launch(f"test{number}", (1,), (LANES,), given, wanted)
        memory = device.read(wanted, "u1", LANES * STRIDE).tobytes()
        lanes = (memory[lane * STRIDE :][: 8 * RESULTS] for lane in range(LANES))
        found.append([shown(function.kind, lane) for lane in lanes])
    return found


def shown(kind: str, results: bytes) -> str:
    """Return results in hexadecimal, zeros without their signs."""
    element = FORMATS[kind.removesuffix("x2")]
    size = element.width // 8
    words = [results[at : at + size] for at in range(0, len(results), size)]
    negative = element.sign.to_bytes(size, "little")
    return b"".join(bytes(size) if word == negative else word for word in words).hex()


def write(functions: Sequence[Function]) -> None:
    """Write the recording."""
    rows = [[each.kind, each.text, each.results] for each in functions]
    PATH.write_bytes(lzma.compress(json.dumps(rows).encode()))


def recorded() -> list[Function]:
    """Return the recorded functions."""
    rows = json.loads(lzma.decompress(PATH.read_bytes()))
    return [Function(kind, text, tuple(results)) for kind, text, results in rows]
