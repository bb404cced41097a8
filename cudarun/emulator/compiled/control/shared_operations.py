"""Operations of large kernels as functions, each shared by all that differ only in registers.

LLVM takes too long for the code of thousands of operations in one function. Those of a large kernel
become calls: the registers are in the warp's state, and a function gets their offsets, the numbers
of its callback sites and cache entries, and the other numbers in which the operations differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from cudarun.emulator.code import Action, ConstantUse, Lanewise, RegisterUse, Use
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.state.registers import WarpRegisters

_COMMON = "ptr %ctx, i32 %warp, ptr %state"
_FAULT = "label %fault"


class _SharedFunction(NamedTuple):
    """The function of an operation, and the numbers that it gets."""

    name: str
    can_fail: bool
    numbers: list[tuple[str, int]]


class SharedOperations:
    """The functions of the operations of a module, by their code.

    Args:
        code: The code that calls them.
        registers: The registers, whose memory is in the warp's state.
        enter: Adds the code that defines the values that all code of a warp can use.
    """

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, enter: Callable[[], None]
    ) -> None:
        self._code = code
        self._registers = registers
        self._names: dict[str, str] = {}  # by the code
        self._known: dict[Hashable, _SharedFunction] = {}  # of lanewise operations
        with code.separately():
            enter()
            self._entry, self._entry_names = code.lines, code.names

    def call(
        self, operation: Lanewise | Action, mask: str, compile_: Callable[[str], None]
    ) -> None:
        """Call the function of an operation; ``compile_(mask)`` adds the code of its body."""
        code, registers = self._code, self._registers
        slots = [slot for slot in dict.fromkeys(_slots(operation)) if slot in registers.in_state]
        if isinstance(operation, Lanewise):
            key = self._key(operation, slots)
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = self._function(slots, compile_)
        else:
            found = self._function(slots, compile_)
        offsets = [f"i64 {registers.in_state[slot]}" for slot in slots]
        numbers = [f"{kind} {value}" for kind, value in found.numbers]
        given = ", ".join([_COMMON, f"i32 {mask}", *offsets, *numbers])
        if not found.can_fail:
            code.line(f"call void @{found.name}({given})")
            return
        answer, on = code.scalar(f"call i1 @{found.name}({given})"), code.fresh("on")
        code.line(f"br i1 {answer}, label %fault, label %{on}, !prof !2")
        code.label(on)

    def _key(self, operation: Lanewise, slots: list[int]) -> Hashable:
        """Return what determines the code of an operation, and its numbers."""
        places = {slot: place for place, slot in enumerate(slots)}
        registers = self._registers

        def key(use: Use) -> Hashable:
            if isinstance(use, ConstantUse):
                return use.value.dtype.str, use.value.shape, use.value.tobytes()
            if isinstance(use, RegisterUse) and use.slot in places:
                stored = registers.type_of(use.slot), registers.is_shared(use.slot)
                return places[use.slot], use.type, use.negated, stored
            return use

        uses = (*operation.sources, None, *operation.destinations)
        return operation.function, tuple(None if use is None else key(use) for use in uses)

    def _function(self, slots: list[int], compile_: Callable[[str], None]) -> _SharedFunction:
        """Return the function of an operation with these registers."""
        code, registers = self._code, self._registers
        names = {slot: f"%r{number}" for number, slot in enumerate(slots)}
        outer = registers.mask
        with code.separately(self._entry_names), registers.named(names):
            registers.mask = code.from_mask("%mask")
            compile_("%mask")
            body, numbers = "\n".join(code.lines), code.numbers or []
        registers.mask = outer
        offsets = [f"i64 %o{number}" for number in range(len(slots))]
        values = [f"{kind} %n{place}" for place, (kind, _) in enumerate(numbers)]
        parameters = ", ".join([_COMMON, "i32 %mask", *offsets, *values])
        can_fail = _FAULT in body
        name = self._names.get(parameters + body)
        if name is None:
            name = self._names[parameters + body] = f"operation{len(self._names)}"
            self._define(name, parameters, body, len(slots), can_fail=can_fail)
        return _SharedFunction(name, can_fail, numbers)

    def _define(
        self, name: str, parameters: str, body: str, registers: int, *, can_fail: bool
    ) -> None:
        kind = "i1" if can_fail else "void"
        lines = [
            f"define internal {kind} @{name}({parameters}) noinline #0 {{",
            "entry:",
            *self._entry,
            *(f"  %r{n} = getelementptr i8, ptr %state, i64 %o{n}" for n in range(registers)),
            body,
            *(("  ret i1 false", "fault:", "  ret i1 true") if can_fail else ("  ret void",)),
            "}",
        ]
        self._code.module.define(name, "\n".join(lines))


def _slots(operation: Lanewise | Action) -> Iterator[int]:
    for use in (*operation.sources, *operation.destinations):
        if isinstance(use, RegisterUse):
            yield use.slot
