"""Instructions that repeat an earlier one, but for slots, constants and offsets.

What most instructions are decoded to follows from the opcode, the modifiers and the types of the
registers. Most instructions of a module repeat another one in these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    ActionFunction,
    ConstantUse,
    Lanewise,
    Operation,
    RegisterUse,
    Site,
    Use,
)
from cudarun.emulator.decode.operands import constant_array
from cudarun.emulator.decode.rules import LIMIT_OFFSETS
from cudarun.emulator.decode.scope import NameScope, RegisterName
from cudarun.emulator.isa.table import Candidate
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words
from cudarun.ptx import tree

_Part = int | tree.Integer | tree.Float
"""The slot of a register, or a constant."""

_MOST = 8192  # shapes that are kept


class PlainOperands(NamedTuple):
    """The operands of an instruction that has only registers, also in addresses, and constants.

    Attributes:
        shape: Opcode, modifiers, and of each operand the declared types or the kind of constant.
        parts: The registers and constants in order, those in vectors included.
        offsets: The byte offset in each address.
    """

    shape: tuple[str, tuple[str, ...], tuple[object, ...]]
    parts: list[_Part]
    offsets: list[int]


def plain_operands(instruction: tree.Instruction, scope: NameScope) -> PlainOperands | None:
    """Return the operands of an instruction; ``None`` if one is of another kind."""
    kinds: list[object] = []
    parts: list[_Part] = []
    offsets: list[int] = []
    find = scope.find
    for operand in instruction.operands:
        registers: tuple[object, ...] = (operand,)
        if isinstance(operand, tree.Address):
            kinds.append("address")
            registers = (operand.base,)
            offsets.append(operand.offset)
        elif isinstance(operand, tree.Vector):
            kinds.append(len(operand.elements))
            registers = operand.elements
        elif isinstance(operand, (tree.Integer, tree.Float)):
            kinds.append("integer" if isinstance(operand, tree.Integer) else operand.width)
            parts.append(operand)
            continue
        for register in registers:
            found = find(register.name) if isinstance(register, tree.Register) else None
            if not isinstance(found, RegisterName):
                return None
            kinds.append(found.declared)
            parts.append(found.slot)
    return PlainOperands((instruction.opcode, instruction.modifiers, tuple(kinds)), parts, offsets)


@dataclass(frozen=True, slots=True)
class _Repeated:
    """The properties that all instructions with a shape share.

    Attributes:
        sources: The index of each source among the parts, and its type in the operation.
        destinations: The same of the destinations.
        function: The function of a lanewise operation.
        name: The name of it.
        action: Makes the action of any other operation of its words.
        words: These words.
    """

    sources: tuple[tuple[int, Type], ...]
    destinations: tuple[tuple[int, Type], ...]
    function: Callable[..., object] | None
    name: str
    action: Callable[[Words], ActionFunction] | None
    words: Words


_repeated: dict[object, _Repeated] = {}


def repeated_operation(plain: PlainOperands, site: Site) -> Operation | None:
    """Return the operation of an instruction whose shape an earlier one had."""
    known = _repeated.get(plain.shape)
    if known is None:
        return None
    parts = plain.parts
    sources = tuple([_use(parts[index], ptx_type) for index, ptx_type in known.sources])
    written = tuple([_use(parts[index], ptx_type) for index, ptx_type in known.destinations])
    if known.function is not None:
        return Lanewise(known.function, sources, written, site, known.name)
    assert known.action is not None
    words = known.words.at(plain.offsets) if plain.offsets else known.words
    return Action(known.action(words), sources, written, site)


def _use(part: _Part, ptx_type: Type) -> Use:
    if isinstance(part, int):
        return RegisterUse(part, ptx_type)
    return ConstantUse(constant_array(part, ptx_type))


def keep(
    plain: PlainOperands,
    instruction: tree.Instruction,
    operation: Operation,
    candidates: tuple[Candidate, ...],
    chosen: Candidate,
    words: Words,
) -> None:
    """Keep what an instruction was decoded to, if only slots, constants and offsets are its own.

    Args:
        plain: Its operands.
        instruction: The instruction.
        operation: The operation.
        candidates: The forms with its modifiers.
        chosen: The form that matched.
        words: Its words.
    """
    form, parts = chosen.form, plain.parts
    if form.selects or form.reads_carry or form.writes_carry or len(_repeated) >= _MOST:
        return
    if any(each.shape not in _PLAIN or (each.pair and not each.spare) for each in form.operands):
        return
    if plain.offsets and (isinstance(operation, Lanewise) or instruction.opcode in LIMIT_OFFSETS):
        return  # made or checked with them
    owners = [  # the operand of each part
        index
        for index, operand in enumerate(instruction.operands)
        for _ in range(len(operand.elements) if isinstance(operand, tree.Vector) else 1)
    ]
    for part, owner in zip(parts, owners, strict=True):
        if not isinstance(part, int) and (  # words have the value, or it can select the form
            words.type_of(form.operands[owner].type, 1).kind is TypeKind.PREDICATE
            or form.operands[owner].name == "size"
            or any(each.shape == "constant" for one in candidates for each in one.form.operands)
        ):
            return
    written = [part for part, owner in enumerate(owners) if owner < form.writes]
    read = [
        part
        for part, owner in enumerate(owners)
        if owner >= form.writes or form.operands[owner].updates
    ]
    indexes, uses = written + read, (*operation.destinations, *operation.sources)
    if len(indexes) != len(uses):
        return
    types = []
    for index, use in zip(indexes, uses, strict=True):
        part = parts[index]
        if isinstance(use, RegisterUse) and use.slot == part and not use.negated:
            types.append((index, use.type))
        elif isinstance(use, ConstantUse) and not isinstance(part, int):
            types.append((index, words.type_of(form.operands[owners[index]].type, 1)))
        else:
            return
    function, name = None, ""
    if isinstance(operation, Lanewise):
        function, name = operation.function, operation.name
    _repeated[plain.shape] = _Repeated(
        tuple(types[len(written) :]),
        tuple(types[: len(written)]),
        function,
        name,
        form.action,
        words,
    )


_PLAIN = ("value", "vector", "address")
