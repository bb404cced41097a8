"""PTX that executes one instruction of chapter 9.7.10 or 9.7.11 per thread."""

from __future__ import annotations

from tests.golden.sampling.case import Case

COORDINATES = {
    "1d": "f", "2d": "ff", "3d": "fff", "a1d": "if", "a2d": "iff", "cube": "fff", "acube": "ifff",
}  # fmt: skip
_GRADIENTS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_PADDED = {1: 1, 2: 2, 3: 4, 4: 4}

_TEXT = """.version 8.1
.target sm_90{target}
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 sampler, .param .u64 operands,
                  .param .u64 results, .param .u32 count)
{{
  .reg .b64 %t, %s, %i, %o, %w, %q<4>;
  .reg .b32 %x, %n, %c, %d<8>, %r<16>;
  .reg .b16 %h<4>;
  .reg .pred %p, %v;
  ld.param.u64 %t, [object];
  ld.param.u64 %s, [sampler];
  ld.param.u64 %i, [operands];
  ld.param.u64 %o, [results];
  ld.param.u32 %n, [count];
  mov.u32 %x, %ctaid.x;
  mov.u32 %c, %ntid.x;
  mul.lo.u32 %x, %x, %c;
  mov.u32 %c, %tid.x;
  add.u32 %x, %x, %c;
  setp.ge.u32 %p, %x, %n;
  @%p bra end;
  mul.wide.u32 %w, %x, {step};
  add.u64 %i, %i, %w;
  mul.wide.u32 %w, %x, 16;
  add.u64 %o, %o, %w;
  mov.b32 %d0, 0;
  mov.b32 %d1, 0;
  mov.b32 %d2, 0;
  mov.b32 %d3, 0;
  {body}
  st.global.v4.b32 [%o], {{%d0, %d1, %d2, %d3}};
end:
  ret;
}}
"""


def program(case: Case) -> str:
    """The module of a case; its kernel is ``k``."""
    opcode = case.instruction.partition(".")[0]
    count = case.operands.shape[1]
    loads = [f"ld.global.b32 %r{n}, [%i+{4 * n}];" for n in range(count)]
    line = {
        "tex": _fetch, "tld4": _fetch, "txq": _query, "suq": _query, "suld": _load,
        "sust": _store, "sured": _reduce,
    }[opcode](case)  # fmt: skip
    target = ", texmode_independent" if "independent" in case.more.split() else ""
    return _TEXT.format(target=target, step=4 * count, body="\n  ".join([*loads, *line]))


def _vector(registers: list[str]) -> str:
    padded = registers + registers[-1:] * (_PADDED[len(registers)] - len(registers))
    return "{" + ", ".join(padded) + "}"


def _fetch(case: Case) -> list[str]:
    words, more = case.instruction.split("."), case.more.split()
    geometry = next(word for word in words if word in COORDINATES)
    registers = iter([f"%r{n}" for n in range(case.operands.shape[1])])
    operands = [_vector([next(registers) for _ in COORDINATES[geometry]])]
    if "level" in words:
        operands.append(next(registers))
    if "grad" in words:
        for _ in range(2):
            operands.append(_vector([next(registers) for _ in range(_GRADIENTS[geometry])]))
    if "offset" in more:
        axes = len(COORDINATES[geometry].replace("i", ""))
        operands.append(_vector([next(registers) for _ in range(axes)]))
    result, after = "{%d0, %d1, %d2, %d3}", []
    if "f16x2" in words:
        result = "{%d0, %d1}"
    elif words[-2] == "f16":
        result = "{%h0, %h1, %h2, %h3}"
        after = [f"cvt.u32.u16 %d{n}, %h{n};" for n in range(4)]
    if "residency" in more:
        result += "|%v"
        after = ["selp.b32 %d3, 7, 5, %v;"]
    sampler = "%s, " if "independent" in more or "sampler" in more else ""
    first, *others = operands
    rest = "".join(f", {operand}" for operand in others)
    return [f"{case.instruction} {result}, [%t, {sampler}{first}]{rest};", *after]


def _query(case: Case) -> list[str]:
    level = ", %r0" if ".level." in case.instruction else ""
    return [f"{case.instruction} %d0, [%t]{level};"]


def _surface(case: Case) -> tuple[list[str], str, list[str], str]:
    """Preparation, address, data registers as a list, and the type of a surface instruction."""
    words = case.instruction.split(".")
    geometry = next(word for word in words if word in COORDINATES)
    axes = len(COORDINATES[geometry])
    address = f"[%t, {_vector([f'%r{n}' for n in range(axes)])}]"
    type_ = next(word for word in words if word in ("b8", "b16", "b32", "b64", "u32", "s32",
                                                    "u64", "s64"))  # fmt: skip
    count = next((int(word[1]) for word in words if word in ("v2", "v4")), 1)
    kind = {"b8": "h", "b16": "h"}.get(type_, "q" if type_.endswith("64") else "d")
    registers = [f"%{kind}{n}" for n in range(count)]
    sources: list[str] = []
    for n in range(count):
        if kind == "q":
            sources.append(f"mov.b64 %q{n}, {{%r{axes + 2 * n}, %r{axes + 2 * n + 1}}};")
        elif kind == "h":
            sources.append(f"cvt.u16.u32 %h{n}, %r{axes + n};")
        else:
            sources.append(f"mov.b32 %d{n}, %r{axes + n};")
    return sources, address, registers, kind


def _joined(registers: list[str]) -> str:
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


def _load(case: Case) -> list[str]:
    _, address, registers, kind = _surface(case)
    after = []
    for n, register in enumerate(registers):
        if kind == "q":
            after.append(f"mov.b64 {{%d{2 * n}, %d{2 * n + 1}}}, {register};")
        elif kind == "h":
            after.append(f"cvt.u32.u16 %d{n}, {register};")
    return [f"{case.instruction} {_joined(registers)}, {address};", *after]


def _store(case: Case) -> list[str]:
    before, address, registers, _ = _surface(case)
    return [*before, f"{case.instruction} {address}, {_joined(registers)};"]


_reduce = _store
