"""Operations of large kernels as functions, each shared by all that differ only in registers.

LLVM takes too long for the code of thousands of operations in one function. Those of a large kernel
are data instead: a record for each has the address of a function, the offsets of the registers,
which are in the warp's state, and the other numbers in which operations of one function differ.
Each function ends with a jump to that of the next record; the last record ends the block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from cudarun.emulator.code import Action, ConstantUse, Lanewise, RegisterUse, Use
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, NumberParameter
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.compiled.state.shared_functions import PARAMETERS, SharedFunctions
from cudarun.emulator.machine.matrices import Multiply, WarpMultiply
from cudarun.emulator.machine.transfers import MemoryLoad, MemoryStore

_RECORDS = "records"
_LAST = "last_operation"
_LAST_TEXT = f"define internal i1 @{_LAST}({PARAMETERS}, ptr %record) #0 {{\n  ret i1 false\n}}"

_NumberedFunction = tuple[str, list[NumberParameter]]
"""The name of the function of an operation, and the numbers that it gets."""


class SharedOperations:
    """The functions of the operations of a module, by their code, and the records."""

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        functions: SharedFunctions,
        accesses: AccessCode | None,
    ) -> None:
        self._code = code  # the code that calls them
        self._registers = registers  # the registers, whose memory is in the warp's state
        self._functions = functions  # the functions of the module
        # The code of accesses and of calls of the interpreter, each of which has numbers of its
        # own; ``None`` if detectors observe accesses, which tell them apart by more.
        self._accesses = accesses
        self._words: list[str] = []  # of the records
        self._first = 0  # word of the block
        self._entered = ""  # the function of its first operation
        self._known: dict[Hashable, _NumberedFunction] = {}  # by what determines the code

    def add(self, operation: Lanewise | Action, compile_: Callable[[str], None]) -> None:
        """Add an operation to the block; ``compile_(mask)`` adds the body of its function."""
        registers = self._registers
        uses = (*operation.sources, *operation.destinations)
        used = dict.fromkeys(use.slot for use in uses if isinstance(use, RegisterUse))
        slots = [slot for slot in used if slot in registers.in_state]
        key = self._key(operation, slots)
        found = None if key is None else self._known.get(key)
        if found is None:
            name, numbers = self._function(slots, compile_)
            if key is not None:
                self._known[key] = name, numbers
            values = [number.value for number in numbers]
        else:
            name, numbers = found
            values = [number.value for number in numbers]
            if isinstance(operation, Action):
                assert self._accesses is not None, "actions have no key without it"
                values = self._accesses.numbers_of(operation, numbers)
        if self._first == len(self._words):
            self._entered = name
        self._words.append(_address(name))
        self._words += map(str, [*(registers.in_state[slot] for slot in slots), *values])

    def call(self, mask: str) -> None:
        """Run the operations of the block, which ends here."""
        if self._first == len(self._words):
            return
        code, first = self._code, self._first
        self._words.append(_address(_LAST))
        self._first = len(self._words)
        record = f"getelementptr (i64, ptr @{_RECORDS}, i64 {first})"
        given = f"ptr %ctx, i32 %warp, ptr %state, i32 {mask}, ptr {record}"
        fault = code.scalar(f"call i1 @{self._entered}({given})")
        code.leave_if(fault, "fault", weights=", !prof !2")

    def define(self) -> None:
        """Add the records to the module."""
        self._code.module.define_constants(_RECORDS, "i64", self._words)
        self._code.module.define(_LAST, _LAST_TEXT)

    def _key(self, operation: Lanewise | Action, slots: list[int]) -> Hashable:
        """Return what determines the code of an operation, and its numbers or how to find them.

        `None` if nothing but the code itself tells.
        """
        kind: Hashable
        if isinstance(operation, Lanewise):
            kind = operation.function
        elif self._accesses is None:
            return None
        elif isinstance(operation.action, Multiply | WarpMultiply):
            kind = operation.site.name
        elif isinstance(operation.action, MemoryLoad | MemoryStore):
            action = operation.action
            (access,) = action.accesses
            kind = (
                *(type(action), action.elements, access.space, access.dtype, access.count),
                *(access.order, access.scope, access.offset != 0),
            )
        else:
            return None
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
        return kind, tuple(None if use is None else key(use) for use in uses)

    def _function(self, slots: list[int], compile_: Callable[[str], None]) -> _NumberedFunction:
        """Return the function of an operation with these registers."""
        registers = {slot: f"%r{number}" for number, slot in enumerate(slots)}
        body, numbers = self._functions.compiled(compile_, registers)
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
        return self._functions.define("ptr %record", before, body, after), numbers


def _address(name: str) -> str:
    return f"ptrtoint (ptr @{name} to i64)"


def _loaded(name: str, kind: str, place: int) -> Iterator[str]:
    """Yield the code that loads a number of the record; narrow ones are its low part."""
    yield f"  {name}.at = getelementptr i64, ptr %record, i64 {place}"
    yield f"  {name} = load {kind}, ptr {name}.at, align 8, !invariant.load !0"
