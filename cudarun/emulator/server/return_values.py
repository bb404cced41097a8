"""Detection of ignored results of calls, by the machine code after the call.

A result is ignored only where the code shows it: the register with the result is
written, or another function is called, before anything reads it. Only the instructions that
compilers put there are known, on x86-64 alone; after any other one the program is taken to look at
the result.
"""

from __future__ import annotations

from contextlib import suppress

from cudarun.base.process import IS_X86

# The effects of opcodes with a ModRM byte: they read and write the register, and the register or
# memory; a call gives the result's register to the callee.
_READ_REG, _WRITE_REG, _READ_RM, _WRITE_RM, _CALL = 1, 2, 4, 8, 16
_MODRM = {
    0x31: _READ_REG | _READ_RM,  # xor r, r/m
    0x33: _READ_REG | _READ_RM,
    0x89: _READ_REG | _WRITE_RM,  # mov r, r/m
    0x88: _READ_REG | _WRITE_RM,
    0x8B: _WRITE_REG | _READ_RM,  # mov r/m, r
    0x8D: _WRITE_REG,  # lea
    0x63: _WRITE_REG | _READ_RM,  # movsxd
    0x85: _READ_REG | _READ_RM,  # test
    0x39: _READ_REG | _READ_RM,  # cmp
    0x3B: _READ_REG | _READ_RM,
    0xC7: _WRITE_RM,  # mov imm32
    0xC6: _WRITE_RM,
    0x83: _READ_RM | _WRITE_RM,  # add, cmp and so on, imm8
    0x81: _READ_RM | _WRITE_RM,
    **dict.fromkeys((0x0F1F, 0x0F10, 0x0F11, 0x0F28, 0x0F29, 0x0F6F, 0x0F7F, 0x0FEF), 0),
    0x0FB6: _WRITE_REG | _READ_RM,  # movzx
    0x0FB7: _WRITE_REG | _READ_RM,
}
_IMMEDIATE = {0xC7: 4, 0xC6: 1, 0x83: 1, 0x81: 4}
_MOST = 12  # instructions


def ignores_result(code: bytes) -> bool:
    """Return whether code after a call ignores its result, for certain; never on AArch64."""
    if not IS_X86:
        return False
    at = 0
    with suppress(IndexError):  # the code is cut off
        for _ in range(_MOST):
            decided, at = _instruction(code, at)
            if decided is not None:
                return decided
    return False


def _instruction(code: bytes, at: int) -> tuple[bool | None, int]:
    """Decode an instruction.

    Returns:
        Whether it shows that the result is ignored; ``None`` if it neither shows that nor can use
        the result. And its end.
    """
    if code[at : at + 4] == b"\xf3\x0f\x1e\xfa":  # endbr64
        return None, at + 4
    rex, word = 0, 4
    while code[at] in (0x66, 0xF2, 0xF3):
        word = 2 if code[at] == 0x66 else word
        at += 1
    if code[at] & 0xF0 == 0x40:
        rex, at = code[at], at + 1
    opcode, at = code[at], at + 1
    if opcode == 0x0F:
        opcode, at = 0x0F00 | code[at], at + 1
    if opcode == 0xE8:  # call: the register belongs to the callee
        return True, at + 4
    if opcode == 0xEB and code[at] < 0x80:  # jmp forward
        return None, at + 1 + code[at]
    if opcode == 0x90:  # nop
        return None, at
    if opcode & ~0xF == 0x50 or opcode & ~7 == 0xB8:  # push, pop, mov imm
        size = 0 if opcode < 0x60 else 8 if rex & 8 else word
        return (None if opcode & 7 or rex & 1 else opcode >= 0x58), at + size
    if opcode in (0x31, 0x33) and code[at] == 0xC0 and not rex & 5:  # xor %eax, %eax
        return True, at + 1
    is_call = opcode == 0xFF and code[at] >> 3 & 7 == 2
    effect = _READ_RM | _CALL if is_call else _MODRM.get(opcode)
    if effect is None:
        return False, at
    decided, at = _with_modrm(code, at, rex, effect)
    return decided, at + min(word, _IMMEDIATE.get(opcode, 0))


def _with_modrm(code: bytes, at: int, rex: int, effect: int) -> tuple[bool | None, int]:
    """Return the same of an instruction by its effect, without an immediate value."""
    mode, register, base = code[at] >> 6, code[at] >> 3 & 7 | (rex & 4) << 1, code[at] & 7
    at += 1
    reads = [register] if effect & _READ_REG else []
    writes = [register] if effect & _WRITE_REG else []
    operand = base | (rex & 1) << 3
    if mode == 3:
        reads += [operand] if effect & _READ_RM else []
        writes += [operand] if effect & _WRITE_RM else []
    else:
        if base == 4:  # with an index; 4 is none
            index, base = code[at] >> 3 & 7 | (rex & 2) << 2, code[at] & 7
            operand = base | (rex & 1) << 3
            at += 1
            reads += [index] if index != 4 else []
        if mode == 0 and base == 5:  # an address without a register, or from the instruction
            at += 4
        else:
            reads.append(operand)
        at += (0, 1, 4)[mode]
    if 0 in reads:  # %rax
        return False, at
    return True if 0 in writes or effect & _CALL else None, at
