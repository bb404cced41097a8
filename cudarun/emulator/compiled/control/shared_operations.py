"""Operations of large kernels as functions, each shared by all that differ only in registers.

LLVM takes too long for the code of thousands of operations in one function. Those of a large kernel
are data instead: a record for each has the address of a function, the offsets of the registers,
which are in the warp's state, and the other numbers in which operations of one function differ.
Each function ends with a jump to that of the next record; the last record ends the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cudarun.emulator.code import Action, Lanewise, RegisterUse
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.compiled.state.shared_functions import PARAMETERS, SharedFunctions

_RECORDS = "records"
_LAST = "last_operation"
_LAST_TEXT = f"define internal i1 @{_LAST}({PARAMETERS}, ptr %record) #0 {{\n  ret i1 false\n}}"


class SharedOperations:
    """The functions of the operations of a module, and the records."""

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, functions: SharedFunctions
    ) -> None:
        self._code = code  # the code that calls them
        self._registers = registers  # the registers, whose memory is in the warp's state
        self._functions = functions  # the functions of the module
        self._words: list[str] = []  # of the records
        self._first = 0  # word of the block

    def add(self, operation: Lanewise | Action, compile_: Callable[[str], None]) -> None:
        """Add an operation to the block; ``compile_(mask)`` adds the body of its function."""
        registers = self._registers
        uses = (*operation.sources, *operation.destinations)
        used = dict.fromkeys(use.slot for use in uses if isinstance(use, RegisterUse))
        slots = [slot for slot in used if slot in registers.in_state]
        names = {slot: f"%r{place}" for place, slot in enumerate(slots)}
        body, numbers = self._functions.compiled(compile_, names)
        before: list[str] = []
        for place in range(len(slots)):
            before += _loaded(f"%o{place}", "i64", 1 + place)
            before.append(f"  %r{place} = getelementptr i8, ptr %state, i64 %o{place}")
        for place, number in enumerate(numbers):
            before += _loaded(f"%n{place}", number.kind, 1 + len(slots) + place)
        after = [
            f"  %next = getelementptr i64, ptr %record, i64 {1 + len(slots) + len(numbers)}",
            "  %code = load ptr, ptr %next, align 8, !invariant.load !0",
            f"  %answer = musttail call i1 %code({PARAMETERS}, ptr %next)",
            "  ret i1 %answer",
        ]
        name = self._functions.define("ptr %record", before, body, after)
        self._words.append(_address(name))
        self._words += map(str, [registers.in_state[slot] for slot in slots])
        self._words += [str(number.value) for number in numbers]

    def call(self, mask: str) -> None:
        """Run the operations of the block, which ends here."""
        if self._first == len(self._words):
            return
        code, first = self._code, self._first
        self._words.append(_address(_LAST))
        self._first = len(self._words)
        record = f"getelementptr (i64, ptr @{_RECORDS}, i64 {first})"
        given = f"ptr %ctx, i32 %warp, ptr %state, i32 {mask}, ptr {record}"
        entered = code.scalar(f"load ptr, ptr {record}, align 8, !invariant.load !0")
        fault = code.scalar(f"call i1 {entered}({given})")
        code.leave_if(fault, "fault", weights=", !prof !2")

    def define(self) -> None:
        """Add the records to the module."""
        self._code.module.define_constants(_RECORDS, "i64", self._words)
        self._code.module.define(_LAST, _LAST_TEXT)


def _address(name: str) -> str:
    return f"ptrtoint (ptr @{name} to i64)"


def _loaded(name: str, kind: str, place: int) -> Iterator[str]:
    """Yield the code that loads a number of the record; narrow ones are its low part."""
    yield f"  {name}.at = getelementptr i64, ptr %record, i64 {place}"
    yield f"  {name} = load {kind}, ptr {name}.at, align 8, !invariant.load !0"
