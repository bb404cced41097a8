"""The registers of a warp in compiled code: a vector per slot, and values fixed for a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from cudarun.emulator.code import (
    Action,
    ConstantUse,
    FunctionCode,
    KernelParameterUse,
    Operation,
    RegisterUse,
    Role,
    SinkUse,
    SymbolUse,
    Use,
)
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    constant,
    element_of,
    splat,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field, pointer_to
from cudarun.emulator.isa.move import copy
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS, Extent
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import Type, TypeKind

_FIXED_BYTES = 16


class FixedValues:
    """The values that a launch has for all lanes: parameters, addresses, constant registers."""

    def __init__(self) -> None:
        self.uses: dict[Use, int] = {}  # the operands, in the order of their places in memory
        self.block_registers: dict[str, int] = {}  # the special registers with a value per block
        self.lane_registers: dict[str, int] = {}  # those with a value per thread

    def place(self, use: Use) -> int:
        """Return the offset of an operand's value in memory."""
        return _FIXED_BYTES * self.uses.setdefault(use, len(self.uses))


class WarpRegisters:
    """The registers of a function."""

    def __init__(self, code: CodeBuilder, function: FunctionCode, fixed: FixedValues) -> None:
        self._code = code  # the code that reads and writes them
        self._function = function
        self._fixed = fixed  # takes the operands that a launch fixes
        self.shared = 0  # the slots that live from one block to another
        for block in function.blocks:
            self.shared |= block.live_in
        # The active lanes, as truth values; of the block that is being compiled.
        self.mask = splat("i1", True)
        # The slots whose values waiting lanes may need; of the block that is being compiled.
        self.needed = self.shared
        self.names: dict[int, str] = {}  # the memory of each register that has a name in the code
        # The offsets of registers that are always in the warp's state.
        self.in_state: dict[int, int] = {}
        self.has_frames = False  # whether the stack begins where the variable ``STACK`` says
        # The constants that are in the code, by slot; others are loaded.
        self.literals: dict[int, Array] = {}

    # --- memory ----------------------------------------------------------------------------------

    def declare(self, slots: Iterable[int]) -> None:
        """Reserve memory for registers."""
        for slot in slots:
            name = self.names[slot] = f"%reg{slot}"
            self._code.line(f"{name} = alloca {self.type_of(slot)}, align 64")
            self.clear(slot)

    @contextmanager
    def named(self, names: dict[int, str]) -> Iterator[None]:
        """Use other names of memory for a while."""
        others, self.names = self.names, names
        try:
            yield
        finally:
            self.names = others

    def _pointer(self, slot: int) -> str:
        """Return the memory of a register."""
        name = self.names.get(slot)
        if name is not None:
            return name
        if slot not in self.in_state:
            raise Untraceable(f"register {self._function.slots[slot].name}")
        return pointer_to(self._code, "%state", self.in_state[slot])

    def type_of(self, slot: int) -> str:
        """Return the LLVM type of a register."""
        return self._empty(slot).type

    def bytes_of(self, slot: int) -> int:
        """Return the size of a register in memory."""
        empty = self._empty(slot)
        return max(empty.bits, 8) * empty.count // 8

    def _empty(self, slot: int) -> LaneVector:
        ptx_type = self._function.slots[slot].type
        if ptx_type.kind is TypeKind.PREDICATE:
            return LaneVector("zeroinitializer", "i1")
        if ptx_type.bits == 128:
            return LaneVector("zeroinitializer", "i64", 2 * WIDTH)
        return LaneVector("zeroinitializer", f"i{ptx_type.bits}")

    def save(self, slot: int, pointer: str, lanes: LaneVector | None = None) -> None:
        """Store a register to memory, of all lanes or of some."""
        value = self._load(slot)
        if lanes is not None:
            value = self._chosen(lanes, value, self._saved(slot, pointer))
        if value.element == "i1":
            self._code.line(f"store i32 {self._code.to_mask(value)}, ptr {pointer}, align 4")
        else:
            self._code.line(f"store {value.typed}, ptr {pointer}, align 4")

    def clear(self, slot: int) -> None:
        """Write zeros to a register."""
        kind = self.type_of(slot)
        self._code.line(f"store {kind} zeroinitializer, ptr {self._pointer(slot)}, align 64")

    def restore(self, slot: int, pointer: str, lanes: LaneVector | None = None) -> None:
        """Load a register from memory, of all lanes or of some."""
        value = self._saved(slot, pointer)
        if lanes is not None:
            value = self._chosen(lanes, value, self._load(slot))
        self._code.line(f"store {value.typed}, ptr {self._pointer(slot)}, align 64")

    def _saved(self, slot: int, pointer: str) -> LaneVector:
        empty = self._empty(slot)
        if empty.element == "i1":
            return self._code.from_mask(self._code.scalar(f"load i32, ptr {pointer}, align 4"))
        text = f"load {empty.type}, ptr {pointer}, align 4"
        return self._code.vector(text, empty.element, empty.count)

    def _chosen(self, lanes: LaneVector, value: LaneVector, other: LaneVector) -> LaneVector:
        """Return a value for some lanes, and another one for the rest, which is in memory.

        ``freeze`` keeps LLVM from storing the value by a masked store, which is slow on AMD.
        """
        code = self._code
        if value.count > WIDTH:
            lanes = code.shuffle(lanes, [lane for lane in range(WIDTH) for _ in range(2)])
        other = code.vector(f"freeze {other.typed}", other.element, other.count)
        return code.select(lanes, value, other)

    def _load(self, slot: int) -> LaneVector:
        empty = self._empty(slot)
        text = f"load {empty.type}, ptr {self._pointer(slot)}, align 64"
        return self._code.vector(text, empty.element, empty.count)

    # --- reading ---------------------------------------------------------------------------------

    def source(self, use: Use) -> LaneVector:
        """Return the value of an operand, of the type that it is read as.

        Raises:
            Untraceable: An operand of this kind has no rule.
        """
        given = self.literal(use)
        match given:
            case ConstantUse(value):
                kind = lane_type(given)
                return constant(np.broadcast_to(value, kind.shape()))
            case SymbolUse() | KernelParameterUse():
                return self._typed(self._fixed_value(given, given.type), given.type)
            case RegisterUse(slot, ptx_type, negated):
                found = self._typed(self._stored(slot), ptx_type)
                if negated:
                    return self._code.binary("xor", found, splat("i1", True))
                return found
        raise Untraceable(f"the operand {use}")

    def literal(self, use: Use) -> Use:
        """Return the constant that an operand always has, if the code can contain it, or itself."""
        if not isinstance(use, RegisterUse) or use.slot not in self.literals:
            return use
        is_one = use.type.elements == 1 and use.type.kind is not TypeKind.PREDICATE
        return ConstantUse(self.literals[use.slot].view(use.type.dtype)[:1]) if is_one else use

    def lanes(self, use: Use) -> str:
        """Return the lanes for which a predicate is true, as an ``i32`` with a bit for each."""
        if not isinstance(use, RegisterUse) or use.slot not in self.in_state:
            return self._code.to_mask(self.source(use))
        found = self._code.scalar(f"load i32, ptr {self._pointer(use.slot)}, align 4")
        return self._code.scalar(f"xor i32 {found}, -1") if use.negated else found

    def passed(self, use: ConstantUse) -> LaneVector:
        """Return a constant that a shared operation gets as an argument, if that is possible."""
        kind, value = lane_type(use), use.value
        if kind.elements > 1 or value.size > 1 or value.dtype.kind == "b":
            return self.source(use)
        bits = int(value.reshape(-1).view(f"u{value.dtype.itemsize}")[0])
        spread = self._code.spread(f"i{8 * value.dtype.itemsize}", bits)
        return self._code.bitcast(spread, kind.element)

    def _stored(self, slot: int) -> LaneVector:
        register = self._function.slots[slot]
        match register.role:
            case Role.REGISTER:
                return self._load(slot)
            case Role.CONSTANT:
                return self._fixed_value(RegisterUse(slot, register.type), register.type)
            case Role.SPECIAL:
                return self._special(slot)
            case Role.STACK:
                if not self.has_frames:
                    return splat("i64", register.size)
                stack = self._code.scalar("load i64, ptr %STACK")
                place = self._code.scalar(f"add i64 {stack}, {register.size}")
                return self._code.broadcast("i64", place)
        raise AssertionError("a variable of parameters is registers")

    def _special(self, slot: int) -> LaneVector:
        code, register = self._code, self._function.slots[slot]
        extent = SPECIAL_REGISTERS[register.name].extent
        if extent is Extent.LAUNCH:
            return self._fixed_value(RegisterUse(slot, register.type), register.type)
        if extent is Extent.BLOCK:
            return self._code.broadcast("i32", self.block_value(register.name))
        if extent is Extent.LANE:
            known = self._fixed.lane_registers
            place = known.setdefault(register.name, len(known))
            table = field(code, "%ctx", layout.LANE_REGISTERS, "ptr")
            row = pointer_to(code, table, code.scalar(f"mul i64 %lane.row, {place}"))
            at = pointer_to(code, row, "%warp.words")
            return code.vector(f"load <{WIDTH} x i32>, ptr {at}, align 4", "i32")
        raise Untraceable(f"register {register.name}")

    def block_value(self, name: str) -> str:
        """Return a special register with a value per block."""
        known = self._fixed.block_registers
        place = known.setdefault(name, len(known))
        row = field(self._code, "%ctx", layout.BLOCK_REGISTERS, "ptr")
        return field(self._code, row, 4 * place, "i32")

    def _fixed_value(self, use: Use, ptx_type: Type) -> LaneVector:
        """Load a value of the launch."""
        code = self._code
        constants = code.scalar("load ptr, ptr %constants.at, align 8, !invariant.load !0")
        pointer = pointer_to(code, constants, code.number("i64", self._fixed.place(use)))
        if ptx_type.kind is TypeKind.PREDICATE:
            byte = code.scalar(f"load i8, ptr {pointer}, align 1, !invariant.load !0")
            return code.broadcast("i1", code.scalar(f"icmp ne i8 {byte}, 0"))
        if ptx_type.bits == 128:
            text = f"load <2 x i64>, ptr {pointer}, align 8, !invariant.load !0"
            return code.shuffle(code.vector(text, "i64", 2), [0, 1] * WIDTH)
        kind = f"i{ptx_type.bits}"
        value = code.scalar(f"load {kind}, ptr {pointer}, align 4, !invariant.load !0")
        return code.broadcast(kind, value)

    def _typed(self, value: LaneVector, ptx_type: Type) -> LaneVector:
        """Return a stored value as a type; a narrower one is its low part."""
        if ptx_type.kind is TypeKind.PREDICATE:
            return value
        if value.element != "i64" or value.count == WIDTH:
            if value.bits > ptx_type.bits:
                value = self._code.cast("trunc", value, f"i{ptx_type.bits}")
            elif value.bits < ptx_type.bits:
                raise Untraceable("a register that is read as a wider type")
        return self._code.bitcast(value, element_of(ptx_type.dtype))

    # --- writing ---------------------------------------------------------------------------------

    def write(self, use: Use, value: LaneVector) -> None:
        """Write a value, of the type of the destination, for the active lanes.

        Others get any value, unless they may need theirs.
        """
        if isinstance(use, SinkUse):
            return
        assert isinstance(use, RegisterUse)
        code, slot = self._code, use.slot
        empty = self._empty(slot)
        if empty.element != "i1":
            bits = code.bitcast(value, f"i{use.type.bits}" if use.type.bits < 128 else "i64")
            if bits.bits < empty.bits and bits.count == WIDTH:
                upper = splat(empty.element, -1 << bits.bits & (1 << empty.bits) - 1)
                kept = code.binary("and", self._load(slot), upper)
                value = code.binary("or", kept, code.cast("zext", bits, empty.element))
            else:
                value = bits
        if self.needed >> slot & 1:
            value = self._chosen(self.mask, value, self._load(slot))
        code.line(f"store {value.typed}, ptr {self._pointer(slot)}, align 64")


def literals_of(function: FunctionCode) -> dict[int, Array]:
    """Return the constants that are copied to registers, by slot."""
    found: dict[int, Array] = {}
    for operation in function.prologue:
        for source, target in zip(operation.sources, operation.destinations, strict=False):
            if isinstance(source, ConstantUse) and isinstance(target, RegisterUse):
                is_whole = 8 * source.value.nbytes == function.slots[target.slot].type.bits
                if operation.function is copy and is_whole:
                    found[target.slot] = source.value
    return found


class LoweringRules:
    """The code of a group of instructions."""

    def __init__(self, code: CodeBuilder, registers: WarpRegisters) -> None:
        self._code = code
        self._registers = registers

    def _sources(self, operation: Action) -> list[LaneVector]:
        """Return the values of the sources."""
        return [self._registers.source(use) for use in operation.sources]

    def _wide(self, value: LaneVector) -> LaneVector:
        """Return numbers of 32 or 64 bits as such of 64."""
        return value if value.bits == 64 else self._code.cast("zext", value, "i64")

    def _finish(self, operation: Operation, results: Sequence[LaneVector]) -> None:
        """Write the results to the destinations."""
        for use, value in zip(operation.destinations, results, strict=True):
            self._registers.write(use, value)
