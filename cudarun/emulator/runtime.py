"""The CUDA runtime API on emulated devices, in the form of ``cuda.bindings.runtime``.

Use this module wherever a program uses that one::

    from cudarun.emulator import runtime as cudart

    error, pointer = cudart.cudaMalloc(1024)

The functions have the same names, parameters and tuples; enums, handle types and structures are
the bindings' own. A call that is not implemented raises `NotProvided` with its name; the others
are listed in docs/reference/runtime-calls.md.
"""

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as _bindings

from cudarun.emulator.driver import binding
from cudarun.emulator.runtime_api import arrays, devices, errors, graphs, memory, pools, streams  # noqa: F401 - each chapter adds its calls
from cudarun.emulator.runtime_api.calls import RUNTIME_CALLS

globals().update(RUNTIME_CALLS)


def __getattr__(name: str) -> Any:
    return binding(_bindings, "runtime", name)


def __dir__() -> list[str]:
    members = ((name, getattr(_bindings, name)) for name in dir(_bindings) if name[:1] != "_")
    types = (name for name, each in members if isinstance(each, type) or not callable(each))
    return sorted({*RUNTIME_CALLS, *types})
