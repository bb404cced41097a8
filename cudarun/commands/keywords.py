"""The parameters of a command from keywords of the Python API, or keys of a spec, without words.

A keyword is the long name of an option with underscores, or the name of an argument. Its value is
that of the parameter, or what click converts to it: a text or a number, or several in a list.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import click
from click.core import ParameterSource

from cudarun.base.options import CaseForm
from cudarun.commands.declaration import Option


def keyword_context(
    command: click.Command, keywords: Mapping[str, Any], parent: click.Context | None = None
) -> click.Context:
    """Return a context of a command with values for its parameters, or raise click's error."""
    context = command.context_class(command, parent, command.name)
    for name, value in _defaults(command).items():
        context.params[name] = value
        context.set_parameter_source(name, ParameterSource.DEFAULT)
    parameters = _by_keyword(command)
    for keyword, value in keywords.items():
        parameter = parameters[keyword]
        if isinstance(parameter, Option):
            name = parameter.name or ""
            value = as_text(parameter, value)
            if parameter.multiple and not all(isinstance(each, str) for each in value):
                context.params[name] = tuple(value)  # they are the parameter's own values
                context.set_parameter_source(name, ParameterSource.COMMANDLINE)
            else:
                parameter.handle_parse_result(context, {name: value}, [])
        else:
            is_list = parameter.nargs < 0 and isinstance(value, list | tuple)
            items = [*value] if is_list else [value]
            if any(isinstance(each, list | tuple | bool) for each in items):
                raise click.BadParameter("expected a text", None, parameter)
            context.params[keyword] = value if parameter.nargs == 1 else tuple(items)
    for parameter in parameters.values():
        if parameter.envvar is not None and keyword_of(parameter) not in keywords:
            parameter.handle_parse_result(context, {}, [])
    return context


def check_required(context: click.Context) -> None:
    """Raise `UsageError` if a required parameter has no value."""
    for parameter in context.command.params:
        if parameter.required and context.params[parameter.name or ""] in (None, ()):
            raise click.MissingParameter(None, context, parameter)


def keyword_of(parameter: click.Parameter) -> str:
    """Return the keyword of a parameter."""
    if isinstance(parameter, click.Argument):
        return parameter.name or ""
    return parameter.opts[-1].removeprefix("--").replace("-", "_")


def keywords_of(command: click.Command) -> Collection[str]:
    """Return the keywords of all parameters."""
    return _by_keyword(command).keys()


@cache
def _by_keyword(command: click.Command) -> dict[str, click.Parameter]:
    """Return the parameters; the first argument precedes an option of the same name."""
    order = sorted(command.params, key=lambda each: isinstance(each, click.Argument))
    return {keyword_of(each): each for each in order if each.expose_value}


@cache
def _defaults(command: click.Command) -> dict[str, Any]:
    """Return the values of the parameters of a command without options."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    arguments = (each for each in command.params if isinstance(each, click.Argument))
    return context.params | {each.name: () if each.nargs < 0 else None for each in arguments}


def as_text(option: Option, value: Any) -> Any:
    """Return a value of Python or TOML as the command line has it: a text, several, or a flag.

    Raises:
        UsageError: It has lists in a list.
    """
    if isinstance(value, bool) and not option.multiple:
        return value
    items = [*value] if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    items = [str(each) if isinstance(each, int | float) else each for each in items]
    if option.form is CaseForm.PAIRS:
        if items and all(isinstance(each, str) and "," not in each for each in items):
            items = [items]
        return [each if isinstance(each, str) else ",".join(map(str, each)) for each in items]
    if nested := [each for each in items if isinstance(each, list)]:
        raise click.BadParameter(
            f"expected a list of texts, got a list in it: {nested[0]}", None, option
        )
    return items if option.multiple else ",".join(map(str, items))


def as_words(option: Option, value: Any) -> list[str]:
    """Return an option with a value of Python or TOML as words of the command line."""
    name, value = option.opts[-1], as_text(option, value)
    if isinstance(value, bool):
        return [name] if value else []
    return [f"{name}={each}" for each in (value if option.multiple else [value])]
