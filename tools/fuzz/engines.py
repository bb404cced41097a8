"""Random programs with memory accesses, some of them invalid, on both engines.

The compiled engine must leave the same memory as the interpreter, or report the same fault.
"""

from __future__ import annotations

import random
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device
from tools.fuzz.fuzzer import Fuzzer, Unexpected
from tools.fuzz.programs import (
    LETTERS,
    REGISTERS,
    THREADS,
    TYPES,
    Array,
    Step,
    Writer,
    inputs,
    packed,
    program,
    rows,
)

_TABLE = 256  # values of 8 bytes that all threads load
_SLOTS = 8  # values of 8 bytes of each thread, in each space

_HEAD = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry program(.param .u64 buffer, .param .u64 table, .param .u64 slots, .param .u64 sums)
{{
REGISTERS
.reg .u32 %index, %sh; .reg .u64 %at, %tab, %own, %loc, %sums;
.shared .align 8 .b8 shared_slots[{8 * _SLOTS * THREADS}];
.local .align 8 .b8 local_slots[{8 * _SLOTS}];
mov.u32 %index, %tid.x;
mov.u32 %sh, shared_slots;
mad.lo.u32 %sh, %index, {8 * _SLOTS}, %sh;
mov.u32 %n0, %ctaid.x;
mad.lo.u32 %index, %n0, {THREADS}, %index;
ld.param.u64 %at, [buffer];
mad.wide.u32 %at, %index, 8, %at;
ld.param.u64 %own, [slots];
mad.wide.u32 %own, %index, {8 * _SLOTS}, %own;
ld.param.u64 %tab, [table];
ld.param.u64 %sums, [sums];
mov.u64 %loc, local_slots;
"""

_VALID = (
    "and.b32 {n}, {u}, 255; mad.wide.u32 {w}, {n}, 8, %tab; ld.global.{type} {x}, [{w}];",
    "and.b32 {n}, {u}, 255; mad.wide.u32 {w}, {n}, 8, %tab; ld.{type} {x}, [{w}];",
    "and.b32 {n}, {u}, 7; mad.wide.u32 {w}, {n}, 8, %own; st.global.{type} [{w}], {x};",
    "and.b32 {n}, {u}, 7; mad.wide.u32 {w}, {n}, 8, %own; ld.global.{type} {x}, [{w}];",
    "and.b32 {n}, {u}, 7; mad.lo.u32 {n}, {n}, 8, %sh; st.shared.{type} [{n}], {x};",
    "and.b32 {n}, {u}, 7; mad.lo.u32 {n}, {n}, 8, %sh; ld.shared.{type} {x}, [{n}];",
    "and.b32 {n}, {u}, 7; mad.wide.u32 {w}, {n}, 8, %loc; st.local.{type} [{w}], {x};",
    "and.b32 {n}, {u}, 7; mad.wide.u32 {w}, {n}, 8, %loc; ld.local.{type} {x}, [{w}];",
    "activemask.b32 {n}; setp.lt.u32 {p}, {u}, {v}; vote.sync.ballot.b32 {v}, {p}, {n};",
    "activemask.b32 {n}; shfl.sync.idx.b32 {v}, {u}, {v}, 31, {n};",
    "red.global.add.u32 [%sums], {u};",
    "red.global.max.s32 [%sums+4], {u};",
)
_INVALID = (
    "ld.global.{type} {x}, [%at+1048576];",
    "st.global.{type} [%own+1048576], {x};",
    "ld.global.u32 {v}, [%at+1];",
    "st.global.u64 [%own+4], {l};",
    "ld.global.v4.u32 {{{v}, {v}, {n}, {n}}}, [%tab+8];",
    "mov.u64 {w}, 16; ld.u32 {v}, [{w}];",
    "mov.u64 {w}, 0; st.global.u32 [{w}], {v};",
    "ld.{type} {x}, [{l}];",
    "ld.shared.u32 {v}, [{u}];",
    "st.shared.{type} [%sh+65536], {x};",
    "ld.local.u64 {l}, [%loc+4];",
    "ld.local.u32 {v}, [%loc+1048576];",
    "red.global.add.u32 [{l}], {u};",
    "ld.param.u32 {v}, [sums+8];",
    "ld.param.{type} {x}, [buffer+-8];",
    "{{ .param .b8 p[8]; st.param.u32 [p+8], {u}; ld.param.u32 {v}, [p]; }}",
    "{{ .param .b8 p[8]; st.param.u32 [p], {u}; ld.param.u32 {v}, [p+-4]; }}",
    "trap;",
    "ld.global.u32 {v}, [%loc];",
)


class _AccessWriter(Writer):
    """Writes accesses between the instructions of a program."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.rate = chance.choice((0.0, 0.02, 0.1))

    def step(self, step: Step) -> None:
        """Write an instruction, and maybe an access after it."""
        super().step(step)
        if self.chance.random() < 0.4:
            self.lines.append(self._access(self.chance.choice(_VALID)))
        if self.chance.random() < self.rate:
            number = self.label()
            body = self._access(self.chance.choice(_INVALID))
            condition = self.chance.randrange(64)
            self.lines += [
                f"and.b32 %n{number}, {self._register('u32')}, 63;",
                f"setp.ne.u32 %p{number}, %n{number}, {condition};",
                f"@%p{number} bra good{number};",
                body,
                f"good{number}:",
            ]

    def _access(self, text: str) -> str:
        number, kind = self.label(), self.chance.choice(list(TYPES))
        return text.format(
            n=f"%n{number}",
            p=f"%p{number}",
            w=f"%w{number}",
            type=kind,
            x=self._register(kind),
            u=self._register("u32"),
            v=self._register("u32"),
            l=self._register("u64"),
        )

    def _register(self, kind: str) -> str:
        return f"%{LETTERS[kind]}{self.chance.randrange(REGISTERS)}"


def faulty_program(chance: random.Random, threads: int) -> str:
    """Return a kernel of blocks of ``THREADS`` threads, ``threads`` together."""
    writer = _AccessWriter(chance)
    writer.block(program(chance))
    count = writer.count + 1
    registers = [f".reg .{kind} %{letter}<{REGISTERS}>;" for kind, letter in LETTERS.items()]
    registers += [f".reg .pred %p<{count}>; .reg .u32 %n<{count}>; .reg .u64 %w<{count}>;"]
    moves: dict[str, list[str]] = {"ld": [], "st": []}
    for row, (kind, register) in enumerate(rows()):
        name, at = f"%{LETTERS[kind]}{register}", f"[%at+{row * threads * 8}]"
        moves["ld"].append(f"ld.global.{kind} {name}, {at};")
        moves["st"].append(f"st.global.{kind} {at}, {name};")
    head = _HEAD.replace("REGISTERS", "\n".join(registers))
    return "\n".join([head, *moves["ld"], *writer.lines, *moves["st"], "ret;", "}", ""])


class FaultyPrograms(Fuzzer[str]):
    """Random programs on both engines; a case is the seed of one."""

    name = "engines"

    @classmethod
    def unavailable(cls) -> str | None:
        """Return why nothing can be compiled."""
        return None if find_spec("llvmlite") else "llvmlite is not installed"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

    def case(self, chance: random.Random) -> str:
        """Return a seed."""
        return str(chance.randrange(1 << 62))

    def exit_code(self, case: str) -> int:
        """Run the program on both engines."""
        chance = random.Random(case)
        blocks = chance.choice((1, 1, 2, 5))
        text = faulty_program(chance, blocks * THREADS)
        given = [packed(inputs(chance)) for _ in range(blocks)]
        buffers = [
            np.concatenate(given, axis=1),
            np.random.default_rng(chance.randrange(1 << 62)).integers(0, 1 << 40, _TABLE, "u8"),
            np.zeros(_SLOTS * THREADS * blocks, "u8"),
            np.zeros(2, "u4"),
        ]
        run = partial(_outcome, text, blocks, buffers)
        wanted, got = run(INTERPRET), run(COMPILE)
        if wanted != got:
            raise Unexpected(f"{text}\n{_difference(wanted, got)}")
        return 0


def _outcome(text: str, blocks: int, buffers: list[Array], mode: str) -> list[bytes] | str:
    """Return the memory after a launch, or the report of its fault."""
    device = Device(text, execute=partial(execute, engines=Engines(mode)))
    places = [device.buffer(each) for each in buffers]
    try:
        device.launch("program", (blocks,), (THREADS,), *places)
    except DeviceFault as fault:
        return fault.report
    return [
        device.read(place, "u1", each.nbytes).tobytes()
        for place, each in zip(places, buffers, strict=True)
    ]


def _difference(wanted: list[bytes] | str, got: list[bytes] | str) -> str:
    if isinstance(wanted, str) or isinstance(got, str):
        shown = [each if isinstance(each, str) else "no fault" for each in (wanted, got)]
        return "--- interpreted\n{}\n--- compiled\n{}\nother faults".format(*shown)
    names = ("registers", "table", "slots", "sums")
    for name, left, right in zip(names, wanted, got, strict=True):
        if left != right:
            return f"the memory of {name} is different"
    raise AssertionError("both are equal")
