"""Recipes of lanewise instructions: how one was decoded, for all others of the same shape.

What an arithmetic instruction is decoded to follows from its opcode, its modifiers, and the types
of its registers: only the slots and the constants differ. Most instructions of a module repeat a
shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import ConstantUse, Lanewise, Operation, RegisterUse, Use
from cudarun.emulator.decode.operands import Operands
from cudarun.emulator.decode.scope import RegisterName
from cudarun.emulator.isa.form import InstructionForm
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.ptx import tree
from cudarun.records import dataclass

Shape = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Opcode, modifiers, and of each operand the declared type, or the kind of constant."""

_MOST = 4096  # shapes that are kept

Step = tuple[int, Type]
"""The index of an operand, and its type in the operation."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A decoded instruction without its operands."""

    model: Lanewise
    sources: tuple[Step, ...]
    destinations: tuple[Step, ...]


_recipes: dict[Shape, Recipe] = {}


@dataclass(frozen=True, slots=True)
class ShapedOperands:
    """The operands of an instruction with a shape.

    Attributes:
        shape: The shape.
        slots: The slot of each register; -1 for a constant.
    """

    shape: Shape
    slots: tuple[int, ...]


def shaped(instruction: tree.Instruction, operands: Operands) -> ShapedOperands | None:
    """Return the shape of an instruction; ``None`` unless it has only registers and constants."""
    types, slots = [], []
    find = operands.scope.find
    for operand in instruction.operands:
        kind = type(operand)
        if kind is tree.Register:
            found = find(operand.name)  # type: ignore[union-attr]
            if type(found) is not RegisterName:
                return None
            types.append(found.declared)
            slots.append(found.slot)
        elif kind is tree.Integer:
            types.append("integer")
            slots.append(-1)
        elif kind is tree.Float:
            types.append(f"float {operand.width}")  # type: ignore[union-attr]
            slots.append(-1)
        else:
            return None
    return ShapedOperands((instruction.opcode, instruction.modifiers, tuple(types)), tuple(slots))


def repeated(
    instruction: tree.Instruction, operands: Operands, given: ShapedOperands
) -> Lanewise | None:
    """Return the operation of an instruction whose shape has a recipe."""
    recipe = _recipes.get(given.shape)
    if recipe is None:
        return None
    model, slots = recipe.model, given.slots
    sources: list[Use] = []
    for index, ptx_type in recipe.sources:
        if slots[index] < 0:
            constant = instruction.operands[index]
            assert isinstance(constant, tree.Integer | tree.Float)
            sources.append(ConstantUse(operands.constant(constant, ptx_type)))
        else:
            sources.append(RegisterUse(slots[index], ptx_type))
    destinations = tuple(
        [RegisterUse(slots[index], ptx_type) for index, ptx_type in recipe.destinations]
    )
    return Lanewise(model.function, tuple(sources), destinations, operands.site, model.name)


def learn(
    form: InstructionForm,
    types_of: Callable[[], list[Type]],
    operation: Operation,
    given: ShapedOperands,
) -> None:
    """Keep the recipe of a decoded instruction, if it is one operation on its plain operands.

    Args:
        form: The form of the instruction.
        types_of: Returns the type of each of its operands.
        operation: The only operation that it was decoded to.
        given: Its operands.
    """
    is_plain = not (form.selects or form.reads_carry or form.writes_carry) and all(
        operand.shape == "value" and operand.pair is None for operand in form.operands
    )
    if not is_plain or not isinstance(operation, Lanewise) or len(_recipes) >= _MOST:
        return
    indexes, types = range(len(given.slots)), types_of()
    read = [i for i in indexes if i >= form.writes or form.operands[i].updates]
    sources = _steps(read, operation.sources, types, given)
    destinations = _steps(indexes[: form.writes], operation.destinations, types, given)
    if sources is not None and destinations is not None:
        _recipes[given.shape] = Recipe(operation, sources, destinations)


def _steps(
    indexes: Sequence[int], uses: tuple[Use, ...], types: list[Type], given: ShapedOperands
) -> tuple[Step, ...] | None:
    """Return the operand and the type of each use; ``None`` if a use is something else."""
    if len(indexes) != len(uses):
        return None
    steps = []
    for index, use in zip(indexes, uses, strict=True):
        slot = given.slots[index]
        if isinstance(use, RegisterUse) and use.slot == slot and not use.negated:
            steps.append((index, use.type))
        elif isinstance(use, ConstantUse) and slot < 0:
            if types[index].kind is TypeKind.PREDICATE:  # its value can matter to the form
                return None
            steps.append((index, types[index]))
        else:
            return None
    return tuple(steps)
