"""The code of a recorded kernel: the entry that the GPU ran, and its PTX where there is one."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.base.records import dataclass
from cudarun.images.facts import ImageFacts
from cudarun.images.fatbin import best_entry, read_entries
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import read_image

_TRITON_CACHE = "~/.triton/cache"


@dataclass(frozen=True, slots=True)
class RecordedCode:
    """The code of a kernel.

    Attributes:
        image: The code that the GPU ran: a cubin, or the PTX that the driver compiled.
        ptx: The PTX, if the program has it.
    """

    image: bytes
    ptx: bytes | None

    @property
    def is_container(self) -> bool:
        """True if the image is a fatbin, because its entries could not be read."""
        return identify(self.image) is ImageKind.FATBIN


def recorded_code(data: bytes, architecture: int) -> RecordedCode:
    """Return the code in an image that a program loaded.

    Args:
        data: The image.
        architecture: 90 for sm_90.
    """
    kind = identify(data)
    if kind is ImageKind.PTX:
        return RecordedCode(data, data)
    if kind is not ImageKind.FATBIN:
        return RecordedCode(data, None)
    with suppress(ImageRefused):  # a compression that is not installed: the driver reads it
        entries = read_entries(data, "image")
        used = best_entry(architecture, entries)
        text = best_entry(architecture, entries, machine_code=False)
        if used is not None:
            ptx = None if text is None else text.content("image").rstrip(b"\0")
            image = ptx if used is text and ptx is not None else used.content("image")
            return RecordedCode(image, ptx)
    return RecordedCode(data, None)


def code_facts(code: RecordedCode) -> ImageFacts | None:
    """Return the kernels and variables of the code; ``None`` if it cannot be read."""
    with suppress(CudarunError):
        return read_image(code.image, "image", whole=False)
    return None


def triton_ptx(cubin: bytes, folder: str | None) -> bytes | None:
    """Return the PTX beside a cubin in a cache of Triton, by default the user's; or ``None``."""
    for path, size in _listed(folder or os.path.expanduser(_TRITON_CACHE)):
        with suppress(OSError):
            if size == len(cubin) and path.read_bytes() == cubin:
                return path.with_suffix(".ptx").read_bytes()
    return None


@lru_cache(maxsize=8)
def _listed(folder: str) -> tuple[tuple[Path, int], ...]:
    """List the cubins of a cache; it is called when the program has ended."""
    return tuple((path, path.stat().st_size) for path in sorted(Path(folder).glob("*/*.cubin")))
