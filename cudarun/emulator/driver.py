"""The CUDA driver API on emulated devices, in the form of ``cuda.bindings.driver``.

Use this module wherever a program uses that one::

    from cudarun.emulator import driver as cuda

    (result,) = cuda.cuInit(0)

The functions have the same names, parameters and tuples; enums, handle types and structures are
the bindings' own. A call that the emulator has not is refused by name, `NotProvided`; those that it
has are listed in docs/driver-calls.md. The
environment variable ``CUDARUN_CPU_DEVICES`` says how many devices there are. `on_progress` is the
one function that no driver has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as _bindings

from cudarun.emulator.api import (  # noqa: F401 - each chapter adds its calls
    contexts,
    devices,
    launching,
    libraries,
    linking,
    logs,
    memory,
    modules,
    pools,
    rectangles,
    streams,
)
from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.host.process import process

globals().update(CALLS)


def on_progress(told: Callable[[float], object]) -> None:
    """Have ``told`` called while kernels run, with the part of the blocks that have ended."""
    process.told = told


class NotProvided(AttributeError, NotImplementedError):
    """A call of the driver API that the emulated device does not provide.

    It comes when the name is looked up, so ``hasattr`` tells what there is.
    """


def __getattr__(name: str) -> Any:
    """An enum, type or constant of the bindings."""
    member = getattr(_bindings, name, None)
    if member is not None and name.startswith("cu") and name[2:3].isupper():
        raise NotProvided(
            f"{name}: the emulated device does not provide this driver call "
            "(docs/driver-calls.md lists those it does)",
            name=name,
        )
    if member is None:
        raise AttributeError(f"cudarun.emulator.driver has no {name}", name=name)
    return member


def __dir__() -> list[str]:
    types = (name for name in dir(_bindings) if name.startswith(("CU", "cuuint")))
    return sorted({*CALLS, *types})
