"""Evaluation of the SASS of small kernels: arithmetic, predicates, branches and global memory.

It has what ptxas makes of the functions of `tests.golden.contraction`. Numbers are fractions,
rounded once per instruction.
"""

from __future__ import annotations

import operator
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tests.emulator.reference import FORMATS, signed

_INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?:@(!?U?P\w+)\s+)?(\S+)\s*([^;]*?)\s*;")
_CONSTANT = re.compile(r"c\[0x0\]\[(0x[0-9a-f]+)\]")
_ADDRESS = re.compile(r"\[(R\d+)\.64(?:\+(0x[0-9a-f]+))?\]")
_REGISTER = re.compile(r"(-?)(\|?)(U?R(?:Z|\d+))\|?(?:\.H(\d)_(N?)H(\d))?$")
_IGNORED = {"NOP", "BSSY", "BSYNC", "ULDC", "WARPSYNC"}
_COMPARISONS = {
    "GT": operator.gt, "GE": operator.ge, "LT": operator.lt,
    "LE": operator.le, "EQ": operator.eq, "NE": operator.ne,
}  # fmt: skip
_COMBINED: dict[str, Callable[[bool, bool], bool]] = {
    "AND": operator.and_, "OR": operator.or_, "XOR": operator.xor,
}  # fmt: skip
_MOST_STEPS = 20_000
_WORD = 0xFFFFFFFF


class NotFinite(Exception):
    """A value that is infinite or not a number."""


