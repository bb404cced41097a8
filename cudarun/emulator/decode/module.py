"""Decoding of a module: its variables are laid out, its functions decoded when asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from graphlib import CycleError, TopologicalSorter
from itertools import chain, islice
from math import prod

from cudarun.emulator.code import FunctionCode
from cudarun.emulator.decode.function import DecodedFunction, FunctionDecoder, ModuleNames
from cudarun.emulator.decode.kinds import InstructionKinds
from cudarun.emulator.decode.operands import OperandMismatch, Unimplemented
from cudarun.emulator.decode.rules import check_declaration
from cudarun.emulator.decode.scope import (
    NameScope,
    SharedVariable,
    SymbolName,
    shared_variable,
    variable_code,
)
from cudarun.emulator.machine.device_runtime import LAUNCHING_FUNCTIONS
from cudarun.emulator.machine.spaces import CODE_WINDOW, RESERVED_SHARED
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS
from cudarun.emulator.program import KernelCode, ModuleCode, VariableCode
from cudarun.ptx import tree
from cudarun.ptx.errors import PtxDiagnostic, PtxError, in_order
from cudarun.ptx.layout import VariableLayout
from cudarun.ptx.lexer import SourceLines


class CallGraph:
    """The functions of a module and their calls.

    No method is recursive: a valid chain of calls can be longer than Python's own stack.

    Args:
        code: The decoded functions by name.
        kernels: The names of the kernels, which are launched, and which no pointer can call.
    """

    def __init__(self, code: dict[str, FunctionCode], kernels: Set[str]) -> None:
        self._code = code
        self._kernels = kernels & code.keys()  # without those that another module defines
        self._callable = code.keys() - kernels - SYSTEM_FUNCTIONS.keys()
        pointed = tuple(name for name in code if name in self._callable)
        # The functions that each one calls, or whose address it takes.
        self._callees = {
            name: pointed
            if function.indirect
            else tuple((function.calls | function.symbols) & self._callable)
            for name, function in code.items()
        }

    def reached(self, function: FunctionCode) -> list[FunctionCode]:
        """Return a function and all functions that can be called from it."""
        return self._closure(function, self._callees.__getitem__)

    def launched(self, function: FunctionCode) -> list[FunctionCode]:
        """Return a kernel and the kernels that it, and in turn they, can launch."""

        def following(name: str) -> list[str]:
            reached = self.reached(self._code[name])
            return [kernel for each in reached for kernel in each.symbols & self._kernels]

        return self._closure(function, following)

    def _closure(
        self, function: FunctionCode, following: Callable[[str], Iterable[str]]
    ) -> list[FunctionCode]:
        found, pending = {function.name: function}, [function.name]
        while pending:
            for name in following(pending.pop()):
                if name not in found:
                    found[name] = self._code[name]
                    pending.append(name)
        return list(found.values())

    def stack_bytes(self, function: FunctionCode, *, to_last_variable: bool = False) -> int | None:
        """Return the local memory of a function and its deepest chain of calls.

        Args:
            to_last_variable: Leave out frames without local variables at the end, and return
                ``None`` if functions allocate memory.

        Returns:
            Bytes; ``None`` if functions that it reaches can call themselves, or call by pointers.
        """
        reached = self.reached(function)
        if any(each.indirect for each in reached):  # the function itself could be called
            return None
        if to_last_variable and any(each.allocates for each in reached):
            return None
        callees = {each.name: self._callees[each.name] for each in reached}
        deepest: dict[str, int] = {}
        try:
            for name in TopologicalSorter(callees).static_order():
                each = self._code[name]
                below = [deepest[callee] for callee in callees[name]]
                ends_here = not any(below) if to_last_variable else not below
                deepest[name] = each.local_bytes if ends_here else each.frame_bytes + max(below)
        except CycleError:
            return None
        return deepest[function.name]


_CODE_STEP = 16
_MOST_THREADS = 1024
_MOST_REGISTERS = 255  # of a thread
_DYNAMIC_ALIGNMENT = 16  # of dynamic shared memory, at least: an H200 has it for any alignment
_ACCESSES_BLOCKS = re.compile(r"cluster|mapa|getctarank|tcgen05")
"""A word in modules with instructions that can access shared memory of other blocks."""
_SHAREABLE = frozenset({"extern", "weak", "common"})  # may be defined elsewhere


ReadBody = Callable[[tree.Function], tree.Function]  # returns a function with its body


def _whole(function: tree.Function) -> tree.Function:
    return function


class ModuleDecoder:
    """Decodes one module, as a whole or kernel by kernel."""

    def __init__(self, module: tree.Module, read: ReadBody = _whole) -> None:
        self.module = module
        self.diagnostics: list[PtxDiagnostic] = []
        self.shared: dict[str, SharedVariable] = {}
        self.scope = NameScope()
        self.variables: dict[str, VariableCode] = {}
        self.functions: dict[str, tree.Function] = {}
        self._read = read  # reads the body of a function, if they are unread
        self._every: list[DecodedFunction] = []
        self._decoded: dict[str, DecodedFunction] = {}
        self._blocks = 0
        self._shared_order: dict[str, tuple[int, int]] = {}  # by the lines of their functions
        self._kernels: dict[str, KernelCode] = {}
        for function in module.functions:
            known = self.functions.get(function.name)
            if known is not None and known.body is not None and function.body is not None:
                what = f"Duplicate definition of function '{function.name}'"
                self.diagnostics.append(PtxDiagnostic(function.position, what))
            if function.body is not None or function.name not in self.functions:
                self.functions[function.name] = function
        self._entries = {name for name, function in self.functions.items() if function.is_entry}
        for variable in self.module.variables:
            self._declare(variable)
        self._order_shared(0)
        for name in self.functions:
            self.scope.names[name] = SymbolName("func", name)
        for alias, target in self.module.aliases.items():
            self.functions[alias] = self.functions[target]
            self.scope.names[alias] = SymbolName("func", target)
        addresses = {
            name: CODE_WINDOW + _CODE_STEP * (index + 1)
            for index, name in enumerate(self.functions)
        }
        # The program; kernels are added when they are decoded.
        self.program = ModuleCode(self._kernels, self.variables, addresses)
        lines = SourceLines(module.text)
        kinds = InstructionKinds(module)
        ranks = _ACCESSES_BLOCKS.search(module.text) is not None
        self._names = ModuleNames(
            module, self.scope, self.functions, self.shared, self.variables, lines, kinds, ranks
        )

    # --- the whole module ------------------------------------------------------------------------

    def decode(self) -> None:
        """Decode every function; `whole_program` raises their errors."""
        for function in self.module.functions:
            if function.body is not None:
                self._decode(function)

    def whole_program(self) -> ModuleCode:
        """Return the program; kernels that need something unimplemented have its places.

        Raises:
            PtxError: The module is invalid, or has no kernel that can run.
        """
        every = self._every
        wrong = [*self.diagnostics, *chain.from_iterable(each.diagnostics for each in every)]
        missing = [*chain.from_iterable(each.unimplemented for each in every)]
        if wrong:
            raise PtxError((*wrong, *missing))
        graph = CallGraph(self.program.code, self._entries)
        const_bytes = self.const_bytes
        for each in every:
            if each.function.is_entry:
                self._kernels[each.function.name] = self._kernel(each, graph, const_bytes)
        if missing and all(kernel.unimplemented for kernel in self._kernels.values()):
            raise PtxError(missing)
        return self.program

    # --- kernel by kernel ------------------------------------------------------------------------

    def check_declarations(self) -> None:
        """Check the declarations of the module.

        Raises:
            PtxError: With the errors in them.
        """
        if self.diagnostics:
            raise PtxError(self.diagnostics)

    def kernel(self, name: str) -> KernelCode:
        """Return a kernel; what it can launch and call is decoded if it is not yet."""
        known = self._kernels.get(name)
        if known is not None:
            return known
        wrong: list[PtxDiagnostic] = []
        launches = not self.functions.keys().isdisjoint(LAUNCHING_FUNCTIONS)
        reached, pending = {name}, [name]
        while pending:
            caller = pending.pop()
            decoded = self._decoded.get(caller) or self._decode(self.functions[caller])
            wrong += decoded.diagnostics
            used = decoded.code.calls | decoded.code.symbols
            if decoded.code.indirect:  # by a pointer, which can be to any function
                used = used | (self.functions.keys() - self._entries)
            if launches:  # by a pointer, which can come from a variable
                places = chain.from_iterable(each.relocations for each in self.variables.values())
                used = used | {place.symbol for place in places} & self._entries
            callees = used & self.functions.keys()
            for callee in map(self.functions.__getitem__, callees):
                if callee.body is not None and callee.name not in reached:
                    reached.add(callee.name)
                    pending.append(callee.name)
        if wrong:
            raise PtxError(wrong)
        graph = CallGraph(self.program.code, self._entries)
        const_bytes = self.const_bytes
        for kernel in sorted(reached & self._entries - self._kernels.keys()):
            self._kernels[kernel] = self._kernel(self._decoded[kernel], graph, const_bytes)
        return self._kernels[name]

    # --- variables -------------------------------------------------------------------------------

    def _declare(self, variable: tree.Variable) -> None:
        try:
            check_declaration(variable, self.module)
            if variable.space not in ("global", "const", "shared"):
                raise Unimplemented(f"a .{variable.space} variable")
        except (OperandMismatch, Unimplemented) as wrong:
            self.diagnostics.append(PtxDiagnostic(variable.position, str(wrong)))
            return
        if variable.space == "shared":
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

    # --- functions -------------------------------------------------------------------------------

    def _decode(self, function: tree.Function) -> DecodedFunction:
        decoded = DecodedFunction(function)
        FunctionDecoder(self._names, self._read(function), decoded).decode()
        self._order_shared(function.position.line)
        code = decoded.code
        code.base = self._blocks
        self._blocks += len(code.blocks)
        self._every.append(decoded)
        self._decoded[function.name] = decoded
        self.program.code[function.name] = code
        return decoded

    # --- kernels ---------------------------------------------------------------------------------

    def _order_shared(self, line: int) -> None:
        """Give the new shared variables their places among those of all functions."""
        order = self._shared_order
        for name in islice(self.shared, len(order), None):
            order[name] = line, len(order)

    @property
    def const_bytes(self) -> int:
        """The bytes of all ``.const`` variables, as ptxas arranges them."""
        layout = VariableLayout()
        for variable in self.variables.values():
            if variable.space == "const":
                layout.place(variable.size, variable.alignment)
        return layout.size

    def _kernel(self, decoded: DecodedFunction, graph: CallGraph, const_bytes: int) -> KernelCode:
        function, own, offsets = decoded.function, decoded.code, decoded.parameter_offsets
        reached = graph.reached(own)
        addresses, static = self._place_shared(reached)
        stack = graph.stack_bytes(own)
        required = function.directives.get("reqntid")
        cluster = function.directives.get("reqnctapercluster")
        limit = function.directives.get("maxntid") or required
        major, minor = self.module.version
        launched = chain.from_iterable(map(graph.reached, graph.launched(own)))
        parts = [self._decoded[f] for f in dict.fromkeys(f.name for f in launched)]
        missing = chain.from_iterable(each.unimplemented for each in parts)
        return KernelCode(
            name=function.name,
            parameters=tuple(offsets),
            parameter_bytes=max((offset + size for offset, size in offsets), default=0),
            static_shared=static,
            local_bytes=own.local_bytes if stack is None else stack,
            registers=min(max(*(f.registers for f in reached), 16), _allowed_registers(function)),
            const_bytes=const_bytes,
            max_threads=min(prod(limit), _MOST_THREADS) if limit else _MOST_THREADS,
            required_block=_triple(required) if required else None,
            ptx_version=10 * major + minor,
            local_extent=graph.stack_bytes(own, to_last_variable=True),
            shared=addresses,
            reads_reserved=any(
                slot.name.startswith("%reserved_smem_offset") for f in reached for slot in f.slots
            ),
            has_ranks=self._names.has_ranks,
            recursive=stack is None,
            required_cluster=_triple(cluster) if cluster else None,
            unimplemented=in_order(missing),
        )

    def _place_shared(self, reached: list[FunctionCode]) -> tuple[dict[str, int], int]:
        """Return addresses of the shared variables of functions, and the bytes of static ones.

        As of ptxas, variables in a function's body have memory even if nothing uses them. Here it
        is after that of the others.
        """
        used = set().union(*(function.symbols for function in reached))
        bodies = {function.name for function in reached}
        layout, addresses = VariableLayout(RESERVED_SHARED), {}
        dynamic = []
        order = self._shared_order
        unused = {name for name in order.keys() - used if name.rpartition(".")[0] in bodies}
        names = sorted(used & order.keys(), key=order.__getitem__)
        for name in (*names, *sorted(unused, key=order.__getitem__)):
            variable = self.shared[name]
            if variable.dynamic:
                dynamic.append(variable)
            else:
                addresses[name] = layout.place(variable.size, variable.alignment)
        if dynamic:
            alignment = max(_DYNAMIC_ALIGNMENT, *(variable.alignment for variable in dynamic))
            start = layout.place(0, alignment)
            addresses |= dict.fromkeys((variable.name for variable in dynamic), start)
        return addresses, layout.size - RESERVED_SHARED


def _allowed_registers(kernel: tree.Function) -> int:
    """Return the most registers of a thread that its directives allow a compiler."""
    block = kernel.directives.get("maxntid") or kernel.directives.get("reqntid") or (1,)
    (most,) = kernel.directives.get("maxnreg", (_MOST_REGISTERS,))
    warps = -(-min(prod(block), _MOST_THREADS) // 32)
    return min(_MOST_REGISTERS, max(most, 24), (1 << 16) // (256 * warps) * 8)  # in units of 8


def _triple(values: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def compile_module(module: tree.Module) -> ModuleCode:
    """Decode every function of a module.

    Raises:
        PtxError: With a diagnostic for every operand that does not fit its instruction, and every
            other error; if no kernel can run, for everything that is not implemented.
    """
    decoder = ModuleDecoder(module)
    decoder.decode()
    return decoder.whole_program()
