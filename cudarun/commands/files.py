"""The files that options and arguments name, by the declarations of the options."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudarun.base.files import OutputFile
from cudarun.base.options import CaseForm
from cudarun.commands.declaration import Option, Values
from cudarun.session.image.image import STDIN, Image
from cudarun.session.image.triton import files_beside
from cudarun.session.launch.step_request import on_device

if TYPE_CHECKING:
    from cudarun.arguments.values import Argument
    from cudarun.session.driver.selection import Selector


_WITH_PATHS = frozenset(
    {
        *(CaseForm.PATHS, CaseForm.NAMED_PATHS, CaseForm.KERNEL, CaseForm.EXPECTATIONS),
        *(CaseForm.EXPRESSIONS, CaseForm.NAMED_EXPRESSIONS, CaseForm.SETTINGS),
    }
)
_QUOTED = re.compile(r"""(\bload\s*\(\s*)?(["'])((?:(?!\2)[^\\])*)\2""")
"""A string of an expression, which is a path after ``load(``."""


def output_files(
    parameters: Iterable[click.Parameter],
    values: Values,
    directory: Path = Path(),
    devices: Sequence[Selector] = (),
) -> list[OutputFile]:
    """Return the files that options write, those of the environment and of defaults included.

    Args:
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
        directory: The base of relative paths.
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
    from cudarun.session.compile.landlock import call_confined
    from cudarun.session.compile.source_texts import find_includes

    if image is None:
        return []
    paths = [] if image.origin == STDIN else [image.origin, *files_beside(image.origin)]
    if image.replaces_recorded is not None:
        paths.append(image.replaces_recorded)
    if identify(image.data) is ImageKind.CUDA_SOURCE:
        folder = None if image.compilation is None else image.compilation.confined_to
        find = partial(find_includes, image.code, image.origin, image.header_folders)
        paths += call_confined(find, folder)
    return paths


def option_paths(option: Option, value: Any) -> list[str]:
    """Return the paths in the value of an option."""
    has_paths = option.form in _WITH_PATHS
    if value is None or not (has_paths or option.file):
        return []
    texts = [value] if isinstance(value, str) else [*value]
    found: list[str] = []
    for text in texts if has_paths else ():
        with_paths(option.form, text, partial(_noted, found))
    return found if has_paths else texts


def _noted(found: list[str], path: str) -> str:
    found.append(path)
    return path


def with_paths(form: CaseForm | None, text: str, move: Callable[[str], str]) -> str:
    """Return a value of an option with ``move`` applied to every path in it."""
    from cudarun.arguments.expressions.statements import parse_check, parse_let
    from cudarun.arguments.grammar import parse_setting

    name, _, source = text.partition("=")
    match form:
        case CaseForm.PATHS:
            return move(text)
        case CaseForm.NAMED_PATHS:
            return f"{name}={move(source)}"
        case CaseForm.EXPECTATIONS if source.startswith("@"):
            return f"{name}=@{move(source[1:])}"
        case CaseForm.EXPECTATIONS:
            path, _, function = source.rpartition(":")
            return f"{name}={move(path)}:{function}"
        case CaseForm.KERNEL:
            path, colon, kernel = text.partition(":")
            return f"{move(path) if path else path}{colon}{kernel}"
        case CaseForm.EXPRESSIONS | CaseForm.NAMED_EXPRESSIONS:
            parse = parse_check if form is CaseForm.EXPRESSIONS else parse_let
            parse(text)
            return _QUOTED.sub(lambda m: m[1] + m[2] + move(m[3]) + m[2] if m[1] else m[0], text)
        case CaseForm.SETTINGS:
            return moved_argument(parse_setting(text), move)
    return text


def moved_argument(argument: Argument, move: Callable[[str], str]) -> str:
    """Return the text of an argument with ``move`` applied to its paths; unchanged without any."""
    from cudarun.arguments.files import relocated

    moved = relocated(argument, move)
    return argument.text if moved == argument else str(moved)


def argument_paths(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the files of arguments."""
    from cudarun.arguments.files import files_of
    from cudarun.arguments.grammar import parse_arguments

    for argument in parse_arguments(arguments):
        yield from files_of(argument)


def relocated_path(path: str, *, folder: Path) -> str:
    """Return a path that was relative to the working directory relative to a folder."""
    if os.path.isabs(path) or path.startswith("~") or folder == Path():
        return path
    return os.path.relpath(path or os.curdir, folder)
