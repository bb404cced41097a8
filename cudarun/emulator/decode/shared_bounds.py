"""The shared variable that the addresses of an access are computed from: its bounds are narrower.

A register comes from a variable if all its values are the variable's address plus numbers. Where
two variables meet, and for other arithmetic with an address, the bounds stay those of all shared
memory; also for addresses from memory and from parameters, and in ``.extern`` arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cudarun.emulator.code import Action, FunctionCode, Lanewise, SymbolUse, Use, slots_of
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
    uses = (use for operation in operations for use in operation.sources)
    if not any(isinstance(use, SymbolUse) and use.name in variables for use in uses):
        return
    origins = _origins(code, variables)
    for each in operations:
        if isinstance(each, Action) and isinstance(each.action, _BOUNDED):
            access, origin = each.action.accesses[0], _of(each.sources[0], origins, variables)
            if access.space in ("", "shared") and origin in variables:
                access.variable = origin, shared[origin].size


def _origins(code: FunctionCode, variables: set[str]) -> dict[int, str]:
    """Return where registers come from; those without an entry are numbers."""
    steps, numbers = list[Lanewise](), {*range(len(code.slots))}
    for each in code.operations:
        if isinstance(each, Lanewise):
            steps.append(each)
            numbers -= slots_of(each.destinations)
    for block in code.blocks:
        numbers.update(terminator_writes(block))
        for each in block.operations:
            if isinstance(each, Action):
                numbers |= slots_of(each.destinations)
    origins = dict.fromkeys({*numbers, *code.parameters}, _NUMBER)
    is_new = True
    while is_new:
        is_new = False
        for step in steps:
            sources = [_of(use, origins, variables) for use in step.sources]
            found = _result(step.name.partition(".")[0], sources)
            written = slots_of(step.destinations)
            if found is None:
                continue
            for slot in written:
                own = _MIXED if found and len(written) > 1 else found
                joined = _joined([own, origins.get(slot, own)])
                is_new |= origins.get(slot) != joined
                origins[slot] = joined
    return origins


def _of(use: Use, origins: Mapping[int, str], variables: set[str]) -> str | None:
    """Return the origin of an operand; ``None`` if it is not known yet."""
    if isinstance(use, SymbolUse):
        return use.name if use.name in variables else _MIXED
    for slot in slots_of([use]):
        return origins.get(slot)
    return _NUMBER


def _result(opcode: str, sources: Sequence[str | None]) -> str | None:
    """Return the origin of a result; ``None`` if it is not known yet."""
    known = [each for each in (sources[:2] if opcode == "selp" else sources) if each is not None]
    if len(known) < len(sources) - (opcode == "selp"):
        return None
    if opcode == "selp":
        return _joined(known)
    places = [place for place, each in enumerate(known) if each != _NUMBER]
    if not places:
        return _NUMBER
    is_sum = len(places) == 1 and places[0] in _ADDED.get(opcode, ())
    return known[places[0]] if is_sum else _MIXED


def _joined(origins: Iterable[str]) -> str:
    first, *others = set(origins)
    return _MIXED if others else first
