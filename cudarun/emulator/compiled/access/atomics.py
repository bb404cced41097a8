"""Atomic operations: ``native/atomics.c`` executes them, lane by lane.

The operation itself is traced from the interpreter's, for one lane.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.access_rules import AccessRules
from cudarun.emulator.compiled.access.reductions import is_of_global_memory, reduction_of
from cudarun.emulator.compiled.lanes.lowering import LaneType, lane_type, traced
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, ModuleText, element_of
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.memory import CheckedPlace, pointer_to
from cudarun.emulator.compiled.state.sites import pass_values, take_results
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TypeKind


def _is_of_system(action: Atomic) -> bool:
    """Return whether the operation is atomic for the program, too, which can share the memory."""
    return action.accesses[0].scope == "sys"


def _name(action: Atomic) -> str:
    name = f"atomic.{action.operation}.{action.type.name}"
    if not action.wanted:
        name += ".unread"
    name += ".sys" * _is_of_system(action)
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
    """The code of atomic operations."""

    def atomic(self, operation: Action, mask: str) -> None:
        """Compile ``atom`` and ``red``."""
        code, action = self._code, operation.action
        assert isinstance(action, Atomic)
        if action.dtype.kind == "V":  # of 128 bits
            self._accesses.call(operation, mask)
            return
        size = action.dtype.itemsize
        kinds = tuple(map(lane_type, operation.destinations))
        operands = 1 + (action.operation == "cas")
        name, old = _name(action), LaneType(np.dtype(f"u{size}"))
        if not code.module.defines(name):
            _define(code.module, name, action)

        def updated(places: list[CheckedPlace], given: list[LaneVector]) -> list[LaneVector]:
            (place,) = places
            values = [
                code.bitcast(value, old.element) for value in given[1 : 1 + operands * action.count]
            ]
            found: list[LaneVector] = []
            for number in range(action.count):
                ahead = number * size
                host = pointer_to(code, place.host, ahead) if ahead else place.host
                own = values[number * operands : (number + 1) * operands]
                pass_values(code, [place.offsets, *own])
                code.line(f"call void @{name}(ptr %ctx, ptr {host}, i32 %mask)")
                if action.wanted:
                    found += take_results(code, 3, [old])
                self._accesses.memory.update(code, place, "%mask", 8 * size, ahead)
            return [
                code.bitcast(value, each.element) for value, each in zip(found, kinds, strict=False)
            ]

        self._accesses.access(operation, action.accesses, mask, updated)


def _define(module: ModuleText, name: str, action: Atomic) -> None:
    """Define ``name(ctx, host, mask)``, which executes an operation (``native/atomics.c``).

    Raises:
        Untraceable: The operation cannot be traced.
    """
    _define_combination(module, name, action)
    code, reduces = CodeBuilder(module), reduction_of(action) is not None
    how = f"i32 {action.dtype.itemsize}, ptr @{name}.new"
    more = f", i32 {int(is_of_global_memory(action))}" * reduces
    more += f", i32 {int(_is_of_system(action))}"
    function = "reduce_lanes" if reduces else "update_lanes"
    call(code, "void", function, f"ptr %ctx, ptr %host, i32 %mask, {how}{more}", inline=True)
    code.line("ret void")
    code.define(f"void @{name}(ptr %ctx, ptr %host, i32 %mask)", "hidden noinline")
    one = concurrent_function(action)
    if one is not None:
        code = CodeBuilder(module)
        concurrent = "1" if _is_of_system(action) else "%concurrent"
        given = f"ptr %at, i64 %operand, i32 {concurrent}, {how}"
        call(code, "void", "reduce_once", given, inline=True)
        code.line("ret void")
        code.define(f"void @{one}(ptr %at, i64 %operand, i32 %concurrent)", "")


def _define_combination(module: ModuleText, name: str, action: Atomic) -> None:
    """Define ``name.new(old, operand, other)``, which returns the value to store."""
    code, kind = CodeBuilder(module), f"i{8 * action.dtype.itemsize}"

    def narrow(value: str) -> str:
        return value if kind == "i64" else code.scalar(f"trunc i64 {value} to {kind}")

    def combine(before: Array, value: Array, result: Array) -> None:
        np.copyto(result, action.combine(before, value), casting="unsafe")

    new = "%operand"
    if action.operation == "cas":
        same = code.scalar(f"icmp eq {kind} {narrow('%old')}, {narrow('%operand')}")
        new = code.scalar(f"select i1 {same}, i64 %other, i64 %old")
    elif action.operation != "exch":
        values = []
        for each in ("%old", "%operand"):
            one = code.scalar(f"insertelement <1 x {kind}> poison, {kind} {narrow(each)}, i32 0")
            values.append(code.bitcast(LaneVector(one, kind, 1), element_of(action.dtype)))
        kinds = [action.dtype] * 2
        found = traced(code, f"{name}.lane", combine, kinds, action.dtype, values)
        new = code.scalar(f"extractelement {code.bitcast(found, kind).typed}, i32 0")
        if kind != "i64":
            new = code.scalar(f"zext {kind} {new} to i64")
    code.line(f"ret i64 {new}")
    code.define(f"i64 @{name}.new(i64 %old, i64 %operand, i64 %other)", "internal alwaysinline")
