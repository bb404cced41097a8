"""The shared variable that the addresses of an access are computed from: its bounds are narrower.

A register comes from a variable if all its values are the variable's address plus numbers. Where
two variables meet, and for other arithmetic with an address, the bounds stay those of all shared
memory; also for addresses from memory and from parameters, and in ``.extern`` arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cudarun.emulator.code import (
    Action,
    FunctionCode,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    SymbolUse,
    Use,
    slots_of,
)
from cudarun.emulator.decode.analysis import terminator_writes
from cudarun.emulator.decode.scope import SharedVariable
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.transfers import AsynchronousCopy, MemoryLoad, MemoryStore

_NUMBER, _MIXED = "", "+"
"""The origins of values without an address, and of those of several variables."""

_BOUNDED = (MemoryLoad, MemoryStore, Atomic, AsynchronousCopy)  # the first source is the address
_ADDED = {"mov": (0,), "cvt": (0,), "cvta": (0,), "add": (0, 1), "sub": (0,), "mad": (2,)}
"""The sources whose address the result may have; all others are numbers."""


def bound_shared_accesses(code: FunctionCode, shared: Mapping[str, SharedVariable]) -> None:
    """Let accesses know the shared variables that their addresses come from."""
    variables = {name for name, each in shared.items() if not each.dynamic and each.size}
    operations = code.operations
    uses = (use for each in operations for use in each.sources if isinstance(use, SymbolUse))
    if not any(use.name in variables for use in uses):
        return
    origins = _origins(code, operations, variables)
    for each in operations:
        if isinstance(each.action, _BOUNDED):
            access, origin = each.action.accesses[0], _of(each.sources[0], origins, variables)
            if access.space in ("", "shared") and origin in variables:
                access.variable = origin, shared[origin].size


def _origins(
    code: FunctionCode, operations: Sequence[Operation], variables: set[str]
) -> dict[int, str]:
    """Return where the values of registers come from, but for those that nothing writes."""
    steps = [
        (each.name.partition(".")[0], each.sources, slots_of(each.destinations))
        for each in operations
        if isinstance(each, Lanewise)
    ]
    numbers = {*range(len(code.slots))}.difference(*(written for *_, written in steps))
    numbers.update(code.parameters, *map(terminator_writes, code.blocks))
    numbers.update(
        *(slots_of(each.destinations) for each in operations if isinstance(each, Action))
    )
    origins = dict.fromkeys(numbers, _NUMBER)
    is_new = True
    while is_new:
        is_new = False
        for opcode, uses, written in steps:
            sources = [_of(use, origins, variables) for use in uses]
            if None in sources:
                continue
            found = _result(opcode, sources)
            for slot in written:
                own = _MIXED if found and len(written) > 1 else found
                before = origins.get(slot)
                if before not in (own, _MIXED):
                    origins[slot] = own if before is None else _MIXED
                    is_new = True
    return origins


def _of(use: Use, origins: Mapping[int, str], variables: set[str]) -> str | None:
    """Return the origin of an operand; ``None`` if it is not known yet."""
    if isinstance(use, RegisterUse | ParameterUse):
        return origins.get(use.slot)
    if isinstance(use, SymbolUse):
        return use.name if use.name in variables else _MIXED
    return _NUMBER


def _result(opcode: str, sources: Sequence[str | None]) -> str:
    if opcode == "selp":
        return (sources[0] or _NUMBER) if sources[0] == sources[1] else _MIXED
    addresses = [(place, each) for place, each in enumerate(sources) if each]
    if len(addresses) == 1 and addresses[0][0] in _ADDED.get(opcode, ()):
        return addresses[0][1]
    return _MIXED if addresses else _NUMBER
