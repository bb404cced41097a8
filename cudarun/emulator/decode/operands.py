"""Operands of the tree to uses, with the type rules of the manual's chapters 6 and 9.

What does not fit is a ``Misfit``, worded as ptxas words it; the caller knows the place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cudarun.emulator.code import (
    Action,
    Array,
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
from cudarun.emulator.decode.layout import constant_bits
from cudarun.emulator.decode.scope import (
    STACK,
    Declarations,
    LabelName,
    LocalName,
    Name,
    ParameterName,
    RegisterName,
    Scope,
    SymbolName,
)
from cudarun.emulator.isa.special import SPECIAL_REGISTERS, Extent
from cudarun.emulator.isa.types import TYPES, Kind, Type, bits_of
from cudarun.emulator.machine.clock import ReadMoment
from cudarun.ptx import tree


class Misfit(Exception):
    """An operand that the instruction cannot take."""


@dataclass(slots=True)
class Operands:
    """Resolves the operands of one instruction in its scope.

    Attributes:
        before: Operations that must come first: reading a clock, adding up a local address.
    """

    opcode: str
    scope: Scope
    declarations: Declarations
    site: Site
    before: list[Operation] = field(default_factory=list)

    def find(self, name: str) -> Name:
        """What a name means; special registers included."""
        found = self.scope.find(name) or self.declarations.special(name)
        if found is None:
            raise Misfit(f"Unknown symbol '{name}'")
        return found

    def mismatch(self) -> Misfit:
        """The complaint that ptxas has about operands."""
        return Misfit(f"Arguments mismatch for instruction '{self.opcode}'")

    # --- sources and destinations ----------------------------------------------------------------

    def source(self, operand: tree.Operand, ptx_type: Type, *, relaxed: bool = False) -> Use:
        """A value that is read."""
        match operand:
            case tree.Register(name):
                return self.register(name, ptx_type, relaxed=relaxed)
            case tree.Negated(tree.Register(name)):
                use = self.register(name, ptx_type)
                if ptx_type.kind is not Kind.PREDICATE:
                    raise self.mismatch()
                return RegisterUse(use.slot, use.type, negated=not use.negated)
            case tree.Integer() | tree.Float():
                return ConstantUse(self.constant(operand, ptx_type))
            case tree.Symbol(name):
                return self.address_of(name, 0, ptx_type)
            case tree.SymbolOffset(tree.Symbol(name), offset):
                return self.address_of(name, offset, ptx_type)
            case _:
                raise self.mismatch()

    def destination(self, operand: tree.Operand, ptx_type: Type, *, relaxed: bool = False) -> Use:
        """A register that is written. A wider one takes the value extended to its width."""
        match operand:
            case tree.Sink():
                return SinkUse(ptx_type)
            case tree.Register(name):
                use = self.register(name, ptx_type, relaxed=relaxed)
                if self.scope.find(name) is None:  # a special register
                    raise self.mismatch()
                width = self.declarations.slots[use.slot].type.bits
                if ptx_type.kind is not Kind.PREDICATE and width > ptx_type.bits:
                    return RegisterUse(use.slot, TYPES[f"{'s' if ptx_type.signed else 'u'}{width}"])
                return use
            case _:
                raise self.mismatch()

    def register(self, name: str, ptx_type: Type, *, relaxed: bool = False) -> RegisterUse:
        """A register seen as a type that it can hold."""
        found = self.find(name)
        if not isinstance(found, RegisterName):
            raise self.mismatch()
        special = SPECIAL_REGISTERS.get(name)
        # `mov.u16` of %tid.x and its like is legal from the time when they had 16 bits (10.1).
        relaxed |= special is not None and "." in name
        if not fits(TYPES[found.declared], ptx_type, relaxed=relaxed):
            raise self.mismatch()
        if special is not None and special.extent is Extent.MOMENT:
            whole = RegisterUse(found.slot, TYPES[special.type])
            self.before.append(Action(ReadMoment(name), (), (whole,), self.site))
        return RegisterUse(found.slot, ptx_type)

    def constant(self, operand: tree.Integer | tree.Float, ptx_type: Type) -> Array:
        """A constant as one value of a type, shaped like a register of that type."""
        if ptx_type.kind is Kind.PREDICATE:
            if not isinstance(operand, tree.Integer):
                raise self.mismatch()
            return np.array([operand.value != 0])
        if (
            isinstance(operand, tree.Integer)
            and ptx_type.kind is Kind.FLOAT
            and ptx_type.elements == 1
        ):
            raise self.mismatch()
        if isinstance(operand, tree.Float) and ptx_type.kind in (Kind.SIGNED, Kind.UNSIGNED):
            raise self.mismatch()
        packed = ptx_type.elements > 1 or ptx_type.kind is not Kind.FLOAT or ptx_type.bits < 32
        bits = constant_bits(operand, f"b{ptx_type.bits}" if packed else ptx_type.name)
        value = np.frombuffer(bits.to_bytes(ptx_type.bytes, "little"), dtype=ptx_type.dtype)
        return value if ptx_type.elements == 1 else value.reshape(1, ptx_type.elements)

    def integer(self, operand: tree.Operand) -> int:
        """The value of an operand that must be a constant integer."""
        if not isinstance(operand, tree.Integer):
            raise self.mismatch()
        return operand.value

    # --- addresses -------------------------------------------------------------------------------

    def address_of(self, name: str, offset: int, ptx_type: Type) -> Use:
        """The address of a variable or function as a value."""
        found = self.find(name)
        if ptx_type.kind in (Kind.PREDICATE, Kind.FLOAT) or ptx_type.bits < 32:
            raise self.mismatch()
        match found:
            case SymbolName(space, unique):
                return SymbolUse(space, unique, offset, ptx_type)
            case LocalName(start):
                return self.local_address(start + offset, ptx_type)
            case ParameterName(None, start, _):
                return ConstantUse(_address(start + offset, ptx_type))
            case ParameterName():
                raise Misfit(
                    f"the address of '{name}', a parameter of a function, is not implemented"
                )
            case LabelName():
                raise Misfit(f"the address of the label '{name}' is not implemented")
            case _:
                raise self.mismatch()

    def local_address(self, offset: int, ptx_type: Type) -> Use:
        """An address in the function's frame, which in a kernel begins at 0."""
        if self.declarations.function.is_entry:
            return ConstantUse(_address(offset, ptx_type))
        declarations = self.declarations
        stack = RegisterUse(declarations.implicit(STACK, "u64", Role.STACK), TYPES["u64"])
        total = declarations.slot(f"{STACK}+{offset}", "u64", Role.REGISTER)
        self.before.append(
            Lanewise(
                np.add,
                (stack, ConstantUse(_address(offset, TYPES["u64"]))),
                (RegisterUse(total, TYPES["u64"]),),
                self.site,
            )
        )
        return RegisterUse(total, bits_of(ptx_type.bits))

    def address(self, operand: tree.Operand, ptx_type: Type) -> tuple[Use, int]:
        """A memory operand: what its base is and the offset to add."""
        if not isinstance(operand, tree.Address):
            raise self.mismatch()
        match operand.base:
            case None:
                return ConstantUse(_address(operand.offset, ptx_type)), 0
            case tree.Register(name):
                found = self.find(name)
                if not isinstance(found, RegisterName):
                    raise self.mismatch()
                declared = TYPES[found.declared]
                if declared.bits not in (32, 64) or declared.name in ("f32", "f64", "pred"):
                    raise self.mismatch()
                unsigned = TYPES[f"u{declared.bits}"]
                return RegisterUse(found.slot, unsigned), operand.offset
            case tree.Symbol(name):
                return self.address_of(name, 0, ptx_type), operand.offset
        raise self.mismatch()

    def parameter(
        self, operand: tree.Operand, ptx_type: Type
    ) -> KernelParameterUse | ParameterUse | None:
        """The value in a ``.param`` variable that the text names; ``None`` for other addresses."""
        if not isinstance(operand, tree.Address) or not isinstance(operand.base, tree.Symbol):
            return None
        found = self.find(operand.base.name)
        if not isinstance(found, ParameterName):
            return None
        offset = found.offset + operand.offset
        if found.slot is None:
            return KernelParameterUse(offset, ptx_type)
        return ParameterUse(found.slot, offset, ptx_type)


def fits(declared: Type, wanted: Type, *, relaxed: bool) -> bool:
    """Whether an operand of a declared type may stand where an instruction type is wanted.

    Manual 9.2: untyped ones agree with any type of their size, integers with integers; ``relaxed``
    is the rule of ``ld``, ``st`` and ``cvt`` (9.4), under which the register may be wider.
    """
    predicate = Kind.PREDICATE
    if declared.kind is predicate or wanted.kind is predicate:
        return declared.kind is wanted.kind
    if declared.bits != wanted.bits:
        whole = declared.kind is not Kind.FLOAT and wanted.kind is not Kind.FLOAT
        return relaxed and declared.bits > wanted.bits and whole
    if Kind.BITS in (declared.kind, wanted.kind) or wanted.elements > 1 or declared.elements > 1:
        return True
    if Kind.FLOAT in (declared.kind, wanted.kind):
        return declared.kind is wanted.kind
    return True


def _address(value: int, ptx_type: Type) -> Array:
    return np.array([value & ((1 << ptx_type.bits) - 1)], dtype=bits_of(ptx_type.bits).dtype)
