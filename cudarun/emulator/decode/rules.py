"""ptxas's rules for declarations and instructions beyond their syntax.

Each function returns an error, in ptxas's words where possible, or ``None``.
`tests/emulator/test_mutations.py` checks the rules against recorded refusals of ptxas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache, partial
from math import prod

from cudarun.emulator.decode.fragments import fragments
from cudarun.emulator.decode.operands import Unimplemented
from cudarun.emulator.isa.form import InstructionForm, OperandForm
from cudarun.emulator.isa.requirements import requirements
from cudarun.emulator.machine.matrices import shape_of
from cudarun.emulator.numerics.types import TYPES, TypeKind
from cudarun.emulator.words import Words
from cudarun.ptx import tree

_INSTRUCTION_TYPES = frozenset(
    ["bf16", "bf16x2", "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "u16x2", "s16x2", "f32x2",
     "s4", "u4", "b1"]
)  # fmt: skip
_OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_ACCELERATED = ("setmaxnreg", "tensormap.replace")  # of sm_90a and those after it, not of sm_90
_MATRIX = frozenset({"ldmatrix", "stmatrix", "mma", "wmma", "wgmma"})
_WIDEST_VECTOR = 128
_ALIGNMENTS = frozenset(1 << bit for bit in range(32))
_MOST_DIGITS = 9  # of a target that can exist
_SCALAR_VIDEO = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset")

# --- declarations --------------------------------------------------------------------------------


def wrong_declaration(variable: tree.Variable, module: tree.Module) -> str | None:
    """Return the error in the type, shape or initial value of a variable.

    Raises:
        Unimplemented: PTX has variables of this type, and the emulated device has not.
    """
    if variable.type == "b128" and module.version < (8, 3):
        return "Feature '.b128 type' requires PTX ISA .version 8.3 or later"
    if variable.type in _OPAQUE or variable.type not in TYPES:
        what = f"a .{variable.space} .{variable.type} variable"
        raise Unimplemented(f"{what} is not implemented by the emulated device")
    if variable.type in _INSTRUCTION_TYPES:
        return f"Type .{variable.type} may only be used as an instruction type"
    kind = TYPES[variable.type].kind
    if kind is TypeKind.PREDICATE and variable.space != "reg":
        return f"Predicate variable '{variable.name}' must be in register state space"
    if kind is TypeKind.PREDICATE and variable.vector > 1:
        return "Predicate type can only be used to define scalar register variables"
    whole_vector = variable.vector > 1 and not variable.dimensions
    if (variable.type == "f16x2" or whole_vector) and variable.space == "param":
        return f"Variable '{variable.name}' cannot be allocated in .param state space"
    if TYPES[variable.type].bits * variable.vector > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    if variable.alignment is not None and variable.alignment not in _ALIGNMENTS:
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
                fits = kind in (TypeKind.FLOAT, TypeKind.BITS)
            case tree.Integer():
                fits = kind is not TypeKind.FLOAT
            case _:  # an address; with a mask, one byte of it
                masked = value.mask is not None
                fits = kind is TypeKind.UNSIGNED or (masked and kind is TypeKind.BITS)
        if not fits:
            return "Initial value type mismatch"
    return None


# --- instructions --------------------------------------------------------------------------------


def too_new(instruction: tree.Instruction, module: tree.Module) -> str | None:
    """Return an error if an instruction needs a later ``.target`` or ``.version``."""
    if instruction.opcode == "wmma":
        old = _too_old(instruction, module)
        if old is not None:
            return old
    if _lacks_sync(instruction, module):
        return (
            f"Instruction '{instruction.opcode}' without '.sync' is not supported on .target sm_70 "
            "and higher from PTX ISA version 6.4"
        )
    return _too_new(instruction.opcode, instruction.modifiers, module.targets, module.version)


@lru_cache(maxsize=4096)
def _too_new(
    opcode: str, modifiers: tuple[str, ...], targets: tuple[str, ...], given: tuple[int, int]
) -> str | None:
    name = ".".join((opcode, *modifiers))
    for limited in _ACCELERATED:
        is_limited = f"{name}.".startswith(f"{limited}.")
        if is_limited and not any(target.endswith("a") for target in targets):
            return f"Instruction '{limited}' not supported on .target '{targets[0]}'"
    if opcode == "wgmma" and "sm_90a" not in targets:
        action = ".".join(("wgmma", *modifiers[:1]))
        return f"Instruction '{action}' not supported on .target '{targets[0]}'"
    architecture, version = requirements(opcode, modifiers)
    if any(_architecture(target) < architecture for target in targets):
        return f"Feature '{name}' requires .target sm_{architecture} or higher"
    if given < version:
        number = ".".join(map(str, version))
        return f"Feature '{name}' requires PTX ISA .version {number} or later"
    return None


def _too_old(instruction: tree.Instruction, module: tree.Module) -> str | None:
    """Return the error in a form of ``wmma`` that PTX had before 6.3 or 6.5."""
    name = ".".join(("wmma", *instruction.modifiers[:1]))
    if module.version >= (6, 3) and "aligned" not in instruction.modifiers:
        return f".aligned modifier required for instruction '{name}'"
    saturates = "satfinite" in instruction.modifiers and "s32" not in instruction.modifiers
    if module.version >= (6, 5) and saturates:
        return (
            f"Instruction ''{name}' with floating point type' with '.satfinite' is not supported "
            "starting from PTX ISA version 6.5"
        )
    return None


def _lacks_sync(instruction: tree.Instruction, module: tree.Module) -> bool:
    """Return whether a shuffle or a vote has no member mask where it needs one."""
    if instruction.opcode not in ("shfl", "vote") or "sync" in instruction.modifiers:
        return False
    return module.version >= (6, 4) and any(_architecture(name) >= 70 for name in module.targets)


@lru_cache
def _architecture(target: str) -> int:
    """Return 90 for ``sm_90a``; a word that is no architecture restricts nothing."""
    digits = "".join(filter(str.isdigit, target.removeprefix("sm_")))[:_MOST_DIGITS]
    return int(digits) if target.startswith("sm_") else 1 << 30


def wrong_sampler(instruction: tree.Instruction, module: tree.Module) -> str | None:
    """Return the error in the number of objects of a fetch: a sampler, in independent mode only.

    Raises:
        Unimplemented: A separate sampler in unified mode, whose effect is not documented.
    """
    if instruction.opcode not in ("tex", "tld4"):
        return None
    independent = "texmode_independent" in module.targets
    for operand in instruction.operands:
        if isinstance(operand, tree.TupleAddress):
            separate = len(operand.rest) > 1
            if independent and not separate:
                opcode = instruction.opcode
                return (
                    f"Argument 2 of instruction '{opcode}': .samplerref or .u64 register expected"
                )
            if separate and not independent:
                what = f"{instruction.opcode} with a separate sampler in unified mode"
                raise Unimplemented(f"{what} is not implemented by the emulated device")
    return None


def wrong_operands(instruction: tree.Instruction) -> str | None:
    """Return the error in operands that the instruction has with other modifiers only."""
    if instruction.opcode == "cvta" and "to" in instruction.modifiers:
        for operand in instruction.operands[1:]:
            if isinstance(operand, tree.SymbolReference | tree.SymbolOffset):
                return "Argument 1 of instruction 'cvta.to': must be register"
    return None


def refused_operands(instruction: tree.Instruction) -> str | None:
    """Return PTX operands for which the tables have no notation."""
    opcode, given = instruction.opcode, instruction.operands
    addresses = [operand for operand in given if isinstance(operand, tree.TupleAddress)]
    if opcode in ("tex", "tld4", "suld", "sust", "sured"):
        for operand in addresses:
            if isinstance(operand.address.base, tree.SymbolReference):
                return f"{opcode} of a .texref or .surfref is"
    if opcode not in ("tex", "tld4"):
        return None
    mode = instruction.modifiers[0] if opcode == "tex" else ""
    more = given[{"level": 3, "grad": 4}.get(mode, 2) :]
    if more and not (isinstance(more[0], tree.Vector) or "1d" in instruction.modifiers):
        return f"{opcode} with a depth to compare with is"
    if len(more) > 1:
        return f"{opcode} with a depth to compare with is"
    return None


def wrong_words(opcode: str, words: Words) -> str | None:
    """Return the error in an instruction whose words and operands each are valid."""
    policy = "policy" in words.given
    if words.get("hint") and not policy:
        return f".L2::cache_hint modifier requires a cache policy for instruction '{opcode}'"
    if policy and "hint" in words and not words["hint"]:
        return f".L2::cache_hint modifier required for instruction '{opcode}' with a cache policy"
    if opcode in _MATRIX and words.counts:
        wanted = fragments(opcode, words)
        if wanted is not None and words.counts != wanted:
            return f"Argument vector size mismatch for instruction '{opcode}'"
    check = _CHECKS.get(opcode)
    return check(words) if check else None


# Selectors in the manual's notation for many (9.7.18.2).
_SELECTORS = {"hxy": re.compile(r"h[0-3]{2}"), "bxyzw": re.compile(r"b[0-7]{4}")}


def wrong_selector(
    form: InstructionForm, operand: OperandForm, selector: str, words: Words
) -> str | None:
    """Return the error in the selector of an operand of a video instruction."""
    if operand.selector:
        allowed = form.classes[operand.selector]
        if selector in allowed or any(
            pattern.fullmatch(selector) for name, pattern in _SELECTORS.items() if name in allowed
        ):
            return None
        return f"Incorrect video selector for operand {form.operands.index(operand)}"
    if operand is not form.operands[0]:
        return f"Video selector is not allowed on 'source {operand.name.upper()}' operand"
    if words.get("op2"):
        return "Video instruction cannot have destination selector and secondary operation"
    return f"Video selector is not allowed on destination for instruction '{form.opcode}'"


def _video(opcode: str, words: Words) -> str | None:
    if "d" in words.selectors and "c" not in words.given:
        return f"Video selector is not allowed on destination for instruction '{opcode}'"
    if words.negative and words.negative != {"a", "b"} and words.get("po"):
        return "Conflicting use of '.po' modifier with operand negation"
    if "c" in words.negative and len(words.negative) == 2:
        limit = "either (source A xor source B) or source C"
        return f"Operand negation limited to {limit}"
    return None


def _memory(words: Words) -> str | None:
    if words.type.bits * words.count > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    if words.get("cop") and words.get("l1"):
        return f"Modifier '.{words['cop']}' cannot be combined with modifier '.{words['l1']}'"
    for word in ("l1", "prefetch", "hint"):
        if words.get(word) and words.space not in ("", "global"):
            return f"Modifier '.{words[word]}' cannot be applied to '.{words.space}' space"
    return None


def _atomic(opcode: str, words: Words) -> str | None:
    if words.get("vec") and words.space not in ("", "global"):  # that of the variable at [a]
        return f"State space incorrect for feature '{opcode} instruction with vector types'"
    if words.get("hint") and (words.space not in ("", "global") or words["op"] == "cas"):
        return "Illegal modifier '.L2::cache_hint'"
    return None


def _copy(words: Words) -> str | None:
    if "dim" in words:
        return _tensor_copy(words)
    if "size" not in words.constants:
        return None
    if "how" in words:
        return _constant(words, "size", (16,) if words["how"] == "cg" else (4, 8, 16))
    size = words.constants["size"]
    return f"unexpected value '{size}', expected to be multiple of 16" if size % 16 else None


def _tensor_copy(words: Words) -> str | None:
    dimensions = int(words["dim"][0])
    if words.counts[0] != dimensions or any(n != dimensions - 2 for n in words.counts[1:]):
        return "Argument vector size mismatch"
    return None


def _tensor_map(words: Words) -> str | None:
    if "size" in words.constants:
        return _constant(words, "size", (128,))
    if "place" in words.constants:
        return _constant(words, "place", range(5))
    if "n" in words.constants:
        return _constant(words, "n", range(_MAP_FIELDS[words["field"]]))
    return None


# The number of values of fields of tensor maps, for sm_90.
_MAP_FIELDS = {"elemtype": 13, "interleave_layout": 3, "swizzle_mode": 4, "fill_mode": 2}


def _matrix_product(words: Words) -> str | None:
    if words.get("satfinite") and words["dtype"] != "s32":
        return "Unexpected instruction types specified for 'mma'"
    return _selector(words)


def _matrix(words: Words) -> str | None:
    if "which" in words and words["which"] in "cd":
        of_shape = {"m8n8k4": ("f64",), "m16n16k8": ("f32",), "m8n8k32": ("s32",),
                    "m8n8k128": ("s32",)}  # fmt: skip
        if words["type"] not in of_shape.get(words["shape"], ("f16", "f32", "s32")):
            return f"Incorrect instruction type for shape '.{words['shape']}'"
    return _narrow(words)


def _narrow(words: Words) -> str | None:
    """Return the error in the layouts of matrices of elements of less than 8 bits."""
    name = words.get("atype") or words.get("type") or ""
    if name not in TYPES or TYPES[name].bits >= 8:
        return None
    which = words.get("which")
    alayout = words.get("alayout") or (words["layout"] if which == "a" else "")
    blayout = words.get("blayout") or (words["layout"] if which == "b" else "")
    instruction = f"wmma.load.{which}" if which else "wmma.mma"
    if alayout == "col":
        return f"Illegal alayout '.col' for instruction '{instruction}'"
    if blayout == "row":
        return f"Illegal blayout '.row' for instruction '{instruction}'"
    return None


def _selector(words: Words) -> str | None:
    """Return the error in the sparsity selector of ``mma.sp``."""
    if "selector" not in words.constants:
        return None
    value, shape, name = words.constants["selector"], words["shape"], words["atype"]
    chunks = shape_of(shape)[2] * TYPES[name].bits // (64 if TYPES[name].bits >= 16 else 32)
    most = {4: 3, 8: 1, 16: 0}[chunks]
    if (shape, name, words["dtype"]) == ("m16n8k32", "f16", "f32"):
        most = 3  # two more than the manual has
    if 0 <= value <= most:
        return None
    if name in ("e4m3", "e5m2"):
        return f"unexpected value '{value & 0xFFFFFFFF}', expected to be 0"
    return f"value '{value}' out of range, expected to be in range [0..{most}]"


def _of_warpgroup(words: Words) -> str | None:
    for name, value in words.constants.items():
        if name == "N":
            if value < 0:
                return f"unexpected value '{value}', expected to be non-negative integer"
            continue
        allowed: Collection[int] = (-1, 1) if "imm-scale" in name else (0, 1)
        if name == "selector" and TYPES[words["atype"]].bits == 8:
            allowed = (0,)
        wrong = _constant(words, name, allowed)
        if wrong is not None:
            return wrong
    return None


def _product(words: Words) -> str | None:
    if words.get("atype") != words.get("btype"):
        return "Unexpected instruction types specified for 'wmma'"
    return _matrix(words)


def _barrier_object(words: Words) -> str | None:
    sem, scope = words.get("sem"), words.get("scope")
    if bool(sem) != bool(scope):
        return f"Modifier '.{sem or scope}' requires both an order and a scope"
    if words.get("kind") == "noComplete" and (sem == "relaxed" or scope == "cluster"):
        return "Modifier '.noComplete' requires '.release.cta'"
    if words.get("kind") and "count" not in words.given:
        return f"Illegal modifier '.{words['kind']}' without count argument"
    return None


def _constant(words: Words, name: str, allowed: Collection[int]) -> str | None:
    value = words.constants[name]
    if value in allowed:
        return None
    expected = (
        f"0 to {len(allowed) - 1}" if isinstance(allowed, range) else " or ".join(map(str, allowed))
    )
    return f"unexpected value '{value}', expected to be {expected}"


def _stack(words: Words) -> str | None:
    alignment = words.constants.get("align", 16)
    if alignment < 1 or alignment & (alignment - 1):
        return "Alignment must be a power of two"
    return None


_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_PADDED = {1: (1,), 2: (2,), 3: (4,), 4: (4,)}


def _fetch(opcode: str, words: Words) -> str | None:
    result, coordinates, *others = words.counts
    axes = _AXES[words["geom"]]
    given = axes + words["geom"].startswith("a")
    if result != (2 if words.get("v2") else 4):
        return f"Argument vector size mismatch for instruction '{opcode}'"
    if coordinates == 3:
        return "Illegal vector size: 3"
    if coordinates < given or any(count not in _PADDED[axes] for count in others):
        return f"Operand vector size doesn't match geometry for instruction '{opcode}'"
    return None


def _query(opcode: str, words: Words) -> str | None:
    if words.offsets[0]:
        kind = "texref" if opcode == "txq" else "surfref"
        return f"Argument 1 of instruction '{opcode}': .{kind} or .u64 register expected"
    return None


def _on_surface(opcode: str, words: Words) -> str | None:
    coordinates = words.counts[0 if opcode != "suld" or not words.get("vec") else 1]
    axes = _AXES[words["geom"]] + words["geom"].startswith("a")
    if coordinates == 3:
        return "Illegal vector size: 3"
    if coordinates < axes:
        return f"Operand vector size doesn't match geometry for instruction '{opcode}'"
    if words.type.bits * int((words.get("vec") or "v1")[1:]) > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    return None


def _move(words: Words) -> str | None:
    if words.get("vec") and words.type.bits * words.count > _WIDEST_VECTOR:
        return "Vector type too large, exceeds 128 bit limit"
    return None


_CHECKS: dict[str, Callable[[Words], str | None]] = {
    "mov": _move,
    "ld": _memory,
    "ldu": _memory,
    "st": _memory,
    "cp": _copy,
    "alloca": _stack,
    "atom": partial(_atomic, "atom"),
    "red": partial(_atomic, "red"),
    **{name: partial(_video, name) for name in _SCALAR_VIDEO},
    "mma": _matrix_product,
    "wmma": _product,
    "wgmma": _of_warpgroup,
    "mbarrier": _barrier_object,
    "tensormap": _tensor_map,
    "fence": _tensor_map,
    **{name: partial(_fetch, name) for name in ("tex", "tld4")},
    **{name: partial(_query, name) for name in ("txq", "suq")},
    **{name: partial(_on_surface, name) for name in ("suld", "sust", "sured")},
    "pmevent": lambda words: _constant(words, "n", range(1 << 16 if "mask" in words else 16)),
    "discard": lambda words: _constant(words, "n", (128,)),
    "applypriority": lambda words: _constant(words, "n", (128,)),
}


LIMIT_OFFSETS = frozenset({"txq", "suq"})
"""The opcodes whose operands are checked with the offset of an address."""


def wrong_barrier(number: tree.Operand, threads: tree.Operand | None) -> str | None:
    """Return the error in a constant barrier number or thread count."""
    if isinstance(number, tree.Integer) and not 0 <= number.value < 16:
        value = number.value & ((1 << 64) - 1)
        return f"Barrier number '{value}' out of range, expected to be in range [0..15]"
    if isinstance(threads, tree.Integer) and threads.value % 32:
        return "Number of threads participating in barrier must be in multiple of warp size"
    return None


def wrong_argument(actual: tuple[int, bool], formal: tree.Variable) -> str | None:
    """Return an error unless an argument's size and shape are those of the formal parameter."""
    size = TYPES[formal.type].bytes * formal.vector * prod(n or 0 for n in formal.dimensions)
    if actual != (size, bool(formal.dimensions)):
        return f"Type of argument does not match formal parameter '{formal.name}'"
    return None
