"""What ptxas demands of declarations and instructions beyond their syntax.

Each function returns what is wrong, in ptxas's words where it has some, or ``None``.
`tests/emulator/test_mutations.py` holds this to what ptxas was seen to refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from cudarun.emulator.isa.form import Words
from cudarun.emulator.isa.types import TYPES, Kind
from cudarun.ptx import tree

_INSTRUCTION_TYPES = frozenset(
    ["bf16", "bf16x2", "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "u16x2", "s16x2", "f32x2"]
)
_OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_WIDEST_VECTOR = 128

# --- declarations --------------------------------------------------------------------------------


def wrong_declaration(variable: tree.Variable) -> str | None:
    """What is wrong with the type, shape or initial value of a variable."""
    if variable.type in _OPAQUE or variable.type not in TYPES:
        what = f"a .{variable.space} .{variable.type} variable"
        return f"{what} is not implemented by the emulated device"
    if variable.type in _INSTRUCTION_TYPES:
        return f"Type .{variable.type} may only be used as an instruction type"
    kind = TYPES[variable.type].kind
    if kind is Kind.PREDICATE and variable.space != "reg":
        return f"Predicate variable '{variable.name}' must be in register state space"
    if variable.type == "f16x2" and variable.space == "param":
        return f"Variable '{variable.name}' cannot be allocated in .param state space"
    if TYPES[variable.type].bits * variable.vector > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    if variable.alignment and variable.alignment & (variable.alignment - 1):
        return "Alignment must be a power of two"
    return _wrong_initial(variable)


def _wrong_initial(variable: tree.Variable) -> str | None:
    if variable.initial is None:
        return None
    if variable.space not in ("global", "const"):
        return f"No initial value is allowed for '{variable.name}' in this state space"
    if variable.type in ("f16", "f16x2"):
        return f"No initial value is allowed for .{variable.type} type"
    kind = TYPES[variable.type].kind
    for value in variable.initial:
        match value:
            case tree.Float():
                fits = kind in (Kind.FLOAT, Kind.BITS)
            case tree.Integer():
                fits = kind is not Kind.FLOAT
            case _:  # an address; with a mask, one byte of it
                masked = value.mask is not None
                fits = kind is Kind.UNSIGNED or (masked and kind is Kind.BITS)
        if not fits:
            return "Initial value type mismatch"
    return None


# --- instructions --------------------------------------------------------------------------------


def wrong_words(opcode: str, words: Words) -> str | None:
    """What is wrong with an instruction whose words and operands each are right."""
    policy = "policy" in words.given
    if words.get("hint") and not policy:
        return f".L2::cache_hint modifier requires a cache policy for instruction '{opcode}'"
    if policy and "hint" in words and not words["hint"]:
        return f".L2::cache_hint modifier required for instruction '{opcode}' with a cache policy"
    check = _CHECKS.get(opcode)
    return check(words) if check else None


def _memory(words: Words) -> str | None:
    if words.type.bits * words.count > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    return None


def _copy(words: Words) -> str | None:
    if "size" not in words.constants:
        return None
    size, allowed = words.constants["size"], (16,) if words["how"] == "cg" else (4, 8, 16)
    if size not in allowed:
        expected = " or ".join(map(str, allowed))
        return f"unexpected value '{size}', expected to be {expected}"
    return None


_CHECKS: dict[str, Callable[[Words], str | None]] = {"ld": _memory, "st": _memory, "cp": _copy}


def wrong_barrier(number: tree.Operand, threads: tree.Operand | None) -> str | None:
    """What is wrong with a barrier's number and its count of threads, where they are constants."""
    if isinstance(number, tree.Integer) and not 0 <= number.value < 16:
        value = number.value & ((1 << 64) - 1)
        return f"Barrier number '{value}' out of range, expected to be in range [0..15]"
    if isinstance(threads, tree.Integer) and threads.value % 32:
        return "Number of threads participating in barrier must be in multiple of warp size"
    return None


def wrong_argument(actual: tuple[int, bool], formal: tree.Variable) -> str | None:
    """Whether an argument's size, and its being an array, are those of the formal parameter."""
    size = TYPES[formal.type].bytes * formal.vector * prod(n or 0 for n in formal.dimensions)
    if actual != (size, bool(formal.dimensions)):
        return f"Type of argument does not match formal parameter '{formal.name}'"
    return None
