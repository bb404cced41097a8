"""Findings of detectors and NaNs as texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudarun.debugger import thread_values
from cudarun.debugger.locations import place_of, variable_name
from cudarun.model.debug import Thread, Value

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import DetectorFinding, NanBirth

_KINDS = {"race": "data race", "uninit": "uninitialized read", "sync": "synchronization error"}


def operands_of(birth: NanBirth, lane: int) -> Iterator[Value]:
    """Yield the operands and the result of the instruction that produced a NaN in a lane."""
    row = [*birth.threads].index(lane)
    for number, (name, values) in enumerate(birth.operands):
        what = name or f"operand {number + 1}"
        value = values[row]
        yield Value(what, thread_values.type_of(value), thread_values.text_of(value))


def birth_text(birth: NanBirth, lane: int) -> Iterator[str]:
    """Yield the instruction that produced a NaN in a lane, and its operands."""
    yield " ".join(birth.site.text.split())
    yield ", ".join(f"{each.name} = {each.text}" for each in operands_of(birth, lane))


def finding_text(finding: DetectorFinding) -> str:
    """Return a finding as text: the memory, and the instructions with their threads."""
    memory, what = finding.memory, finding.problem or _KINDS[finding.kind]
    if memory is not None:
        what += f": {memory.size} bytes of {memory.space} memory"
    if memory is not None and memory.name:
        what += f", at offset {memory.offset} of {variable_name(memory.name)}"
    lines = [what]
    for each in finding.places:
        place = place_of(each.site)
        where = place.source or f"PTX line {place.ptx_line}"
        lines.append(f"{each.access} at {where} by {Thread(each.block, each.thread)}")
    return "\n".join(lines)
