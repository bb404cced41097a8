"""Decoding of control flow (PTX manual 9.7.13) to terminators of blocks, or to system calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    FunctionCode,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Role,
    Site,
    Terminator,
    Use,
)
from cudarun.emulator.decode.builder import Ending
from cudarun.emulator.decode.operands import OperandMismatch, Operands, Unimplemented
from cudarun.emulator.decode.rules import check_argument, check_barrier
from cudarun.emulator.decode.scope import (
    Declarations,
    LabelName,
    ParameterName,
    RegisterName,
    VectorName,
)
from cudarun.emulator.isa.modifiers import misplaced
from cudarun.emulator.isa.move import copy
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import (
    Branch,
    Exit,
    FunctionCall,
    IndexedBranch,
    Jump,
    Return,
    Trap,
)
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.emulator.numerics.types import TYPES, bits_of
from cudarun.ptx import tree


def system_call(
    name: str,
    results: tuple[tree.Operand, ...],
    arguments: tuple[tree.Operand, ...],
    operands: Operands,
) -> Operation:
    """Return the operation of a call."""
    function = SYSTEM_FUNCTIONS[name]
    given_back = (function.result,) if function.result else ()
    if len(arguments) != len(function.parameters) or len(results) > len(given_back):
        raise operands.mismatch()
    sources: list[Use] = []
    for operand, types in zip(arguments, function.parameters, strict=True):
        if isinstance(types, str):
            sources.append(_system_operand(operand, types, operands, writes=False))
        else:
            sources += _structure(operand, types, operands)
    destinations = tuple(
        _system_operand(operand, ptx_type, operands, writes=True)
        for operand, ptx_type in zip(results, given_back, strict=False)
    )
    return Action(function.action, tuple(sources), destinations, operands.site)


def _structure(
    operand: tree.Operand, types: tuple[str, ...], operands: Operands
) -> list[ParameterUse]:
    """Return the members of a structure in a ``.param`` variable."""
    found = operands.meaning(operand)
    size = sum(TYPES[name].bytes for name in types)
    if not isinstance(found, ParameterName) or found.slot is None or found.size != size:
        raise operands.mismatch()
    members = enumerate(TYPES[name] for name in types)
    return [ParameterUse(found.slot, place * each.bytes, each) for place, each in members]


def _system_operand(
    operand: tree.Operand, type_name: str, operands: Operands, *, writes: bool
) -> Use:
    ptx_type = TYPES[type_name]
    found = operands.meaning(operand)
    if isinstance(found, ParameterName) and found.slot is not None:
        if found.size != ptx_type.bytes:
            raise operands.mismatch()
        return ParameterUse(found.slot, 0, ptx_type)
    if writes:
        return operands.destination(operand, ptx_type)
    return operands.source(operand, ptx_type)


_WORD = TYPES["u32"]
_PREDICATE = TYPES["pred"]

Lowered = tuple[list[Operation], Ending | None]


@dataclass(frozen=True, slots=True)
class ControlContext:
    """The properties of the function and its module that control flow depends on."""

    function: tree.Function
    code: FunctionCode
    declarations: Declarations
    functions: dict[str, tree.Function]


def _only_modifiers(instruction: tree.Instruction, *allowed: str) -> None:
    for word in instruction.modifiers:
        if word not in allowed:
            raise OperandMismatch(f"Unknown modifier '.{word}'")


def _operands(instruction: tree.Instruction, operands: Operands, *counts: int) -> None:
    if len(instruction.operands) not in counts:
        raise operands.mismatch()


# --- branches ------------------------------------------------------------------------------------


def _label(name: tree.Operand, operands: Operands) -> int:
    found = operands.find(name.name) if isinstance(name, tree.SymbolReference) else None
    if not isinstance(found, LabelName):
        raise operands.mismatch()
    return found.number


def branch(
    instruction: tree.Instruction, operands: Operands, guard: RegisterUse | None, after: int
) -> Ending:
    """Decode ``bra``."""
    _only_modifiers(instruction, "uni")
    _operands(instruction, operands, 1)
    label, site = _label(instruction.operands[0], operands), operands.site
    if guard is None:
        return lambda block_of: Jump(block_of(label), site)
    return lambda block_of: Branch(guard, block_of(label), after, site)


def _indexed_branch(
    context: ControlContext, instruction: tree.Instruction, operands: Operands, after: int
) -> Lowered:
    _only_modifiers(instruction, "idx", "uni")
    if "idx" not in instruction.modifiers:
        raise OperandMismatch(f"Not a name of any known instruction: '{instruction.name}'")
    _operands(instruction, operands, 2)
    index = operands.source(instruction.operands[0], _WORD)
    table = instruction.operands[1]
    found = operands.find(table.name) if isinstance(table, tree.SymbolReference) else None
    if not isinstance(found, tree.BranchTargets) or found.kind != "branchtargets":
        raise operands.mismatch()
    labels = [_label(tree.SymbolReference(name), operands) for name in found.targets]
    site = operands.site
    return operands.before, lambda block_of: IndexedBranch(
        index, tuple(map(block_of, labels)), site
    )


def leave(context: ControlContext, site: Site | None) -> Terminator:
    """Decode the end of a function: threads of a kernel exit, others return to the caller."""
    if context.function.is_entry:
        return Exit(site=site)
    slots = context.code.results
    types = (context.declarations.slots[slot].type for slot in slots)
    return Return(reads=tuple(map(RegisterUse, slots, types)), site=site)


def _end(
    context: ControlContext, instruction: tree.Instruction, operands: Operands, after: int
) -> Lowered:
    """Decode ``ret``, ``exit``, ``trap`` and ``brkpt``."""
    opcode, site = instruction.opcode, operands.site
    _only_modifiers(instruction, *(("uni",) if opcode == "ret" else ()))
    _operands(instruction, operands, 0)
    if opcode == "ret":
        return [], lambda _: leave(context, site)
    return [], lambda _: Exit(site=site) if opcode == "exit" else Trap(opcode, site)


# --- barriers ------------------------------------------------------------------------------------


def _barrier_words(instruction: tree.Instruction) -> list[str]:
    """Return the modifiers in the manual's order, without ``.cta`` and ``.aligned``."""
    words = list(instruction.modifiers)
    newer = instruction.opcode == "barrier"
    if words[:1] == ["warp" if newer else "cluster"]:
        raise OperandMismatch(f"Unknown modifier '.{words[0]}'")
    if words[:1] == ["cta"]:
        del words[0]
        if words[:1] in (["warp"], ["cluster"]):
            raise OperandMismatch(f"Unknown modifier '.{words[0]}'")
    wrong = misplaced(instruction.opcode, instruction.modifiers)
    if wrong is not None:
        raise OperandMismatch(f"Unknown modifier '.{wrong}'")
    if words[:1] == ["red"]:
        words.sort(key=lambda word: (word != "red", word in TYPES))
    return [word for word in words if not (newer and word == "aligned")]


