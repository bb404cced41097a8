"""``--write-spec``: the command line appended to a spec file as a case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse, OutputFile, is_special, whole_file
from cudarun.base.options import REPEATED, CaseForm
from cudarun.base.toml_text import spec_lines
from cudarun.commands.declaration import Option
from cudarun.commands.files import moved_argument, relocated_path, with_paths
from cudarun.commands.inputs import read_text
from cudarun.commands.spec_keys import OPTIONS
from cudarun.commands.spec_text import CASES, DEFAULTS, SpecText
from cudarun.commands.spec_text import STEPS as SPEC_STEPS
from cudarun.commands.steps import STEPS
from cudarun.session.launch.request import Program

_GIVEN = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}


def append_case(path: str, context: click.Context, request: Program) -> str:
    """Append the launch of a command line to a spec; return the name of the new case.

    Args:
        path: The spec, which is created if necessary.
        context: The context of the command ``launch``, with all its parameters.
        request: The launch, which has the drawn seed.
    """
    folder = Path(path).parent
    image, later = context.params["image"], context.params[STEPS]
    if image == "-":
        raise RequestError(
            "an image from stdin has no file name for the spec", option="--write-spec"
        )
    before = ""  # of a device or a pipe
    if os.path.lexists(path) and not is_special(path):
        before = read_text(path, "--write-spec")
    try:
        spec = SpecText(path, before)
    except RequestError as error:
        raise RequestError(f"{path} is not a spec: {error}", option="--write-spec") from error
    if not spec.is_extensible:
        raise RequestError(
            f"{path}: TOML cannot extend {CASES} = […]",
            hint=f"convert its cases to [[{CASES}]] tables",
            option="--write-spec",
        )
    names = (table.entries["name"].value for table in spec.tables if "name" in table.entries)
    taken = {name for name in names if isinstance(name, str)}
    stem = context.params["kernel"] or Path(image).stem
    numbered = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    name = next(each for each in numbered if each not in taken)
    entries: list[tuple[str, object]] = [
        ("name", name),
        ("image", relocated_path(image, folder=folder)),
    ]
    for candidate in context.params["candidates"]:
        move = partial(relocated_path, folder=folder)
        entries.append(("candidate", with_paths(CaseForm.KERNEL, candidate, move)))
    if spec.defaults.entries:
        entries.append((DEFAULTS, False))
    if not later:  # one launch: all keys in the order of the options
        entries += _options(context, folder, OPTIONS)
        text = _lines([*_with_seed(entries, request), *_arguments(context, folder)])
    else:
        whole = {key: option for key, option in OPTIONS.items() if not option.of_step}
        entries += _options(context, folder, whole)
        text = _lines(_with_seed(entries, request))
        for step in (context, *later):
            image = step.params["step_image"]
            own = {key: option for key, option in OPTIONS.items() if option.of_step}
            given = [*_options(step, folder, own), *_arguments(step, folder)]
            if image is not None:
                given.insert(0, ("image", relocated_path(image, folder=folder)))
            text += f"\n[[{CASES}.{SPEC_STEPS}]]\n{_lines(given)}"
    try:
        empty_line = os.linesep if before.endswith("\n") else 2 * os.linesep
        data = f"{before}{before and empty_line}[[{CASES}]]\n{text}".encode()
    except UnicodeEncodeError:
        raise RequestError("a name in the command is not UTF-8", option="--write-spec") from None
    with whole_file(OutputFile("--write-spec", path, FileUse.APPENDED)) as file:
        file.write(data)
    return name


_Entries: TypeAlias = list[tuple[str, object]]


def _arguments(context: click.Context, folder: Path) -> _Entries:
    from cudarun.arguments.grammar import parse_argument

    move = partial(relocated_path, folder=folder)
    arguments = map(parse_argument, context.params["arguments"])
    moved = [moved_argument(each, move) for each in arguments]
    return [("args", moved)] if moved else []


def _options(context: click.Context, folder: Path, options: Mapping[str, Option]) -> _Entries:
    """Return those of the options that are given."""
    return [
        (key, toml_value(option.form, context.params[option.name], folder))
        for key, option in options.items()
        if option.name is not None and context.get_parameter_source(option.name) in _GIVEN
    ]


def _with_seed(entries: _Entries, request: Program) -> _Entries:
    """Return the entries with the seed of a launch with random numbers."""
    if not request.is_random:
        return entries
    return [entry for entry in entries if entry[0] != "seed"] + [("seed", request.options.seed)]


def _lines(entries: Iterable[tuple[str, object]]) -> str:
    return "".join(f"{line}\n" for line in spec_lines(entries))


def toml_value(form: CaseForm | None, value: Any, folder: Path) -> Any:
    """Convert the value of an option to its TOML form, with paths relative to a folder."""
    move = partial(relocated_path, folder=folder)
    match form:
        case CaseForm.KERNEL:
            return with_paths(form, value, move)
        case CaseForm.NAMED_SIZES:
            return [f"{name}={size}" for name, size in value]
        case CaseForm.WORDS:
            return ",".join(map(str, value))
        case CaseForm.EXTENT:
            return [_count(text) for text in value.split(",")] if "," in value else _count(value)
        case CaseForm.COUNT:
            return _count(value)
        case CaseForm.PAIRS if len(value) == 1:
            return [name.strip() for name in value[0].split(",")]
    if form in REPEATED:
        return [with_paths(form, text, move) for text in value]
    return value if isinstance(value, int | float | str) else str(value)


def _count(text: str) -> int | str:
    """Return a plain number as such, and an expression as it is."""
    return int(text) if text.isdecimal() else text
