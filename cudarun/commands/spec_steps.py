"""The steps of a case: ``[[launch.step]]``, a table for each launch of a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from cudarun.base.errors import RequestError
from cudarun.commands.declaration import Option
from cudarun.commands.spec_text import STEPS

Table: TypeAlias = dict[str, tuple[str, object]]
"""Keys as written, and their values, by the key with ``_``."""

_ARGUMENTS = "args"
_IMAGE = "image"
_AFTER_LAST = ("check", "expect", "print", "show", "save", "let")
"""Keys of a case that are those of its last step."""


def normalized(table: Mapping[str, object]) -> Table:
    """Return a table by the normal form of its keys."""
    return {key.replace("-", "_"): (key, value) for key, value in table.items()}


def step_tables(
    entries: Table, options: Mapping[str, Option], place: Callable[[int, str], str]
) -> list[Table]:
    """Return a table for each step of a case, with the keys of the case that concern it.

    A key of the case is that of every step that does not have it, the keys of results that of the
    last one; a step without an image has that of the step before it.

    Args:
        entries: The case.
        options: The options of a case, by name.
        place: Returns the place of a key of a step.

    Returns:
        The case itself if it has no steps.

    Raises:
        RequestError: The steps are no tables, or have a key of the whole case.
    """
    if STEPS not in entries:
        return [entries]
    steps = entries[STEPS][1]
    if not isinstance(steps, list) or not steps or not all(isinstance(s, dict) for s in steps):
        raise RequestError(f"the steps of a case are [[launch.{STEPS}]] tables")
    if _ARGUMENTS in entries:
        raise RequestError(
            f"{_ARGUMENTS} belongs to a step: the case has [[launch.{STEPS}]] tables"
        )
    common = {key: entry for key, entry in entries.items() if key != STEPS}
    tables: list[Table] = []
    for number, step in enumerate(steps):
        own = normalized(step)
        for normal, (key, _) in own.items():
            if normal not in (_IMAGE, _ARGUMENTS) and _is_of_whole(normal, options):
                raise RequestError(f"{key} is a key of the whole case, not of a step").of(
                    place=place(number, key)
                )
        is_last = number == len(steps) - 1
        inherited = {
            key: entry for key, entry in common.items() if is_last or key not in _AFTER_LAST
        }
        if tables and _IMAGE in tables[-1]:
            inherited[_IMAGE] = tables[-1][_IMAGE]
        tables.append(inherited | own)
    return tables


def _is_of_whole(normal: str, options: Mapping[str, Option]) -> bool:
    """Return whether a key is known and is not one of a step."""
    option = options.get(normal.replace("_", "-"))
    return not option.of_step if option is not None else normal in _CASE


_CASE = ("name", "requires", "skip", "expect_error", "matrix", "defaults")
