"""Recipes: how an instruction was decoded, for all others of the same shape.

What most instructions are decoded to follows from the opcode, the modifiers, and the types of the
registers: only slots, constants and offsets differ. Most instructions of a module repeat a shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import (
    Action,
    ActionFunction,
    ConstantUse,
    KernelParameterUse,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Site,
    Use,
)
from cudarun.emulator.decode.operands import constant_array
from cudarun.emulator.decode.rules import LIMIT_OFFSETS
from cudarun.emulator.decode.scope import Declarations, NameScope, ParameterName, RegisterName
from cudarun.emulator.isa.table import Candidate
from cudarun.emulator.numerics.types import Type, TypeKind
from cudarun.emulator.words import Words
from cudarun.ptx.tree import (
    Address,
    Float,
    Instruction,
    Integer,
    Register,
    SymbolReference,
    Vector,
)
from cudarun.records import dataclass

Shape = tuple[str, tuple[str, ...], tuple[object, ...]]
"""Opcode, modifiers, and of each operand the declared type, or the kind of operand."""

Part = int | Integer | Float | ParameterName
"""A slot, a constant, or a parameter at whose address the instruction accesses it."""

_MOST = 8192  # shapes that are kept
_MOST_CONSTANTS = 1 << 16

Step = tuple[int, Type]
"""The index of a part, and its type in the operation."""


class ShapedOperands:
    """The operands of an instruction with a shape.

    Attributes:
        shape: The shape.
        parts: The parts in the order of the operands, those in vectors included.
        offsets: The byte offset in each address.
    """

    __slots__ = ("offsets", "parts", "shape")

    def __init__(self, shape: Shape, parts: list[Part], offsets: list[int]) -> None:
        self.shape = shape
        self.parts = parts
        self.offsets = offsets


@dataclass(frozen=True, slots=True)
class Recipe:
    """A decoded instruction without its operands.

    Attributes:
        sources: The sources.
        destinations: The destinations.
        function: The function of a lanewise operation.
        name: The name of a lanewise operation.
        action: Makes the action of an operation of its words.
        words: These words.
        elements: The types of the elements that are copied from or to a parameter.
    """

    sources: tuple[Step, ...] = ()
    destinations: tuple[Step, ...] = ()
    function: Callable[..., object] | None = None
    name: str = ""
    action: Callable[[Words], ActionFunction] | None = None
    words: Words | None = None
    elements: tuple[Type, ...] = ()


_recipes: dict[Shape, Recipe] = {}


def shaped(
    instruction: Instruction, scope: NameScope, declarations: Declarations
) -> ShapedOperands | None:
    """Return the shape of an instruction; ``None`` if it has an operand of a rare kind."""
    kinds: list[object] = []
    parts: list[Part] = []
    offsets: list[int] = []
    names = scope.names
    for operand in instruction.operands:
        if isinstance(operand, Register):
            found = names.get(operand.name) or scope.find(operand.name)
            if isinstance(found, RegisterName):
                kinds.append(found.declared)
                parts.append(found.slot)
                continue
            special = None if found is not None else _special(operand.name, scope, declarations)
            if special is None:
                return None
            kinds.append(operand.name)
            parts.append(special.slot)
        elif isinstance(operand, Integer):
            kinds.append("integer")
            parts.append(operand)
        elif isinstance(operand, Float):
            kinds.append("float 32" if operand.width == 32 else "float 64")
            parts.append(operand)
        elif isinstance(operand, Address):
            base = operand.base
            if base is None:
                return None
            found = names.get(base.name) or scope.find(base.name)
            if isinstance(found, RegisterName) and isinstance(base, Register):
                kinds.append(("address", found.declared))
                parts.append(found.slot)
            elif isinstance(found, ParameterName) and isinstance(base, SymbolReference):
                kinds.append("kernel parameter" if found.slot is None else "parameter")
                parts.append(found)
            else:
                return None
            offsets.append(operand.offset)
        elif isinstance(operand, Vector):
            elements = ["vector"]
            for element in operand.elements:
                if not isinstance(element, Register):
                    return None
                found = names.get(element.name) or scope.find(element.name)
                if not isinstance(found, RegisterName):
                    return None
                elements.append(found.declared)
                parts.append(found.slot)
            kinds.append(tuple(elements))
        else:
            return None
    shape = instruction.opcode, instruction.modifiers, tuple(kinds)
    return ShapedOperands(shape, parts, offsets)


def _special(name: str, scope: NameScope, declarations: Declarations) -> RegisterName | None:
    base, _, part = name.partition(".")
    if part and scope.find(base) is not None:  # a program declares the name
        return None
    return declarations.special(name)


# --- repeating -----------------------------------------------------------------------------------


def repeated(given: ShapedOperands, site: Site) -> Operation | None:
    """Return the operation of an instruction whose shape has a recipe."""
    recipe = _recipes.get(given.shape)
    if recipe is None:
        return None
    parts = given.parts
    sources: list[Use] = []
    for index, ptx_type in recipe.sources:
        part = parts[index]
        if isinstance(part, int):
            sources.append(RegisterUse(part, ptx_type))
        else:
            assert not isinstance(part, ParameterName)
            sources.append(_constant(part, ptx_type))
    destinations: list[Use] = []
    for index, ptx_type in recipe.destinations:
        part = parts[index]
        assert isinstance(part, int)
        destinations.append(RegisterUse(part, ptx_type))
    if recipe.action is not None:
        assert recipe.words is not None
        action = recipe.action(recipe.words.at(given.offsets))
        return Action(action, tuple(sources), tuple(destinations), site)
    assert recipe.function is not None
    if recipe.elements:
        places = _places(given, recipe.elements)
        if places is None:
            return None
        if sources:
            return Lanewise(recipe.function, tuple(sources), places, site)
        return Lanewise(recipe.function, places, tuple(destinations), site)
    return Lanewise(recipe.function, tuple(sources), tuple(destinations), site, recipe.name)


_constants: dict[tuple[str, int, int], ConstantUse] = {}


def _constant(operand: Integer | Float, ptx_type: Type) -> ConstantUse:
    """Return a constant of a kind that has a recipe; equal ones are the same object."""
    if isinstance(operand, Integer):
        key = ptx_type.name, operand.value, 0
    else:
        key = ptx_type.name, operand.bits, operand.width
    known = _constants.get(key)
    if known is None:
        if len(_constants) >= _MOST_CONSTANTS:
            _constants.clear()
        known = _constants[key] = ConstantUse(constant_array(operand, ptx_type))
    return known


def _places(given: ShapedOperands, elements: Sequence[Type]) -> tuple[Use, ...] | None:
    """Return the elements of the only parameter among the operands; ``None`` past its ends."""
    [parameter] = (part for part in given.parts if isinstance(part, ParameterName))
    if not parameter.contains(given.offsets[0], elements[0].bytes, len(elements)):
        return None
    offset = parameter.offset + given.offsets[0]
    places: list[Use] = []
    for ptx_type in elements:
        if parameter.slot is None:
            places.append(KernelParameterUse(offset, ptx_type))
        else:
            places.append(ParameterUse(parameter.slot, offset, ptx_type))
        offset += ptx_type.bytes
    return tuple(places)


# --- learning ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """An instruction that was decoded to one operation.

    Attributes:
        instruction: The instruction.
        chosen: The form.
        candidates: All forms with its modifiers.
        words: The words of the operation.
        types: The type of each operand as a value.
        operation: The operation.
    """

    instruction: Instruction
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    words: Words
    types: Callable[[], list[Type]]
    operation: Operation


def learn(decoded: DecodedInstruction, given: ShapedOperands) -> None:
    """Keep the recipe of an instruction, if only its parts and offsets belong to it alone."""
    form, operation = decoded.chosen.form, decoded.operation
    if form.selects or form.reads_carry or form.writes_carry or len(_recipes) >= _MOST:
        return
    if decoded.instruction.opcode in LIMIT_OFFSETS:
        return
    if any(each.shape not in _PLAIN or (each.pair and not each.spare) for each in form.operands):
        return
    operands, types = decoded.instruction.operands, decoded.types()
    has_constant = any(isinstance(part, (Integer, Float)) for part in given.parts)
    if has_constant and any(  # its value can select the form
        operand.shape == "constant" for each in decoded.candidates for operand in each.form.operands
    ):
        return
    owners = [
        index
        for index, operand in enumerate(operands)
        for _ in range(len(operand.elements) if isinstance(operand, Vector) else 1)
    ]
    read, written = [], []  # the indexes of parts
    for index, owner in enumerate(owners):
        if owner < form.writes:
            written.append(index)
        if owner >= form.writes or form.operands[owner].updates:
            read.append(index)
        if isinstance(given.parts[index], (Integer, Float)):
            is_predicate = types[owner].kind is TypeKind.PREDICATE
            if is_predicate or form.operands[owner].name == "size":  # words have its value
                return
    if any(isinstance(part, ParameterName) for part in given.parts):
        recipe = _copying_recipe(operation, given, read, written)
    else:
        constants = {index: types[owner] for index, owner in enumerate(owners)}
        sources = _steps(read, operation.sources, constants, given)
        destinations = _steps(written, operation.destinations, constants, given)
        if sources is None or destinations is None:
            return
        recipe = _recipe(decoded, sources, destinations)
    if recipe is not None:
        _recipes[given.shape] = recipe


_PLAIN = ("value", "vector", "address")


def _recipe(
    decoded: DecodedInstruction, sources: tuple[Step, ...], destinations: tuple[Step, ...]
) -> Recipe | None:
    operation = decoded.operation
    if isinstance(operation, Lanewise):
        if decoded.words.offsets:
            return None
        return Recipe(sources, destinations, operation.function, operation.name)
    words = decoded.words.at([])
    return Recipe(sources, destinations, action=decoded.chosen.form.action, words=words)


def _copying_recipe(
    operation: Operation, given: ShapedOperands, read: list[int], written: list[int]
) -> Recipe | None:
    """Return the recipe of a copy of registers from or to a parameter."""
    if not isinstance(operation, Lanewise):
        return None
    loads = bool(written)
    places = operation.sources if loads else operation.destinations
    elements = tuple(
        use.type for use in places if isinstance(use, (KernelParameterUse, ParameterUse))
    )
    registers = written if loads else read[1:]
    uses = operation.destinations if loads else operation.sources
    steps = _steps(registers, uses, {}, given)
    if not elements or steps is None or _places(given, elements) != places:
        return None
    if loads and len(read) == 1:
        return Recipe((), steps, operation.function, elements=elements)
    if not loads and isinstance(given.parts[read[0]], ParameterName):
        return Recipe(steps, (), operation.function, elements=elements)
    return None


def _steps(
    indexes: list[int], uses: tuple[Use, ...], constants: dict[int, Type], given: ShapedOperands
) -> tuple[Step, ...] | None:
    """Return the part and the type of each use; ``None`` if a use is something else."""
    if len(indexes) != len(uses):
        return None
    steps = []
    for index, use in zip(indexes, uses, strict=True):
        part = given.parts[index]
        if isinstance(use, RegisterUse) and use.slot == part and not use.negated:
            steps.append((index, use.type))
        elif isinstance(use, ConstantUse) and index in constants and not isinstance(part, int):
            steps.append((index, constants[index]))
        else:
            return None
    return tuple(steps)
