"""``--write-spec``: the command as given, appended to a spec file as one more case."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cudarun.commands.declaration import CaseForm
from cudarun.commands.spec_file import OPTIONS
from cudarun.errors import RequestError
from cudarun.writing import whole_file

_GIVEN = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}


def append_case(path: str, context: click.Context) -> str:
    """Append the launch that a command line asks for; return the name of the new case.

    Args:
        path: The spec; it is made where there is none.
        context: Of the command ``launch``, with all its parameters.

    Raises:
        RequestError: The file cannot be read or written, or is no spec.
    """
    folder = Path(path).parent
    image, arguments = context.params["image"], context.params["arguments"]
    if image == "-":
        raise RequestError("an image from stdin has no name to write down", option="--write-spec")
    before = _text(path)
    name = _free_name(context.params["kernel"] or Path(image).stem, _names(path, before))
    entries: list[tuple[str, Any]] = [("name", name), ("image", _from(folder, image))]
    for key, option in OPTIONS.items():
        if option.name is not None and context.get_parameter_source(option.name) in _GIVEN:
            entries.append((key, _as_toml(option.form, context.params[option.name], folder)))
    if arguments:
        entries.append(("args", [_moved(each, folder) for each in arguments]))
    text = "".join(f"{key} = {_literal(value)}\n" for key, value in entries)
    try:
        data = f"{before}{os.linesep if before else ''}[[launch]]\n{text}".encode()
    except UnicodeEncodeError:
        raise RequestError("a name in the command is not UTF-8", option="--write-spec") from None
    with whole_file("--write-spec", path) as file:
        file.write(data)
    return name


def _text(path: str) -> str:
    """What is there already."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}", option="--write-spec") from error
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is no spec: {error}", option="--write-spec") from error


def _names(path: str, text: str) -> set[str]:
    """The names of the cases in a spec."""
    try:
        document = tomllib.loads(text)
        return {table["name"] for table in document.get("launch", []) if "name" in table}
    except (ValueError, TypeError, AttributeError) as error:
        raise RequestError(f"{path} is no spec: {error}", option="--write-spec") from error


def _free_name(stem: str, taken: set[str]) -> str:
    numbered = (stem if number == 1 else f"{stem}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in numbered if name not in taken)


def _from(folder: Path, path: str) -> str:
    """A path that was relative to the working directory, relative to the spec's folder."""
    if os.path.isabs(path) or path.startswith("~") or folder == Path():
        return path
    return os.path.relpath(path, folder)


def _as_toml(form: CaseForm | None, value: Any, folder: Path) -> Any:
    """The value of an option in TOML."""
    match form:
        case CaseForm.NAMED_PATHS:
            pairs = (text.partition("=") for text in value)
            return [f"{name}={_from(folder, path)}" for name, _, path in pairs]
        case CaseForm.PATHS:
            return [_from(folder, path) for path in value]
        case CaseForm.NAMED_SIZES:
            return [f"{name}={size}" for name, size in value]
        case CaseForm.WORDS:
            return ",".join(value)
        case CaseForm.EXPRESSIONS:
            return [_with_paths_moved(text, folder) for text in value]
        case CaseForm.EXTENT:
            return _trimmed(value)
        case CaseForm.TEXTS:
            return [*value]
    return value if isinstance(value, int | float | str) else str(value)


def _trimmed(extent: Iterable[int]) -> list[int]:
    """An extent without the ones at its end."""
    numbers = [*extent]
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return numbers


def _moved(text: str, folder: Path) -> str:
    """An argument with the paths in it moved to the spec's folder; as written if there are none."""
    from cudarun.arguments.files import relocated
    from cudarun.arguments.grammar import parse_argument

    argument = parse_argument(text)
    moved = relocated(argument, lambda path: _from(folder, path))
    return text if moved == argument else str(moved)


def _with_paths_moved(text: str, folder: Path) -> str:
    """An expression with the paths in ``load(…)`` moved to the spec's folder."""
    from cudarun.arguments.expressions import parse_expression

    for path in parse_expression(text).files:
        for quote in "\"'":
            text = text.replace(f"{quote}{path}{quote}", f"{quote}{_from(folder, path)}{quote}")
    return text


def _literal(value: Any) -> str:
    """A value in TOML, of which JSON's texts, numbers, truths and lists are a part."""
    return json.dumps(value, ensure_ascii=False)
