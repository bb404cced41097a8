"""Resolution of operands to uses, with the type rules of the manual's chapters 6 and 9.

An operand that does not fit raises `OperandMismatch`, worded like ptxas; the caller adds the place.
"""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    ConstantUse,
    KernelParameterUse,
    Lanewise,
    Operation,
    ParameterUse,
    RegisterUse,
    Role,
    SinkUse,
    Site,
    SymbolUse,
    Use,
)
from cudarun.emulator.decode.scope import (
    STACK,
    Declarations,
    LabelName,
    LocalName,
    Name,
    NameScope,
    ParameterName,
    RegisterName,
    SymbolName,
    constant_bits,
)
from cudarun.emulator.machine.clusters import own_address
from cudarun.emulator.machine.spaces import NO_PARAMETER
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS, Extent, ReadMoment
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TYPES, Type, TypeKind, bits_of
from cudarun.ptx import tree

# Opcodes that take the address of a variable as an operand; others need a register.
_TAKE_ADDRESSES = frozenset({"mov", "cvta", "mapa", "getctarank", "call"})
# Opcodes that take no constants: SIMD video instructions and this one.
_REGISTERS_ONLY = frozenset({"movmatrix", "stackrestore"}) | {
    f"v{operation}{parts}"
    for operation in ("add", "sub", "absdiff", "min", "max", "avrg", "set")
    for parts in (2, 4)
}
_NO_ADDRESS = (TypeKind.FLOAT, TypeKind.PREDICATE)


_LATER_REGISTERS = "%locality_domain"  # of PTX 9.5


class OperandMismatch(Exception):
    """An operand or a modifier that the instruction cannot take."""


class Unimplemented(Exception):
    """Something that PTX defines and the emulated device does not implement.

    Args:
        detail: The end of the message.
    """

    def __init__(self, what: str, detail: str = "") -> None:
        super().__init__(f"{what} is not implemented by the emulated device{detail}")


