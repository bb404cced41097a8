"""The suspicion of compiled code that a detector may have a finding (``native/shadow.c``)."""

from __future__ import annotations

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, splat
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, store_field


def suspect(code: CodeBuilder, found: str, bits: int) -> None:
    """Record that there may be a finding if a number of some bits is not 0."""
    wide = code.scalar(f"zext i{bits} {found} to i64")
    before = field(code, "%ctx", layout.SUSPECTED, "i64")
    after = code.scalar(f"or i64 {before}, {wide}")
    store_field(code, "%ctx", layout.SUSPECTED, "i64", after)


def nonzero(code: CodeBuilder, value: LaneVector) -> str:
    """Return a number with a bit for each element that is not 0."""
    return code.to_mask(code.compare("ne", value, splat(value.element, 0, value.count)))
