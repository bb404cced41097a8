"""Versions and architectures: PTX versions per CUDA version, code compatibility per GPU."""

from __future__ import annotations

import re

from cudarun.base.records import dataclass

Version = tuple[int, int]

# PTX ISA manual, release notes: the newest PTX of each CUDA. CUDA 13.x has PTX 9.x.
_PTX_OF_CUDA: dict[Version, Version] = {
    (8, 0): (5, 0), (9, 0): (6, 0), (9, 1): (6, 1), (9, 2): (6, 2), (10, 0): (6, 3),
    (10, 1): (6, 4), (10, 2): (6, 5), (11, 0): (7, 0), (11, 1): (7, 1), (11, 2): (7, 2),
    (11, 3): (7, 3), (11, 4): (7, 4), (11, 5): (7, 5), (11, 6): (7, 6), (11, 7): (7, 7),
    (11, 8): (7, 8), (12, 0): (8, 0), (12, 1): (8, 1), (12, 2): (8, 2), (12, 3): (8, 3),
    (12, 4): (8, 4), (12, 5): (8, 5), (12, 6): (8, 5), (12, 7): (8, 6), (12, 8): (8, 7),
    (12, 9): (8, 8),
}  # fmt: skip
TEGRA = frozenset({53, 62, 72, 87})
"""Architectures of Tegra, whose machine code and that of other GPUs are not compatible."""
_CUDA_13 = 13
_PTX_9 = 9


def newest_ptx(cuda: Version) -> Version | None:
    """Return the newest PTX that a driver of this CUDA version accepts; ``None`` if unknown."""
    if cuda[0] == _CUDA_13:
        return _PTX_9, cuda[1]
    return _PTX_OF_CUDA.get(cuda)


def cuda_of_ptx(ptx: Version) -> Version | None:
    """Return the first CUDA version that accepts this PTX; ``None`` if unknown."""
    if ptx[0] == _PTX_9:
        return _CUDA_13, ptx[1]
    return next((cuda for cuda, newest in _PTX_OF_CUDA.items() if newest >= ptx), None)


_TARGET = re.compile(r"(?P<family>sm|compute)_(?P<number>\d{1,9})(?P<suffix>[af]?)")


@dataclass(frozen=True, slots=True)
class Architecture:
    """The target of code: ``sm_90a`` is machine code, ``compute_90`` PTX or LTO-IR."""

    is_virtual: bool  # True for code that has yet to be compiled to machine code
    number: int  # 90, ten times the compute capability
    suffix: str = ""  # ``a`` for this architecture alone, ``f`` for its family, else empty

    def __str__(self) -> str:
        return f"{'compute' if self.is_virtual else 'sm'}_{self.number}{self.suffix}"

    def runs_on(self, device: int) -> bool:
        """Return whether a GPU of compute capability ``device / 10`` can run it (CUDA guide, 5.1).

        Machine code runs on GPUs of its own major version that are not older, except that Tegra
        runs only its own; PTX on all that are not older; with suffix ``a`` either on its own
        architecture, with ``f`` on its family.
        """
        if self.suffix == "a":
            return device == self.number
        if self.is_virtual and not self.suffix:
            return device >= self.number
        if not self.is_virtual and {device, self.number} & TEGRA:
            return device == self.number
        return device // 10 == self.number // 10 and device >= self.number


def parse_target(text: str) -> Architecture | None:
    """Parse ``sm_90a`` or ``compute_90``; return ``None`` for other texts."""
    match = _TARGET.fullmatch(text)
    if match is None:
        return None
    return Architecture(match["family"] == "compute", int(match["number"]), match["suffix"])
