"""The files that options and arguments name, by the declarations of the options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudarun.base.files import OutputFile
from cudarun.base.options import CaseForm
from cudarun.commands.declaration import Option, Values
from cudarun.session.image.image import STDIN
from cudarun.session.image.triton import files_beside
from cudarun.session.launch.step_request import on_device

if TYPE_CHECKING:
    from cudarun.session.driver.selection import Selector
    from cudarun.session.image.image import Image


def output_files(
    parameters: Iterable[click.Parameter],
    values: Values,
    directory: Path = Path(),
    devices: Sequence[Selector] = (),
) -> list[OutputFile]:
    """Return the files that options write, those of the environment and of defaults included.

    Args:
        parameters: The parameters of a command.
        values: Their values.
        directory: The base of relative paths.
        devices: The devices, whose labels replace ``{device}``.
    """
    return [
        OutputFile(
            option.opts[-1], os.fspath(directory / place), option.file, values.get("force", False)
        )
        for option in parameters
        if isinstance(option, Option) and option.file is not None and option.file.is_output
        for path in option_paths(option, values[option.name or ""])
        for place in dict.fromkeys(on_device(path, str(each)) for each in devices or ("",))
    ]


def input_files(
    parameters: Iterable[click.Parameter], values: Values, directory: Path = Path()
) -> list[str]:
    """Return the files that options and arguments read, without those that images lead to.

    Args:
        parameters: The parameters of a command.
        values: Their values.
        directory: The base of relative paths.

    Raises:
        RequestError: A value does not parse.
    """
    from cudarun.arguments.files import locate

    paths = [
        path
        for option in parameters
        if isinstance(option, Option) and not (option.file is not None and option.file.is_output)
        for path in option_paths(option, values.get(option.name or ""))
    ]
    paths += argument_paths(values.get("arguments", ()))
    return [os.fspath(locate(path, directory)) for path in paths]


def image_files(image: Image | None) -> list[str]:
    """Return the files of an image: its own, Triton's beside it, and headers of CUDA source."""
    from cudarun.images.kinds import ImageKind, identify
    from cudarun.session.compile.includes import find_includes
    from cudarun.session.compile.landlock import call_confined

    if image is None:
        return []
    paths = [] if image.origin == STDIN else [image.origin, *files_beside(image.origin)]
    if identify(image.data) is ImageKind.CUDA_SOURCE:
        folder = None if image.compilation is None else image.compilation.confined_to
        find = partial(find_includes, image.code, image.origin, image.header_folders)
        paths += call_confined(find, folder)
    return paths


def option_paths(option: Option, value: Any) -> Iterator[str]:
    """Yield the paths in the value of an option."""
    texts = [] if value is None else [value] if isinstance(value, str) else value
    match option.form:
        case CaseForm.NAMED_PATHS:
            yield from (text.partition("=")[2] for text in texts)
        case CaseForm.EXPECTATIONS:
            yield from map(_expected, texts)
        case CaseForm.KERNEL:
            yield from filter(None, (text.partition(":")[0] for text in texts))
        case CaseForm.EXPRESSIONS:
            from cudarun.arguments.expressions.statements import parse_check

            for text in texts:
                yield from parse_check(text).expression.files
        case CaseForm.NAMED_EXPRESSIONS:
            from cudarun.arguments.expressions.statements import parse_let

            for text in texts:
                yield from parse_let(text).expression.files
        case CaseForm.SETTINGS:
            from cudarun.arguments.files import files_of
            from cudarun.arguments.grammar import parse_setting

            for text in texts:
                yield from files_of(parse_setting(text))
        case _ if option.file is not None:
            yield from texts


def argument_paths(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the files of arguments.

    Raises:
        RequestError: An argument does not parse.
    """
    from cudarun.arguments.files import files_of
    from cudarun.arguments.grammar import parse_arguments

    for argument in parse_arguments(arguments):
        yield from files_of(argument)


def relocated_path(path: str, folder: Path) -> str:
    """Return a path that was relative to the working directory relative to a folder."""
    if os.path.isabs(path) or path.startswith("~") or folder == Path():
        return path
    return os.path.relpath(path, folder)


def _expected(text: str) -> str:
    """Return the path of ``NAME=@PATH`` or ``NAME=PATH:FUNCTION``."""
    source = text.partition("=")[2]
    return source[1:] if source.startswith("@") else source.rpartition(":")[0]
