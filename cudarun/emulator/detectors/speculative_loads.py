"""Loads that a compiler has moved before their condition.

``if (i < n && part[i] > most) most = part[i]`` can become a load, two comparisons, ``and.pred`` and
``selp``: it is always loaded, but the value only matters where the condition holds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from cudarun.emulator.code import BlockCode, Lanewise, Operation, Site, Use, slots_of
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.transfers import MemoryLoad
from cudarun.emulator.numerics.arrays import Mask
from cudarun.emulator.numerics.temporaries import temporaries_of

_Readers = Mapping[int, list[Operation | None]]  # by slot; ``None`` for the end of a block
Condition = Use | Lanewise  # a predicate, or the comparison that will compute it


def conditions_of_loads(blocks: Sequence[BlockCode]) -> dict[Site, list[Condition]]:
    """Return the loads of values that only matter where one of some conditions holds."""
    readers: _Readers = defaultdict(list)
    for block in blocks:
        for operation in (*block.operations, None):
            uses = block.terminator.reads if operation is None else operation.sources
            for slot in slots_of(uses):
                readers[slot].append(operation)
    found: dict[Site, list[Condition]] = {}
    for block in blocks:
        for at, load in enumerate(block.operations):
            if isinstance(load.action, MemoryLoad):
                conditions = [*_conditions(load, block.operations[at + 1 :], readers)]
                if conditions and None not in conditions:
                    found[load.site] = [each for each in conditions if each is not None]
    return found


def holds(conditions: Sequence[Condition], active: Active) -> Mask:
    """Return for each active lane whether one of some conditions holds."""
    result = np.zeros(active.count, np.bool_)
    for each in conditions:
        value = np.zeros(active.count, np.bool_)
        if isinstance(each, Lanewise):
            scratch = (np.empty(active.count, dtype) for dtype in temporaries_of(each.function))
            each.function(*map(active.read, each.sources), value, *scratch)
        result |= value if isinstance(each, Lanewise) else active.read(each)
    return result


def _conditions(
    load: Operation, later: Sequence[Operation], readers: _Readers
) -> Iterator[Condition | None]:
    """Yield the conditions of the uses of a loaded value; ``None`` for a use without one."""
    loaded = slots_of(load.destinations)
    uses = [each for slot in loaded for each in readers[slot]]
    compared = {slot for use in uses if _is(use, "setp") for slot in slots_of(use.destinations)}
    for product in (each for slot in compared for each in readers[slot]):
        # The selection by a comparison with the value has a use of the value itself.
        yield _other(product, compared, later) if _is(product, "and") else None
    for use in uses:
        if _is(use, "selp") and use in later and not loaded & slots_of(use.sources[1:]):
            selector, before = use.sources[2], later[: later.index(use)]
            writers = _writers(selector, before)
            is_product = len(writers) == 1 and _is(writers[0], "and")
            is_product = is_product and not getattr(selector, "negated", False)
            yield _other(writers[0], compared, later) if is_product else _value(selector, before)
        elif not _is(use, "setp"):
            yield None


def _other(product: Operation, compared: set[int], later: Sequence[Operation]) -> Condition | None:
    """Return the operand of a product that is no comparison with the loaded value."""
    others = [use for use in product.sources if not slots_of([use]) & compared]
    if len(others) != 1 or product not in later:
        return None
    return _value(others[0], later[: later.index(product)])


def _value(use: Use, before: Sequence[Operation]) -> Condition | None:
    """Return a predicate that is known before the operations from the load to its use."""
    writers = _writers(use, before)
    if not writers:
        return use
    changed = {slot for each in before for slot in slots_of(each.destinations)}
    (writer, *others), known = writers, not getattr(use, "negated", False)
    known = known and not others and not slots_of(writers[0].sources) & changed
    return writer if known and _is(writer, "setp") and len(writer.destinations) == 1 else None


def _writers(use: Use, operations: Sequence[Operation]) -> list[Operation]:
    return [each for each in operations if slots_of([use]) & slots_of(each.destinations)]


def _is(operation: Operation | None, name: str) -> TypeGuard[Lanewise]:
    return isinstance(operation, Lanewise) and operation.site.name.partition(".")[0] == name
