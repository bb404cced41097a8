"""Name resolution in a function: registers, variables, parameters, labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from cudarun.emulator.code import RegisterSlot, Role
from cudarun.emulator.decode.layout import VariableLayout, alignment_of, size_of
from cudarun.emulator.isa.special import SPECIAL_REGISTERS, Extent
from cudarun.emulator.numerics.types import TYPES, bits_of
from cudarun.ptx import tree
from cudarun.records import dataclass

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


@dataclass(slots=True)
class NameScope:
    """The names declared in one ``{ … }`` and in the enclosing blocks."""

    outer: NameScope | None = None
    names: dict[str, Name] = field(default_factory=dict)

    def find(self, name: str) -> Name | None:
        """Return the meaning of a name in this scope."""
        scope: NameScope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None


@dataclass(frozen=True, slots=True)
class SharedVariable:
    """A ``.shared`` variable; an unsized ``.extern`` one begins after the others."""

    name: str
    size: int
    alignment: int
    dynamic: bool


class Declarations:
    """Records the declarations of one function and numbers its slots."""

    def __init__(self, function: tree.Function, shared: dict[str, SharedVariable]) -> None:
        self.function = function
        self.slots: list[RegisterSlot] = []
        self.local = VariableLayout()
        self.shared = shared
        self.labels = 0
        self._special: dict[str, int] = {}

    def slot(self, name: str, declared: str, role: Role, size: int = 0) -> int:
        """Add a slot."""
        declared_type = TYPES[declared]
        ptx_type = declared_type if declared == "pred" else bits_of(declared_type.bits)
        self.slots.append(RegisterSlot(name, ptx_type, role, size))
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
                for name in declared_names(variable):
                    if variable.vector == 1:
                        scope.names[name] = self._register(name, variable.type)
                    else:
                        self._declare_vector(name, variable, scope)
            case "local":
                offset = self.local.place(size_of(variable), alignment_of(variable))
                scope.names[variable.name] = LocalName(offset)
            case "shared":
                unique = f"{self.function.name}.{variable.name}"
                while unique in self.shared:
                    unique += "'"
                scope.names[variable.name] = self.shared_variable(variable, unique)
            case "param":
                scope.names[variable.name] = self.parameter(variable)
            case _:
                raise ValueError(variable.space)

    def _register(self, name: str, declared: str) -> RegisterName:
        return RegisterName(self.slot(name, declared, Role.REGISTER), declared)

    def _declare_vector(self, name: str, variable: tree.Variable, scope: NameScope) -> None:
        components = tuple(f"{name}.{letter}" for letter in "xyzw"[: variable.vector])
        scope.names[name] = VectorName(components)
        for component, other in zip(components, "rgba", strict=False):
            register = self._register(component, variable.type)
            scope.names[component] = scope.names[f"{name}.{other}"] = register

    def parameter(self, variable: tree.Variable) -> ParameterName:
        """Declare a ``.param`` variable of a ``.func`` or around a call."""
        size = size_of(variable)
        slot = self.slot(variable.name, "b8", Role.PARAMETER, -(-size // 16) * 16)
        return ParameterName(slot, 0, size, array=bool(variable.dimensions))

    def shared_variable(self, variable: tree.Variable, unique: str) -> SymbolName:
        """Declare a ``.shared`` variable of the function, for the layout of kernels."""
        self.shared[unique] = shared_variable(variable, unique)
        return SymbolName("shared", unique)


def shared_variable(variable: tree.Variable, unique: str) -> SharedVariable:
    """Return the layout properties of a shared variable."""
    size = size_of(variable)
    return SharedVariable(unique, size, alignment_of(variable), dynamic=size == 0)


def declared_names(variable: tree.Variable) -> Iterator[str]:
    """Yield the names that a declaration declares: several for ``%r<8>``."""
    if variable.count is None:
        yield variable.name
    else:
        for index in range(variable.count):
            yield f"{variable.name}{index}"
