"""The figures of ``--show``."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class Histogram:
    """``--show NAME=hist``: the numbers of a buffer, counted in equal intervals.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: The count of each interval.
    """

    kind: ClassVar[Literal["hist"]] = "hist"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """``--show NAME=plot``: the numbers of a buffer in memory order, in columns.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: The smallest and the largest number of each column; ``None`` where none is finite.
    """

    kind: ClassVar[Literal["plot"]] = "plot"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[tuple[float, float] | None, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """``--show NAME=image``: a buffer as an image.

    Attributes:
        name: The buffer's.
        minimum: The smallest finite number.
        maximum: The largest finite number.
        not_finite: How many NaNs and infinities are not in it.
        series: Rows of ``(red, green, blue)``, 0 to 255.
    """

    kind: ClassVar[Literal["image"]] = "image"

    name: str
    minimum: float
    maximum: float
    not_finite: int
    series: tuple[tuple[tuple[int, int, int], ...], ...]


Figure: TypeAlias = Histogram | Plot | Picture
"""``--show``: a buffer reduced to what a terminal can show."""
