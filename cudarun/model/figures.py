"""The figures of ``--show``."""

from __future__ import annotations

from typing import Literal, TypeAlias

from cudarun.base.records import dataclass

Counts: TypeAlias = tuple[int, ...]
Columns: TypeAlias = tuple[tuple[float, float] | None, ...]
Pixels: TypeAlias = tuple[tuple[tuple[int, int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A buffer reduced to what a terminal can show.

    Attributes:
        name: The buffer.
        kind: The kind of figure.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: The number of NaNs and infinities, which are left out.
        series: Of a histogram, the number of elements in each interval; of a plot, the smallest and
            the largest number of each column, or ``None``; of an image, rows of red, green and
            blue.
    """

    name: str
    kind: Literal["hist", "plot", "image"]
    minimum: float
    maximum: float
    not_finite: int
    series: Counts | Columns | Pixels
