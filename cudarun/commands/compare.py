"""``cudarun compare``: the times of two JSON documents, case by case."""

from __future__ import annotations

from typing import Any

import click

from cudarun.base.decoding import InvalidDocument, parse
from cudarun.base.errors import RequestError
from cudarun.commands import completion
from cudarun.commands.help import Command
from cudarun.commands.inputs import read_text
from cudarun.commands.options import output_options
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish

THRESHOLD = 0.05
MAX_DOCUMENT = 256 << 20  # the largest document: of a fleet of thousands of GPUs


def _part(text: str | float) -> float:
    """Parse a part of 1 such as ``0.05`` or ``5%``."""
    if not isinstance(text, str):
        return text
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise click.BadParameter(f"'{text}' is not a number or a percentage") from None
    if not 0 <= number < 1e6:
        raise click.BadParameter(f"'{text}' is not a nonnegative number or percentage")
    return number


@click.command("compare", cls=Command)
@click.argument("old", shell_complete=completion.files)
@click.argument("new", shell_complete=completion.files)
@click.option(
    "--threshold",
    type=_part,
    metavar="PART",
    default=THRESHOLD,
    help="Smallest change of a time that counts, such as 0.05 or 5%.  [default: 5%]",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "markdown"]),
    default="table",
    show_default=True,
    help="A table for a terminal, or one in Markdown.",
)
@output_options
def command(old: str, new: str, threshold: float, **values: Any) -> int:
    """Compare the times of two JSON documents case by case, and fail if a case is slower.

    OLD and NEW are written by launch --repeat, launch --spec or fleet with --json: of two
    versions of a kernel, two compilers, two drivers, two GPUs, two fleets. The test is a rank test
    (Mann-Whitney) with 95 % intervals; exit code 1 if a case is significantly slower by more than
    the threshold.

    \b
    cudarun launch --spec cases.toml --json > old.json
    cudarun compare old.json new.json --threshold 3%
    cudarun compare old.json new.json --format markdown
    """
    renderer = chosen_renderer()
    # Imported here: --help needs no numpy.
    from cudarun.comparison.timings import compare_timings, timings_of, unpaired
    from cudarun.model.compare import ComparisonReport, MissingCase

    found = []
    for path in (old, new):
        try:
            document = parse(read_text(path, "OLD and NEW", MAX_DOCUMENT))
        except InvalidDocument:
            raise RequestError(f"{path} is not a JSON document") from None
        found.append(timings_of(document, path))
    before, after = found
    cases = compare_timings(before, after, threshold)
    if not cases:
        raise RequestError(f"{old} and {new} have no case in common")
    missing = [MissingCase(name, old) for name in unpaired(before, cases)]
    missing += [MissingCase(name, new) for name in unpaired(after, cases)]
    return finish(ComparisonReport(old, new, threshold, tuple(cases), tuple(missing)), renderer)
