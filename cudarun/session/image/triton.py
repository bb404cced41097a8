"""Kernels from Triton's cache: the launch parameters in the ``.json`` beside an image.

``softmax.json`` beside ``softmax.cubin`` and ``softmax.ptx`` has the kernel's name, the warps of a
program, its shared memory and the blocks of its cluster. The kernel's own parameters, the arguments
that are not ``constexpr``, are followed by pointers to scratch memory. Their number depends on
Triton's version, so they are counted. Triton's grid counts programs, each of ``num_ctas`` blocks.
The reference is the launcher in Triton 3.6 (``backends/nvidia/driver.py``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.errors import RequestError
from cudarun.records import dataclass
from cudarun.session.image.image import Image

if TYPE_CHECKING:
    from cudarun.arguments.expressions import Expression
    from cudarun.arguments.grammar import Argument

_SCRATCH = ("global_scratch", "profile_scratch")
_WARP = 32
_MOST_WARPS = 32  # of a block
_INT_MAX = (1 << 31) - 1
_LARGEST = 1 << 20  # bytes of a file
_KEYS = {"name", "num_warps", "shared"}  # by which Triton's files are known


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """Triton's launch parameters of a kernel.

    Attributes:
        name: The kernel's name.
        warps: The warps of a block.
        shared_bytes: The dynamic shared memory of a block.
        blocks: The blocks of a program; several form a cluster.
        cooperative: Whether the grid synchronizes.
        scratch_bytes: The size of each kind of scratch memory per block, in the order of the
            parameters.
    """

    name: str
    warps: int
    shared_bytes: int
    blocks: int
    cooperative: bool
    scratch_bytes: tuple[int, ...]

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

    def with_scratch(
        self, arguments: Sequence[Argument], parameters: int, grid: Sequence[Expression]
    ) -> tuple[Argument, ...]:
        """Return the kernel's own arguments, followed by those for scratch memory.

        Args:
            arguments: The given arguments, complete if there are as many as parameters.
            parameters: The number of the kernel's parameters.
            grid: The grid in blocks.
        """
        from cudarun.arguments.grammar import parse_argument

        blocks = [f"({each})" for each in grid]
        wanted = min(parameters - len(arguments), len(self.scratch_bytes))
        is_named = any(argument.name for argument in arguments)
        values = [
            (name, f"u8[{'*'.join((str(size), *blocks))}]:zeros" if size else "null")
            for name, size in zip(_SCRATCH, self.scratch_bytes, strict=False)
        ]
        texts = [f"{name}={value}" if is_named else value for name, value in values]
        return (*arguments, *map(parse_argument, texts[: max(wanted, 0)]))


def json_beside(origin: str) -> str:
    """Return the path of Triton's file for an image."""
    return f"{os.path.splitext(origin)[0]}.json"


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
            values.number(f"{name}_size") for name in _SCRATCH if f"{name}_size" in data
        ),
    )


class _Values:
    """The values of the file, checked.

    Args:
        file: The file, for errors.
        data: Its contents.
    """

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

    def _wrong(self, key: str, wanted: str) -> RequestError:
        return RequestError(f"{self._file}: {key!r} of the Triton kernel is not {wanted}")


def parameter_count(image: Image, kernel: str) -> int:
    """Return the number of a kernel's parameters, from its image.

    Raises:
        ImageRefused: The image cannot be read.
    """
    from cudarun.images.reader import read_image

    facts = image.facts or read_image(image.data, image.origin, whole=False)
    return next((len(k.parameters) for k in facts.kernels if k.name == kernel), 0)
