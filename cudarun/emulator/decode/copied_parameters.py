"""Parameters of functions whose address is taken: they are copied to local memory.

The manual (section 5.1.6.4) has them there, too. nvcc takes the address of a struct that is passed
by value if its members are indexed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudarun.ptx import tree
from cudarun.ptx.layout import alignment_of, size_of

_COPY = "$copy"  # after the name of the parameter
_REGISTER = tree.Register("%copied$")
_LARGEST = 8  # bytes that are copied at once


def with_copied_parameters(function: tree.Function) -> tree.Function:
    """Return a function in which no parameter has its address taken."""
    if function.is_entry or not function.body:
        return function
    own = {each.name: each for each in function.parameters if each.space == "param"}
    taken = {
        name
        for statement in function.statements()
        if isinstance(statement, tree.Instruction) and statement.opcode == "mov"
        for operand in statement.operands
        if (name := _symbol(operand)) in own and name is not None
    }
    if not taken:
        return function
    copies = [each for name in own if name in taken for each in _copy(own[name])]
    instructions = (each for each in function.statements() if isinstance(each, tree.Instruction))
    place = next(instructions).position
    register = tree.Variable("reg", "b64", _REGISTER.name, place)
    placed = (replace(each, position=place) for each in copies)
    return replace(function, body=(register, *placed, *_redirected(function.body, taken)))


def _symbol(operand: tree.Operand) -> str | None:
    match operand:
        case tree.SymbolReference(name) | tree.SymbolOffset(tree.SymbolReference(name)):
            return name
    return None


def _copy(parameter: tree.Variable) -> Iterator[tree.Variable | tree.Instruction]:
    """Yield the declaration of a copy, and the instructions that write it."""
    name, size = parameter.name, size_of(parameter)
    alignment, place = alignment_of(parameter), parameter.position
    yield tree.Variable("local", "b8", name + _COPY, place, alignment, dimensions=(size,))
    unit = min(alignment, _LARGEST)
    for offset in range(0, size, unit):
        source = tree.Address(tree.SymbolReference(name), offset)
        target = tree.Address(tree.SymbolReference(name + _COPY), offset)
        yield tree.Instruction("ld", ("param", f"b{8 * unit}"), (_REGISTER, source), place)
        yield tree.Instruction("st", ("local", f"b{8 * unit}"), (target, _REGISTER), place)


def _redirected(
    statements: tuple[tree.Statement, ...], names: set[str]
) -> Iterator[tree.Statement]:
    """Yield statements that take the addresses of the copies."""
    for each in statements:
        if isinstance(each, tree.Block):
            yield replace(each, statements=tuple(_redirected(each.statements, names)))
        elif isinstance(each, tree.Instruction) and each.opcode == "mov":
            yield replace(each, operands=tuple(_of_copy(one, names) for one in each.operands))
        else:
            yield each


def _of_copy(operand: tree.Operand, names: set[str]) -> tree.Operand:
    match operand:
        case tree.SymbolReference(name) if name in names:
            return tree.SymbolReference(name + _COPY)
        case tree.SymbolOffset(tree.SymbolReference(name), offset) if name in names:
            return tree.SymbolOffset(tree.SymbolReference(name + _COPY), offset)
    return operand
