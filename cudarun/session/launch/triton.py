"""Kernels from Triton's cache: what the ``.json`` beside an image says about launching it.

Beside ``softmax.cubin`` and ``softmax.ptx`` lies ``softmax.json`` with the kernel's name, the warps
of a program, its shared memory and the blocks of its cluster. After the kernel's own parameters,
which are the arguments that are no ``constexpr``, stand pointers to scratch memory; how many there
are depends on Triton's version, so they are counted. Triton's grid counts programs, each of them
``num_ctas`` blocks. As the launcher in Triton 3.6 (``backends/nvidia/driver.py``) has it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.records import dataclass
from cudarun.session.image.image import Image
from cudarun.session.load.request import Extent

if TYPE_CHECKING:
    from cudarun.arguments.grammar import Argument

_SCRATCH = ("global_scratch", "profile_scratch")
_WARP = 32


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """How Triton would launch a kernel.

    Attributes:
        name: The kernel's.
        warps: Of a block.
        shared_bytes: Dynamic shared memory of a block.
        blocks: Of a program; more than one are a cluster.
        cooperative: Whether the grid synchronises.
        scratch_bytes: What a block needs of each kind of scratch memory, in the order of the
            parameters.
    """

    name: str
    warps: int
    shared_bytes: int
    blocks: int
    cooperative: bool
    scratch_bytes: tuple[int, ...]

    @property
    def block(self) -> Extent:
        """Threads in a block."""
        return (_WARP * self.warps, 1, 1)

    @property
    def cluster(self) -> Extent | None:
        """Blocks in a cluster."""
        return (self.blocks, 1, 1) if self.blocks > 1 else None

    def grid(self, programs: Extent) -> Extent:
        """The grid in blocks, of one in programs."""
        x, y, z = programs
        return (x * self.blocks, y, z)

    def with_scratch(
        self, arguments: Sequence[Argument], parameters: int, grid: Extent
    ) -> tuple[Argument, ...]:
        """The kernel's own arguments, and after them those for scratch memory.

        Args:
            arguments: As given; complete already if there are as many as parameters.
            parameters: How many the kernel has.
            grid: In blocks.
        """
        from cudarun.arguments.grammar import parse_argument

        wanted = min(parameters - len(arguments), len(self.scratch_bytes))
        texts = [
            f"{name}=u8[{size * prod(grid)}]:zeros" if size else f"{name}=null"
            for name, size in zip(_SCRATCH, self.scratch_bytes, strict=False)
        ]
        return (*arguments, *map(parse_argument, texts[: max(wanted, 0)]))


def read_triton(image: Image) -> TritonKernel | None:
    """What lies beside an image; ``None`` where no file does, or one that is not Triton's."""
    beside = f"{os.path.splitext(image.origin)[0]}.json"
    if not os.path.isfile(beside):
        return None
    import json  # only where there is such a file

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
    """How many parameters a kernel has, by what its image holds.

    Raises:
        ImageRefused: The image cannot be read.
    """
    from cudarun.images.reader import read_image

    facts = image.facts or read_image(image.data, image.origin)
    return next((len(k.parameters) for k in facts.kernels if k.name == kernel), 0)