def _barrier(
    context: ControlContext, instruction: tree.Instruction, operands: Operands, after: int
) -> Lowered:
    words = _barrier_words(instruction)
    given, site = instruction.operands, operands.site
    match words:
        case ["warp", "sync"]:
            _operands(instruction, operands, 1)
            mask = operands.source(given[0], TYPES["b32"])
            return operands.before, lambda _: WarpBarrier(mask, after, site)
        case ["sync"]:
            _operands(instruction, operands, 1, 2)
            check_barrier(*given)
            uses = [operands.source(operand, _WORD) for operand in given]
            count = uses[1] if len(uses) > 1 else None
            return operands.before, lambda _: BarrierWait(uses[0], count, after, site)
        case ["cluster", "arrive", *rest] if set(rest) <= {"release", "relaxed"}:
            _operands(instruction, operands, 0)
            return [], lambda _: ClusterArrive(after, site, relaxed="relaxed" in rest)
        case ["cluster", "wait", *rest] if set(rest) <= {"acquire"}:
            _operands(instruction, operands, 0)
            return [], lambda _: ClusterWait(after, site)
        case ["arrive"]:
            _operands(instruction, operands, 2)
            check_barrier(*given)
            number, expected = (operands.source(operand, _WORD) for operand in given)
            return operands.before, lambda _: BarrierWait(
                number, expected, after, site, arrive=True
            )
        case ["red", "popc" | "and" | "or" as operation, "u32" | "pred" as ptx_type]:
            return _barrier_reduction(operation, ptx_type, instruction, operands, after)
    raise Unimplemented(f"instruction '{instruction.name}'")


