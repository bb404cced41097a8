"""The options of a command line with ``--spec`` that apply to every case."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError
from cudarun.base.options import CaseForm, OptionScope
from cudarun.base.records import dataclass
from cudarun.commands.confinement import Confinement
from cudarun.commands.declaration import Option, Values
from cudarun.commands.keywords import as_words
from cudarun.commands.spec_text import spec_folder
from cudarun.commands.spec_writer import toml_value

_ADDED = ("devices", "seed")
"""Options that the command line of a case has anyway."""


@dataclass(frozen=True, slots=True)
class SpecOptions:
    """Options of the command line that apply to every case.

    Attributes:
        allows_python: The permission to run functions of ``expect``: ``--allow-python``.
        overrides: The values that all cases have, by the name of the parameter: of options of the
            run, and of those that replace the keys of cases.
        confinement: The folder that no case leaves: ``--confine``.
        words: These options on a command line, except the seed and the devices.
        candidates: The images that replace that of each case, one after the other.
    """

    allows_python: bool = False
    overrides: Values = field(default_factory=dict)
    confinement: Confinement | None = None
    words: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()


def spec_options(context: click.Context) -> SpecOptions:
    """Return the options of a command line with ``--spec``."""
    values = context.params
    given = {
        name for name in values if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    words: list[str] = []
    overrides: Values = {"force": True} if values["listed"] else {}  # a list writes nothing
    for option in context.command.params:
        if not isinstance(option, Option) or option.name is None or option.name not in given:
            continue
        value = values[option.name]
        is_override = option.scope is OptionScope.OVERRIDE
        if is_override or option.scope is OptionScope.RUN:
            is_path = option.form in (CaseForm.PATHS, CaseForm.KERNEL)
            folder = spec_folder(values["spec"])
            overrides[option.name] = toml_value(option.form, value, folder) if is_path else value
        if option.of_result or (is_override and option.name not in _ADDED):
            words += as_words(option, toml_value(option.form, value, Path()))
    return SpecOptions(
        allows_python=values["allow_python"] or values["listed"],  # a list runs nothing
        overrides=overrides,
        confinement=None if values["confine"] is None else Confinement(values["confine"]),
        words=tuple(words),
        candidates=_candidates(values["candidates"]),
    )


def _candidates(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the images of ``--candidate``.

    Raises:
        RequestError: A file does not exist, or is named twice.
    """
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise RequestError(f"{path} is given twice", option="--candidate")
        if not os.path.isfile(path):
            raise RequestError(f"{path}: no such file", option="--candidate")
    return tuple(paths)
