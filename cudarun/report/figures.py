"""``--show``: histograms, plots and images in characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import cast

from rich.console import Console
from rich.text import Text

from cudarun.model.launch import Columns, Counts, Figure, Pixels
from cudarun.report.console import print_line, print_unfolded

_BAR = 50
_PLOT_ROWS = 12
_SHADES = " .:-=+*#%@"
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}

Pixel = tuple[int, int, int]


def show_figure(figure: Figure, out: Console) -> None:
    """Print a figure under its name, and the number of elements that are not in it."""
    print_line(out, f"{figure.name}:")
    if figure.kind == "image":
        colored = out.color_system is not None and not out.no_color
        rows = cast(Pixels, figure.series)
        lines = _colored(rows) if colored else map(Text, _shaded(rows))
    elif figure.kind == "hist":
        lines = map(Text, _histogram(figure, cast(Counts, figure.series)))
    else:
        lines = map(Text, _plot(figure, cast(Columns, figure.series)))
    for line in lines:
        print_unfolded(out, line)
    if figure.not_finite:
        out.print(Text(f"{figure.not_finite} NaN or infinite elements"))


def _histogram(figure: Figure, counts: Counts) -> Iterator[str]:
    width = (figure.maximum - figure.minimum) / len(counts)
    labels = [f"{figure.minimum + i * width:.4g}" for i in range(len(counts))]
    margin = max(map(len, labels))
    digits = len(str(max(counts)))
    for label, count in zip(labels, counts, strict=True):
        bar = "█" * round(_BAR * count / max(*counts, 1))
        yield f"{label:>{margin}}  {count:>{digits}} {bar}".rstrip()
    yield f"{figure.maximum:>{margin}.4g}"


def _plot(figure: Figure, columns: Columns) -> Iterator[str]:
    """Yield the lines of a plot: each column from minimum to maximum, two steps to a line."""
    steps = 2 * _PLOT_ROWS
    scale = (steps - 1) / ((figure.maximum - figure.minimum) or 1)
    spans = [
        None if column is None else [round((value - figure.minimum) * scale) for value in column]
        for column in columns
    ]

    def covered(span: list[int] | None, step: int) -> bool:
        return span is not None and span[0] <= step <= span[1]

    labels = {0: f"{figure.maximum:.4g}", _PLOT_ROWS - 1: f"{figure.minimum:.4g}"}
    margin = max(map(len, labels.values()))
    for row in range(_PLOT_ROWS):
        upper, lower = steps - 1 - 2 * row, steps - 2 - 2 * row
        dots = "".join(_HALVES[covered(span, upper), covered(span, lower)] for span in spans)
        yield f"{labels.get(row, ''):>{margin}} {dots}".rstrip()


def _colored(rows: Sequence[Sequence[Pixel]]) -> Iterator[Text]:
    """Yield lines of half blocks: the upper row of pixels in front, the lower as background."""
    for upper, lower in zip_longest(rows[::2], rows[1::2]):
        line = Text()
        for i, above in enumerate(upper):
            ground = f" on {_hex(lower[i])}" if lower else ""
            line.append("▀", style=_hex(above) + ground)
        yield line


def _shaded(rows: Sequence[Sequence[Pixel]]) -> Iterator[str]:
    """Yield lines of characters by brightness, two rows of pixels to a line."""
    for upper, lower in zip_longest(rows[::2], rows[1::2]):
        below = lower or upper
        yield "".join(
            _SHADES[(sum(a) + sum(b)) * len(_SHADES) // (6 * 256)]
            for a, b in zip(upper, below, strict=True)
        ).rstrip()


def _hex(pixel: Pixel) -> str:
    return "#{:02x}{:02x}{:02x}".format(*pixel)
