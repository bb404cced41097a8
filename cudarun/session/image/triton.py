"""Kernels from Triton's cache: the launch parameters in the ``.json`` beside an image.

``softmax.json`` beside ``softmax.cubin`` and ``softmax.ptx`` has the kernel's name, the warps of a
program, its shared memory and the blocks of its cluster. Triton's grid counts programs, each of
``num_ctas`` blocks. :mod:`cudarun.session.image.triton_arguments` has the parameters. The reference
is the launcher in Triton 3.6 to 3.9 (``backends/nvidia/driver.py``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass, named
from cudarun.session.image.image import Image

if TYPE_CHECKING:
    from cudarun.arguments.expressions.syntax import Expression

SCRATCH = ("global_scratch", "profile_scratch")
"""The parameters for scratch memory, after all others."""

NAME_SUFFIXES = (".ttir", ".source")  # the files that have the names of parameters

# Triton numbers the data types of a map as a kernel does, not as CUtensorMapDataType.
_TYPES = ("u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f32_ftz", "f64", "bf16")
_SWIZZLES = ("none", "32B", "64B", "128B")
_WARP = 32
_MOST_WARPS = 32  # of a block
_INT_MAX = (1 << 31) - 1
_MOST_RANKS = 5
_MOST_SIDE = 256
_LARGEST = 1 << 20  # bytes of a file
_KEYS = {"name", "num_warps", "shared"}  # by which Triton's files are known


@dataclass(frozen=True, slots=True)
class TritonDescriptor:
    """A tensor descriptor of the host, as the kernel requires it."""

    block: Annotated[
        tuple[Annotated[int, range(1, _MOST_SIDE + 1)], ...], range(1, _MOST_RANKS + 1)
    ] = field(metadata=named("block_size"))
    element: Annotated[int, range(len(_TYPES))] = field(metadata=named("elem_type"))
    pattern: Annotated[int, range(len(_SWIZZLES))] = field(metadata=named("swizzle"))
    is_im2col: bool = False
    fp4_padded: bool = False

    @property
    def type(self) -> str:
        """The type of its elements."""
        return _TYPES[self.element]

    @property
    def swizzle(self) -> str:
        """The swizzle mode, as that of a tensor map."""
        return _SWIZZLES[self.pattern]


_Bytes = Annotated[int, range(_INT_MAX + 1)]


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """Triton's launch parameters of a kernel: its file, without what is not used."""

    name: Annotated[str, bool]
    warps: Annotated[int, range(1, _MOST_WARPS + 1)] = field(metadata=named("num_warps"))
    # The dynamic shared memory of a block.
    shared_bytes: _Bytes = field(metadata=named("shared"))
    # The blocks of a program; several form a cluster.
    blocks: Annotated[int, range(1, _INT_MAX + 1)] = field(default=1, metadata=named("num_ctas"))
    # Whether the grid synchronizes.
    cooperative: bool = field(default=False, metadata=named("launch_cooperative_grid"))
    # Whether the launch may overlap with the kernel before it.
    programmatic: bool = field(default=False, metadata=named("launch_pdl"))
    global_scratch_size: _Bytes = -1
    profile_scratch_size: _Bytes = -1
    tensordesc_meta: tuple[TritonDescriptor, ...] | None = None
    # The types of all arguments by name, if the file has them: ``constexpr`` for those that are
    # compiled into the kernel.
    signature: dict[str, object] | None = None
    constants: dict[str, object] | None = None

    @property
    def scratch_bytes(self) -> tuple[int, ...]:
        """The size of each kind of scratch memory per block, in the order of the parameters."""
        sizes = self.global_scratch_size, self.profile_scratch_size
        return tuple(size for size in sizes if size >= 0)

    @property
    def descriptors(self) -> tuple[TritonDescriptor, ...]:
        """The arguments that are tensor descriptors of the host, in order."""
        return self.tensordesc_meta or ()

    @property
    def numbers(self) -> dict[str, int | float]:
        """The values that are compiled into the kernel, as far as the file has them.

        Others, such as types, are not values of expressions.
        """
        constants = (self.constants or {}).items()
        return {name: value for name, value in constants if isinstance(value, int | float)}

    @property
    def options(self) -> dict[str, str | bool | None]:
        """The options of ``launch`` that the kernel needs, without dashes."""
        return {
            "block": str(_WARP * self.warps),
            "smem": str(self.shared_bytes),
            "cooperative": self.cooperative,
            "cluster": str(self.blocks) if self.blocks > 1 else None,
        }

    def grid(self, programs: Sequence[Expression]) -> tuple[Expression, ...]:
        """Convert a grid in programs to blocks."""
        from cudarun.arguments.dimensions import parse_count

        x, *others = programs
        return (x if self.blocks == 1 else parse_count(f"({x})*{self.blocks}"), *others)


def files_beside(origin: str) -> list[str]:
    """Return the paths of all files of Triton's for an image, whether they exist or not."""
    stem = os.path.splitext(origin)[0]
    return [f"{stem}{suffix}" for suffix in (".json", *NAME_SUFFIXES)]


def read_triton(image: Image) -> TritonKernel | None:
    """Read the file beside an image; ``None`` without one, or if it is not Triton's."""
    beside, *_ = files_beside(image.origin)
    if not os.path.isfile(beside) or os.path.getsize(beside) > _LARGEST:
        return None
    from cudarun.base.decoding import InvalidDocument, decode, parse  # only if there is such a file

    try:
        data = parse(Path(beside).read_bytes())
    except (OSError, InvalidDocument):
        return None
    if not isinstance(data, dict) or not data.keys() >= _KEYS:
        return None
    try:
        found = decode(TritonKernel, data)
    except InvalidDocument as error:
        what = f"{beside} is not a valid document of a Triton kernel: {error}"
        raise RequestError(what) from None
    for name, type_ in (found.signature or {}).items():
        if not isinstance(type_, str):
            raise RequestError(f"{beside}: tuples as arguments are not implemented: {name}")
    for each in found.descriptors:
        for name in ("is_im2col", "fp4_padded"):
            if getattr(each, name):
                raise RequestError(
                    f"{beside}: descriptors with {name} are not implemented",
                    hint="pass all parameters of the kernel, with tensormap(…)",
                )
    return found
