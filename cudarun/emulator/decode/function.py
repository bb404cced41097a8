"""Decoding of a function: scopes, labels, guards and control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cudarun.emulator.code import (
    Action,
    ConstantUse,
    FunctionCode,
    Operation,
    RegisterUse,
    Site,
    Terminator,
)
from cudarun.emulator.decode.analysis import analyze
from cudarun.emulator.decode.builder import BlockBuilder
from cudarun.emulator.decode.contraction import contract
from cudarun.emulator.decode.control import CONTROL, ControlContext, branch, leave
from cudarun.emulator.decode.instruction import decode
from cudarun.emulator.decode.layout import VariableLayout, alignment_of, size_of, variable_code
from cudarun.emulator.decode.operands import OperandMismatch, Operands, Unimplemented
from cudarun.emulator.decode.rules import too_new, wrong_declaration, wrong_sampler
from cudarun.emulator.decode.scope import (
    Declarations,
    LabelName,
    NameScope,
    ParameterName,
    RegisterName,
    SharedVariable,
    SymbolName,
    VectorName,
)
from cudarun.emulator.isa.manual import VERSION, is_known
from cudarun.emulator.isa.special import components_of
from cudarun.emulator.machine.control import Branch
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.program import VariableCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxDiagnostic
from cudarun.ptx.lines import SourceLines
from cudarun.records import dataclass

_WHOLE_WARP = ConstantUse(np.array([0xFFFFFFFF], dtype=np.uint32))


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names of a module that its functions refer to.

    ``functions`` has the declaration of each function, the one with a body if there is one.
    ``variables`` gets the global and constant ones that functions declare. ``lines`` are those of
    the text.
    """

    module: tree.Module
    scope: NameScope
    functions: dict[str, tree.Function]
    shared: dict[str, SharedVariable]
    variables: dict[str, VariableCode]
    lines: SourceLines


@dataclass(frozen=True, slots=True)
class _Item:
    """A label or an instruction with the scope and line information of its place."""

    statement: tree.Label | tree.Instruction
    scope: NameScope
    source: str | None


