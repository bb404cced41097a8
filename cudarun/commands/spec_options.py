"""The options of a command line with ``--spec`` that apply to every case."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from cudarun.commands.confinement import Confinement
from cudarun.commands.declaration import Option, OptionScope
from cudarun.commands.spec_file import (
    SpecOptions,
)
from cudarun.commands.spec_words import (
    option_words,
)
from cudarun.commands.spec_writer import toml_value
from cudarun.errors import RequestError


def spec_options(context: click.Context) -> SpecOptions:
    """Return the options of a command line with ``--spec``."""
    values = context.params
    given = {
        name for name in values if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    words: list[str] = []
    for option in context.command.params:
        if not isinstance(option, Option) or option.name is None or option.name not in given:
            continue
        if option.of_result or option.scope is OptionScope.DEFAULT:
            name = option.opts[-1].removeprefix("--")
            value = toml_value(option.form, values[option.name], Path())
            words += option_words(name, option, value, name)
    return SpecOptions(
        python=values["python"],
        allows_python=values["allow_python"] or values["listed"],  # a list runs nothing
        check_strength=values["check_strength"],
        engine=values["engine"],
        cpu_threads=values["cpu_threads"],
        seed=values["seed"] if "seed" in given else None,
        overrides_devices="devices" in given,
        force=values["force"] or values["listed"],  # a list writes nothing
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
