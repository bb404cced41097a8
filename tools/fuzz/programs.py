"""Random programs: straight lines, branches and loops, against numpy, equal bit for bit.

A program is a tree; its PTX and its value in numpy are made from the tree independently. numpy
computes all threads at once and selects at branches; the emulated device shares none of that code.
"""

from __future__ import annotations

import importlib
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cudarun.emulator.engines import INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import Device
from tests.support.mutation_launches import Work, run
from tools.fuzz.fuzzer import Fuzzer, Unexpected

Array: TypeAlias = npt.NDArray[Any]

THREADS = 96
REGISTERS = 6
"""Registers of each type."""

TYPES = {"u32": np.uint32, "s32": np.int32, "u64": np.uint64, "f32": np.float32, "f64": np.float64}
LETTERS = {"u32": "u", "s32": "s", "u64": "l", "f32": "f", "f64": "d"}
INTEGERS = ("u32", "s32", "u64")
FLOATS = ("f32", "f64")
_TRIPS = 5

Registers: TypeAlias = dict[str, list[Array]]
Function: TypeAlias = Callable[..., Array]


@dataclass(frozen=True)
class Operation:
    """``opcode d, a, …`` and its value in numpy; both types by name."""

    opcode: str
    target: str
    sources: tuple[str, ...]
    value: Function


@dataclass(frozen=True)
class Step:
    """An operation on registers; a source may be a constant."""

    operation: Operation
    target: int
    sources: tuple[int | str, ...]


@dataclass(frozen=True)
class Branch:
    """``if (a < b) … else …`` on two registers of a type."""

    kind: str
    comparison: str
    left: int
    right: int
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


@dataclass(frozen=True)
class Loop:
    """As many rounds as the low bits of a ``u32`` register say at the start."""

    register: int
    body: tuple[Node, ...]


Node: TypeAlias = Step | Branch | Loop


# --- operations ----------------------------------------------------------------------------------


def _shift(function: Function, bits: int) -> Function:
    """Clamp the amount: a shift by the width or more leaves no bit, or only signs."""

    def shifted(value: Array, amount: Array) -> Array:
        result: Array = function(value, np.minimum(amount, bits - 1).astype(value.dtype))
        over = amount >= bits
        rest = function(result, np.ones_like(value))  # one more, as if by the whole width
        return np.where(over, rest, result)

    return shifted


def _high(left: Array, right: Array) -> Array:
    wide = np.int64 if left.dtype == np.int32 else np.uint64
    return ((left.astype(wide) * right.astype(wide)) >> wide(32)).astype(left.dtype)


def _fused(a: Array, b: Array, c: Array) -> Array:
    """``a*b + c`` of single precision, rounded once, by Python's exact fractions."""
    from fractions import Fraction

    result = (a.astype(np.float64) * b + c).astype(np.float32)  # where special or simple
    for index in range(a.size):
        three = [float(each[index]) for each in (a, b, c)]
        if all(map(np.isfinite, three)):
            exact = Fraction(three[0]) * Fraction(three[1]) + Fraction(three[2])
            if exact:
                result[index] = _to_single(exact)
    return result


def _to_single(exact: Any) -> np.float32:
    near = np.float32(float(exact))  # may be rounded twice: look at the neighbors
    if not np.isfinite(near):
        near = np.copysign(np.float32(np.finfo(np.float32).max), near)
        if abs(exact) >= (1 << 128) - (1 << 103):
            return np.copysign(np.float32(np.inf), near)
        return near
    from fractions import Fraction

    around = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
    finite = [each for each in around if np.isfinite(each)]
    return min(
        finite,
        key=lambda each: (abs(Fraction(float(each)) - exact), int(each.view(np.uint32)) & 1),
    )


