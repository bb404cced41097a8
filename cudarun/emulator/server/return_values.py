"""Detection of ignored results of calls, by the machine code after the call.

A result is ignored only where the code shows it: the register with the result is
written, or another function is called, before anything reads it. Only the instructions that
compilers put there are known, on x86-64 alone; after any other one the program is taken to look at
the result.
"""

from __future__ import annotations

_RAX = 0
# Opcodes with a ModRM byte: whether they read and write the register, and the register or memory.
_READ_REG, _WRITE_REG, _READ_RM, _WRITE_RM = 1, 2, 4, 8
_MODRM = {
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
}
_IMMEDIATE = {0xC7: 4, 0xC6: 1, 0x83: 1, 0x81: 4}
_TWO_BYTES = {0x1F: 0, 0x10: 0, 0x11: 0, 0x28: 0, 0x29: 0, 0x6F: 0, 0x7F: 0, 0xEF: 0}
_TWO_BYTES |= {0xB6: _WRITE_REG | _READ_RM, 0xB7: _WRITE_REG | _READ_RM}  # movzx
_XOR = (0x31, 0x33)
_PREFIXES = (0x66, 0xF2, 0xF3)
_MOST = 12  # instructions


def ignores_result(code: bytes) -> bool:
    """Return whether code after a call ignores its result, for certain."""
    at = 0
    for _ in range(_MOST):
        found = _instruction(code, at)
        if found is None:
            return False
        decided, at = found
        if decided is not None:
            return decided
        if at >= len(code):
            return False
    return False


def _instruction(code: bytes, at: int) -> tuple[bool | None, int] | None:
    """Decode an instruction.

    Returns:
        Whether it shows that the result is ignored, or used, or neither, and its end; ``None`` if
        it is not known.
    """
    rex = 0
    try:
        if code[at : at + 4] == b"\xf3\x0f\x1e\xfa":  # endbr64
            return None, at + 4
        while code[at] in _PREFIXES:
            at += 1
        if code[at] & 0xF0 == 0x40:
            rex, at = code[at], at + 1
        opcode, at = code[at], at + 1
        if opcode == 0x0F:
            opcode, at = code[at], at + 1
            return _with_modrm(code, at, rex, _TWO_BYTES.get(opcode), 0)
        if opcode == 0xE8:  # call: the register belongs to the callee
            return True, at + 4
        if opcode == 0xEB:  # jmp
            return None, at + 1 + int.from_bytes(code[at : at + 1], "little", signed=True)
        if opcode & 0xF8 == 0xB8:  # mov imm, r
            register = opcode & 7 | (rex & 1) << 3
            return (True if register == _RAX else None), at + (8 if rex & 8 else 4)
        if opcode & 0xF0 == 0x50:  # push, pop
            register = opcode & 7 | (rex & 1) << 3
            return ((opcode >= 0x58) if register == _RAX else None), at
        if opcode in (0x90, 0x98, 0x99):
            return (None if opcode == 0x90 else False), at
        if opcode in _XOR and code[at] == 0xC0 and not rex & 5:
            return True, at + 1  # xor %eax, %eax
        if opcode in _XOR and code[at] >= 0xC0:
            return _with_modrm(code, at, rex, _READ_REG | _READ_RM, 0)
        if opcode == 0xFF and code[at] >> 3 & 7 == 2:  # call *r/m
            decided = _with_modrm(code, at, rex, _READ_RM, 0)
            return None if decided is None else (decided[0] is None, decided[1])
        return _with_modrm(code, at, rex, _MODRM.get(opcode), _IMMEDIATE.get(opcode, 0))
    except IndexError:
        return None


def _with_modrm(
    code: bytes, at: int, rex: int, effect: int | None, immediate: int
) -> tuple[bool | None, int] | None:
    if effect is None:
        return None
    mode, register, base = code[at] >> 6, code[at] >> 3 & 7, code[at] & 7
    at += 1
    register |= (rex & 4) << 1
    reads = {register} if effect & _READ_REG else set()
    writes = {register} if effect & _WRITE_REG else set()
    if mode == 3:
        operand = base | (rex & 1) << 3
        reads |= {operand} if effect & _READ_RM else set()
        writes |= {operand} if effect & _WRITE_RM else set()
    else:
        if base == 4:
            index, inner = code[at] >> 3 & 7 | (rex & 2) << 2, code[at] & 7
            at += 1
            reads |= {index} if index != 4 else set()
            if mode == 0 and inner == 5:
                at += 4
            else:
                reads.add(inner | (rex & 1) << 3)
        elif mode == 0 and base == 5:
            at += 4
        else:
            reads.add(base | (rex & 1) << 3)
        at += (0, 1, 4)[mode]
    decided = False if _RAX in reads else True if _RAX in writes else None
    return decided, at + immediate
