"""Decoding of calls of the functions that the device provides: ``vprintf``, launches of grids."""

from __future__ import annotations

from cudarun.emulator.code import Action, Operation, ParameterUse, Use
from cudarun.emulator.decode.operands import Operands
from cudarun.emulator.decode.scope import ParameterName
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.emulator.numerics.types import TYPES
from cudarun.ptx import tree


def system_call(
    name: str,
    results: tuple[tree.Operand, ...],
    arguments: tuple[tree.Operand, ...],
    operands: Operands,
) -> Operation:
    """Return the operation of a call.

    Raises:
        OperandMismatch: The arguments are not those of the function.
    """
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
    members: list[ParameterUse] = []
    for name in types:
        ptx_type = TYPES[name]
        members.append(ParameterUse(found.slot, len(members) * ptx_type.bytes, ptx_type))
    return members


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
