"""Decoding of a module: all functions decoded, all variables laid out."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from math import prod

from cudarun.emulator.code import FunctionCode
from cudarun.emulator.decode.call_graph import CallGraph
from cudarun.emulator.decode.function import FunctionDecoder, ModuleNames
from cudarun.emulator.decode.layout import VariableLayout, variable_code
from cudarun.emulator.decode.operands import Unimplemented
from cudarun.emulator.decode.rules import wrong_declaration
from cudarun.emulator.decode.scope import NameScope, SharedVariable, SymbolName, shared_variable
from cudarun.emulator.machine.spaces import CODE_WINDOW
from cudarun.emulator.program import KernelCode, ModuleCode, VariableCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxDiagnostic, PtxError

_CODE_STEP = 16
_MOST_THREADS = 1024
_KNOWN_DIRECTIVES = frozenset(
    {
        "maxntid",
        "reqntid",
        "minnctapersm",
        "maxnctapersm",
        "maxnreg",
        "noreturn",
        "maxclusterrank",
        "explicitcluster",
        "reqnctapercluster",
    }
)

_SHAREABLE = frozenset({"extern", "weak", "common"})  # may be defined elsewhere


class ModuleDecoder:
    """Decodes one module."""

    def __init__(self, module: tree.Module) -> None:
        self.module = module
        self.diagnostics: list[PtxDiagnostic] = []
        self.shared: dict[str, SharedVariable] = {}
        self.scope = NameScope()
        self.variables: dict[str, VariableCode] = {}
        self.functions: dict[str, tree.Function] = {}
        for function in module.functions:
            known = self.functions.get(function.name)
            if known is not None and known.body is not None and function.body is not None:
                what = f"Duplicate definition of function '{function.name}'"
                self.diagnostics.append(PtxDiagnostic(function.position, what))
            if function.body is not None or function.name not in self.functions:
                self.functions[function.name] = function

    def decode(self) -> ModuleCode:
        """Return the program; kernels that need something unimplemented have its places.

        Raises:
            PtxError: The module is invalid, or has no kernel that can run.
        """
        for variable in self.module.variables:
            self._declare(variable)
        for name in self.functions:
            self.scope.names[name] = SymbolName("func", name)
        for alias, target in self.module.aliases.items():
            self.functions[alias] = self.functions[target]
            self.scope.names[alias] = SymbolName("func", target)
        decoded = [self._function(f) for f in self.module.functions if f.body is not None]
        missing = {d.function.name: tuple(d.unimplemented) for d in decoded if d.unimplemented}
        every = [*self.diagnostics, *chain.from_iterable(missing.values())]
        if self.diagnostics:
            raise PtxError(sorted(every, key=_line))
        code: dict[str, FunctionCode] = {}
        base = 0
        for decoder in decoded:
            function = code[decoder.function.name] = decoder.code
            function.base = base
            base += len(function.blocks)
        entries = [decoder for decoder in decoded if decoder.function.is_entry]
        graph = CallGraph(code)
        registers = {name: function.registers for name, function in code.items()}
        kernels = {entry.function.name: self._kernel(entry, graph, registers) for entry in entries}
        for name, kernel in kernels.items() if missing else ():
            reached = [f.name for f in graph.reached(code[name])]
            own = [f for f in reached if f == name or f not in kernels]
            found = chain.from_iterable(missing.get(f, ()) for f in own)
            kernels[name] = replace(kernel, unimplemented=tuple(sorted(found, key=_line)))
        if missing and all(kernel.unimplemented for kernel in kernels.values()):
            raise PtxError(sorted(every, key=_line))
        addresses = {
            name: CODE_WINDOW + _CODE_STEP * (index + 1)
            for index, name in enumerate(self.functions)
        }
        return ModuleCode(kernels, self.variables, addresses, code)

    def _complain(self, position: tree.Position, what: str) -> None:
        message = f"{what} is not implemented by the emulated device"
        self.diagnostics.append(PtxDiagnostic(position, message))

    def _declare(self, variable: tree.Variable) -> None:
        try:
            wrong = wrong_declaration(variable, self.module)
        except Unimplemented as missing:
            wrong = str(missing)
        if wrong is not None:
            self.diagnostics.append(PtxDiagnostic(variable.position, wrong))
        elif variable.space not in ("global", "const", "shared"):
            self._complain(variable.position, f"a .{variable.space} variable")
        elif variable.space == "shared":
            self.shared[variable.name] = shared_variable(variable, variable.name)
            self.scope.names[variable.name] = SymbolName("shared", variable.name)
        else:
            known = self.variables.get(variable.name)
            if known is not None and {known.linkage, variable.linkage}.isdisjoint(_SHAREABLE):
                what = f"Duplicate definition of variable '{variable.name}'"
                self.diagnostics.append(PtxDiagnostic(variable.position, what))
            if known is None or variable.linkage != "extern":
                self.variables[variable.name] = variable_code(variable)
            self.scope.names[variable.name] = SymbolName(variable.space, variable.name)

    def _function(self, function: tree.Function) -> FunctionDecoder:
        for directive in function.directives:
            if directive not in _KNOWN_DIRECTIVES:
                self._complain(function.position, f"directive .{directive}")
        names = ModuleNames(self.module, self.scope, self.functions, self.shared, self.variables)
        decoder = FunctionDecoder(names, function)
        decoder.decode()
        self.diagnostics += decoder.diagnostics
        return decoder

    # --- kernels ---------------------------------------------------------------------------------

    def _kernel(
        self, decoder: FunctionDecoder, graph: CallGraph, registers: dict[str, int]
    ) -> KernelCode:
        function, own = decoder.function, decoder.code
        reached = graph.reached(own)
        addresses, static = self._place_shared(reached)
        offsets = tuple(decoder.parameter_offsets)
        stack = graph.stack_bytes(own)
        most_registers = max(registers[f.name] for f in reached)
        required = function.directives.get("reqntid")
        cluster = function.directives.get("reqnctapercluster")
        limit = function.directives.get("maxntid") or required
        major, minor = self.module.version
        return KernelCode(
            name=function.name,
            parameters=offsets,
            parameter_bytes=max((offset + size for offset, size in offsets), default=0),
            static_shared=static,
            local_bytes=own.local_bytes if stack is None else stack,
            registers=min(max(most_registers, 16), 255),
            const_bytes=sum(v.size for v in self.variables.values() if v.space == "const"),
            max_threads=min(prod(limit), _MOST_THREADS) if limit else _MOST_THREADS,
            required_block=_triple(required) if required else None,
            ptx_version=10 * major + minor,
            shared=addresses,
            recursive=stack is None,
            required_cluster=_triple(cluster) if cluster else None,
        )

    def _place_shared(self, reached: list[FunctionCode]) -> tuple[dict[str, int], int]:
        """Return addresses of the shared variables of functions, and the bytes of static ones."""
        used = set().union(*(function.symbols for function in reached))
        layout, addresses = VariableLayout(), {}
        dynamic = []
        for name, variable in self.shared.items():
            if name not in used:
                continue
            if variable.dynamic:
                dynamic.append(variable)
            else:
                addresses[name] = layout.place(variable.size, variable.alignment)
        static = layout.size
        alignment = max((variable.alignment for variable in dynamic), default=1)
        start = -(-static // alignment) * alignment
        for variable in dynamic:
            addresses[variable.name] = start
        return addresses, start if dynamic else static


def _line(diagnostic: PtxDiagnostic) -> int:
    return diagnostic.position.line


def _triple(values: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def compile_module(module: tree.Module) -> ModuleCode:
    """Decode every function of a module.

    Raises:
        PtxError: With a diagnostic for every operand that does not fit its instruction, and every
            other error; if no kernel can run, for everything that is not implemented.
    """
    return ModuleDecoder(module).decode()
