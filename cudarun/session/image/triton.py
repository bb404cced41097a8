"""Kernels from Triton's cache: the launch parameters in the ``.json`` beside an image.

``softmax.json`` beside ``softmax.cubin`` and ``softmax.ptx`` has the kernel's name, the warps of a
program, its shared memory and the blocks of its cluster. Triton's grid counts programs, each of
``num_ctas`` blocks. :mod:`cudarun.session.image.triton_arguments` has the parameters. The reference
is the launcher in Triton 3.6 to 3.9 (``backends/nvidia/driver.py``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.session.image.image import Image

if TYPE_CHECKING:
    from cudarun.arguments.expressions.syntax import Expression

SCRATCH = ("global_scratch", "profile_scratch")
"""The parameters for scratch memory, after all others."""

NAME_SUFFIXES = (".ttir", ".source")
"""The files that have the names of parameters."""

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

    type: str
    block: tuple[int, ...]
    swizzle: str


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """Triton's launch parameters of a kernel.

    Attributes:
        name: The kernel's name.
        warps: The warps of a block.
        shared_bytes: The dynamic shared memory of a block.
        blocks: The blocks of a program; several form a cluster.
        cooperative: Whether the grid synchronizes.
        programmatic: Whether the launch may overlap with the kernel before it.
        scratch_bytes: The size of each kind of scratch memory per block, in the order of the
            parameters.
        descriptors: The arguments that are tensor descriptors of the host, in order.
        signature: The types of all arguments by name, if the file has them: ``constexpr`` for those
            that are compiled into the kernel.
        constants: The values that are compiled into the kernel, as far as the file has them.
    """

    name: str
    warps: int
    shared_bytes: int
    blocks: int
    cooperative: bool
    scratch_bytes: tuple[int, ...]
    programmatic: bool = False
    descriptors: tuple[TritonDescriptor, ...] = ()
    signature: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, int | float], ...] = ()

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


def json_beside(origin: str) -> str:
    """Return the path of Triton's file for an image."""
    return f"{os.path.splitext(origin)[0]}.json"


def files_beside(origin: str) -> list[str]:
    """Return the paths of all files of Triton's for an image, whether they exist or not."""
    stem = os.path.splitext(origin)[0]
    return [json_beside(origin), *(f"{stem}{suffix}" for suffix in NAME_SUFFIXES)]


def read_triton(image: Image) -> TritonKernel | None:
    """Read the file beside an image; ``None`` without one, or if it is not Triton's.

    Raises:
        RequestError: It is Triton's, and a value in it is not.
    """
    beside = json_beside(image.origin)
    try:
        if not os.path.isfile(beside) or os.path.getsize(beside) > _LARGEST:
            return None
        import json  # only if there is such a file

        data = json.loads(Path(beside).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not data.keys() >= _KEYS:
        return None
    values = _Values(beside, data)
    return TritonKernel(
        name=values.name("name"),
        warps=values.number("num_warps", least=1, most=_MOST_WARPS),
        shared_bytes=values.number("shared"),
        blocks=values.number("num_ctas", least=1, otherwise=1),
        cooperative=values.flag("launch_cooperative_grid"),
        scratch_bytes=tuple(
            values.number(f"{name}_size") for name in SCRATCH if f"{name}_size" in data
        ),
        programmatic=values.flag("launch_pdl"),
        descriptors=values.descriptors("tensordesc_meta"),
        signature=values.signature("signature"),
        constants=values.constants("constants"),
    )


class _Values:
    """The values of the file, checked."""

    def __init__(self, file: str, data: dict[str, object]) -> None:
        self._file = file
        self._data = data

    def name(self, key: str) -> str:
        value = self._data[key]
        if not isinstance(value, str) or not value:
            raise self._wrong(key, "a name")
        return value

    def number(
        self, key: str, *, least: int = 0, most: int = _INT_MAX, otherwise: int | None = None
    ) -> int:
        value = self._data.get(key, otherwise)
        if type(value) is not int or not least <= value <= most:
            raise self._wrong(key, f"an integer from {least} to {most}")
        return value

    def flag(self, key: str) -> bool:
        value = self._data.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def descriptors(self, key: str) -> tuple[TritonDescriptor, ...]:
        found = self._data.get(key) or []
        if not isinstance(found, list):
            raise self._wrong(key, "a list")
        return tuple(self._descriptor(key, each) for each in found)

    def _descriptor(self, key: str, data: object) -> TritonDescriptor:
        if not isinstance(data, dict):
            raise self._wrong(key, "a list of descriptors")
        for name in ("is_im2col", "fp4_padded"):
            if data.get(name):
                raise RequestError(
                    f"{self._file}: descriptors with {name} are not implemented",
                    hint="pass all parameters of the kernel, with tensormap(…)",
                )
        block = data.get("block_size")
        if not isinstance(block, list) or not 1 <= len(block) <= _MOST_RANKS:
            raise self._wrong(key, "a list of descriptors with 'block_size'")
        type_ = self._one_of(key, data, "elem_type", _TYPES)
        swizzle = self._one_of(key, data, "swizzle", _SWIZZLES)
        if any(type(each) is not int or not 1 <= each <= _MOST_SIDE for each in block):
            raise self._wrong(key, "a list of descriptors with 'block_size'")
        return TritonDescriptor(type_, tuple(block), swizzle)

    def _one_of(self, key: str, data: dict[str, object], name: str, values: Sequence[str]) -> str:
        number = data.get(name)
        if type(number) is not int or not 0 <= number < len(values):
            raise self._wrong(key, f"a list of descriptors with '{name}'")
        return values[number]

    def signature(self, key: str) -> tuple[tuple[str, str], ...]:
        found = self._data.get(key) or {}
        if not isinstance(found, dict):
            raise self._wrong(key, "a table")
        for name, type_ in found.items():
            if not isinstance(type_, str):
                raise RequestError(f"{self._file}: tuples as arguments are not implemented: {name}")
        return tuple(found.items())

    def constants(self, key: str) -> tuple[tuple[str, int | float], ...]:
        found = self._data.get(key) or {}
        if not isinstance(found, dict):
            raise self._wrong(key, "a table")
        numbers = (int, float)  # others, such as types, are not values of expressions
        return tuple((name, each) for name, each in found.items() if isinstance(each, numbers))

    def _wrong(self, key: str, wanted: str) -> RequestError:
        return RequestError(f"{self._file}: {key!r} of the Triton kernel is not {wanted}")
