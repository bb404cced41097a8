"""One golden case: a texture or a surface, an instruction, and its operands for each thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = range(2)
INTEGER, NORMALIZED, SRGB, FULL_TRILINEAR, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8

LAYERED_KINDS = ("a1d", "a2d", "acube")
CUBES = ("cube", "acube")


@dataclass(frozen=True, eq=False)
class Resource:
    """An array, a mipmapped array, or memory.

    Attributes:
        kind: The geometry: ``1d``, ``2d``, ``3d``, ``a1d``, ``a2d``, ``cube`` or ``acube``.
        levels: Texels by level: depth, rows, columns and channels.
        flags: Flags of the array, in addition to those that the geometry requires.
        format: ``CUarray_format``, if not the one of the texels' type.
        mipmapped: Create a mipmapped array even for one level.
        memory: ``linear`` or ``pitched`` memory in place of an array.
        block: Texels per row and per column of an element, if that is a block.
        packed: Channels per texel, if an element holds several in one number.
    """

    kind: str
    levels: tuple[Array, ...]
    flags: int = 0
    format: int | None = None
    mipmapped: bool = False
    memory: str = ""
    block: int = 1
    packed: int = 0

    def words(self) -> bytes:
        """Everything that determines the resource."""
        head = f"{self.kind} {self.flags} {self.format} {self.mipmapped} {self.memory}"
        head += f" {self.block} {self.packed}" if self.packed else ""
        return head.encode() + b"".join(
            f"{level.shape} {level.dtype.str} ".encode() + level.tobytes() for level in self.levels
        )


@dataclass(frozen=True)
class Sampling:
    """The fields of a ``CUDA_TEXTURE_DESC`` and of a ``CUDA_RESOURCE_VIEW_DESC``."""

    modes: tuple[int, int, int] = (CLAMP, CLAMP, CLAMP)
    filter: int = POINT
    between_levels: int = POINT
    flags: int = 0
    bias: float = 0.0
    least: float = 0.0
    most: float = 0.0
    anisotropy: int = 0
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    view: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """A fetch by an instruction from a texture, one per thread.

    Attributes:
        name: Unique among all cases.
        instruction: For example ``tex.level.a2d.v4.f32.f32``.
        resource: What is read.
        operands: 32-bit words, a row per thread.
        sampling: How it is read.
        more: Further operands: ``offset``, ``residency``, ``sampler``.
        sampler: The sampling of the object that is passed as sampler, if another one.
    """

    name: str
    instruction: str
    resource: Resource
    operands: Array
    sampling: Sampling = field(default_factory=Sampling)
    more: str = ""
    sampler: Sampling | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "operands", np.ascontiguousarray(self.operands))

    def words(self) -> bytes:
        """Everything that determines the case."""
        head = f"{self.name} {self.instruction} {self.sampling} {self.more} "
        head += f"{self.sampler} " if self.sampler is not None else ""
        return head.encode() + self.resource.words() + self.operands.tobytes()

    def with_sampling(self, name: str, **changes: Any) -> Case:
        """The same case, sampled otherwise."""
        return replace(self, name=name, sampling=replace(self.sampling, **changes))


def words_of(*columns: npt.ArrayLike) -> Array:
    """Operands of all threads: columns of floats, or of integers, as words."""
    given = [np.asarray(column) for column in columns]
    count = max(len(column) if column.ndim else 1 for column in given)
    found = []
    for column in given:
        kind = np.float32 if column.dtype.kind == "f" else np.int64
        wide = np.broadcast_to(column.astype(kind), (count,))
        bits = wide.view(np.uint32) if kind is np.float32 and wide.strides[0] else None
        if bits is None:
            contiguous = np.ascontiguousarray(wide)
            bits = (
                contiguous.view(np.uint32)
                if kind is np.float32
                else (contiguous & 0xFFFFFFFF).astype(np.uint32)
            )
        found.append(bits)
    return np.ascontiguousarray(np.stack(found, axis=1))


def ramp(kind: str, sizes: Sequence[int], dtype: str = "f4") -> Array:
    """Texels that contain their position: channels column, row, slice, and a hash of all."""
    depth, rows, columns = sizes
    made = np.zeros((depth, rows, columns, 4), dtype)
    made[..., 0] = np.arange(columns)
    made[..., 1] = np.arange(rows)[:, None]
    made[..., 2] = np.arange(depth)[:, None, None]
    made[..., 3] = np.arange(made[..., 3].size).reshape(depth, rows, columns) * 37 % 1009
    return made
