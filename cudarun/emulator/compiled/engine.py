"""The compiled engine: the machine code of kernels, each compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.operators import Untraceable
from cudarun.emulator.compiled.runtime import CompiledRun
from cudarun.emulator.machine.launch import Launch

_kernels: dict[int, tuple[object, CompiledKernel | str]] = {}


def compiled(launch: Launch) -> tuple[Callable[[Callable[[float], object]], None] | None, str]:
    """Return a function that runs a launch, or ``None`` and why its kernel cannot be compiled."""
    function = launch.kernel_function
    known = _kernels.get(id(function))
    if known is None or known[0] is not function:
        found: CompiledKernel | str
        try:
            found = CompiledKernel(function)
        except Untraceable as reason:
            found = str(reason)
        known = _kernels[id(function)] = function, found
    kernel = known[1]
    if isinstance(kernel, str):
        return None, kernel
    return partial(_run, kernel, launch), ""


def _run(kernel: CompiledKernel, launch: Launch, on_progress: Callable[[float], object]) -> None:
    CompiledRun(kernel, launch, on_progress).run()
