"""``--show``: a buffer summarized for display in a terminal."""

from __future__ import annotations

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import StructType, innermost
from cudarun.base.errors import RequestError
from cudarun.model.figures import Figure
from cudarun.session.launch.pictures import brightness, is_image
from cudarun.session.launch.step_request import Show

_BINS = 16
_COLUMNS = 80  # of an image
_PLOT_COLUMNS = 68  # fits beside the labels on a narrow terminal
_IMAGE_ROWS = 80  # two rows per line of text


def check_showable(show: Show, spec: BufferSpec) -> None:
    """Refuse, before the launch, a form in which a buffer cannot be shown.

    Raises:
        RequestError: The buffer holds structs, is not an image, or is empty.
    """
    if isinstance(innermost(spec.type), StructType):
        raise RequestError(f"{spec.name} is {spec}: structs cannot be plotted", option="--show")
    if show.kind == "image" and not is_image(spec):
        raise RequestError(
            f"{spec.name} is {spec}, which is not an image",
            hint="an image has rows × columns of numbers or of vectors of 2 to 4, such as "
            "uchar4[h,w]",
            option="--show",
        )
    if spec.nbytes == 0:
        raise RequestError(f"{spec.name} is {spec}: it has no elements to plot", option="--show")


def figure(show: Show, data: Array) -> Figure:
    """Return the figure of a buffer's contents; a plot is over the elements in memory order."""
    if show.kind == "image":
        return Figure(show.name, "image", 0.0, 255.0, 0, _image(data))
    numbers = data.reshape(-1).astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    left_out = numbers.size - finite.size
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    series = _histogram(finite, low, high) if show.kind == "hist" else _plot(numbers)
    return Figure(show.name, show.kind, low, high, left_out, series)


def _histogram(numbers: Array, low: float, high: float) -> tuple[int, ...]:
    """Count the numbers in each of the equal intervals from the smallest to the largest."""
    counts, _ = np.histogram(numbers, bins=_BINS if high > low else 1, range=(low, high))
    return tuple(counts.tolist())


def _plot(numbers: Array) -> tuple[tuple[float, float] | None, ...]:
    """Return the smallest and the largest number of each column; ``None`` without finite ones."""
    columns = np.array_split(numbers, min(_PLOT_COLUMNS, numbers.size))
    return tuple(_extremes(column[np.isfinite(column)]) for column in columns)


def _extremes(numbers: Array) -> tuple[float, float] | None:
    return (float(numbers.min()), float(numbers.max())) if numbers.size else None


def _image(data: Array) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return rows of pixels ``(red, green, blue)``; a large image by its nearest pixels."""
    pixels = brightness(data)
    pixels = pixels[..., : 3 if pixels.shape[2] > 2 else 1]  # without alpha
    height, width, channels = pixels.shape
    step = max(width / _COLUMNS, height / _IMAGE_ROWS, 1.0)
    rows = (np.arange(int(height / step)) * step).astype(int)
    columns = (np.arange(int(width / step)) * step).astype(int)
    small = pixels[rows][:, columns]
    return tuple(tuple(tuple(pixel) * (3 // channels) for pixel in row) for row in small.tolist())
