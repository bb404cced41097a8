"""Name resolution in a function: registers, variables, parameters, labels."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.code import RegisterSlot, Role
from cudarun.emulator.machine.special_registers import SPECIAL_REGISTERS, Extent
from cudarun.emulator.numerics.types import TYPES, bits_of
from cudarun.emulator.program import Relocation, VariableCode
from cudarun.ptx import tree
from cudarun.ptx.layout import VariableLayout, alignment_of, size_of


def variable_code(variable: tree.Variable) -> VariableCode:
    """Return a module-scope ``.global`` or ``.const`` variable with its initial bytes (5.4)."""
    width = tree.TYPE_BYTES[variable.type]
    given = variable.initial or ()
    data = bytearray(width * len(given))
    relocations = []
    for index, value in enumerate(given):
        offset = index * width
        if isinstance(value, tree.SymbolValue):
            relocations.append(Relocation(offset, value.name, value.offset, width, value.mask))
        else:
            bits = constant_bits(value, variable.type)
            data[offset : offset + width] = bits.to_bytes(width, "little")
    return VariableCode(
        name=variable.name,
        space=variable.space,
        size=size_of(variable),
        alignment=alignment_of(variable),
        managed="managed" in variable.attributes,
        initial=bytes(data),
        relocations=tuple(relocations),
        linkage=variable.linkage,
    )


def constant_bits(value: tree.Integer | tree.Float, type_name: str) -> int:
    """Return the bits of a constant as a value of the type; integers wrap."""
    ptx_type = TYPES[type_name]
    is_float, mask = ptx_type.name in ("f32", "f64"), (1 << ptx_type.bits) - 1
    if isinstance(value, tree.Integer):
        if not is_float:
            return value.value & mask
        number = float(value.value)
    elif value.width == ptx_type.bits or not is_float:
        return value.bits & mask
    else:
        data = value.bits.to_bytes(value.width // 8, "little")
        (number,) = struct.unpack("<d" if value.width == 64 else "<f", data)
    packed = _single(number) if ptx_type.bits == 32 else struct.pack("<d", number)
    return int.from_bytes(packed, "little")


def _single(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:  # beyond the largest f32: rounds to infinity
        return struct.pack("<f", float("inf") if number > 0 else float("-inf"))


CARRY = "%CC.CF"
STACK = "%stack"


@dataclass(frozen=True, slots=True)
class RegisterName:
    """A register: its slot and its declared type."""

    slot: int
    declared: str


@dataclass(frozen=True, slots=True)
class VectorName:
    """A vector register (PTX manual 5.4.2): the names of its component registers."""

    components: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalName:
    """A ``.local`` variable: its offset in the function's frame."""

    offset: int


@dataclass(frozen=True, slots=True)
class ParameterName:
    """A ``.param`` variable: a kernel's (``slot`` is ``None``), a function's or a call's."""

    slot: int | None
    offset: int
    size: int
    array: bool = False

    def contains(self, offset: int, step: int, count: int) -> bool:
        """Return whether it has aligned elements at an offset, each of ``step`` bytes."""
        aligned = self.slot is None or offset % step == 0
        return aligned and 0 <= offset <= self.size - step * count


@dataclass(frozen=True, slots=True)
class SymbolName:
    """A shared, global or constant variable or a function, by its unique name."""

    space: str
    name: str


@dataclass(frozen=True, slots=True)
class LabelName:
    """A label: its number in the function."""

    number: int


Name = (
    RegisterName
    | VectorName
    | LocalName
    | ParameterName
    | SymbolName
    | LabelName
    | tree.BranchTargets
    | tree.CallPrototype
)


@dataclass(frozen=True, slots=True)
class RegisterFamily:
    """The registers of ``%r<1000>``, which get a slot when they are first used.

    A declaration is short whatever its count is: compilers declare a few, a text can declare 2^31.
    """

    variable: tree.Variable
    count: int
    declarations: Declarations


