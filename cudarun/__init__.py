"""cudarun: load, link and launch CUDA kernels from a terminal, on GPUs or on an emulated device.

The Python API is `launch` and `load`, their results and the tree of `Failure`. They are imported
when they are first used.
"""

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from cudarun.api.failures import (
        DeviceNotFound,
        ExecutionFailed,
        Failure,
        InvalidImage,
        InvalidRequest,
        TimedOut,
        WorkerFailed,
        WrongResult,
    )
    from cudarun.api.functions import launch, load
    from cudarun.api.results import LaunchOutputs, LoadedImages

__all__ = [
    "DeviceNotFound",
    "ExecutionFailed",
    "Failure",
    "InvalidImage",
    "InvalidRequest",
    "LaunchOutputs",
    "LoadedImages",
    "TimedOut",
    "WorkerFailed",
    "WrongResult",
    "__version__",
    "launch",
    "load",
]

_MODULES = {"launch": "functions", "load": "functions", "LaunchOutputs": "results",
            "LoadedImages": "results"}  # fmt: skip
"""The module of a public name; of all others `failures`."""


def __getattr__(name: str) -> object:
    """Import a public name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.api.{_MODULES.get(name, 'failures')}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return [*__all__]
