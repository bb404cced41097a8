"""The options of a command line with ``--spec`` that apply to every case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError
from cudarun.base.options import CaseForm, OptionScope
from cudarun.base.records import dataclass
from cudarun.commands.declaration import Option, Values
from cudarun.commands.files import argument_paths, option_paths
from cudarun.commands.keywords import as_words
from cudarun.commands.spec_text import spec_folder
from cudarun.commands.spec_writer import toml_value
from cudarun.session.driver.selection import Selector
from cudarun.session.image.triton import files_beside
from cudarun.session.launch.step_request import on_device


class Confinement:
    """A folder outside of which a spec has no files; `RequestError` if it is no folder.

    Links are followed before a path is compared with the folder, in the path and in the folder.
    """

    def __init__(self, folder: str) -> None:
        if not os.path.isdir(folder):
            raise RequestError(f"{folder} is not a folder", option="--confine")
        self._folder = folder
        self.root = os.path.realpath(folder)  # its path without links

    def check_case(
        self,
        options: Iterable[click.Parameter],
        values: Values,
        directory: Path,
        devices: Sequence[Selector],
    ) -> None:
        """Check every path in the keys of a case, before any of them is opened.

        Args:
            values: Their values, with ``image`` and ``arguments``.
            directory: The base of relative paths.
            devices: The devices, whose labels replace ``{device}``.

        Raises:
            RequestError: A path leads outside, or an option can name files that are not checked.
        """
        from cudarun.arguments.files import locate

        if values["compiler"] == "nvcc":
            raise RequestError(
                "--confine does not allow nvcc, which includes files of the host compiler",
                option="compiler",
            )
        if values["compiler_options"]:
            raise RequestError(
                "--confine does not allow compiler options, which can name any file",
                option="compile-option",
            )
        for key in ("image", "candidate"):
            if (path := values[key]) is not None:
                for each in (path, *files_beside(path)):
                    self._check(os.fspath(directory / each), key)
        for path in argument_paths(values["arguments"]):
            self._check(os.fspath(locate(path, directory)), "args")
        for option in options:
            if not isinstance(option, Option):
                continue
            name = option.opts[-1].removeprefix("--")
            for path in option_paths(option, values[option.name or ""]):
                for each in (path, *(on_device(path, str(device)) for device in devices)):
                    self._check(os.fspath(locate(each, directory)), name)

    def _check(self, path: str, key: str) -> None:
        if "\0" in path:
            raise RequestError("a path contains a NUL character", option=key)
        place = os.path.realpath(path)
        if not Path(place).is_relative_to(self.root):
            leads = "" if place == path else f", it resolves to {place}"
            raise RequestError(f"{path} is outside {self._folder}{leads}", option=key).naming(
                "--confine"
            )


_ADDED = ("devices", "seed")  # options that the command line of a case has anyway


@dataclass(frozen=True, slots=True)
class SpecOptions:
    """Options of the command line that apply to every case."""

    allows_python: bool = False  # the permission to run functions of ``expect``: ``--allow-python``
    # The values that all cases have, by the name of the parameter: of options of the run, and of
    # those that replace the keys of cases.
    overrides: Values = field(default_factory=dict)
    confinement: Confinement | None = None  # the folder that no case leaves: ``--confine``
    words: tuple[str, ...] = ()  # these options on a command line, except the seed and the devices
    # The images that replace that of each case, one after the other.
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
    images = values["candidates"]
    for place, path in enumerate(images):
        if path in images[:place]:
            raise RequestError(f"{path} is given twice", option="--candidate")
        file = path.partition(":")[0]
        if not os.path.isfile(file):
            raise RequestError(f"{file}: no such file", option="--candidate")
    return SpecOptions(
        allows_python=values["allow_python"] or values["listed"],  # a list runs nothing
        overrides=overrides,
        confinement=None if values["confine"] is None else Confinement(values["confine"]),
        words=tuple(words),
        candidates=tuple(images),
    )
