"""Arithmetic of f64 in a rounding mode: the processor's own, changed for one operation."""

from __future__ import annotations

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, ModuleText
from cudarun.emulator.numerics import rounding

_MODES = {rounding.ZERO: 0, rounding.NEAREST: 1, rounding.UP: 2, rounding.DOWN: 3}
_OPERATIONS = {"multiply": "fmul", "divide": "fdiv", "sqrt": "sqrt", "multiply_add": "fma"}
# LLVM's optimizations assume the default mode everywhere else, so nothing may move in or out.
_STRICT = 'metadata !"round.dynamic", metadata !"fpexcept.strict"'


def directed(
    code: CodeBuilder, operation: str, mode: str, operands: list[LaneVector]
) -> LaneVector:
    """Return the result of an operation, rounded in a mode.

    Args:
        code: The code.
        operation: ``"multiply"``, ``"divide"``, ``"sqrt"`` or ``"multiply_add"``.
        mode: ``"rz"``, ``"rm"`` or ``"rp"``.
        operands: Vectors of f64.
    """
    kind, count = operands[0].type, operands[0].count
    name = f"directed.{operation}.{mode}.v{count}"
    if not code.module.defines(name):
        _define(code.module, name, operation, mode, operands)
    given = ", ".join(operand.typed for operand in operands)
    return code.vector(f"call {kind} @{name}({given})", "double", count)


def _define(
    module: ModuleText, name: str, operation: str, mode: str, operands: list[LaneVector]
) -> None:
    kind, count = operands[0].type, operands[0].count
    intrinsic = f"@llvm.experimental.constrained.{_OPERATIONS[operation]}.v{count}f64"
    types = ", ".join([kind] * len(operands))
    module.declare(f"declare {kind} {intrinsic}({types}, metadata, metadata)")
    module.declare("declare void @llvm.set.rounding(i32)")
    parameters = ", ".join(f"{kind} %a{place}" for place in range(len(operands)))
    module.define(
        name,
        f"define internal {kind} @{name}({parameters}) noinline strictfp #0 {{\n"
        f"  call void @llvm.set.rounding(i32 {_MODES[mode]}) strictfp\n"
        f"  %r = call {kind} {intrinsic}({parameters}, {_STRICT}) strictfp\n"
        f"  call void @llvm.set.rounding(i32 {_MODES[rounding.NEAREST]}) strictfp\n"
        f"  ret {kind} %r\n}}",
    )