@dataclass
class Code:
    """The instructions of a kernel, each a guard, an opcode and operands; labels are indices."""

    instructions: list[tuple[str, str, list[str]]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


def disassembled(cubin: Path) -> dict[str, Code]:
    """Return the kernels of a cubin, by name."""
    command = ["nvdisasm", "-c", cubin]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kernels: dict[str, Code] = {}
    code = Code()
    for line in text.splitlines():
        if line.startswith(".text."):
            code = kernels[line[len(".text.") :].rstrip(":")] = Code()
        elif line.startswith(".L_"):
            code.labels[line.rstrip(":")] = len(code.instructions)
        elif found := _INSTRUCTION.match(line):
            guard, opcode, rest = found.groups(default="")
            operands = [each.strip().replace(".reuse", "") for each in rest.split(",")]
            code.instructions.append((guard, opcode, operands))
    return kernels


def evaluate(code: Code, memory: bytearray, thread: int, parameters: Mapping[int, int]) -> None:
    """Run a thread.

    Args:
        code: The kernel.
        memory: The global memory, from address 0.
        thread: ``%tid.x``.
        parameters: The values of the constant bank 0, by offset.

    Raises:
        NotFinite: A value is not finite.
        NotImplementedError: There is an instruction or an operand of another kind.
    """
    _Thread(code, memory, thread, parameters).run()


@dataclass
class _Thread:
    code: Code
    memory: bytearray
    thread: int
    parameters: Mapping[int, int]
    registers: dict[str, int] = field(default_factory=dict)
    predicates: dict[str, bool] = field(default_factory=dict)

    def run(self) -> None:
        place = 0
        for _ in range(_MOST_STEPS):
            guard, opcode, operands = self.code.instructions[place]
            place += 1
            name, *modifiers = opcode.split(".")
            if (guard and not self.predicate(guard)) or name in _IGNORED:
                continue
            if name == "EXIT":
                return
            if name == "BRA":
                if len(operands) == 1 or self.predicate(operands[0]):
                    place = self.code.labels[operands[-1].removeprefix("`(").removesuffix(")")]
                continue
            method = getattr(self, f"_{name.lower()}", None)
            if name in ("FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA"):
                self._floating(name, modifiers, operands)
            elif name in ("HADD2", "HMUL2", "HFMA2"):
                self._halves(name, modifiers, operands)
            elif method is not None:
                method(modifiers, operands)
            else:
                raise NotImplementedError(f"{opcode} {operands}")
        raise NotImplementedError("too many steps")

    # --- operands --------------------------------------------------------------------------------

    def predicate(self, name: str) -> bool:
        bare = name.removeprefix("!")
        return (bare.endswith("PT") or self.predicates.get(bare, False)) ^ (bare != name)

    def set_predicate(self, name: str, value: bool) -> None:
        if not name.endswith("PT"):
            self.predicates[name] = value

    def word(self, text: str) -> int:
        bare = text.lstrip("-~")
        if found := _CONSTANT.match(bare):
            value = self.parameters.get(int(found[1], 16), 0)
        elif bare.startswith(("R", "UR")):
            value = self.registers.get(bare, 0)
        else:
            value = int(bare, 0)
        value = -value if "-" in text else value
        return (~value if "~" in text else value) & _WORD

    def pair(self, name: str) -> int:
        """Return the bits of a register and of the next one."""
        return self.word(name) | self.word(_next(name)) << 32 if name != "RZ" else 0

    def set(self, name: str, value: int) -> None:
        self.registers[name] = value & _WORD if name != "RZ" else 0

    def set_pair(self, name: str, value: int) -> None:
        if name != "RZ":
            self.set(name, value)
            self.set(_next(name), value >> 32)

    # --- integers, predicates and memory ---------------------------------------------------------

    def _ldc(self, modifiers: list[str], operands: list[str]) -> None:
        found = _CONSTANT.match(operands[1])
        assert found is not None
        value = self.parameters.get(int(found[1], 16), 0)
        (self.set_pair if "64" in modifiers else self.set)(operands[0], value)

    def _s2r(self, _: list[str], operands: list[str]) -> None:
        self.set(operands[0], self.thread)

    def _cs2r(self, _: list[str], operands: list[str]) -> None:
        self.set_pair(operands[0], 0)

    def _access(self, modifiers: list[str], operand: str) -> slice:
        found = _ADDRESS.search(operand)
        assert found is not None
        start = self.pair(found[1]) + int(found[2] or "0", 16)
        return slice(start, start + (8 if "64" in modifiers else 2 if "U16" in modifiers else 4))

    def _ldg(self, modifiers: list[str], operands: list[str]) -> None:
        value = int.from_bytes(self.memory[self._access(modifiers, operands[1])], "little")
        (self.set_pair if "64" in modifiers else self.set)(operands[0], value)

    def _stg(self, modifiers: list[str], operands: list[str]) -> None:
        place = self._access(modifiers, operands[0])
        value = self.pair(operands[1]).to_bytes(8, "little")
        self.memory[place] = value[: place.stop - place.start]

    def _imad(self, modifiers: list[str], operands: list[str]) -> None:
        d, a, b, c = operands
        if "WIDE" in modifiers:
            self.set_pair(d, self.word(a) * self.word(b) + self.pair(c))
        else:
            self.set(d, self.word(a) * self.word(b) + self.word(c))

    def _sum(self, _: list[str], operands: list[str]) -> None:
        self.set(operands[0], sum(map(self.word, operands[1:])))

    _mov = _iadd3 = _viadd = _sum

    def _prmt(self, _: list[str], operands: list[str]) -> None:
        d, a, chosen, b = operands
        given = (self.word(a) | self.word(b) << 32).to_bytes(8, "little")
        places = (self.word(chosen) >> 4 * place & 7 for place in range(4))
        self.set(d, int.from_bytes(bytes(given[place] for place in places), "little"))

    def _isetp(self, modifiers: list[str], operands: list[str]) -> None:
        first, second, a, b, other = operands
        given = [self.word(a), self.word(b)]
        if "U32" not in modifiers:
            given = [signed(each, 32) for each in given]
        result = _COMPARISONS[modifiers[0]](*given)
        combined = next(_COMBINED[each] for each in modifiers if each in _COMBINED)
        self.set_predicate(first, combined(result, self.predicate(other)))
        self.set_predicate(second, combined(not result, self.predicate(other)))

    def _plop3(self, _: list[str], operands: list[str]) -> None:
        first, second, *given, table, other = operands
        a, b, c = map(self.predicate, given)
        for target, bits in ((first, table), (second, other)):
            self.set_predicate(target, bool(int(bits, 0) >> (a << 2 | b << 1 | c) & 1))

    def _sel(self, _: list[str], operands: list[str]) -> None:
        d, a, b, chosen = operands
        self.set(d, self.word(a if self.predicate(chosen) else b))

    def _fsel(self, _: list[str], operands: list[str]) -> None:
        d, a, b, chosen = operands
        text = a if self.predicate(chosen) else b
        if not (found := _REGISTER.match(text)) or found[2]:
            raise NotImplementedError(f"FSEL {operands}")
        self.set(d, self.word(found[3]) ^ (1 << 31 if found[1] else 0))

    # --- numbers ---------------------------------------------------------------------------------

    def number(self, text: str, kind: str) -> Fraction:
        """Return an operand of a scalar instruction."""
        found = _REGISTER.match(text)
        if found is None:
            return _finite(kind, FORMATS[kind].rounded(Fraction(text), "rn"))
        value = _finite(kind, (self.pair if kind == "f64" else self.word)(found[3]))
        value = abs(value) if found[2] else value
        return -value if found[1] else value

    def _floating(self, name: str, modifiers: list[str], operands: list[str]) -> None:
        kind = "f64" if name[0] == "D" else "f32"
        given = [self.number(each, kind) for each in operands[1:]]
        result = _rounded(kind, _result(name[1:], given), modifiers)
        (self.set_pair if kind == "f64" else self.set)(operands[0], result)

    def halves(self, text: str, kind: str) -> list[Fraction]:
        """Return both halves of a register; ``.H1_H0`` names the upper one first."""
        found = _REGISTER.match(text)
        if found is None:
            raise NotImplementedError(text)
        sign, absolute, name, upper, negated, lower = found.groups()
        word = self.word(name)
        places = [int(lower), int(upper)] if upper else [0, 1]
        values = [_finite(kind, word >> 16 * place & 0xFFFF) for place in places]
        values = list(map(abs, values)) if absolute else values
        values = [-each for each in values] if sign else values
        return [-values[0], values[1]] if negated else values

    def _halves(self, name: str, modifiers: list[str], operands: list[str]) -> None:
        kind = "bf16" if "BF16_V2" in modifiers else "f16"
        target, *rest = operands
        given: list[list[Fraction]] = []
        while rest:
            if _REGISTER.match(rest[0]):
                given.append(self.halves(rest.pop(0), kind))
            else:
                given.append([Fraction(rest.pop(0)), Fraction(rest.pop(0))])
        low, high = (
            _rounded(kind, _result(name[1:].removesuffix("2"), [*values]), modifiers)
            for values in zip(*given, strict=True)
        )
        self.set(target, low | high << 16)


def _next(name: str) -> str:
    return f"R{int(name[1:]) + 1}"


def _result(name: str, given: list[Fraction]) -> Fraction:
    match name, given:
        case "ADD", [a, b]:
            return a + b
        case "MUL", [a, b]:
            return a * b
        case _, [a, b, c]:
            return a * b + c
    raise NotImplementedError(name)


def _finite(kind: str, bits: int) -> Fraction:
    form = FORMATS[kind]
    if form.is_nan(bits) or form.is_infinite(bits):
        raise NotFinite
    return form.value(bits)


def _rounded(kind: str, exact: Fraction, modifiers: list[str]) -> int:
    if "SAT" in modifiers:
        exact = min(max(exact, Fraction(0)), Fraction(1))
    bits = FORMATS[kind].rounded(exact, "rn")
    _finite(kind, bits)
    return bits
