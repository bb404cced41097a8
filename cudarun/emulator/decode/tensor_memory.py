"""ptxas's rules for instructions on tensor memory beyond their syntax."""

from __future__ import annotations

from cudarun.emulator.decode.operands import OperandMismatch
from cudarun.emulator.machine.tensor_memory.allocations import TENSOR_COLUMNS, UNIT
from cudarun.emulator.words import Words
from cudarun.ptx import tree

_MOST_EXPONENT = 15
_OPERANDS = 5  # of a product at least, one more if it is sparse


def check_exponent(instruction: tree.Instruction, module: tree.Module) -> None:
    """Check that a product may have an exponent for its addend.

    Raises:
        OperandMismatch: The target does not permit it.
    """
    given, words = instruction.operands, instruction.modifiers
    if "mma" not in words or "kind::i8" in words or len(given) <= _OPERANDS + ("sp" in words):
        return
    wrong = [target for target in module.targets if target.startswith("sm_110")]
    if wrong and isinstance(given[-1], tree.Integer):
        feature = "Feature 'argument scale-inp-d-imm'"
        raise OperandMismatch(f"{feature} not supported on .target '{wrong[0]}'")


def check_tensor_memory(opcode: str, words: Words) -> None:
    """Check constants of an instruction whose words and operands each are valid.

    Raises:
        OperandMismatch: A constant is invalid.
    """
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