def _operations() -> list[Operation]:
    found: list[Operation] = []

    def add(opcode: str, target: str, sources: Sequence[str], value: Function) -> None:
        found.append(Operation(opcode, target, tuple(sources), value))

    for kind in INTEGERS:
        bits = 8 * TYPES[kind]().itemsize
        add(f"add.{kind}", kind, [kind] * 2, np.add)
        add(f"sub.{kind}", kind, [kind] * 2, np.subtract)
        add(f"mul.lo.{kind}", kind, [kind] * 2, np.multiply)
        add(f"mad.lo.{kind}", kind, [kind] * 3, lambda a, b, c: a * b + c)
        add(f"min.{kind}", kind, [kind] * 2, np.minimum)
        add(f"max.{kind}", kind, [kind] * 2, np.maximum)
        add(f"and.b{bits}", kind, [kind] * 2, np.bitwise_and)
        add(f"or.b{bits}", kind, [kind] * 2, np.bitwise_or)
        add(f"xor.b{bits}", kind, [kind] * 2, np.bitwise_xor)
        add(f"not.b{bits}", kind, [kind], np.invert)
        add(f"shl.b{bits}", kind, [kind, "u32"], _shift(np.left_shift, bits))
        add(f"shr.{kind}", kind, [kind, "u32"], _shift(np.right_shift, bits))
        for other in INTEGERS:
            if other != kind:
                cast = TYPES[kind]
                add(f"cvt.{kind}.{other}", kind, [other], lambda a, cast=cast: a.astype(cast))
        for other in FLOATS:
            cast = TYPES[other]
            add(f"cvt.rn.{other}.{kind}", other, [kind], lambda a, cast=cast: a.astype(cast))
    add("mul.hi.u32", "u32", ["u32"] * 2, _high)
    add("mul.hi.s32", "s32", ["s32"] * 2, _high)
    add("abs.s32", "s32", ["s32"], np.abs)
    add("neg.s32", "s32", ["s32"], np.negative)
    for kind in FLOATS:
        for name, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
            add(f"{name}.rn.{kind}", kind, [kind] * 2, function)
        add(f"div.rn.{kind}", kind, [kind] * 2, np.divide)
        add(f"sqrt.rn.{kind}", kind, [kind], np.sqrt)
    add("fma.rn.f32", "f32", ["f32"] * 3, _fused)
    add("cvt.rn.f32.f64", "f32", ["f64"], lambda a: a.astype(np.float32))
    add("cvt.f64.f32", "f64", ["f32"], lambda a: a.astype(np.float64))
    return found


