"""Copies of the driver's structures, which later changes by a program do not affect."""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

from cuda.bindings import driver as cuda

from cudarun.emulator.host.refusal import enum_field

T = TypeVar("T")

# Of each structure, its size in bytes and its enumerations.
_STRUCTURES: dict[type, tuple[int, tuple[str, ...]]] = {
    cuda.CUDA_MEMCPY2D: (128, ()),
    cuda.CUDA_MEMCPY3D: (200, ()),
    cuda.CUDA_MEMCPY3D_PEER: (200, ()),
    cuda.CUDA_MEMSET_NODE_PARAMS: (40, ()),
    cuda.CUDA_HOST_NODE_PARAMS: (16, ()),
    cuda.CUDA_RESOURCE_DESC: (144, ("resType",)),
    cuda.CUDA_TEXTURE_DESC: (104, ("addressMode", "filterMode", "mipmapFilterMode")),
    cuda.CUDA_RESOURCE_VIEW_DESC: (112, ("format",)),
    cuda.CUmemAllocationProp: (32, ("type", "requestedHandleTypes")),
}


def copied(structure: T) -> T:
    """Return a copy of a structure; `Refusal` if an enumeration has no value that it may have."""
    made: Any = type(structure)()
    size, enumerations = _STRUCTURES[type(structure)]
    ctypes.memmove(made.getPtr(), structure.getPtr(), size)  # type: ignore[attr-defined]
    for field in enumerations:
        enum_field(made, field)
    return made  # type: ignore[no-any-return]