def _barrier_reduction(
    operation: str, ptx_type: str, instruction: tree.Instruction, operands: Operands, after: int
) -> Lowered:
    _operands(instruction, operands, 3, 4)
    target, *uses, given = instruction.operands
    check_barrier(*uses)
    if (operation == "popc") != (ptx_type == "u32"):
        raise operands.mismatch()
    destination = operands.destination(target, TYPES[ptx_type])
    number, *rest = (operands.source(use, _WORD) for use in uses)
    expected = rest[0] if rest else None
    predicate = operands.source(given, _PREDICATE)
    if not isinstance(destination, RegisterUse):
        raise operands.mismatch()
    reduction = operation, destination, predicate
    site = operands.site
    return operands.before, lambda _: BarrierWait(
        number, expected, after, site, reduction=reduction
    )


# --- calls ---------------------------------------------------------------------------------------


def _call(
    context: ControlContext, instruction: tree.Instruction, operands: Operands, after: int
) -> Lowered:
    """Decode ``call{.uni} (results), function, (arguments){, prototype}``."""
    _only_modifiers(instruction, "uni")
    listed, target, sent, *given = instruction.operands
    assert isinstance(listed, tree.Vector)
    assert isinstance(sent, tree.Vector)
    results, arguments = listed.elements, sent.elements
    if isinstance(target, tree.SymbolReference):
        name = target.name
        function = context.functions.get(name)
        if function is None:
            raise OperandMismatch(f"Unknown symbol '{name}'")
        if function.body is None and name in SYSTEM_FUNCTIONS:
            for operand, formal in zip(
                (*arguments, *results), (*function.parameters, *function.results), strict=False
            ):
                _check_argument(operand, formal, operands)
            return [system_call(name, results, arguments, operands)], None
        if function.body is None:
            raise OperandMismatch(f"Unresolved extern function '{name}'")
        context.code.calls.add(function.name)
        return _user_call(context, function.name, function, results, arguments, operands, after)
    callee = operands.source(target, TYPES["u64"])
    context.code.indirect = True
    prototype = _prototype(given, operands)
    return _user_call(context, callee, prototype, results, arguments, operands, after)


def _prototype(given: list[tree.Operand], operands: Operands) -> tree.CallPrototype | None:
    """Return the prototype of an indirect call; ``None`` with a list of targets."""
    if len(given) != 1 or not isinstance(given[0], tree.SymbolReference):
        raise operands.mismatch()
    found = operands.find(given[0].name)
    if isinstance(found, tree.CallPrototype):
        return found
    if isinstance(found, tree.BranchTargets) and found.kind == "calltargets":
        return None
    raise operands.mismatch()


def _user_call(
    context: ControlContext,
    callee: str | Use,
    function: tree.Function | tree.CallPrototype | None,
    results: tuple[tree.Operand, ...],
    arguments: tuple[tree.Operand, ...],
    operands: Operands,
    after: int,
) -> Lowered:
    formals: tuple[tree.Variable | None, ...] = (None,) * len(arguments)
    returned: tuple[tree.Variable | None, ...] = (None,) * len(results)
    if function is not None:
        formals, returned = function.parameters, function.results
        if len(formals) != len(arguments) or len(returned) != len(results):
            raise operands.mismatch()
    arguments, formals = _components(arguments, formals, operands)
    results, returned = _components(results, returned, operands, writes=True)
    for operand, formal in zip((*arguments, *results), (*formals, *returned), strict=True):
        _check_argument(operand, formal, operands)
    sent = tuple(
        _argument_slot(context, operand, formal, operands)
        for operand, formal in zip(arguments, formals, strict=True)
    )
    back = tuple(_result_slot(operand, operands) for operand in results)
    slots = context.declarations.slots
    reads = tuple(RegisterUse(slot, slots[slot].type) for slot in sent)
    site = operands.site
    return operands.before, lambda _: FunctionCall(callee, sent, back, after, site, reads)