class FunctionDecoder:
    """Decodes one function.

    Errors are collected in ``diagnostics``, and in ``unimplemented`` each place with something that
    the emulated device does not implement.
    """

    def __init__(self, names: ModuleNames, function: tree.Function) -> None:
        self.names = names
        self.function = function
        self.diagnostics: list[PtxDiagnostic] = []
        self.unimplemented: list[PtxDiagnostic] = []
        self.declarations = Declarations(function, names.shared)
        self.builder = BlockBuilder()
        self.code = FunctionCode(function.name, self.declarations.slots)
        self.control = ControlContext(function, self.code, self.declarations, names.functions)
        self.parameter_offsets: list[tuple[int, int]] = []
        self._source: str | None = None
        self._labels_used: set[str] = set()
        self._region: tuple[RegisterUse, int] | None = None

    def decode(self) -> FunctionCode:
        """Return the function's code, without blocks if something is wrong or unimplemented."""
        scope = NameScope(self.names.scope)
        self._declare_parameters(scope)
        self._labels_used = set(_label_uses(self.function))
        body = self.function.body or ()
        for item in list(self._flat(body, scope)):
            if isinstance(item.statement, tree.Label):
                self._close_region()
                label = item.scope.find(item.statement.name)
                assert isinstance(label, LabelName)
                self.builder.label(label.number)
            else:
                self._instruction(item.statement, item)
        self._close_region()
        if self.diagnostics or self.unimplemented:
            return self.code
        self.code.blocks = self.builder.finish(self._leave)
        self.code.local_bytes = self.declarations.local.size
        self.code.unused_registers = self.declarations.unused
        if "debug" not in self.names.module.targets:
            contract(self.code)
        analyze(self.code)
        return self.code

    # --- declarations ----------------------------------------------------------------------------

    def _declare_parameters(self, scope: NameScope) -> None:
        if self.function.is_entry:
            layout = VariableLayout()
            for variable in self._sound(self.function.parameters):
                size = size_of(variable)
                offset = layout.place(size, alignment_of(variable))
                scope.names[variable.name] = ParameterName(None, offset, size)
                self.parameter_offsets.append((offset, size))
            return
        self.code.parameters = self._formals(self.function.parameters, scope)
        self.code.results = self._formals(self.function.results, scope)

    def _formals(self, variables: tuple[tree.Variable, ...], scope: NameScope) -> tuple[int, ...]:
        slots = []
        for variable in self._sound(variables):
            self.declarations.declare(variable, scope)
            declared = scope.names[variable.name]
            names = declared.components if isinstance(declared, VectorName) else [variable.name]
            for found in map(scope.names.__getitem__, names):
                assert isinstance(found, RegisterName | ParameterName)
                assert found.slot is not None
                slots.append(found.slot)
        return tuple(slots)

    def _sound(self, variables: tuple[tree.Variable, ...]) -> Iterator[tree.Variable]:
        """Return the parameters with valid declarations; report the others."""
        seen: set[str] = set()
        for variable in variables:
            if variable.name in seen:
                self._complain_of_second("variable", variable.name, variable.position)
                continue
            seen.add(variable.name)
            if self._is_sound(variable):
                yield variable

    def _is_sound(self, variable: tree.Variable) -> bool:
        """Return whether a declaration is valid and implemented; report it otherwise."""
        try:
            wrong = wrong_declaration(variable, self.names.module)
        except Unimplemented as missing:
            self.unimplemented.append(PtxDiagnostic(variable.position, str(missing)))
            return False
        if wrong is not None:
            self._complain(variable.position, wrong)
        return wrong is None

    def _flat(self, statements: tuple[tree.Statement, ...], scope: NameScope) -> Iterator[_Item]:
        """Yield labels and instructions in order, entering declarations before what follows."""
        labels: set[str] = set()
        for statement in statements:
            if not isinstance(statement, tree.Label):
                continue
            if statement.name in labels:
                self._complain_of_second("label", statement.name, statement.position)
            labels.add(statement.name)
            if statement.name in self._labels_used:
                scope.names[statement.name] = LabelName(self.declarations.labels)
                self.declarations.labels += 1
        for statement in statements:
            match statement:
                case tree.Block(inner):
                    yield from self._flat(inner, NameScope(scope))
                case tree.Variable():
                    self._declare(statement, scope)
                case tree.LineMark(file, line):
                    name = self.names.module.files.get(file, f"file {file}")
                    self._source = f"{name}:{line}"
                case tree.BranchTargets(name) | tree.CallPrototype(name):
                    scope.names[name] = statement
                case tree.Label(name):
                    if name in self._labels_used:
                        yield _Item(statement, scope, self._source)
                case tree.Instruction():
                    yield _Item(statement, scope, self._source)

    def _declare(self, variable: tree.Variable, scope: NameScope) -> None:
        if not self._is_sound(variable):
            return
        if (known := scope.conflict(variable)) is not None:
            self._complain_of_second("variable", known, variable.position)
        elif variable.space in ("global", "const"):
            unique = f"{self.function.name}.{variable.name}"
            while unique in self.names.variables:
                unique += "'"
            self.names.variables[unique] = replace(variable_code(variable), name=unique)
            scope.names[variable.name] = SymbolName(variable.space, unique)
            scope.note(variable)
        else:
            self.declarations.declare(variable, scope)

    def _complain_of_second(self, what: str, name: str, position: tree.Position) -> None:
        self._complain(position, f"Duplicate definition of {what} '{name}'")

    def _complain(self, position: tree.Position, message: str) -> None:
        self.diagnostics.append(PtxDiagnostic(position, message))

    # --- instructions ----------------------------------------------------------------------------

    def _instruction(self, instruction: tree.Instruction, item: _Item) -> None:
        if self.declarations.has_vectors:
            instruction = _spelled_out(instruction, item.scope)
        number = instruction.position.line
        text = self.names.lines[number].strip()
        site = Site(self.function.name, number, text, item.source)
        operands = Operands(instruction.opcode, item.scope, self.declarations, site)
        try:
            wrong = too_new(instruction, self.names.module)
            wrong = wrong or wrong_sampler(instruction, self.names.module)
            if wrong is not None:
                raise OperandMismatch(wrong)
            guard = self._guard(instruction, operands)
            if instruction.opcode == "bra":
                self._close_region()
                self.builder.note(instruction.name)
                self.builder.end(branch(instruction, operands, guard, self.builder.next))
                return
            self._open_region(guard, site)
            control = CONTROL.get(instruction.opcode)
            if control is None:
                self._add_all(instruction.name, decode(instruction, operands))
                return
            operations, ending = control(self.control, instruction, operands, self.builder.next)
            self._add_all(instruction.name, operations)
            if ending is not None:
                self.builder.end(ending)
        except Unimplemented as missing:
            self.unimplemented.append(PtxDiagnostic(instruction.position, str(missing)))
        except OperandMismatch as problem:
            if self._may_be_newer(instruction):
                what = f"instruction '{instruction.name}'"
                message = f"{what} is not implemented by the emulated device"
                self.unimplemented.append(PtxDiagnostic(instruction.position, message))
            else:
                self._complain(instruction.position, str(problem))

    def _may_be_newer(self, instruction: tree.Instruction) -> bool:
        """Return whether an instruction can be one of a later PTX than the tables know."""
        known = is_known(instruction.opcode, instruction.modifiers)
        return self.names.module.version > VERSION and not known

    def _guard(self, instruction: tree.Instruction, operands: Operands) -> RegisterUse | None:
        if instruction.guard is None:
            return None
        use = operands.source(instruction.guard, TYPES["pred"])
        assert isinstance(use, RegisterUse)
        return use

    def _open_region(self, guard: RegisterUse | None, site: Site) -> None:
        """Start a branch around guarded instructions; neighbors with the same guard share it."""
        if self._region is not None and self._region[0] == guard:
            return
        self._close_region()
        if guard is None:
            return
        skip = self.declarations.labels
        self.declarations.labels += 1
        self._region = guard, skip
        after = self.builder.next
        around = RegisterUse(guard.slot, guard.type, negated=not guard.negated)
        self.builder.end(lambda block_of: Branch(around, block_of(skip), after, site))

    def _close_region(self) -> None:
        if self._region is not None:
            self.builder.label(self._region[1])
            self._region = None

    def _add_all(self, name: str, operations: list[Operation]) -> None:
        for operation in operations:
            if isinstance(operation, Action) and isinstance(operation.action, WarpAction):
                match operation.action.waits_for:
                    case "mask":
                        self.builder.split(sync_mask=operation.sources[-1])
                    case "warp":
                        self.builder.split(sync_mask=_WHOLE_WARP)
                    case "warpgroup":
                        self.builder.split(sync_mask=_WHOLE_WARP, sync_warps=WARPGROUP // WARP)
            self.builder.add(operation)
        self.builder.note(name)
        if self._region is not None:
            guard = self._region[0].slot
            if any(
                isinstance(use, RegisterUse) and use.slot == guard
                for operation in operations
                for use in operation.destinations
            ):
                self._close_region()

    def _leave(self) -> Terminator:
        return leave(self.control, None)


def _spelled_out(instruction: tree.Instruction, scope: NameScope) -> tree.Instruction:
    """Return an instruction with vector registers replaced by their components."""
    vectors = {
        place: components
        for place, operand in enumerate(instruction.operands)
        if isinstance(operand, tree.Register | tree.SymbolReference)
        and (components := _vector(operand.name, scope))
    }
    if not vectors:
        return instruction
    operands: list[tree.Operand] = list(instruction.operands)
    for place, components in vectors.items():
        operands[place] = tree.Vector(tuple(map(tree.Register, components)))
    return replace(instruction, operands=tuple(operands))


def _vector(name: str, scope: NameScope) -> tuple[str, ...]:
    """Return the components of a vector register, declared or special."""
    found = scope.find(name)
    if found is None:
        return components_of(name)
    return found.components if isinstance(found, VectorName) else ()


def _label_uses(function: tree.Function) -> Iterator[str]:
    """Yield all names that could be jump targets."""
    for statement in function.statements():
        if isinstance(statement, tree.Instruction) and statement.opcode == "bra":
            yield from (o.name for o in statement.operands if isinstance(o, tree.SymbolReference))
        elif isinstance(statement, tree.BranchTargets):
            yield from statement.targets
