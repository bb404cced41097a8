"""Code in which the turn of a warp can end before each access to shared or global memory."""

from __future__ import annotations

from dataclasses import replace

from cudarun.emulator.code import BlockCode, FunctionCode, Operation
from cudarun.emulator.compiled.control.calls import FrameEntry, OutlinedCall, PointerCall
from cudarun.emulator.compiled.control.inlining import BlockOrigin, moved_terminator
from cudarun.emulator.decode.analysis import find_liveness
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.control import Jump
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore

_CALLS = (FrameEntry, OutlinedCall, PointerCall)
_OF_THREADS = {"local", "param", "const"}  # memory that no thread changes for another one


def with_turns(
    origins: list[BlockOrigin], function: FunctionCode
) -> tuple[list[BlockOrigin], FunctionCode]:
    """Return the code of a kernel whose blocks begin with accesses, and the origin of each block.

    Code that calls functions is returned as it is: there, turns end where blocks end.
    """
    if any(isinstance(block.terminator, _CALLS) for block in function.blocks):
        return origins, function
    code, indexes = replace(function, blocks=[]), dict[int, int]()
    found: list[BlockOrigin] = []
    for block in function.blocks:
        indexes[block.index] = first = len(code.blocks)
        for operations in _parts(block.operations):
            index = len(code.blocks)
            code.blocks.append(BlockCode(index, operations, Jump(index + 1)))
            found.append(origins[block.index])
        begin = code.blocks[first]
        begin.sync_mask, begin.sync_warps = block.sync_mask, block.sync_warps
        begin.meets = block.meets
    for block in function.blocks:
        last = code.blocks[indexes.get(block.index + 1, len(code.blocks)) - 1]
        last.terminator = moved_terminator(block.terminator, indexes)
    find_liveness(code)
    return found, code


def _parts(operations: list[Operation]) -> list[list[Operation]]:
    """Return the operations from each access to the next one, from the first of all on."""
    starts = [0]
    for place, operation in enumerate(operations):
        action, spaces = operation.action, set[str]()
        if isinstance(action, MemoryLoad | MemoryStore | Atomic):
            spaces = {access.space for access in action.accesses}
        if place and spaces - _OF_THREADS:
            starts.append(place)
    ends = [*starts[1:], len(operations)]
    return [operations[start:end] for start, end in zip(starts, ends, strict=True)]