@dataclass(slots=True)
class NameScope:
    """The names declared in one ``{ … }`` and in the enclosing blocks."""

    outer: NameScope | None = None  # the scope around it
    # The names and their meanings, without the unused registers of families.
    names: dict[str, Name] = field(default_factory=dict)
    # The families of registers by their common part.
    families: dict[str, RegisterFamily] = field(default_factory=dict)
    # The smallest number after each common part of names, to find names that a family declares
    # again.
    numbered: dict[str, int] = field(default_factory=dict)
    is_ambiguous: bool = False  # whether the name of a family ends with a digit

    def find(self, name: str) -> Name | None:
        """Return the meaning of a name in this scope."""
        scope: NameScope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is None and scope.families:
                found = scope._of_family(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def _of_family(self, name: str) -> Name | None:
        base, _, _ = name.partition(".")  # of a vector register's component
        for stem, number in numbered_parts(base) if self.is_ambiguous else _whole_number(base):
            family = self.families.get(stem)
            if family is not None and number < family.count:
                family.declarations.enter(base, family.variable, self)
                family.declarations.unused -= family.variable.vector
                return self.names.get(name)
        return None

    def conflict(self, variable: tree.Variable) -> str | None:
        """Return a name that a declaration would declare again."""
        name = variable.name
        first = name if variable.count is None else f"{name}0"
        if variable.count == 0:
            return None
        if first in self.names:
            return first
        for stem, number in numbered_parts(first):
            family = self.families.get(stem)
            if family is not None and number < family.count:
                return first
        if variable.count is None:
            return None
        number = self.numbered.get(name, variable.count)
        return f"{name}{number}" if number < variable.count else None

    def note(self, variable: tree.Variable) -> None:
        """Enter the numbers of a declaration's first name, for `conflict`."""
        first = variable.name if variable.count is None else f"{variable.name}0"
        for stem, number in numbered_parts(first):
            self.numbered[stem] = min(number, self.numbered.get(stem, number))


_MOST_DIGITS = 10  # of a register's number


def _whole_number(name: str) -> tuple[tuple[str, int], ...]:
    """Return that of `numbered_parts` whose number has all digits at the end, if there is one."""
    stem = name.rstrip("0123456789")
    number = name[len(stem) :]
    is_number = len(number) == 1 or (1 < len(number) <= _MOST_DIGITS and number[0] != "0")
    return ((stem, int(number)),) if is_number and stem else ()


def numbered_parts(name: str) -> Iterator[tuple[str, int]]:
    """Yield every way to read a name as a common part and a number: ``%r1`` and 2, ``%r`` and 12.

    A number has no leading zeros.
    """
    for digits in range(1, min(len(name), _MOST_DIGITS + 1)):
        number = name[-digits:]
        if not (number.isascii() and number.isdigit()):
            return
        if number[0] != "0" or digits == 1:
            yield name[:-digits], int(number)


@dataclass(frozen=True, slots=True)
class SharedVariable:
    """A ``.shared`` variable; an unsized ``.extern`` one begins after the others."""

    name: str
    size: int
    alignment: int
    dynamic: bool


_STORED = {
    name: each if name == "pred" else bits_of(each.bits)
    for name, each in TYPES.items()
    if name == "pred" or f"b{each.bits}" in TYPES
}
"""The type of the slot of each type."""


class Declarations:
    """Records the declarations of one function and numbers its slots."""

    def __init__(
        self, function: tree.Function, shared: dict[str, SharedVariable], *, has_ranks: bool
    ) -> None:
        self.function = function
        self.has_ranks = has_ranks  # whether addresses of shared variables have the block's rank
        self.slots: list[RegisterSlot] = []
        self.local = VariableLayout()  # the layout of its local variables
        self.shared = shared  # the shared variables of the module
        self.labels = 0  # the number of its labels
        self.unused = 0  # the number of registers that are declared in families and not used
        self.has_vectors = False  # whether there are vector registers
        self._special: dict[str, int] = {}

    def slot(self, name: str, declared: str, role: Role, size: int = 0) -> int:
        """Add a slot."""
        self.slots.append(RegisterSlot(name, _STORED[declared], role, size))
        return len(self.slots) - 1

    def special(self, name: str) -> RegisterName | None:
        """Return the slot of a special register, or of one that the hardware reserves."""
        known = SPECIAL_REGISTERS.get(name)
        if known is None:
            return None
        if name not in self._special:
            role = Role.REGISTER if known.extent is Extent.MOMENT else Role.SPECIAL
            self._special[name] = self.slot(name, known.type, role)
        return RegisterName(self._special[name], known.type)

    def implicit(self, name: str, declared: str, role: Role) -> int:
        """Return the slot of an undeclared register: the carry flag, the frame."""
        if name not in self._special:
            self._special[name] = self.slot(name, declared, role)
        return self._special[name]

    def declare(self, variable: tree.Variable, scope: NameScope) -> None:
        """Enter a declaration of a function body into its scope."""
        match variable.space:
            case "reg":
                self.has_vectors |= variable.vector > 1
                if variable.count is None:
                    self.enter(variable.name, variable, scope)
                else:
                    self.unused += variable.vector * variable.count
                    family = RegisterFamily(variable, variable.count, self)
                    scope.families[variable.name] = family
                    scope.is_ambiguous |= variable.name[-1:].isdigit()
            case "local":
                offset = self.local.place(size_of(variable), alignment_of(variable))
                scope.names[variable.name] = LocalName(offset)
            case "shared":
                unique = f"{self.function.name}.{variable.name}"
                if unique in self.shared:
                    unique = f"{unique}'{len(self.shared)}"
                self.shared[unique] = shared_variable(variable, unique)
                scope.names[variable.name] = SymbolName("shared", unique)
            case "param":
                scope.names[variable.name] = self.parameter(variable)
            case _:
                raise ValueError(variable.space)
        scope.note(variable)

    def enter(self, name: str, variable: tree.Variable, scope: NameScope) -> None:
        """Give a register its slot, or each component of a vector register one."""
        if variable.vector == 1:
            scope.names[name] = self._register(name, variable.type)
            return
        components = tuple(f"{name}.{letter}" for letter in "xyzw"[: variable.vector])
        scope.names[name] = VectorName(components)
        for component, other in zip(components, "rgba", strict=False):
            register = self._register(component, variable.type)
            scope.names[component] = scope.names[f"{name}.{other}"] = register

    def _register(self, name: str, declared: str) -> RegisterName:
        return RegisterName(self.slot(name, declared, Role.REGISTER), declared)

    def parameter(self, variable: tree.Variable) -> ParameterName:
        """Declare a ``.param`` variable of a ``.func`` or around a call."""
        size = size_of(variable)
        slot = self.slot(variable.name, "b8", Role.PARAMETER, -(-size // 16) * 16)
        return ParameterName(slot, 0, size, array=bool(variable.dimensions))


def shared_variable(variable: tree.Variable, unique: str) -> SharedVariable:
    """Return the layout properties of a shared variable."""
    size = size_of(variable)
    return SharedVariable(unique, size, alignment_of(variable), dynamic=size == 0)