def _components(
    given: tuple[tree.Operand, ...],
    formals: tuple[tree.Variable | None, ...],
    operands: Operands,
    *,
    writes: bool = False,
) -> tuple[tuple[tree.Operand, ...], tuple[tree.Variable | None, ...]]:
    """Return arguments or results with vector registers replaced by their components."""
    found: list[tuple[tree.Operand, tree.Variable | None]] = []
    for operand, formal in zip(given, formals, strict=True):
        meaning = operands.meaning(operand)
        parts = meaning.components if isinstance(meaning, VectorName) else ()
        if formal is not None and formal.space == "reg" and formal.vector != (len(parts) or 1):
            raise operands.mismatch()
        if not parts:
            found.append((operand, formal))
        elif formal is None:
            raise operands.mismatch()
        elif formal.space != "reg" and writes:
            raise Unimplemented("a vector register for a result in .param space")
        elif formal.space != "reg" and formal.dimensions:
            raise OperandMismatch(f"Inconsistent state space for parameter '{formal.name}'")
        elif formal.space != "reg":
            found.append((_packed_argument(parts, formal, operands), formal))
        else:
            found += [(tree.Register(part), replace(formal, vector=1)) for part in parts]
    return tuple(operand for operand, _ in found), tuple(formal for _, formal in found)


def _packed_argument(
    parts: tuple[str, ...], formal: tree.Variable, operands: Operands
) -> tree.SymbolReference:
    """Return a new ``.param`` variable with a vector register, for a parameter of its size."""
    registers = [operands.find(part) for part in parts]
    types = [TYPES[found.declared] for found in registers if isinstance(found, RegisterName)]
    declared = replace(formal, name=f"%vector{len(operands.declarations.slots)}")
    variable = operands.declarations.parameter(declared)
    step = types[0].bytes
    if variable.slot is None or variable.size != step * len(types):
        raise operands.mismatch()
    for place, (part, ptx_type) in enumerate(zip(parts, types, strict=True)):
        use = bits_of(ptx_type.bits)
        source = operands.register(part, use)
        target = ParameterUse(variable.slot, place * step, use)
        operands.before.append(Lanewise(copy, (source,), (target,), operands.site))
    operands.scope.names[declared.name] = variable
    return tree.SymbolReference(declared.name)


def _check_argument(
    operand: tree.Operand, formal: tree.Variable | None, operands: Operands
) -> None:
    """Check that an argument or result matches the function's declaration."""
    if formal is None:
        return
    match operands.meaning(operand):
        case None:
            return
        case ParameterName(_, _, size, array):
            check_argument(formal, size, is_array=array)
        case RegisterName(_, declared):
            check_argument(formal, TYPES[declared].bytes, is_array=False)
        case _:
            raise operands.mismatch()


def _argument_slot(
    context: ControlContext, operand: tree.Operand, formal: tree.Variable | None, operands: Operands
) -> int:
    """Return the caller's slot of an argument; a constant gets a new one."""
    slot = _slot(operand, operands)
    if slot is not None:
        return slot
    if formal is None or formal.space != "reg":
        raise operands.mismatch()
    ptx_type = TYPES[formal.type]
    slot = context.declarations.slot(f"%{formal.name}", formal.type, Role.REGISTER)
    use = RegisterUse(slot, bits_of(ptx_type.bits))
    value = operands.source(operand, ptx_type)
    operands.before.append(Lanewise(copy, (value,), (use,), operands.site))
    return slot


def _result_slot(operand: tree.Operand, operands: Operands) -> int:
    slot = _slot(operand, operands)
    if slot is None:
        raise operands.mismatch()
    return slot


def _slot(operand: tree.Operand, operands: Operands) -> int | None:
    found = operands.meaning(operand)
    return found.slot if isinstance(found, ParameterName | RegisterName) else None


Lowering = Callable[[ControlContext, tree.Instruction, Operands, int], Lowered]
"""Decodes an instruction; the last argument is the index of the next block."""

CONTROL: dict[str, Lowering] = {
    "brx": _indexed_branch,
    "call": _call,
    **dict.fromkeys(("ret", "exit", "trap", "brkpt"), _end),
    "bar": _barrier,
    "barrier": _barrier,
}
