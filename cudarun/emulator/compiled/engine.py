"""The compiled engine: the machine code of kernels, each compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.operators import Untraceable
from cudarun.emulator.compiled.runtime import CompiledRun
from cudarun.emulator.machine.launch import Launch

_MOST_KERNELS = 64  # of which the machine code is kept
_kernels: dict[int, tuple[object, CompiledKernel | str]] = {}  # the last one used is the last


def compiled(launch: Launch) -> tuple[Callable[[Callable[[float], object]], None] | None, str]:
    """Return a function that runs a launch, or ``None`` and why its kernel cannot be compiled."""
    function = launch.kernel_function
    known = _kernels.pop(id(function), None)
    if known is None or known[0] is not function:
        found: CompiledKernel | str
        try:
            found = CompiledKernel(function)
        except Untraceable as reason:
            found = str(reason)
        known = function, found
    _kernels[id(function)] = known
    if len(_kernels) > _MOST_KERNELS:
        del _kernels[next(iter(_kernels))]
    kernel = known[1]
    if isinstance(kernel, str):
        return None, kernel
    return partial(_run, kernel, launch), ""


def _run(kernel: CompiledKernel, launch: Launch, on_progress: Callable[[float], object]) -> None:
    CompiledRun(kernel, launch, on_progress).run()