OPERATIONS = _operations()
_COMPARISONS = {"lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal}


# --- a program -----------------------------------------------------------------------------------


def program(chance: random.Random, depth: int = 3) -> tuple[Node, ...]:
    """Return a random program."""
    nodes: list[Node] = []
    for _ in range(chance.randint(2, 7)):
        kind = chance.randrange(10) if depth else 9
        if kind == 0:
            nodes.append(Loop(chance.randrange(REGISTERS), program(chance, depth - 1)))
        elif kind <= 2:
            nodes.append(_branch(chance, depth))
        else:
            nodes.append(_step(chance))
    return tuple(nodes)


def _branch(chance: random.Random, depth: int) -> Branch:
    return Branch(
        chance.choice(list(TYPES)),
        chance.choice(list(_COMPARISONS)),
        chance.randrange(REGISTERS),
        chance.randrange(REGISTERS),
        program(chance, depth - 1),
        program(chance, depth - 1) if chance.randrange(2) else (),
    )


def _step(chance: random.Random) -> Step:
    operation = chance.choice(OPERATIONS)
    sources: list[int | str] = []
    for kind in operation.sources:
        if kind in INTEGERS and chance.randrange(5) == 0 and len(operation.sources) > 1:
            sources.append(str(chance.choice((0, 1, 2, 3, 31, 32, 255))))
        else:
            sources.append(chance.randrange(REGISTERS))
    return Step(operation, chance.randrange(REGISTERS), tuple(sources))


def inputs(chance: random.Random) -> Registers:
    """Return the registers before the program, for every thread."""
    generator = np.random.default_rng(chance.randrange(1 << 62))
    found: Registers = {}
    for kind, cast in TYPES.items():
        registers = []
        for _ in range(REGISTERS):
            bits = generator.integers(0, 1 << 63, THREADS, np.uint64) * np.uint64(2)
            small = generator.integers(-40, 40, THREADS)
            if kind in FLOATS:
                values = (small * generator.choice([0.25, 1.0, 1e-30, 1e25])).astype(cast)
            else:
                values = small.astype(cast)
            wild = bits.astype(cast) if kind in INTEGERS else values
            registers.append(np.where(generator.random(THREADS) < 0.3, wild, values).astype(cast))
        found[kind] = registers
    return found


# --- its PTX -------------------------------------------------------------------------------------


@dataclass
class Writer:
    """The PTX of nodes, with ``count`` labels; each has a ``%p`` and a ``%n`` of its number."""

    lines: list[str] = field(default_factory=list)
    count: int = 0

    def label(self) -> int:
        """Return a new number."""
        self.count += 1
        return self.count

    def block(self, nodes: Sequence[Node]) -> None:
        """Write nodes one after the other."""
        for node in nodes:
            match node:
                case Step():
                    self.step(node)
                case Branch():
                    self.branch(node)
                case Loop():
                    self.loop(node)

    def step(self, step: Step) -> None:
        """Write an instruction."""
        operands = [f"%{LETTERS[step.operation.target]}{step.target}"]
        for kind, source in zip(step.operation.sources, step.sources, strict=True):
            operands.append(source if isinstance(source, str) else f"%{LETTERS[kind]}{source}")
        self.lines.append(f"{step.operation.opcode} {', '.join(operands)};")

    def branch(self, branch: Branch) -> None:
        """Write a branch."""
        number, letter = self.label(), LETTERS[branch.kind]
        self.lines += [
            f"setp.{branch.comparison}.{branch.kind} %p{number}, "
            f"%{letter}{branch.left}, %{letter}{branch.right};",
            f"@!%p{number} bra else{number};",
        ]
        self.block(branch.then)
        self.lines += [f"bra end{number};", f"else{number}:"]
        self.block(branch.otherwise)
        self.lines.append(f"end{number}:")

    def loop(self, loop: Loop) -> None:
        """Write a loop."""
        number = self.label()
        self.lines += [
            f"and.b32 %n{number}, %u{loop.register}, 3;",
            f"loop{number}:",
            f"setp.eq.u32 %p{number}, %n{number}, 0;",
            f"@%p{number} bra end{number};",
        ]
        self.block(loop.body)
        self.lines += [
            f"sub.u32 %n{number}, %n{number}, 1;",
            f"bra loop{number};",
            f"end{number}:",
        ]


def ptx(nodes: Sequence[Node]) -> str:
    """Return a kernel ``program`` that loads its registers from a buffer and stores them there.

    The buffer has the registers one after the other, each of ``THREADS`` values of 8 bytes.
    """
    writer = Writer()
    writer.block(nodes)
    lines = [
        ".version 8.0", ".target sm_75", ".address_size 64",
        ".visible .entry program(.param .u64 buffer)",
        "{",
        *(f".reg .{kind} %{letter}<{REGISTERS}>;" for kind, letter in LETTERS.items()),
        f".reg .pred %p<{writer.count + 1}>;", f".reg .u32 %n<{writer.count + 1}>;",
        ".reg .u32 %index; .reg .u64 %at;",
        "mov.u32 %index, %tid.x;", "ld.param.u64 %at, [buffer];",
        "mad.wide.u32 %at, %index, 8, %at;",
        *_moves("ld", "{name}, [{at}]"), *writer.lines, *_moves("st", "[{at}], {name}"),
        "ret;", "}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _moves(opcode: str, operands: str) -> list[str]:
    lines = []
    for row, (kind, register) in enumerate(rows()):
        at = f"%at+{row * THREADS * 8}"
        name = f"%{LETTERS[kind]}{register}"
        lines.append(f"{opcode}.global.{kind} {operands.format(name=name, at=at)};")
    return lines


def rows() -> list[tuple[str, int]]:
    """Return the registers in the order of the buffer: type and number."""
    return [(kind, register) for kind in TYPES for register in range(REGISTERS)]


def packed(registers: Registers) -> Array:
    """Return the buffer with these registers."""
    buffer = np.zeros((len(rows()), THREADS), np.uint64)
    for row, (kind, register) in zip(buffer, rows(), strict=True):
        values = registers[kind][register]
        row.view(values.dtype)[:: 8 // values.itemsize] = values
    return buffer


# --- its value -----------------------------------------------------------------------------------


def evaluate(nodes: Sequence[Node], registers: Registers, active: Array) -> None:
    """Run the program on registers, for the threads of a mask."""
    for node in nodes:
        match node:
            case Step(operation, target, sources):
                values = [
                    np.full(THREADS, int(source)).astype(TYPES[kind])
                    if isinstance(source, str)
                    else registers[kind][source]
                    for kind, source in zip(operation.sources, sources, strict=True)
                ]
                result = operation.value(*values).astype(TYPES[operation.target])
                before = registers[operation.target][target]
                registers[operation.target][target] = np.where(active, result, before)
            case Branch(kind, comparison, left, right, then, otherwise):
                a, b = registers[kind][left], registers[kind][right]
                holds = _COMPARISONS[comparison](a, b)
                if comparison == "ne" and kind in FLOATS:
                    holds &= ~(np.isnan(a) | np.isnan(b))  # `ne` is false of a NaN, `neu` true
                evaluate(then, registers, active & holds)
                evaluate(otherwise, registers, active & ~holds)
            case Loop(register, body):
                rounds = registers["u32"][register] & np.uint32(3)
                for number in range(3):
                    evaluate(body, registers, active & (rounds > number))


def expected(nodes: Sequence[Node], registers: Registers) -> Array:
    """Return the buffer after the program."""
    after = {kind: list(values) for kind, values in registers.items()}
    with np.errstate(all="ignore"):
        evaluate(nodes, after, np.ones(THREADS, np.bool_))
    return packed(after)


def difference(got: Array, wanted: Array, *, exact: bool = False) -> str:
    """Return the first register and thread that differ; an empty string without one.

    Args:
        got: The buffer of a device.
        wanted: The other one.
        exact: Compare the bits of NaNs, too; those of numpy are its own.
    """
    for (kind, register), left, right in zip(rows(), got, wanted, strict=True):
        equal = left == right
        if kind in FLOATS and not exact:
            step = 8 // TYPES[kind]().itemsize
            a, b = (side.view(TYPES[kind])[::step] for side in (left, right))
            equal |= np.isnan(a) & np.isnan(b)
        if not equal.all():
            at = int(np.argmin(equal))
            name = f"%{LETTERS[kind]}{register}"
            return f"{name} of thread {at}: got {int(left[at]):#x}, expected {int(right[at]):#x}"
    return ""


class Programs(Fuzzer[str]):
    """Random programs on the emulated device; a case is the seed of one."""

    name = "programs"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

    def case(self, chance: random.Random) -> str:
        """Return a seed."""
        return str(chance.randrange(1 << 62))

    def exit_code(self, case: str) -> int:
        """Run the program with the engine that the environment selects."""
        nodes, registers = seeded(case)
        engines = Engines.of_environment()
        got = self._run(nodes, registers, engines)
        if found := difference(got, expected(nodes, registers)):
            raise Unexpected(f"{ptx(nodes)}\n{found}")
        if engines.mode == INTERPRET:
            return 0
        interpreted = self._run(nodes, registers, Engines())
        if found := difference(got, interpreted, exact=True):
            raise Unexpected(f"{ptx(nodes)}\ninterpreter: {found}")
        return 0

    def _run(self, nodes: Sequence[Node], registers: Registers, engines: Engines) -> Array:
        """Return the buffer after a run by an engine."""
        device = Device(ptx(nodes), execute=partial(execute, engines=engines))
        buffer = packed(registers)
        address = device.buffer(buffer)
        device.launch("program", (1,), (THREADS,), np.uint64(address))
        return device.read(address, "u8", buffer.size).reshape(buffer.shape)


def seeded(case: str) -> tuple[tuple[Node, ...], Registers]:
    """Return the program and the registers of a seed."""
    chance = random.Random(case)
    return program(chance), inputs(chance)


# --- against a GPU -------------------------------------------------------------------------------


def unequal(cuda: Any, seeds: Sequence[str]) -> Iterator[str]:
    """Run programs on a driver and on the emulated device; yield each difference in a bit.

    Args:
        cuda: The functions of ``cuda.bindings.driver``, with a current context.
        seeds: Of the programs.
    """
    for seed in seeds:
        nodes, registers = seeded(seed)
        text, buffer = ptx(nodes), packed(registers)
        device = Device(text)
        address = device.buffer(buffer)
        device.launch("program", (1,), (THREADS,), np.uint64(address))
        wanted = device.read(address, "u8", buffer.size).reshape(buffer.shape)
        work = Work(Path(), "program", (1,), (THREADS,), (buffer,))
        outcome = run(cuda, text, work)
        if not outcome.outputs:
            yield f"seed {seed}: {outcome.result}"
            continue
        got = np.frombuffer(outcome.outputs[0], np.uint64).reshape(buffer.shape)
        if found := difference(got, wanted, exact=True):
            yield f"seed {seed}: {found}"


def main() -> int:
    """Compare so many programs: ``python -m tools.fuzz.programs DRIVER DEVICE COUNT SEED``."""
    module, ordinal, count, seed = sys.argv[1:]
    cuda = importlib.import_module(module)
    cuda.cuInit(0)
    create = (None, 0, int(ordinal)) if cuda.CUDA_VERSION >= 13000 else (0, int(ordinal))
    cuda.cuCtxCreate(*create)
    found = [*unequal(cuda, [f"{seed}/{number}" for number in range(int(count))])]
    print(f"{count} programs, {len(found)} unequal", *found, sep="\n")
    sys.stdout.flush()
    os._exit(1 if found else 0)  # after a fault there is nothing to tidy up


if __name__ == "__main__":
    main()
