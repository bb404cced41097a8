"""Atomic operations as functions: lane by lane, in the order of the lanes.

The operation itself is traced from the interpreter's, for one lane. Integer reductions combine the
operands of lanes with one address first. Those of global memory are atomic among the threads of
this process if several threads run blocks.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.reductions import Reduction, is_of_global_memory, reduction_of
from cudarun.emulator.compiled.lanes.lowering import lane_type, traced
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    element_of,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import CheckedPlace, field, pointer_to
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TypeKind


def _name(action: Atomic) -> str:
    name = f"atomic.{action.operation}.{action.type.name}"
    if not action.wanted:
        name += ".unread"
    if action.type.kind is TypeKind.FLOAT or reduction_of(action) is not None:
        name += ".global" if is_of_global_memory(action) else ".shared"
    return name


def concurrent_function(action: Atomic) -> str | None:
    """Return the name of the function of one lane's part of a reduction of global memory.

    Its parameters are the host address, the operand, and whether other threads run blocks.
    """
    if reduction_of(action) is None or not is_of_global_memory(action):
        return None
    return f"{_name(action)}.one"


class AtomicRules(AccessRules):
    """The code of atomic operations, and the functions that execute them."""

    def atomic(self, operation: Action, mask: str) -> None:
        """Compile ``atom`` and ``red``."""
        code, action = self._code, operation.action
        assert isinstance(action, Atomic)
        if action.dtype.kind == "V":  # of 128 bits
            self._accesses.call(operation, mask)
            return
        (access,) = action.accesses
        width = 8 * action.dtype.itemsize
        kinds = tuple(map(lane_type, operation.destinations))
        sources = self._sources(operation)
        operands = 1 + (action.operation == "cas")
        name, concurrent = self._function(action), ""
        if concurrent_function(action) is not None:
            concurrent = f", i32 {field(code, '%ctx', layout.CONCURRENT, 'i32')}"
        given = [
            code.bitcast(value, f"i{width}") for value in sources[1 : 1 + operands * action.count]
        ]

        def fast(places: list[CheckedPlace]) -> list[LaneVector]:
            (place,) = places
            found = []
            for number in range(action.count):
                ahead = number * action.dtype.itemsize
                host = pointer_to(code, place.host, ahead) if ahead else place.host
                mine = given[number * operands : (number + 1) * operands]
                arguments = ", ".join(value.typed for value in (place.offsets, *mine))
                rest = f"@{name}(ptr {host}, {arguments}, i32 {mask}{concurrent})"
                if action.wanted:
                    found.append(code.vector(f"call {mine[0].type} {rest}", f"i{width}"))
                else:
                    code.line(f"call void {rest}")
                self._accesses.memory.update(code, place, mask, width, ahead)
            return [
                code.bitcast(old, each.element) for old, each in zip(found, kinds, strict=False)
            ]

        self._finish(operation, self._accesses.access(operation, [access], sources, mask, fast))

    def _function(self, action: Atomic) -> str:
        """Return the name of a function, defined when first asked for.

        Raises:
            Untraceable: The operation cannot be traced.
        """
        name = _name(action)
        if not self._code.module.defines(name):
            self._define(name, action)
        return name

    def _new_value(self, code: CodeBuilder, name: str, action: Atomic, given: list[str]) -> str:
        """Return the value to store, of the old one and the operands."""
        kind = f"i{8 * action.dtype.itemsize}"
        old, b, *more = given
        if action.operation == "exch":
            return b
        if action.operation == "cas":
            same = code.scalar(f"icmp eq {kind} {old}, {b}")
            return code.scalar(f"select i1 {same}, {kind} {more[0]}, {kind} {old}")

        def combine(held: Array, value: Array, result: Array) -> None:
            np.copyto(result, action.combine(held, value), casting="unsafe")

        values = []
        for each in (old, b):
            one = code.scalar(f"insertelement <1 x {kind}> poison, {kind} {each}, i32 0")
            values.append(code.bitcast(LaneVector(one, kind, 1), element_of(action.dtype)))
        kinds = [action.dtype] * 2
        found = traced(code, f"{name}.lane", combine, kinds, action.dtype, values)
        return code.scalar(f"extractelement {code.bitcast(found, kind).typed}, i32 0")

    def _define(self, name: str, action: Atomic) -> None:
        """Define a function: lane after lane, those of a whole warp without a search for them."""
        width = 8 * action.dtype.itemsize
        element, kind = f"i{width}", vector_type(f"i{width}")
        code = CodeBuilder(self._code.module)
        self._code.module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        code.label("entry")
        given = [("%a", "%offsets", vector_type("i64"), "i64"), ("%b.at", "%b", kind, element)]
        if action.operation == "cas":
            given.append(("%c.at", "%c", kind, element))
        for pointer, _, type_, _ in given:
            code.line(f"{pointer} = alloca {type_}, align 64")
        if action.wanted:
            code.line(f"%old.at = alloca {kind}, align 64")
        reduction = reduction_of(action)
        if reduction is None:
            code.line("br label %lanes")
        else:
            self._combine_lanes(code, name, action, reduction)
        code.label("lanes")
        for pointer, value, type_, _ in given:
            code.line(f"store {type_} {value}, ptr {pointer}, align 64")
        if action.wanted:
            code.line(f"store {kind} zeroinitializer, ptr %old.at, align 64")
        code.line("%whole = icmp eq i32 %mask, -1")
        code.line("br i1 %whole, label %each, label %next")
        code.label("each")
        code.line("%number = phi i32 [ 0, %lanes ], [ %number.next, %each ]")
        self._lane(code, name, action, given, "%number")
        code.line("%number.next = add i32 %number, 1")
        code.line(f"%more = icmp ult i32 %number.next, {WIDTH}")
        code.line("br i1 %more, label %each, label %done")
        code.label("next")
        code.line("%left = phi i32 [ %mask, %lanes ], [ %rest, %lane ]")
        code.line("%none = icmp eq i32 %left, 0")
        code.line("br i1 %none, label %done, label %lane")
        code.label("lane")
        code.line("%lowest = call i32 @llvm.cttz.i32(i32 %left, i1 true)")
        code.line("%less = add i32 %left, -1")
        code.line("%rest = and i32 %left, %less")
        self._lane(code, name, action, given, "%lowest")
        code.line("br label %next")
        code.label("done")
        result = "ret void"
        if action.wanted:
            result = f"ret {kind} {code.scalar(f'load {kind}, ptr %old.at, align 64')}"
        code.line(result)
        offsets, more = vector_type("i64"), f", {kind} %c" * (action.operation == "cas")
        more += f", i32 %mask{', i32 %concurrent' * (concurrent_function(action) is not None)}"
        result = kind if action.wanted else "void"
        code.define(f"{result} @{name}(ptr %host, {offsets} %offsets, {kind} %b{more})")

    def _lane(
        self,
        code: CodeBuilder,
        name: str,
        action: Atomic,
        given: list[tuple[str, str, str, str]],
        number: str,
    ) -> None:
        """Execute the operation for a lane."""
        element = f"i{8 * action.dtype.itemsize}"
        values = []
        for pointer, _, _, type_ in given:
            at = code.scalar(f"getelementptr {type_}, ptr {pointer}, i32 {number}")
            values.append(code.scalar(f"load {type_}, ptr {at}"))
        offset, *operands = values
        old = self._execute(code, name, action, pointer_to(code, "%host", offset), operands)
        if action.wanted:
            at = code.scalar(f"getelementptr {element}, ptr %old.at, i32 {number}")
            code.line(f"store {element} {old}, ptr {at}")

    def _execute(
        self, code: CodeBuilder, name: str, action: Atomic, memory: str, operands: list[str]
    ) -> str:
        """Execute the operation once; return the old value, if it is wanted."""
        element = f"i{8 * action.dtype.itemsize}"
        one = concurrent_function(action)
        if one is not None:
            if not self._code.module.defines(one):
                self._define_one(one, name, action)
            code.line(f"call void @{one}(ptr {memory}, {element} {operands[0]}, i32 %concurrent)")
            return ""
        old = code.scalar(f"load {element}, ptr {memory}, align 1")
        new = self._new_value(code, name, action, [old, *operands])
        code.line(f"store {element} {new}, ptr {memory}, align 1")
        return old

    # --- reductions ------------------------------------------------------------------------------

    def _combine_lanes(
        self, code: CodeBuilder, name: str, action: Atomic, reduction: Reduction
    ) -> None:
        """Execute a reduction once if all active lanes have one address; else go to ``lanes``."""
        element, kind = f"i{reduction.width}", vector_type(f"i{reduction.width}")
        offsets = LaneVector("%offsets", "i64")
        lowest = code.scalar("call i32 @llvm.cttz.i32(i32 %mask, i1 false)")
        lane = code.scalar(f"and i32 {lowest}, {WIDTH - 1}")
        offset = code.scalar(f"extractelement {offsets.typed}, i32 {lane}")
        other = code.to_mask(code.compare("ne", offsets, code.broadcast("i64", offset)))
        apart = code.scalar(f"and i32 {other}, %mask")
        together = code.scalar(f"icmp eq i32 {apart}, 0")
        some = code.scalar("icmp ne i32 %mask, 0")
        code.line(f"%together = and i1 {together}, {some}")
        code.line("br i1 %together, label %combined, label %lanes")
        code.label("combined")
        identity = splat(element, reduction.identity)
        chosen = code.select(code.from_mask("%mask"), LaneVector("%b", element), identity)
        function = f"@llvm.vector.reduce.{reduction.vector_operation}.v{WIDTH}{element}"
        self._code.module.declare(f"declare {element} {function}({kind})")
        operand = code.scalar(f"call {element} {function}({chosen.typed})")
        self._execute(code, name, action, pointer_to(code, "%host", offset), [operand])
        code.line("br label %done")

    def _define_one(self, one: str, name: str, action: Atomic) -> None:
        """Define one lane's part of a reduction of global memory."""
        reduction = reduction_of(action)
        assert reduction is not None
        element = f"i{reduction.width}"
        code = CodeBuilder(self._code.module)
        code.label("entry")
        code.line("%alone = icmp eq i32 %concurrent, 0")
        code.line("br i1 %alone, label %plain, label %atomic")
        code.label("plain")
        old = code.scalar(f"load {element}, ptr %at, align 1")
        new = self._new_value(code, name, action, [old, "%operand"])
        code.line(f"store {element} {new}, ptr %at, align 1")
        code.line("ret void")
        code.label("atomic")
        size = reduction.width // 8
        code.line(
            f"atomicrmw {reduction.operation} ptr %at, {element} %operand monotonic, align {size}"
        )
        code.line("ret void")
        code.define(f"void @{one}(ptr %at, {element} %operand, i32 %concurrent)", "")
