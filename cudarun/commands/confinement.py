"""``--confine DIR``: the cases of a spec read and write nothing outside a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import RequestError
from cudarun.commands.declaration import Option, Values
from cudarun.commands.files import argument_paths, option_paths
from cudarun.session.image.triton import files_beside
from cudarun.session.launch.step_request import on_device

if TYPE_CHECKING:
    from cudarun.session.driver.selection import Selector


class Confinement:
    """A folder outside of which a spec has no files.

    Links are followed before a path is compared with the folder, in the path and in the folder.

    Args:
        folder: The folder.

    Attributes:
        root: Its path without links.

    Raises:
        RequestError: It is no folder.
    """

    def __init__(self, folder: str) -> None:
        if not os.path.isdir(folder):
            raise RequestError(f"{folder} is not a folder", option="--confine")
        self._folder = folder
        self.root = os.path.realpath(folder)

    def check_case(
        self,
        options: Iterable[click.Parameter],
        values: Values,
        directory: Path,
        devices: Sequence[Selector],
    ) -> None:
        """Check every path in the keys of a case, before any of them is opened.

        Args:
            options: The options of a case.
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
        image = values["image"]
        for path in (image, *files_beside(image)):
            self._check(os.fspath(directory / path), "image")
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
