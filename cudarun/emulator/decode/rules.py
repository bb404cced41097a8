"""ptxas's rules for declarations and instructions beyond their syntax.

Each function raises `OperandMismatch`, in ptxas's words where possible.
`tests/emulator/test_mutations.py` checks the rules against recorded refusals of ptxas.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from math import prod

from cudarun.emulator.decode.fragments import check_tensor_memory, fragments
from cudarun.emulator.decode.operands import OperandMismatch, Unimplemented
from cudarun.emulator.isa.form import InstructionForm, OperandForm
from cudarun.emulator.machine.fragments import shape_of
from cudarun.emulator.machine.narrow_matrices import scale_vector
from cudarun.emulator.machine.tensor_maps.tensor_map import PACKED
from cudarun.emulator.numerics.types import TYPES, TypeKind
from cudarun.emulator.words import Words
from cudarun.ptx import tree

_OPAQUE = frozenset({"texref", "samplerref", "surfref"})
_MATRIX = frozenset({"ldmatrix", "stmatrix", "mma", "wmma", "wgmma", "tcgen05"})
_WIDEST_VECTOR = 128
_WITH_COUNT = 3  # operands: the state, the object and the count
_OF_THREE = 4  # operands of min and max
COUNTED = frozenset({"mbarrier", "min", "max", "tensormap"})
"""The opcodes whose forms depend on the number of operands, or on their values."""
_ALIGNMENTS = frozenset(1 << bit for bit in range(32))

# --- declarations --------------------------------------------------------------------------------


def check_declaration(variable: tree.Variable, module: tree.Module) -> None:
    """Check the type, shape and initial value of a variable."""
    if variable.type == "b128" and module.version < (8, 3):
        raise OperandMismatch("Feature '.b128 type' requires PTX ISA .version 8.3 or later")
    if variable.type in _OPAQUE:
        raise Unimplemented(f"a .{variable.space} .{variable.type} variable")
    if variable.type in ("bf16", "bf16x2"):
        raise OperandMismatch(f"Type .{variable.type} may only be used as an instruction type")
    kind = TYPES[variable.type].kind
    if kind is TypeKind.PREDICATE and variable.space != "reg":
        what = f"Predicate variable '{variable.name}'"
        raise OperandMismatch(f"{what} must be in register state space")
    if kind is TypeKind.PREDICATE and variable.vector > 1:
        what = "Predicate type can only be used to define scalar register variables"
        raise OperandMismatch(what)
    whole_vector = variable.vector > 1 and not variable.dimensions
    if (variable.type == "f16x2" or whole_vector) and variable.space == "param":
        what = f"Variable '{variable.name}'"
        raise OperandMismatch(f"{what} cannot be allocated in .param state space")
    _check_width(TYPES[variable.type].bits * variable.vector)
    if variable.alignment is not None and variable.alignment not in _ALIGNMENTS:
        raise OperandMismatch("Alignment must be a power of two")
    if variable.initial is not None:
        _check_initial(variable, variable.initial)


def _check_initial(
    variable: tree.Variable, initial: tuple[tree.Integer | tree.Float | tree.SymbolValue, ...]
) -> None:
    if variable.space not in ("global", "const"):
        what = f"No initial value is allowed for '{variable.name}' in this state space"
        raise OperandMismatch(what)
    if variable.type in ("f16", "f16x2"):
        raise OperandMismatch(f"No initial value is allowed for .{variable.type} type")
    kind = TYPES[variable.type].kind
    for value in initial:
        match value:
            case tree.Float():
                fits = kind in (TypeKind.FLOAT, TypeKind.BITS)
            case tree.Integer():
                fits = kind is not TypeKind.FLOAT
            case _:  # an address; with a mask, one byte of it
                masked = value.mask is not None
                fits = kind is TypeKind.UNSIGNED or (masked and kind is TypeKind.BITS)
        if not fits:
            raise OperandMismatch("Initial value type mismatch")


def _check_width(bits: int) -> None:
    if bits > _WIDEST_VECTOR:
        raise OperandMismatch("Vector type too large, exceeds 128 bit limit")


# --- instructions --------------------------------------------------------------------------------


def check_samplers(instruction: tree.Instruction, module: tree.Module) -> None:
    """Check the number of objects of a fetch: a sampler, in independent mode only.

    Raises:
        Unimplemented: A separate sampler in unified mode, whose effect is not documented.
    """
    independent = "texmode_independent" in module.targets
    for operand in instruction.operands:
        if isinstance(operand, tree.TupleAddress):
            separate, opcode = len(operand.rest) > 1, instruction.opcode
            if independent and not separate:
                what = f"Argument 2 of instruction '{opcode}'"
                raise OperandMismatch(f"{what}: .samplerref or .u64 register expected")
            if separate and not independent:
                raise Unimplemented(f"{opcode} with a separate sampler in unified mode")


_SWIZZLE_OF_96_BYTES = tree.Integer(4)


def check_count(instruction: tree.Instruction, module: tree.Module) -> None:
    """Check that the target and the version permit an instruction with such operands."""
    opcode, modifiers, count = instruction.opcode, instruction.modifiers, len(instruction.operands)
    last = instruction.operands[-1] if count else None
    least, version = 0, (0, 0)
    if opcode in ("min", "max") and count == _OF_THREE:
        what = f"{opcode}.f32 with 3 input operands"
        least, version = 100, (8, 8)
    elif opcode == "mbarrier" and count == _WITH_COUNT and modifiers[:1] == ("arrive",):
        what = "mbarrier.arrive with count argument and without '.noComplete' modifier"
        least = 0 if "noComplete" in modifiers else 90
    elif "elemtype" in modifiers and isinstance(last, tree.Integer) and last.value >= PACKED:
        what = "tensormap.replace.elemtype with a packed type"
        least, version = 100, (8, 7)
    is_of_96_bytes = modifiers[2:3] == ("swizzle_mode",) and last == _SWIZZLE_OF_96_BYTES
    if is_of_96_bytes and "sm_103a" not in module.targets:
        raise OperandMismatch("unexpected value '4', expected to be 0 to 3")
    architectures = [each.removeprefix("sm_").rstrip("af") for each in module.targets]
    if any(each.isdecimal() and int(each) < least for each in architectures):
        raise OperandMismatch(f"Feature '{what}' requires .target sm_{least} or higher")
    if module.version < version:
        number = ".".join(map(str, version))
        raise OperandMismatch(f"Feature '{what}' requires PTX ISA .version {number} or later")


def check_operands(instruction: tree.Instruction) -> None:
    """Check for operands without a notation in the tables, or allowed with other modifiers only."""
    opcode, given = instruction.opcode, instruction.operands
    converts = opcode == "cvta" and "to" in instruction.modifiers
    symbols = (tree.SymbolReference, tree.SymbolOffset)
    if converts and any(isinstance(each, symbols) for each in given[1:]):
        raise OperandMismatch("Argument 1 of instruction 'cvta.to': must be register")
    if opcode in ("tex", "tld4", "suld", "sust", "sured"):
        objects = (each.address.base for each in given if isinstance(each, tree.TupleAddress))
        if any(isinstance(each, tree.SymbolReference) for each in objects):
            raise Unimplemented(f"{opcode} of a .texref or .surfref")
    if opcode in ("tex", "tld4"):
        mode = instruction.modifiers[0] if opcode == "tex" else ""
        more = given[{"level": 3, "grad": 4}.get(mode, 2) :]
        is_offset = more and (isinstance(more[0], tree.Vector) or "1d" in instruction.modifiers)
        if len(more) > bool(is_offset):
            raise Unimplemented(f"{opcode} with a depth to compare with")


def check_words(opcode: str, words: Words) -> None:
    """Check an instruction whose words and operands each are valid."""
    policy = "policy" in words.given
    if words.get("hint") and not policy:
        what = ".L2::cache_hint modifier requires a cache policy"
        raise OperandMismatch(f"{what} for instruction '{opcode}'")
    if policy and "hint" in words and not words["hint"]:
        what = f".L2::cache_hint modifier required for instruction '{opcode}'"
        raise OperandMismatch(f"{what} with a cache policy")
    if opcode in _MATRIX and words.counts:
        registers = fragments(opcode, words)
        if registers is not None and words.counts != registers:
            raise _vector_size(opcode)
    check = _CHECKS.get(opcode)
    if check is not None:
        check(opcode, words)


def _vector_size(opcode: str) -> OperandMismatch:
    return OperandMismatch(f"Argument vector size mismatch for instruction '{opcode}'")


# Selectors in the manual's notation for many (9.7.18.2).
_SELECTORS = {"hxy": re.compile(r"h[0-3]{2}"), "bxyzw": re.compile(r"b[0-7]{4}")}


def check_selector(
    form: InstructionForm, operand: OperandForm, selector: str, words: Words
) -> None:
    """Check the selector of an operand of a video instruction."""
    if operand.selector:
        allowed = form.classes[operand.selector]
        if selector in allowed or any(
            pattern.fullmatch(selector) for name, pattern in _SELECTORS.items() if name in allowed
        ):
            return
        index = form.operands.index(operand)
        raise OperandMismatch(f"Incorrect video selector for operand {index}")
    if operand is not form.operands[0]:
        where = f"'source {operand.name.upper()}' operand"
        raise OperandMismatch(f"Video selector is not allowed on {where}")
    if words.get("op2"):
        what = "Video instruction cannot have destination selector and secondary operation"
        raise OperandMismatch(what)
    raise _destination_selector(form.opcode)


def _destination_selector(opcode: str) -> OperandMismatch:
    what = "Video selector is not allowed on destination"
    return OperandMismatch(f"{what} for instruction '{opcode}'")


def _video(opcode: str, words: Words) -> None:
    if "d" in words.selectors and "c" not in words.given:
        raise _destination_selector(opcode)
    if words.negative and words.negative != {"a", "b"} and words.get("po"):
        raise OperandMismatch("Conflicting use of '.po' modifier with operand negation")
    if "c" in words.negative and len(words.negative) == 2:
        limit = "either (source A xor source B) or source C"
        raise OperandMismatch(f"Operand negation limited to {limit}")


def _memory(opcode: str, words: Words) -> None:
    if "zero" in words.constants:
        _check_constant(words, "zero", (0,))
        return
    bits = words.type.bits * words.count
    is_wide = bits == 2 * _WIDEST_VECTOR and words.type.bits in (32, 64)
    if is_wide and opcode != "ldu" and words.space not in ("", "global"):
        what = "'256 bit wide load/store'"
        raise OperandMismatch(f"global state space expected for feature {what}")
    if not is_wide or opcode == "ldu":
        _check_width(bits)
    if words.get("l2") and not is_wide:
        what = f"'{opcode}' requires '.v8.b32/.v4.b64' type with '.{words['l2']}' modifier"
        raise OperandMismatch(f"Instruction {what}")
    if words.get("cop") and words.get("l1"):
        one, other = words["cop"], words["l1"]
        raise OperandMismatch(f"Modifier '.{one}' cannot be combined with modifier '.{other}'")
    for word in ("l1", "prefetch", "hint"):
        if words.get(word) and words.space not in ("", "global"):
            what = f"Modifier '.{words[word]}'"
            raise OperandMismatch(f"{what} cannot be applied to '.{words.space}' space")


def _atomic(opcode: str, words: Words) -> None:
    if words.get("vec") and words.space not in ("", "global"):  # that of the variable at [a]
        feature = f"'{opcode} instruction with vector types'"
        raise OperandMismatch(f"State space incorrect for feature {feature}")
    if words.get("hint") and (words.space not in ("", "global") or words["op"] == "cas"):
        raise OperandMismatch("Illegal modifier '.L2::cache_hint'")


def _copy(opcode: str, words: Words) -> None:
    if "dim" in words:
        rank = int(words["dim"][0])
        wanted = 5 if words["mode"].endswith("4") else rank
        if words.counts[0] != wanted or any(n != rank - 2 for n in words.counts[1:]):
            raise OperandMismatch("Argument vector size mismatch")
    elif "how" in words:
        _check_constant(words, "size", (16,) if words["how"] == "cg" else (4, 8, 16))
    elif words.constants.get("size", 0) % 16:
        size = words.constants["size"]
        raise OperandMismatch(f"unexpected value '{size}', expected to be multiple of 16")


# The number of values of fields of tensor maps.
_MAP_FIELDS = {
    "elemtype": 16,
    "interleave_layout": 3,
    "swizzle_mode": 5,
    "swizzle_atomicity": 4,
    "fill_mode": 2,
}


def _tensor_map(opcode: str, words: Words) -> None:
    _check_constant(words, "size", (128,))
    _check_constant(words, "place", range(5))
    _check_constant(words, "n", range(_MAP_FIELDS.get(words.get("field", ""), 0)))


def _matrix_product(opcode: str, words: Words) -> None:
    if words.get("satfinite") and words["dtype"] != "s32":
        raise OperandMismatch("Unexpected instruction types specified for 'mma'")
    if words.get("stype"):
        step = scale_vector(words)
        for side, lanes in (("a", (0, 1)), ("b", (0, 1, 2, 3))):
            _check_constant(words, f"id-{side}0", (0, 1, 2, 3)[::step])
            _check_constant(words, f"id-{side}1", lanes)
    if "selector" not in words.constants:
        return
    value, shape, name = words.constants["selector"], words["shape"], words["atype"]
    chunks = shape_of(shape)[2] * TYPES[name].bits // (64 if TYPES[name].bits >= 16 else 32)
    most = {4: 3, 8: 1, 16: 0}[chunks]
    if (shape, name, words["dtype"]) == ("m16n8k32", "f16", "f32"):
        most = 3  # two more than the manual has
    if 0 <= value <= most:
        return
    if name in ("e4m3", "e5m2"):
        raise OperandMismatch(f"unexpected value '{value & 0xFFFFFFFF}', expected to be 0")
    raise OperandMismatch(f"value '{value}' out of range, expected to be in range [0..{most}]")


# The types of sums of some shapes of ``wmma``.
_SUMS = {"m8n8k4": ("f64",), "m16n16k8": ("f32",), "m8n8k32": ("s32",), "m8n8k128": ("s32",)}


def _warp_matrix(opcode: str, words: Words) -> None:
    if words.get("atype") != words.get("btype"):
        raise OperandMismatch("Unexpected instruction types specified for 'wmma'")
    which = words.get("which")
    sums = _SUMS.get(words["shape"], ("f16", "f32", "s32"))
    if which in ("c", "d") and words["type"] not in sums:
        raise OperandMismatch(f"Incorrect instruction type for shape '.{words['shape']}'")
    name = words.get("atype") or words.get("type") or ""
    if name not in TYPES or TYPES[name].bits >= 8:
        return
    alayout = words.get("alayout") or (words["layout"] if which == "a" else "")
    blayout = words.get("blayout") or (words["layout"] if which == "b" else "")
    instruction = f"wmma.load.{which}" if which else "wmma.mma"
    if alayout == "col":
        raise OperandMismatch(f"Illegal alayout '.col' for instruction '{instruction}'")
    if blayout == "row":
        raise OperandMismatch(f"Illegal blayout '.row' for instruction '{instruction}'")


def _warpgroup(opcode: str, words: Words) -> None:
    for name, value in words.constants.items():
        if name == "N":
            if value < 0:
                what = f"unexpected value '{value}'"
                raise OperandMismatch(f"{what}, expected to be non-negative integer")
            continue
        allowed: Collection[int] = (-1, 1) if "imm-scale" in name else (0, 1)
        if name == "selector" and TYPES[words["atype"]].bits == 8:
            allowed = (0,)
        _check_constant(words, name, allowed)


def _barrier_object(opcode: str, words: Words) -> None:
    sem, scope = words.get("sem"), words.get("scope")
    if bool(sem) != bool(scope):
        raise OperandMismatch(f"Modifier '.{sem or scope}' requires both an order and a scope")
    if words.get("kind") == "noComplete" and (sem == "relaxed" or scope == "cluster"):
        raise OperandMismatch("Modifier '.noComplete' requires '.release.cta'")
    if words.get("kind") and "count" not in words.given:
        raise OperandMismatch(f"Illegal modifier '.{words['kind']}' without count argument")


def _check_constant(words: Words, name: str, allowed: Collection[int]) -> None:
    """Check the value of a constant operand, if there is one."""
    value = words.constants.get(name)
    if value is None or value in allowed:
        return
    expected = (
        f"0 to {len(allowed) - 1}" if isinstance(allowed, range) else " or ".join(map(str, allowed))
    )
    raise OperandMismatch(f"unexpected value '{value}', expected to be {expected}")


def _stack(opcode: str, words: Words) -> None:
    alignment = words.constants.get("align", 16)
    if alignment < 1 or alignment & (alignment - 1):
        raise OperandMismatch("Alignment must be a power of two")


_AXES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_PADDED = {1: (1,), 2: (2,), 3: (4,), 4: (4,)}


def _check_coordinates(
    opcode: str, words: Words, coordinates: int, others: Collection[int] = ()
) -> None:
    """Check the lengths of the vectors of coordinates, and of those with as many elements."""
    axes = _AXES[words["geom"]]
    if coordinates == 3:
        raise OperandMismatch("Illegal vector size: 3")
    least = axes + words["geom"].startswith("a")
    if coordinates < least or any(count not in _PADDED[axes] for count in others):
        raise OperandMismatch(
            f"Operand vector size doesn't match geometry for instruction '{opcode}'"
        )


def _fetch(opcode: str, words: Words) -> None:
    result, coordinates, *others = words.counts
    if result != (2 if words.get("v2") else 4):
        raise _vector_size(opcode)
    _check_coordinates(opcode, words, coordinates, others)


def _query(opcode: str, words: Words) -> None:
    if words.offsets[0]:
        kind = "texref" if opcode == "txq" else "surfref"
        what = f"Argument 1 of instruction '{opcode}'"
        raise OperandMismatch(f"{what}: .{kind} or .u64 register expected")


def _surface(opcode: str, words: Words) -> None:
    is_result_first = opcode == "suld" and words.get("vec")
    _check_coordinates(opcode, words, words.counts[1 if is_result_first else 0])
    _check_width(words.type.bits * int((words.get("vec") or "v1")[1:]))


def _move(opcode: str, words: Words) -> None:
    if words.get("vec"):
        _check_width(words.type.bits * words.count)


_CHECKS: dict[str, Callable[[str, Words], None]] = {
    opcode: check
    for opcodes, check in {
        "mov": _move,
        "ld ldu st": _memory,
        "cp": _copy,
        "alloca": _stack,
        "atom red": _atomic,
        "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset": _video,
        "mma": _matrix_product,
        "wmma": _warp_matrix,
        "wgmma": _warpgroup,
        "tcgen05": check_tensor_memory,
        "mbarrier": _barrier_object,
        "tensormap fence": _tensor_map,
        "tex tld4": _fetch,
        "txq suq": _query,
        "suld sust sured": _surface,
        "pmevent": lambda _, words: _check_constant(
            words, "n", range(1 << 16 if "mask" in words else 16)
        ),
        "discard applypriority": lambda _, words: _check_constant(words, "n", (128,)),
    }.items()
    for opcode in opcodes.split()
}


def check_barrier(number: tree.Operand, threads: tree.Operand | None = None) -> None:
    """Check a constant barrier number or thread count."""
    if isinstance(number, tree.Integer) and not 0 <= number.value < 16:
        what = f"Barrier number '{number.value & ((1 << 64) - 1)}' out of range"
        raise OperandMismatch(f"{what}, expected to be in range [0..15]")
    if isinstance(threads, tree.Integer) and threads.value % 32:
        what = "Number of threads participating in barrier must be in multiple of warp size"
        raise OperandMismatch(what)


def check_argument(formal: tree.Variable, size: int, *, is_array: bool) -> None:
    """Check that an argument's size and shape are those of the formal parameter."""
    expected = TYPES[formal.type].bytes * formal.vector * prod(n or 0 for n in formal.dimensions)
    if (size, is_array) != (expected, bool(formal.dimensions)):
        raise OperandMismatch(f"Type of argument does not match formal parameter '{formal.name}'")
