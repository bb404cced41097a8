"""Decoding of a function: scopes, labels, guards and control flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

import numpy as np

from cudarun.base.bindings import is_toolkit_header
from cudarun.base.records import dataclass
from cudarun.emulator.code import ConstantUse, FunctionCode, Operation, RegisterUse, Site
from cudarun.emulator.decode.analysis import analyze
from cudarun.emulator.decode.builder import BlockBuilder
from cudarun.emulator.decode.contraction import contract
from cudarun.emulator.decode.control import ControlContext, branch, leave
from cudarun.emulator.decode.copied_parameters import with_copied_parameters
from cudarun.emulator.decode.fragments import check_exponent
from cudarun.emulator.decode.instruction import decode
from cudarun.emulator.decode.kinds import InstructionKinds
from cudarun.emulator.decode.operands import OperandMismatch, Operands, Unimplemented
from cudarun.emulator.decode.rules import COUNTED, check_count, check_declaration, check_samplers
from cudarun.emulator.decode.scope import (
    Declarations,
    LabelName,
    NameScope,
    ParameterName,
    RegisterName,
    SharedVariable,
    SymbolName,
    VectorName,
    variable_code,
)
from cudarun.emulator.decode.shared_bounds import bound_shared_accesses
from cudarun.emulator.isa.manual import VERSION, is_known
from cudarun.emulator.machine.control import Branch
from cudarun.emulator.machine.spaces import PARAMETER_BASE
from cudarun.emulator.machine.special_registers import components_of
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.program import VariableCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxDiagnostic
from cudarun.ptx.layout import VariableLayout, alignment_of, size_of
from cudarun.ptx.lexer import SourceLines

_UNIMPLEMENTED = frozenset({"abi_preserve", "abi_preserve_control", "blocksareclusters"})
_MOST_INLINED = 64  # calls within one another
_WHOLE_WARP = ConstantUse(np.array([0xFFFFFFFF], dtype=np.uint32))


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """The names of a module that its functions refer to.

    ``functions`` has the declaration of each function, the one with a body if there is one.
    ``variables`` gets the global and constant ones that functions declare. ``lines`` are those of
    the text, ``kinds`` those of its instructions. With ``has_ranks``, addresses of shared memory
    have the rank of the block.
    """

    module: tree.Module
    scope: NameScope
    functions: dict[str, tree.Function]
    shared: dict[str, SharedVariable]
    variables: dict[str, VariableCode]
    lines: SourceLines
    kinds: InstructionKinds
    has_ranks: bool


@dataclass(slots=True)
class DecodedFunction:
    """A decoded function."""

    function: tree.Function  # the function; its body is not kept
    code: FunctionCode = field(init=False)
    # The offset and size of each parameter of a kernel.
    parameter_offsets: list[tuple[int, int]] = field(default_factory=list)
    diagnostics: list[PtxDiagnostic] = field(default_factory=list)  # the errors in it
    # The places with something that the emulated device does not implement.
    unimplemented: list[PtxDiagnostic] = field(default_factory=list)


_Item = tuple[tree.Label | tree.Instruction, NameScope, str | None]
"""A label or an instruction, its scope, and the CUDA source line of its place."""


class FunctionDecoder:
    """Decodes one function.

    Args:
        decoded: Gets the code, without blocks if something is wrong or unimplemented.
    """

    def __init__(
        self, names: ModuleNames, function: tree.Function, decoded: DecodedFunction
    ) -> None:
        self.names = names
        self.function = function = with_copied_parameters(function)
        self.diagnostics = decoded.diagnostics
        self.unimplemented = decoded.unimplemented
        self.parameter_offsets = decoded.parameter_offsets
        self.declarations = Declarations(function, names.shared, has_ranks=names.has_ranks)
        self.builder = BlockBuilder()
        self.code = decoded.code = FunctionCode(function.name, self.declarations.slots)
        self.control = ControlContext(function, self.code, self.declarations, names.functions)
        self._source: str | None = None
        self._calls: dict[tuple[int, int, int], tuple[int, int, int] | None] = {}
        self._labels_used: set[str] = set()
        self._region: tuple[RegisterUse, int] | None = None

    def decode(self) -> None:
        """Decode the function."""
        for directive in self.function.directives:
            if directive in _UNIMPLEMENTED:
                what = f"directive .{directive}"
                self._complain(self.function.position, str(Unimplemented(what)))
        scope = NameScope(self.names.scope)
        self._declare_parameters(scope)
        body = self.function.body or ()
        self._labels_used = set(_label_uses(body))
        items: list[_Item] = []
        self._flatten(body, scope, items)
        for statement, inner, source in items:
            if isinstance(statement, tree.Instruction):
                self._instruction(statement, inner, source)
            else:
                self._close_region()
                label = inner.find(statement.name)
                assert isinstance(label, LabelName)
                self.builder.label(label.number)
        self._close_region()
        if self.diagnostics or self.unimplemented:
            return
        self.code.blocks = self.builder.finish(lambda: leave(self.control, None))
        self.code.local_bytes = self.declarations.local.size
        self.code.unused_registers = self.declarations.unused
        self.code.is_optimized = "debug" not in self.names.module.targets
        if algebra.enabled:
            from cudarun.emulator.isa.algebra import hash_exponents  # few launches need it

            hash_exponents(self.code)
        elif self.code.is_optimized:
            contract(self.code)
        bound_shared_accesses(self.code, self.names.shared)
        analyze(self.code)

    # --- declarations ----------------------------------------------------------------------------

    def _declare_parameters(self, scope: NameScope) -> None:
        if self.function.is_entry:
            layout = VariableLayout(PARAMETER_BASE)
            for variable in self._sound(self.function.parameters):
                size = size_of(variable)
                offset = layout.place(size, alignment_of(variable)) - PARAMETER_BASE
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
            check_declaration(variable, self.names.module)
        except Unimplemented as missing:
            self.unimplemented.append(PtxDiagnostic(variable.position, str(missing)))
        except OperandMismatch as wrong:
            self._complain(variable.position, str(wrong))
        else:
            return True
        return False

    def _flatten(
        self, statements: tuple[tree.Statement, ...], scope: NameScope, items: list[_Item]
    ) -> None:
        """Append labels and instructions in order, entering declarations before what follows."""
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
            if isinstance(statement, tree.Instruction):
                items.append((statement, scope, self._source))
                continue
            match statement:
                case tree.Block(inner):
                    self._flatten(inner, NameScope(scope), items)
                case tree.Variable():
                    self._declare(statement, scope)
                case tree.LineMark():
                    self._source = self._source_line(statement)
                case tree.BranchTargets(name) | tree.CallPrototype(name):
                    scope.names[name] = statement
                case tree.Label(name):
                    if name in self._labels_used:
                        items.append((statement, scope, self._source))

    def _source_line(self, mark: tree.LineMark) -> str:
        """Return the line of a mark: in inlined functions of the toolkit that of the call."""
        place = mark.file, mark.line, mark.column
        self._calls[place] = mark.call
        for _ in range(_MOST_INLINED):
            name = self.names.module.files.get(place[0], f"file {place[0]}")
            call = self._calls.get(place) if is_toolkit_header(name) else None
            if call is None:
                break
            place = call
        return f"{name}:{place[1]}"

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

    def _instruction(
        self, instruction: tree.Instruction, scope: NameScope, source: str | None
    ) -> None:
        if self.declarations.has_vectors or instruction.modifiers[:1] == ("v4",):
            instruction = _spelled_out(instruction, scope)
        kind = self.names.kinds[instruction.opcode, instruction.modifiers]
        number = instruction.position.line
        text = self.names.lines[number].strip()
        site = Site(self.function.name, number, text, source, kind.name)
        try:
            if kind.wrong is not None:
                raise OperandMismatch(kind.wrong)
            if kind.fetches:
                check_samplers(instruction, self.names.module)
            if instruction.opcode in COUNTED:
                check_count(instruction, self.names.module)
            if instruction.opcode == "tcgen05":
                check_exponent(instruction, self.names.module)
            guard = self._guard(instruction, scope, site)
            if instruction.opcode == "bra":
                self._close_region()
                self.builder.note(kind.name)
                operands = self._operands(instruction, scope, site)
                self.builder.end(branch(instruction, operands, guard, self.builder.next))
                return
            self._open_region(guard, site)
            if kind.control is not None:
                operands, after = self._operands(instruction, scope, site), self.builder.next
                operations, ending = kind.control(self.control, instruction, operands, after)
                self._add_all(kind.name, operations)
                if ending is not None:
                    self.builder.end(ending)
                return
            operands = self._operands(instruction, scope, site)
            self._add_all(kind.name, decode(instruction, operands))
        except Unimplemented as missing:
            self.unimplemented.append(PtxDiagnostic(instruction.position, str(missing)))
        except OperandMismatch as problem:
            known = is_known(instruction.opcode, instruction.modifiers)
            if self.names.module.version > VERSION and not known:  # of a later PTX
                message = str(Unimplemented(f"instruction '{kind.name}'"))
                self.unimplemented.append(PtxDiagnostic(instruction.position, message))
            else:
                self._complain(instruction.position, str(problem))

    def _operands(self, instruction: tree.Instruction, scope: NameScope, site: Site) -> Operands:
        return Operands(instruction.opcode, scope, self.declarations, site)

    def _guard(
        self, instruction: tree.Instruction, scope: NameScope, site: Site
    ) -> RegisterUse | None:
        if instruction.guard is None:
            return None
        use = self._operands(instruction, scope, site).source(instruction.guard, TYPES["pred"])
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
            waits_for = ""
            if isinstance(operation.action, WarpAction):
                waits_for = operation.action.waits_for
            match waits_for:
                case "mask":
                    self.builder.synchronize(operation.sources[-1], name=operation.site.name)
                case "warp":
                    self.builder.synchronize(_WHOLE_WARP)
                case "warpgroup":
                    self.builder.synchronize(_WHOLE_WARP, WARPGROUP // WARP)
            self.builder.add(operation)
            if waits_for == "mask":  # the lanes of other instructions may take part
                self.builder.note(name)
                name = ""
                self.builder.continue_in_next()
        if name:
            self.builder.note(name)
        if self._region is not None:
            guard = self._region[0].slot
            if any(
                isinstance(use, RegisterUse) and use.slot == guard
                for operation in operations
                for use in operation.destinations
            ):
                self._close_region()


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


def _label_uses(statements: tuple[tree.Statement, ...]) -> Iterator[str]:
    """Yield all names that could be jump targets."""
    for statement in statements:
        if isinstance(statement, tree.Instruction):
            if statement.opcode == "bra":
                for operand in statement.operands:
                    if isinstance(operand, tree.SymbolReference):
                        yield operand.name
        elif isinstance(statement, tree.Block):
            yield from _label_uses(statement.statements)
        elif isinstance(statement, tree.BranchTargets):
            yield from statement.targets
