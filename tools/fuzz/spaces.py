"""Single accesses in and out of bounds, of every state space, on both engines.

The programs are small, so that many run: an address of a space, maybe converted, moved by an
offset, and a load, a store, an atomic operation or a bulk copy there.
"""

from __future__ import annotations

import random
from functools import partial

import numpy as np

from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device
from tools.fuzz.engines import FaultyPrograms
from tools.fuzz.fuzzer import Unexpected

_HEAD = """\
.version 8.6
.target sm_90a
.address_size 64
.global .align 16 .b8 gv[32];
.const .align 16 .b8 cv[32];
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 r) called(.param .align 8 .b8 q[16])
{
.reg .b32 %x; ld.param.b32 %x, [q+INNER]; st.param.b32 [r], %x; ret;
}
.visible .entry program(.param .u64 buffer, .param .align 8 .b8 array[16])
{
.reg .u64 %a, %b, %c; .reg .u32 %v<4>, %w; .reg .u64 %l<2>; .reg .b16 %h; .reg .pred %p;
.shared .align 128 .b8 sh[64]; .local .align 16 .b8 lo[32]; .shared .align 8 .b64 bar;
ld.param.u64 %a, [buffer];
mov.u32 %w, %tid.x; mov.u64 %b, %a; mov.u32 %v0, 1; mov.u32 %v1, 2; mov.u32 %v2, 3; mov.u32 %v3, 4;
mov.u64 %l0, 5; mov.u64 %l1, 6; mov.u16 %h, 7;
"""
_TAIL = """
mad.wide.u32 %a, %w, 4, %a; st.global.u32 [%a], %v0;
ret;
}
"""
_BASES = {
    "shared": ("sh", "dynamic", "bar"),
    "local": ("lo",),
    "const": ("cv",),
    "global": ("gv", "%a"),
    "param": ("buffer", "array"),
}
_OFFSETS = (
    *(0, 0, 0, 1, 2, 4, 8, 16, 28, 31, 32, 60, 63, 64, 72, 127, 128, 256, 1024, 4096, 65536),
    *(
        1 << 20,
        1 << 24,
        (1 << 31) - 16,
        -1,
        -4,
        -8,
        -16,
        -64,
        -1024,
        -65536,
        -(1 << 20),
        -(1 << 31),
    ),
)
_WORDS = (
    *("0", "16", "0xffffffff", "0x1000000", "0x3000000", "0x200000000", "0x20000000000"),
    *("0x7fff00000000", "0xffffffffffffff00", "0x7fffffffffffffff", "0x1000000000000"),
)
_REGISTERS = {
    "u8": "%h", "u16": "%h", "u32": "%v0", "u64": "%l0", "v2.u32": "{%v0, %v1}",
    "v4.u32": "{%v0, %v1, %v2, %v3}", "v2.u64": "{%l0, %l1}", "v4.u8": "{%h, %h, %h, %h}",
}  # fmt: skip
_SIZES = (0, 8, 16, 32, 48, 64, 4096, 1 << 20, (1 << 31) - 16, (1 << 32) - 16)


def small_program(chance: random.Random) -> str:
    """Return a kernel with one to three accesses, most often the last one a fault."""
    lines = [_access(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    head = _HEAD.replace("INNER", str(chance.choice((0, 4, 12, chance.choice(_OFFSETS)))))
    return head + "\n".join(lines) + _TAIL


def _access(chance: random.Random) -> str:
    match chance.randrange(12):
        case 0 | 1:
            return _generic(chance)
        case 2:
            return _bulk(chance)
        case 3:
            return _call(chance)
    space = chance.choice([*_BASES])
    base, offset = chance.choice(_BASES[space]), chance.choice(_OFFSETS)
    what = chance.choice(("ld", "ld", "st", "atom", "red"))
    if what == "st" and space in ("const", "param"):
        what = "ld"
    if what in ("atom", "red") and space not in ("shared", "global"):
        what = "ld"
    return _instruction(what, space, f"{base}+{offset}", chance)


def _generic(chance: random.Random) -> str:
    space = chance.choice([*_BASES])
    base = chance.choice(_BASES[space])
    if base.startswith("%") or chance.randrange(4) == 0:
        lines = [f"mov.u64 %b, {chance.choice(_WORDS)};"]
    elif space == "param":
        lines = [f"mov.b64 %b, {base}; cvta.param.u64 %b, %b;"]
    else:
        lines = [f"mov.u64 %b, {base}; cvta.{space}.u64 %b, %b;"]
    what = chance.choice(("ld", "ld", "st", "atom", "red"))
    return lines[0] + _instruction(what, "", f"%b+{chance.choice(_OFFSETS)}", chance)


def _instruction(what: str, space: str, place: str, chance: random.Random) -> str:
    where = f".{space}" if space else ""
    if what in ("atom", "red"):
        kind = chance.choice(("u32", "u64"))
        register = _REGISTERS[kind]
        target = f"{register}, " if what == "atom" else ""
        return f"{what}{where}.add.{kind} {target}[{place}], {register};"
    kind = chance.choice([*_REGISTERS])
    register = _REGISTERS[kind]
    if what == "ld":
        return f"ld{where}.{kind} {register}, [{place}];"
    return f"st{where}.{kind} [{place}], {register};"


def _bulk(chance: random.Random) -> str:
    size, offset = chance.choice(_SIZES), chance.choice(_OFFSETS)
    begin = f"mov.u32 %w, {size}; add.u64 %b, %a, {offset};"
    ways = (
        "cp.async.bulk.global.shared::cta.bulk_group [%b], [sh], %w; cp.async.bulk.commit_group; "
        "cp.async.bulk.wait_group 0;",
        "mbarrier.init.shared.b64 [bar], 1; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sh], [%b], %w, [bar];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [sh], %w; "
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "cp.async.ca.shared.global [sh], [%b], 16; cp.async.wait_all;",
    )
    return f"{begin} {chance.choice(ways)} mov.u32 %w, %tid.x;"


def _call(chance: random.Random) -> str:
    pointer = chance.choice(("called", *_WORDS))
    declared = "(.param .b32 _) _ (.param .align 8 .b8 _[16])"
    offset = chance.choice((0, 8, 12, 16, -4, 1 << 20))
    number = chance.randrange(1 << 30)
    return (
        f"{{ .param .b32 r0; .param .align 8 .b8 q0[16]; st.param.u32 [q0+{offset}], %v0; "
        f"mov.u64 %c, {pointer}; proto{number}: .callprototype {declared}; "
        f"call (r0), %c, (q0), proto{number}; ld.param.b32 %v0, [r0]; }}"
    )


class Spaces(FaultyPrograms):
    """Small programs on both engines; a case is the seed of one."""

    name = "spaces"
    allowed = frozenset({0, 4})

    def exit_code(self, case: str) -> int:
        """Run the program on both engines."""
        text = small_program(random.Random(case))
        wanted, got = _outcome(text, INTERPRET), _outcome(text, COMPILE)
        if wanted != got:
            raise Unexpected(f"{text}\n--- {INTERPRET}\n{wanted}\n--- {COMPILE}\n{got}\nothers")
        return 0


def _outcome(text: str, mode: str) -> bytes | str:
    """Return the buffer after a launch, or the report of its fault."""
    device = Device(text, execute=partial(execute, engines=Engines(mode)))
    place = device.buffer(np.zeros(64, "u4"))
    try:
        device.launch("program", (1,), (32,), place, bytes(range(16)))
    except DeviceFault as fault:
        return fault.report
    return device.read(place, "u1", 256).tobytes()