@dataclass(slots=True)
class Operands:
    """Resolves the operands of one instruction in its scope."""

    opcode: str
    scope: NameScope
    declarations: Declarations
    site: Site
    # Operations that must precede: reading a clock, computing a local address.
    before: list[Operation] = field(default_factory=list)

    def find(self, name: str) -> Name:
        """Return the meaning of a name, special registers included."""
        found = self.scope.find(name)
        if found is None:
            base, _, part = name.partition(".")
            if part and isinstance(self.scope.find(base), RegisterName):  # also one called %tid
                raise OperandMismatch(f"Unknown video selector: '.{part}'")
            found = self.declarations.special(name)
        if found is None and name.startswith(_LATER_REGISTERS):
            raise Unimplemented(f"special register '{name}'")
        if found is None:
            raise OperandMismatch(f"Unknown symbol '{name}'")
        return found

    def meaning(self, operand: tree.Operand) -> Name | None:
        """Return the meaning of an operand that is a name; ``None`` for others."""
        if isinstance(operand, tree.SymbolReference | tree.Register):
            return self.find(operand.name)
        return None

    def mismatch(self) -> OperandMismatch:
        """Return ptxas's error for operands that do not match."""
        return OperandMismatch(f"Arguments mismatch for instruction '{self.opcode}'")

    # --- sources and destinations ----------------------------------------------------------------

    def source(self, operand: tree.Operand, ptx_type: Type, *, relaxed: bool = False) -> Use:
        """Return the use of a value that is read."""
        match operand:
            case tree.Register(name):
                return self.register(name, ptx_type, relaxed=relaxed)
            case tree.Negated(tree.Register(name)):
                use = self.register(name, ptx_type)
                if ptx_type.kind is not TypeKind.PREDICATE:
                    raise self.mismatch()
                return RegisterUse(use.slot, use.type, negated=not use.negated)
            case tree.RegisterOffset(tree.Register(name), offset):
                return self._sum(self.register(name, ptx_type, relaxed=relaxed), offset)
            case tree.Minus():
                raise OperandMismatch(
                    f"Operand negation not allowed for instruction '{self.opcode}'"
                )
            case tree.Integer() | tree.Float() if self.opcode not in _REGISTERS_ONLY:
                return ConstantUse(self.constant(operand, ptx_type))
            case tree.SymbolReference(name):
                return self._symbol(name, 0, ptx_type)
            case tree.SymbolOffset(tree.SymbolReference(name), offset):
                return self._symbol(name, offset, ptx_type)
            case _:
                raise self.mismatch()

    def _sum(self, use: RegisterUse, offset: int) -> RegisterUse:
        """Return a register that has the sum of another one and a constant."""
        if use.type.kind is TypeKind.FLOAT or use.type.elements > 1:
            what = f"a sum as an operand of type .{use.type.name}"
            raise Unimplemented(f"{what} of instruction '{self.opcode}'")
        if use.type.kind is TypeKind.PREDICATE:
            raise self.mismatch()
        word = TYPES[f"u{use.type.bits}"]
        constant = self.constant(tree.Integer(offset), word)
        total = self._added(f"%sum{use.slot}", replace(use, type=word), constant)
        return replace(total, type=use.type)

    def _added(self, name: str, use: RegisterUse, constant: Array) -> RegisterUse:
        """Return a new register with the sum of another one and a constant."""
        total = RegisterUse(self.declarations.slot(name, use.type.name, Role.REGISTER), use.type)
        sources = use, ConstantUse(constant)
        self.before.append(Lanewise(np.add, sources, (total,), self.site))
        return total

    def _symbol(self, name: str, offset: int, ptx_type: Type) -> Use:
        """Return the address of a variable or function as a value, if the instruction takes one."""
        if self.opcode not in _TAKE_ADDRESSES:
            raise OperandMismatch(
                f"instruction '{self.opcode}' cannot take the address of '{name}'"
            )
        if ptx_type.bits < 64 and self._space_of(name) not in ("shared", "local", "param"):
            raise OperandMismatch(f"the address of '{name}' exceeds {ptx_type.bits} bits")
        return self.address_of(name, offset, ptx_type)

    def destination(self, operand: tree.Operand, ptx_type: Type, *, relaxed: bool = False) -> Use:
        """Return the use of a written register; a wider one takes the extended value."""
        match operand:
            case tree.Sink():
                return SinkUse(ptx_type)
            case tree.Register(name):
                if name in SPECIAL_REGISTERS and self.scope.find(name) is None:
                    raise self.mismatch()
                use = self.register(name, ptx_type, relaxed=relaxed)
                width = self.declarations.slots[use.slot].type.bits
                if ptx_type.kind is not TypeKind.PREDICATE and width > ptx_type.bits:
                    return RegisterUse(use.slot, TYPES[f"{'s' if ptx_type.signed else 'u'}{width}"])
                return use
            case _:
                raise self.mismatch()

    def register(self, name: str, ptx_type: Type, *, relaxed: bool = False) -> RegisterUse:
        """Return a register as a type that it can hold."""
        found = self.scope.find(name)
        if isinstance(found, RegisterName):
            if found.declared != ptx_type.name and not fits(
                TYPES[found.declared], ptx_type, relaxed=relaxed
            ):
                raise self.mismatch()
            return RegisterUse(found.slot, ptx_type)
        if found is not None:
            raise self.mismatch()
        return self._special_register(name, ptx_type, relaxed=relaxed)

    def _special_register(self, name: str, ptx_type: Type, *, relaxed: bool) -> RegisterUse:
        """Return the use of a register that is not declared."""
        found = self.find(name)
        if not isinstance(found, RegisterName):
            raise self.mismatch()
        special = SPECIAL_REGISTERS.get(name)
        # `mov.u16` of %tid.x etc. is legal because they once had 16 bits (10.1).
        relaxed |= special is not None and ("." in name or name == "%gridid")
        if not fits(TYPES[found.declared], ptx_type, relaxed=relaxed):
            raise self.mismatch()
        if special is None:
            return RegisterUse(found.slot, ptx_type)
        if self.opcode not in ("mov", "cvt") or ptx_type.kind is TypeKind.FLOAT:
            words = "Special register argument not allowed for instruction"
            raise OperandMismatch(f"{words} '{self.opcode}'")
        if special.extent is Extent.MOMENT:
            whole = RegisterUse(found.slot, TYPES[special.type])
            self.before.append(Action(ReadMoment(name), (), (whole,), self.site))
        return RegisterUse(found.slot, ptx_type)

    def constant(self, operand: tree.Integer | tree.Float, ptx_type: Type) -> Array:
        """Return a constant as one value of a type, shaped like a register of that type."""
        if ptx_type.kind is TypeKind.PREDICATE:
            if not isinstance(operand, tree.Integer):
                raise self.mismatch()
            return np.array([operand.value != 0])
        if ptx_type.kind is TypeKind.FLOAT and (
            isinstance(operand, tree.Integer) or ptx_type.bits < 32
        ):
            raise self.mismatch()
        if ptx_type.elements > 1 and ptx_type.kind is not TypeKind.BITS:
            raise self.mismatch()
        if isinstance(operand, tree.Float) and (
            ptx_type.kind in (TypeKind.SIGNED, TypeKind.UNSIGNED)
            or (ptx_type.kind is TypeKind.BITS and ptx_type.bits != operand.width)
        ):
            raise self.mismatch()
        packed = ptx_type.elements > 1 or ptx_type.kind is not TypeKind.FLOAT or ptx_type.bits < 32
        bits = constant_bits(operand, f"b{ptx_type.bits}" if packed else ptx_type.name)
        value = np.frombuffer(bits.to_bytes(ptx_type.bytes, "little"), dtype=ptx_type.dtype)
        return value if ptx_type.elements == 1 else value.reshape(1, ptx_type.elements)

    def integer(self, operand: tree.Operand) -> int:
        """Return the value of an operand that must be a constant integer."""
        if not isinstance(operand, tree.Integer):
            raise self.mismatch()
        return operand.value

    # --- addresses -------------------------------------------------------------------------------

    def address_of(self, name: str, offset: int, ptx_type: Type) -> Use:
        """Return the address of a variable or function as a value."""
        found = self.find(name)
        if ptx_type.kind in (TypeKind.PREDICATE, TypeKind.FLOAT) or ptx_type.bits < 32:
            raise self.mismatch()
        match found:
            case SymbolName(space, unique):
                use = SymbolUse(space, unique, offset, ptx_type)
                rank = self.own_rank() if space == "shared" else []
                return self._in_own_block(use, *rank) if rank else use
            case LocalName(start):
                return self.local_address(start + offset, ptx_type)
            case ParameterName(None, start, _):
                return ConstantUse(_address(start + offset, ptx_type))
            case ParameterName():
                raise Unimplemented(f"the address of '{name}', a parameter of a function,")
            case LabelName():
                raise Unimplemented(f"the address of the label '{name}'")
            case _:
                raise self.mismatch()

    def own_rank(self) -> list[Use]:
        """Return the rank of the block; nothing where shared addresses have no ranks."""
        if not self.declarations.has_ranks:
            return []
        rank = self.declarations.special("%cluster_ctarank")
        assert rank is not None
        return [RegisterUse(rank.slot, TYPES["u32"])]

    def _in_own_block(self, use: SymbolUse, rank: Use) -> RegisterUse:
        """Return a new register with the address of a shared variable and the rank of the block."""
        word = TYPES[f"u{use.type.bits}"]
        name = f"%own{len(self.declarations.slots)}"
        own = RegisterUse(self.declarations.slot(name, word.name, Role.REGISTER), word)
        sources = replace(use, type=word), rank
        self.before.append(Lanewise(own_address, sources, (own,), self.site, f"add.{word.name}"))
        return replace(own, type=use.type)

    def local_address(self, offset: int, ptx_type: Type) -> Use:
        """Return an address in the function's frame, which in a kernel begins at 0."""
        if self.declarations.function.is_entry:
            return ConstantUse(_address(offset, ptx_type))
        word = TYPES["u64"]
        stack = RegisterUse(self.declarations.implicit(STACK, "u64", Role.STACK), word)
        total = self._added(f"{STACK}+{offset}", stack, _address(offset, word))
        return replace(total, type=bits_of(ptx_type.bits))

    def _space_of(self, name: str) -> str:
        """Return the state space of a name; ``""`` if it has none."""
        match self.find(name):
            case SymbolName(space):
                return space
            case LocalName():
                return "local"
            case ParameterName():
                return "param"
        return ""

    def space_of_symbol(self, operand: tree.Operand) -> str:
        """Return the space of an address without one: that of the shared or local variable."""
        if isinstance(operand, tree.Address) and isinstance(operand.base, tree.SymbolReference):
            space = self._space_of(operand.base.name)
            return space if space in ("shared", "local") else ""
        return ""

    def check_vector(self, elements: tuple[tree.Operand, ...], *, halves: bool) -> None:
        """Check that registers are of one width, and ``.f16x2`` only with ``halves``.

        A vector of nothing but ``_`` has no width.
        """
        if all(isinstance(element, tree.Sink) for element in elements):
            raise self.mismatch()
        names = [element.name for element in elements if isinstance(element, tree.Register)]
        found = [self.find(name) for name in names]
        declared = {name.declared for name in found if isinstance(name, RegisterName)}
        if len({TYPES[name].bits for name in declared}) > 1:
            raise OperandMismatch("Incompatible elements of vector expression")
        if "f16x2" in declared and not halves:
            raise self.mismatch()

    def address(self, operand: tree.Operand, ptx_type: Type, space: str) -> tuple[Use, int]:
        """Return the base and the offset of a memory operand."""
        if not isinstance(operand, tree.Address):
            raise self.mismatch()
        match operand.base:
            case None:
                if space != "local":
                    raise OperandMismatch("Immediate addresses allowed only for .local state space")
                return ConstantUse(_address(operand.offset, ptx_type)), 0
            case tree.Register(name):
                found = self.find(name)
                if not isinstance(found, RegisterName):
                    raise self.mismatch()
                declared = TYPES[found.declared]
                if declared.bits not in (32, 64) or declared.kind in _NO_ADDRESS:
                    raise OperandMismatch(
                        f"Illegal to use symbol '{name}' of type .{declared.name} as address "
                        "operand. Use integer or bit only."
                    )
                if declared.bits == 32 and space in ("", "global"):
                    raise OperandMismatch(f"'{name}': 32-bit addressing is not supported")
                unsigned = TYPES[f"u{declared.bits}"]
                return RegisterUse(found.slot, unsigned), operand.offset
            case tree.SymbolReference(name):
                if self._space_of(name) != (space.partition("::")[0] or "global"):
                    what = "State space mismatch between instruction and address in instruction"
                    raise OperandMismatch(f"{what} '{self.opcode}'")
                found = self.find(name)
                if isinstance(found, ParameterName) and found.slot is not None:
                    return ConstantUse(_address(NO_PARAMETER, TYPES["u64"])), operand.offset
                return self.address_of(name, 0, ptx_type), operand.offset
        raise self.mismatch()

    def parameter(
        self, operand: tree.Operand, ptx_type: Type, count: int
    ) -> KernelParameterUse | ParameterUse | None:
        """Return the first element in a ``.param`` variable by name; ``None`` for other addresses.

        An access past the ends is one: ptxas accepts it, so it is a fault when it is executed.
        """
        if not isinstance(operand, tree.Address) or not isinstance(
            operand.base, tree.SymbolReference
        ):
            return None
        found = self.find(operand.base.name)
        if not isinstance(found, ParameterName):
            return None
        if not found.contains(operand.offset, ptx_type.bytes, count):
            return None
        offset = found.offset + operand.offset
        if found.slot is None:
            return KernelParameterUse(offset, ptx_type)
        return ParameterUse(found.slot, offset, ptx_type)


