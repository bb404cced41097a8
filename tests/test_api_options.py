"""Keywords of the Python API are options of the command line."""

from __future__ import annotations

import importlib

import pytest

from cudarun.api.options import LaunchKeywords, LoadKeywords
from cudarun.commands.declaration import Option

OTHER = {"device", "timeout", "kernel"}
"""Options that are parameters of their own."""
TERMINAL = {"print", "show", "save", "force"}
"""Options of `launch` for what a program does with the arrays."""


def _options(command: str) -> dict[str, Option]:
    """Return the options of a command by keyword."""
    found = importlib.import_module(f"cudarun.commands.{command}").command.params
    names = {"smem": "shared"} if command == "launch" else {}
    by_name = {
        option.opts[-1].removeprefix("--").replace("-", "_"): option
        for option in found
        if option.param_type_name == "option"
    }
    return {names.get(name, name): option for name, option in by_name.items()}


@pytest.mark.parametrize(("command", "keywords"), [("launch", LaunchKeywords),
                                                   ("load", LoadKeywords)])  # fmt: skip
def test_keywords_are_options(command: str, keywords: type) -> None:
    unknown = keywords.__optional_keys__ - set(_options(command))  # type: ignore[attr-defined]
    assert unknown == set()


def test_every_key_of_a_case_is_a_keyword() -> None:
    keys = {name for name, option in _options("launch").items() if option.form is not None}
    assert keys - set(LaunchKeywords.__optional_keys__) == OTHER | TERMINAL
