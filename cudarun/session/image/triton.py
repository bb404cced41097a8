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

from cudarun.records import dataclass
from cudarun.session.image.image import Image

if TYPE_CHECKING:
    from cudarun.arguments.expressions import Expression
    from cudarun.arguments.grammar import Argument

_SCRATCH = ("global_scratch", "profile_scratch")
_WARP = 32


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
    """Read the file beside an image; ``None`` without one, or if it is not Triton's."""
    beside = json_beside(image.origin)
    if not os.path.isfile(beside):
        return None
    import json  # only if there is such a file

    try:
        data = json.loads(Path(beside).read_bytes())
        return TritonKernel(
            name=data["name"],
            warps=int(data["num_warps"]),
            shared_bytes=int(data["shared"]),
            blocks=int(data.get("num_ctas", 1)),
            cooperative=bool(data.get("launch_cooperative_grid", False)),
            scratch_bytes=tuple(int(data[f"{n}_size"]) for n in _SCRATCH if f"{n}_size" in data),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def parameter_count(image: Image, kernel: str) -> int:
    """Return the number of a kernel's parameters, from its image.

    Raises:
        ImageRefused: The image cannot be read.
    """
    from cudarun.images.reader import read_image

    facts = image.facts or read_image(image.data, image.origin)
    return next((len(k.parameters) for k in facts.kernels if k.name == kernel), 0)