def fits(declared: Type, wanted: Type, *, relaxed: bool) -> bool:
    """Return whether an operand of a declared type can be used as an instruction type.

    Manual 9.2: untyped ones match any type of their size, integers with integers, and ptxas
    accepts a ``.f16x2`` register as an untyped one; ``relaxed`` is the rule of ``ld``, ``st`` and
    ``cvt`` (9.4), under which the register may be wider.
    """
    predicate = TypeKind.PREDICATE
    if declared.kind is predicate or wanted.kind is predicate:
        return declared.kind is wanted.kind
    if declared.bits != wanted.bits:
        whole = declared.kind is not TypeKind.FLOAT and wanted.kind is not TypeKind.FLOAT
        return relaxed and wanted.bits < declared.bits <= 64 and whole
    if TypeKind.BITS in (declared.kind, wanted.kind):
        return True
    if declared.name == "f16x2":
        return wanted.kind is not TypeKind.FLOAT or wanted.name == "f16x2"
    if wanted.elements > 1:
        return False
    if TypeKind.FLOAT in (declared.kind, wanted.kind):
        return declared.name == wanted.name
    return True


def _address(value: int, ptx_type: Type) -> Array:
    return np.array([value & ((1 << ptx_type.bits) - 1)], dtype=bits_of(ptx_type.bits).dtype)
