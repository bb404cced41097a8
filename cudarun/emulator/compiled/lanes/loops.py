"""numpy's own inner loops, called from compiled code, so that both engines have the same bits.

A ufunc such as ``np.sin`` is not the processor's, and no other library has numpy's results. Its
inner loops are C functions, ``loop(pointers, count, strides, data)``, in the public structure
``PyUFuncObject`` (NumPy C API manual, "Python types and C-structures").
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector

_POINTERS = ctypes.sizeof(ctypes.c_void_p)


class _UfuncObject(ctypes.Structure):
    """The first members of ``PyUFuncObject``."""

    _fields_ = (
        ("head", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
    )


_Loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@cache
def loop_of(name: str, letter: str) -> tuple[int, int]:
    """Return the addresses of a ufunc's inner loop, and of its data.

    Args:
        name: The ufunc.
        letter: The type of its operand and its result: ``"f"`` or ``"d"``.

    Raises:
        LookupError: This numpy does not have the loop where it is expected.
    """
    ufunc: np.ufunc = getattr(np, name)
    structure = _UfuncObject.from_address(id(ufunc))
    if (structure.nin, structure.nout, structure.ntypes) != (1, 1, ufunc.ntypes):
        raise LookupError(name)
    place = ufunc.types.index(f"{letter}->{letter}")
    function = structure.functions[place]
    data = structure.data[place] if structure.data else None
    if not function:
        raise LookupError(name)
    given = np.linspace(0.1, 3.0, 32, dtype=letter)
    found = np.zeros_like(given)
    pointers = (ctypes.c_void_p * 2)(given.ctypes.data, found.ctypes.data)
    count, steps = ctypes.c_ssize_t(len(given)), (ctypes.c_ssize_t * 2)(*[given.itemsize] * 2)
    _Loop(function)(
        ctypes.addressof(pointers), ctypes.addressof(count), ctypes.addressof(steps), data
    )
    if not np.array_equal(found, ufunc(given)):
        raise LookupError(name)
    return function, data or 0


def call_loop(code: CodeBuilder, name: str, a: LaneVector) -> LaneVector:
    """Return the result of a ufunc of f32 or f64."""
    letter, size = a.element[0], a.bits // 8
    function, data = loop_of(name, letter)
    module, symbol = code.module, f"numpy_{name}_{letter}"
    module.symbols[symbol] = function
    module.declare(f"declare void @{symbol}(ptr, ptr, ptr, ptr)")
    given, found = (code.scalar(f"alloca {a.type}, align 64") for _ in range(2))
    pointers = code.scalar("alloca [2 x ptr]")
    count, steps = code.scalar("alloca i64"), code.scalar("alloca [2 x i64]")
    code.line(f"store {a.typed}, ptr {given}, align 64")
    second = code.scalar(f"getelementptr ptr, ptr {pointers}, i64 1")
    code.line(f"store ptr {given}, ptr {pointers}")
    code.line(f"store ptr {found}, ptr {second}")
    code.line(f"store i64 {a.count}, ptr {count}")
    code.line(f"store [2 x i64] [i64 {size}, i64 {size}], ptr {steps}")
    context = "null"
    if data:
        module.symbols[f"{symbol}_data"] = data
        module.declare(f"@{symbol}_data = external global i8")
        context = f"@{symbol}_data"
    code.line(f"call void @{symbol}(ptr {pointers}, ptr {count}, ptr {steps}, ptr {context})")
    return code.vector(f"load {a.type}, ptr {found}, align 64", a.element, a.count)
