"""Register counts of fragments of matrix instructions, and ptxas's rules for tensor memory.

PTX manual 9.7.14 to 9.7.16.
"""

from __future__ import annotations

from cudarun.emulator.decode.operands import OperandMismatch
from cudarun.emulator.machine.fragments import shape_of
from cudarun.emulator.machine.tensor_memory.allocations import TENSOR_COLUMNS, UNIT
from cudarun.emulator.machine.tensor_memory.memory import LANES
from cudarun.emulator.machine.tensor_memory.transfers import REGISTERS
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words
from cudarun.ptx import tree

_WORD = 32  # bits of the registers of all types but f64
_QUARTERS = 4
_HALF_INPUTS = 8  # wmma keeps the elements of a and b of f16 twice


def fragments(opcode: str, words: Words) -> list[int] | None:
    """Return the registers of each vector operand in order; ``None`` where they are not checked."""
    if opcode == "tcgen05":
        if "num" in words:  # a load or a store
            return [REGISTERS[words["shape"]] * int(words["num"][1:])]
        return [LANES // _WORD * int(words["group"][-1])]  # a mask of lanes
    if "num" in words:
        return [int(words["num"][1:]) * (2 if words.get("shape") == "m16n16" else 1)]
    if "which" in words:
        return [_registers(opcode, words, words["which"], words["type"])]
    if opcode == "wgmma":
        matrices = "da" if "a" in words.given else "d"
        return [_registers(opcode, words, each, words[f"{each}type"]) for each in matrices]
    types = [words.get(f"{name}type", "f16") for name in "dabc"]
    selectors = [2, 2] if words.get("stype") else []  # of the scale factors
    return [*(_registers(opcode, words, *pair) for pair in zip("dabc", types, strict=True)),
            *selectors]  # fmt: skip


def _registers(opcode: str, words: Words, matrix: str, type_name: str) -> int:
    m, n, k = shape_of(words["shape"])
    if words.get("sp") and matrix == "a":
        k //= 2
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[matrix]
    if words["shape"] == "m8n8k4" and type_name != "f64":  # each quarter of the warp has matrices
        elements *= _QUARTERS
    if type_name == "f64":
        return elements // WARP
    if opcode == "wmma" and type_name == "f16" and matrix in "ab":
        return _HALF_INPUTS
    in_bytes = matrix in "ab" and words.get("kind") in ("kind::f8f6f4", "kind::mxf8f6f4")
    bits = 8 if in_bytes else TYPES[type_name].bits
    return max(elements * bits // _WORD // (WARPGROUP if opcode == "wgmma" else WARP), 1)


_MOST_EXPONENT = 15
_OPERANDS = 5  # of a product at least, one more if it is sparse


def check_exponent(instruction: tree.Instruction, module: tree.Module) -> None:
    """Check that a product may have an exponent for its addend."""
    given, words = instruction.operands, instruction.modifiers
    if "mma" not in words or "kind::i8" in words or len(given) <= _OPERANDS + ("sp" in words):
        return
    wrong = [target for target in module.targets if target.startswith("sm_110")]
    if wrong and isinstance(given[-1], tree.Integer):
        feature = "Feature 'argument scale-inp-d-imm'"
        raise OperandMismatch(f"{feature} not supported on .target '{wrong[0]}'")


def check_tensor_memory(opcode: str, words: Words) -> None:
    """Check constants of an instruction whose words and operands each are valid."""
    exponent, size = words.constants.get("scale", 0), words.constants.get("size", UNIT)
    if words.get("kind") != "kind::i8" and not 0 <= exponent <= _MOST_EXPONENT:
        what = f"value '{exponent}' out of range, expected to be in range [0..{_MOST_EXPONENT}]"
        raise OperandMismatch(f"Argument of instruction 'tcgen05.mma': {what}")
    if "alloc" in words and not UNIT <= size <= TENSOR_COLUMNS:
        what = f"value '{size}' out of range, expected to be in range [{UNIT}..{TENSOR_COLUMNS}]"
        raise OperandMismatch(f"Argument 1 of instruction 'tcgen05.alloc': {what}")
    if "alloc" in words and size & (size - 1):
        what = "value must be power of 2"
        raise OperandMismatch(f"Argument 1 of 'tcgen05.alloc' instruction: {what}")
    if size % UNIT:
        what = f"unexpected value '{size}', expected to be multiple of {UNIT}"
        raise OperandMismatch(f"Argument 1 of instruction 'tcgen05.dealloc': {what}")
