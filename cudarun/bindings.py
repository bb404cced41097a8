"""The CUDA bindings of CUDA 12.9 and of CUDA 13: all that the rest must know of their differences.

Nothing is imported before it is needed: the bindings take 30 ms, and most of a command line is
read without them.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuda.bindings.driver import CUjit_option

Version = tuple[int, int]

# Members of CUjit_option since CUDA 13.
_NEWER_JIT_OPTIONS = ("CU_JIT_SPLIT_COMPILE", "CU_JIT_BINARY_LOADER_THREAD_COUNT")


def installed_version() -> Version:
    """Major and minor version of the bindings."""
    from cuda.bindings import __version__

    major, minor, *_rest = __version__.split(".")
    return int(major), int(minor)


def is_missing_library(error: Exception) -> bool:
    """Whether the bindings could not open a library: libcuda, NVRTC or nvJitLink.

    Up to 12.9.7 and 13.1 what they raise for libcuda is no more than a ``RuntimeError``.
    """
    return type(error).__name__ == "DynamicLibNotFoundError" or (
        type(error) is RuntimeError and str(error).startswith("Failed to dlopen ")
    )


def enum_field(struct: Any, field: str) -> Any:
    """A field of a struct that is an enumeration.

    Raises:
        ValueError: Its number is no member. The bindings before 12.9.7 have ``None`` for it.
    """
    value = getattr(struct, field)
    if value is None:
        raise ValueError(f"{field} is not set")
    return value


def toolkit_installation(cuda: Version | None) -> str:
    """The command that installs NVRTC, nvJitLink and CUDA's headers.

    Args:
        cuda: The version of the bindings, or of an NVRTC; ``None`` for the newest.
    """
    extra = "toolkit12" if cuda is not None and cuda[0] == 12 else "toolkit"
    return f"pip install 'cudarun[{extra}]'"


def newer_jit_options() -> tuple[CUjit_option, ...]:
    """The options of the just-in-time compiler since CUDA 13; none where the bindings are older."""
    from cuda.bindings.driver import CUjit_option

    members = CUjit_option.__members__
    return tuple(members[name] for name in _NEWER_JIT_OPTIONS if name in members)


def context_arguments(driver: ModuleType | Any, flags: int, device: Any) -> tuple[Any, ...]:
    """The arguments of ``cuCtxCreate``: since CUDA 13 parameters come first, here none.

    Only the bindings of CUDA 12 still have a ``_v4`` beside it, and there the plain name takes no
    parameters argument.

    Args:
        driver: Has the functions of ``cuda.bindings.driver``.
        flags: Bits of ``CUctx_flags``.
        device: The handle.
    """
    if hasattr(driver, "cuCtxCreate_v4"):
        return flags, device
    return None, flags, device


def counting_call(driver: ModuleType | Any, call: str) -> str | None:
    """The call since CUDA 13.2 that counts the parameters of a kernel.

    Args:
        driver: Has the functions of ``cuda.bindings.driver``.
        call: The one that describes a parameter: ``cuKernelGetParamInfo``, ``cuFuncGetParamInfo``.

    Returns:
        Its name; ``None`` where the bindings are older.
    """
    counting = call.replace("Info", "Count")
    return counting if hasattr(driver, counting) else None
