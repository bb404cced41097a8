"""The parameters of a command from keywords of the Python API, in place of words.

A keyword is the long name of an option with underscores, or the name of an argument. Its value is
that of the parameter, or what click converts to it: a text or a number, or several in a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click
from click.core import ParameterSource

from cudarun.base.options import CaseForm
from cudarun.commands.declaration import Option


def keyword_context(
    command: click.Command, keywords: Mapping[str, Any], parent: click.Context
) -> click.Context:
    """Return a context of a command with values for its parameters.

    Raises:
        UsageError: An option refuses its value.
    """
    context = command.context_class(command, parent, command.name)
    for name, value in _defaults(command).items():
        context.params[name] = value
        context.set_parameter_source(name, ParameterSource.DEFAULT)
    parameters = _by_keyword(command)
    for keyword, value in keywords.items():
        parameter = parameters[keyword]
        if isinstance(parameter, Option):
            _convert(context, parameter, value)
        else:
            context.params[keyword] = value
    for parameter in parameters.values():
        if parameter.envvar is not None and keyword_of(parameter) not in keywords:
            parameter.handle_parse_result(context, {}, [])
    return context


def keyword_of(parameter: click.Parameter) -> str:
    """Return the keyword of a parameter."""
    if isinstance(parameter, click.Argument):
        return parameter.name or ""
    return parameter.opts[-1].removeprefix("--").replace("-", "_")


@cache
def _by_keyword(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters; the first argument precedes an option of the same name."""
    order = sorted(command.params, key=lambda each: isinstance(each, click.Argument))
    return {keyword_of(each): each for each in order if each.expose_value}


@cache
def _defaults(command: click.Command) -> dict[str, Any]:
    """Return the values of the parameters of a command without options."""
    context = command.make_context(command.name, ["image"])
    arguments = (each for each in command.params if isinstance(each, click.Argument))
    return context.params | {each.name: () if each.nargs < 0 else None for each in arguments}


def _convert(context: click.Context, option: Option, value: Any) -> None:
    """Set the value of an option."""
    name = option.name or ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        if option.form is CaseForm.PAIRS and value and isinstance(value[0], str):
            value = [value]
        if option.form is CaseForm.PAIRS:
            value = [",".join(pair) for pair in value]
        elif not option.multiple:
            value = ",".join(map(str, value))
        elif not all(isinstance(each, str) for each in value):  # they are the option's own values
            context.params[name] = tuple(value)
            context.set_parameter_source(name, ParameterSource.COMMANDLINE)
            return
    elif option.multiple:
        value = [value]
    if not isinstance(value, bool | list | tuple):
        value = str(value)
    option.handle_parse_result(context, {name: value}, [])
