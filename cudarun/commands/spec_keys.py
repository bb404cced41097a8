"""The keys of a case and of its steps: options of the command line, and keys of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.base.options import JOINED, OptionScope
from cudarun.commands.declaration import Option
from cudarun.commands.launch_options import engine_options, launch_options
from cudarun.commands.options import compile_options, target_options
from cudarun.commands.spec_matrix import MATRIX
from cudarun.commands.spec_text import DEFAULTS, STEPS, SpecEntry, TomlTable

OWN_KEYS = ("name", "image", "candidate", "args", "expect_error", "requires", "skip")
"""The keys that are not options. ``-`` and ``_`` are equivalent in all keys."""
_CODE = ("image", "candidate")
"""Those of them that name the code; a step without one has that of the step before it."""
_OF_STEP = (*_CODE, "args")  # those of them that a step can have
_AFTER_LAST = ("check", "expect", "print", "show", "save", "let")
"""Keys of a case that are those of its last step."""


@click.command("launch")
@click.argument("image")
@click.argument("arguments", nargs=-1)
@launch_options
@compile_options
@target_options(default="0")
@engine_options
def case_command(**values: object) -> None:
    """Have the options of a case; the command is never called."""


case_command.params = [
    each
    for each in case_command.params
    if not isinstance(each, Option) or (each.expose_value and each.scope is not OptionScope.SINGLE)
]

OPTIONS = {
    option.opts[-1].removeprefix("--"): option
    for option in case_command.params
    if isinstance(option, Option) and option.form is not None
}
"""The options of a case, by name: those of the run have the values of the command line."""


def check_own(key: str, value: object) -> None:
    """Check the type of a key that is not an option, if the key is present."""
    match key, value:
        case _, None:
            return
        case "name" | "image" | "candidate", str() if value:
            return
        case "args", list() if all(isinstance(each, str) for each in value):
            return
        case "requires", str() | list() if all(isinstance(each, str) for each in texts(value)):
            return
        case "expect_error", str() | int() if not isinstance(value, bool):
            return
        case "skip", str() | bool():
            return
    kinds = {
        "args": "a list of strings",
        "requires": "a string or a list of strings",
        "expect_error": "the name or number of an error",
        "skip": "true, or the reason as a string",
    }
    raise RequestError(f"{key} must be {kinds.get(key, 'a string')}")


def checked_value(key: str, value: object) -> object:
    """Return the value of a key; `RequestError` if no option accepts it."""
    option = OPTIONS.get(dashed(key))
    if option is None:
        raise unknown_key(key)
    if option.is_flag and not isinstance(value, bool):
        raise RequestError(f"{key} must be true or false")
    if not option.is_flag and not all(
        isinstance(each, str | int | float) and not isinstance(each, bool) for each in texts(value)
    ):
        raise RequestError(f"{key} must be a string or a number")
    if isinstance(value, list) and not option.multiple and option.form not in JOINED:
        raise RequestError(f"{key} must be a single value, not a list")
    return value


def texts(value: object) -> list[Any]:
    """Return a list as it is, and one value as a list."""
    return value if isinstance(value, list) else [value]


def unknown_key(key: str) -> RequestError:
    """Return the error about an unknown key, with a similar one."""
    if key == STEPS:  # of a table that is no case
        return _wrong_steps()
    from cudarun.arguments.scanner import did_you_mean

    return RequestError(
        f"unknown key '{key}'", hint=did_you_mean(dashed(key), [*OPTIONS, *OWN_KEYS, MATRIX, STEPS])
    )


def _wrong_steps() -> RequestError:
    return RequestError(f"the steps of a case are [[launch.{STEPS}]] tables")


def is_key(normal: str) -> bool:
    """Return whether a case can have a key, with ``_``."""
    return normal in (*OWN_KEYS, MATRIX) or dashed(normal) in OPTIONS


def dashed(key: str) -> str:
    """Return a key as an option is written, without the dashes before it."""
    return key.replace("_", "-")


def step_tables(case: TomlTable) -> list[TomlTable]:
    """Return a table for each step of a case, with the keys of the case that concern it.

    A key of the case is that of every step that does not have it, the keys of results that of the
    last one; a step without an image has that of the step before it.

    Returns:
        The case itself if it has no steps.

    Raises:
        RequestError: The steps are no tables, or have a key of the whole case.
    """
    if STEPS not in case.entries:
        return [case]
    _, steps, place = case.entries[STEPS]
    if not isinstance(steps, list) or not steps or not isinstance(steps[0], TomlTable):
        raise _wrong_steps().of(place=place)
    if "args" in case.entries:
        what = f"args belongs to a step: the case has [[launch.{STEPS}]] tables"
        raise RequestError(what).of(place=place)
    tables: list[TomlTable] = []
    for step in steps:
        for normal, entry in step.entries.items():
            option = OPTIONS.get(dashed(normal))
            is_own = normal in (*OWN_KEYS, MATRIX, DEFAULTS) and normal not in _OF_STEP
            if is_own if option is None else not option.of_step:
                what = f"{entry.key} is a key of the whole case, not of a step"
                raise RequestError(what).of(place=entry.place)
        skipped = (STEPS,) if step is steps[-1] else (STEPS, *_AFTER_LAST)
        inherited = {key: entry for key, entry in case.entries.items() if key not in skipped}
        if "image" in step.entries:
            inherited.pop("candidate", None)
        elif tables:
            before = tables[-1].entries
            inherited = {key: each for key, each in inherited.items() if key not in _CODE}
            inherited |= {key: before[key] for key in _CODE if key in before}
        tables.append(TomlTable(step.place, inherited | step.entries))
    return tables


def located(
    error: RequestError,
    name: object,
    table: TomlTable,
    normal: str | None,
    entries: Mapping[str, SpecEntry],
) -> RequestError:
    """Add to an error its case and the place of the key that it is about.

    Args:
        normal: The key, if it is known; else it follows from the error's text, option or file.
        entries: The entries of the table, with values of the matrix.
    """
    if normal is None:
        text = error.text if isinstance(error, ArgumentSyntaxError) else None
        options = {dashed(option).removeprefix("--") for option in error.subject("option")}
        found = (
            key
            for key, entry in entries.items()
            if dashed(key) in options or (text is not None and text in map(str, texts(entry.value)))
        )
        default = "image" if error.subject("origin") else None
        normal = next(found, default)
    if isinstance(name, str):
        error.of(case=name, shown=f"case '{name}'")
    return error.of(place=table.place_of(normal))
