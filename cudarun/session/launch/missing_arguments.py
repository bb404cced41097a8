"""The complete command that the error for missing arguments suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.arguments.parameter_table import Suggest
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.values import Argument
from cudarun.session.image.image import Image
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep

if TYPE_CHECKING:
    from cudarun.arguments.expressions.parser import Expression
    from cudarun.images.parameters import Parameter


def complete_command(
    step: LaunchStep,
    image: Image,
    names: Callable[[], Sequence[str]],
    name: str,
    parameters: Sequence[Parameter],
    device: str = "0",
) -> Suggest | None:
    """Return a function that suggests a complete command; ``None`` in a spec."""
    if step.directory != Path():  # paths on the command line have another base
        return None

    def suggest(arguments: Sequence[Argument | None]) -> str:
        from cudarun.session.image.suggestion import (  # only this error needs it
            GivenWords,
            Suggestions,
            device_words,
            image_words,
        )

        geometry = _geometry_words(step.geometry)
        given = GivenWords(
            step.kernel,
            (*image_words(step.image), *device_words(device), *geometry),
            bool(geometry),
            tuple(
                None if each is None else each.whole or each.text or str(each) for each in arguments
            ),
            tuple(_integers(arguments)),
        )
        suggestions = Suggestions(image, step.image.origin)
        return suggestions.command(name, parameters, names(), given)

    return suggest


def _integers(arguments: Sequence[Argument | None]) -> list[int]:
    found = []
    for argument in arguments:
        match argument.value if argument else None:
            case Scalar(type, _) as scalar if type.is_integer and type.size >= 4:
                found.append(int(scalar.value))
            case UntypedNumber(text) if text.isdecimal():
                found.append(int(text))
    return found


def _geometry_words(geometry: GeometryRequest) -> tuple[str, ...]:
    """Return the options of the requested geometry; nothing without one."""
    extents: dict[str, Sequence[Expression] | None] = {
        "--threads": geometry.threads,
        "--grid": geometry.grid,
        "--block": geometry.block,
        "--cluster": geometry.cluster,
        "--smem": None if geometry.shared_bytes is None else (geometry.shared_bytes,),
    }
    if not (geometry.threads or geometry.grid or geometry.block):
        return ()
    given = {name: extent for name, extent in extents.items() if extent is not None}
    words = [
        word
        for name, extent in given.items()
        for word in (name, ",".join(each.text for each in extent))
    ]
    return (*words, "--cooperative") if geometry.cooperative else tuple(words)
