"""Atomic operations as functions: lane by lane, in the order of the lanes.

The operation itself is traced from the interpreter's, for one lane.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.compiled.lowering import LaneType, lower
from cudarun.emulator.compiled.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    vector_type,
)
from cudarun.emulator.machine.atomics import Array, Atomic
from cudarun.emulator.numerics.types import TypeKind


class AtomicFunctions:
    """The functions of a module that execute atomic operations."""

    def __init__(self, module: ModuleText) -> None:
        self._module = module

    def name_of(self, action: Atomic) -> str:
        """Return the name of a function, defined when first asked for.

        Raises:
            Untraceable: The operation cannot be traced.
        """
        where = "shared" if "shared" in action.space else "global"
        is_float = action.type.kind is TypeKind.FLOAT
        name = f"atomic.{action.operation}.{action.type.name}{f'.{where}' if is_float else ''}"
        if not action.wanted:
            name += ".unread"
        if not self._module.defines(name):
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

        lane = LaneType(action.dtype)
        text = lower(self._module, f"{name}.lane", combine, [lane, lane], [lane], width=1)
        self._module.define(f"{name}.lane", text)
        values = []
        for each in (old, b):
            one = code.scalar(f"insertelement <1 x {kind}> poison, {kind} {each}, i32 0")
            values.append(code.bitcast(LaneVector(one, kind, 1), lane.element))
        result = f"<1 x {lane.element}>"
        arguments = ", ".join(value.typed for value in values)
        found = code.vector(f"call {result} @{name}.lane({arguments})", lane.element, 1)
        return code.scalar(f"extractelement {code.bitcast(found, kind).typed}, i32 0")

    def _define(self, name: str, action: Atomic) -> None:
        """Define a function: lane after lane, those of a whole warp without a search for them."""
        width = 8 * action.dtype.itemsize
        element, kind = f"i{width}", vector_type(f"i{width}")
        code = CodeBuilder(self._module)
        self._module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        code.label("entry")
        given = [("%a", "%offsets", vector_type("i64"), "i64"), ("%b.at", "%b", kind, element)]
        if action.operation == "cas":
            given.append(("%c.at", "%c", kind, element))
        for pointer, value, type_, _ in given:
            code.line(f"{pointer} = alloca {type_}, align 64")
            code.line(f"store {type_} {value}, ptr {pointer}, align 64")
        if action.wanted:
            code.line(f"%old.at = alloca {kind}, align 64")
            code.line(f"store {kind} zeroinitializer, ptr %old.at, align 64")
        code.line("%whole = icmp eq i32 %mask, -1")
        code.line("br i1 %whole, label %each, label %next")
        code.label("each")
        code.line("%number = phi i32 [ 0, %entry ], [ %number.next, %each ]")
        self._lane(code, name, action, given, "%number")
        code.line("%number.next = add i32 %number, 1")
        code.line(f"%more = icmp ult i32 %number.next, {WIDTH}")
        code.line("br i1 %more, label %each, label %done")
        code.label("next")
        code.line("%left = phi i32 [ %mask, %entry ], [ %rest, %lane ]")
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
        second = f", {kind} %c" if action.operation == "cas" else ""
        head = (
            f"define internal {kind if action.wanted else 'void'} @{name}"
            f"(ptr %host, {vector_type('i64')} %offsets, {kind} %b{second}, i32 %mask) noinline"
        )
        self._module.define(name, "\n".join([head + " #0 {", *code.lines, "}"]))

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
        memory = code.scalar(f"getelementptr i8, ptr %host, i64 {offset}")
        old = code.scalar(f"load {element}, ptr {memory}, align 1")
        new = self._new_value(code, name, action, [old, *operands])
        code.line(f"store {element} {new}, ptr {memory}, align 1")
        if action.wanted:
            at = code.scalar(f"getelementptr {element}, ptr %old.at, i32 {number}")
            code.line(f"store {element} {old}, ptr {at}")
