"""Declaration of options: click's, with the facts that other parts of cudarun need.

Where an option is allowed and its TOML in a spec are declared with the option, so that there is no
second list of options. Those of requests are declared by their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError, errors_of
from cudarun.base.files import FileUse
from cudarun.base.options import (
    REPEATED,
    CaseForm,
    OptionGroup,
    OptionScope,
    option_fields,
    split_names,
)
from cudarun.commands.numbers import not_negative, whole

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")

Values: TypeAlias = dict[str, Any]
"""The values of a command's parameters by name, as click passes them."""


_PATHS = {"FILE": "file", "PATH": "file", "EXE": "file", "DIR": "dir"}
"""The kind of path that the value of an option is or begins with, by its metavar."""


class Option(click.Option):
    """An option with its facts; the other arguments are those of `click.Option`."""

    scope: OptionScope | None = None
    """Its scope; ``None`` for options that ``launch`` does not have."""
    form: CaseForm | None = None
    """Its TOML in a case of a spec, if that is neither a boolean of a flag nor one value."""
    group: OptionGroup | None = None
    """Its group in the help; ``None`` for options that ``launch`` does not have."""
    of_device: bool = False
    """It concerns a device or the driver, so that it is refused where none is used."""
    file: FileUse | None = None
    """The use of the file that it names. The rule for outputs applies to every option that declares
    one."""
    of_spec: bool = False  # it concerns the run of a spec, so that it is refused without ``--spec``
    of_result: bool = False  # it can change the result of a case of a spec, though it is no key
    of_step: bool = False
    """Each step of a program has its own; other options are of the whole program."""
    is_keyword: bool | None = None
    """It is a keyword of the Python API; by default one that a case of a spec has, and of other
    commands one that concerns a device."""

    def __init__(self, names: Sequence[str], **attributes: Any) -> None:
        facts = {name: attributes.pop(name) for name in attributes.keys() & Option.__annotations__}
        super().__init__(names, **attributes)
        vars(self).update(facts)
        self._absent: list[Any] = []  # its value where it is not given, once that is known
        self._is_plain = self.expose_value and not (self.callback or self.envvar or self.required)
        if self.form is None and self.scope in (OptionScope.CASE, OptionScope.OVERRIDE):
            self.form = CaseForm.FLAG if self.is_flag else CaseForm.VALUE
        if self.is_keyword is None:
            self.is_keyword = self.of_device if self.scope is None else self.form is not None

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Process the value; that of an option that is not given is the same in every line."""
        name = self.name
        is_known = bool(self._absent) and name is not None and name not in opts
        if not is_known or name in ctx.params:
            value, args = super().handle_parse_result(ctx, opts, args)
            if name not in opts and self._is_plain:
                self._absent = [value]
            return value, args
        ctx.params[name] = self._absent[0]
        ctx.set_parameter_source(name, ParameterSource.DEFAULT)
        return self._absent[0], args

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a value; of a file or a folder, the shell does."""
        kind = _PATHS.get(str(self.metavar).partition("[")[0])
        if kind is not None:
            from click.shell_completion import CompletionItem

            return [CompletionItem(incomplete, type=kind)]
        return super().shell_complete(ctx, incomplete)

    @property
    def goes_with_spec(self) -> bool:
        """True if it is allowed with ``--spec``."""
        return self.scope in (OptionScope.RUN, OptionScope.OVERRIDE)


def option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """Decorate a function as `click.option` does, with an `Option`: ``--spec FILE``."""
    names, metavar = split_names(names)
    return click.option(*names, cls=Option, **metavar, **attributes)


def options_of(kind: Any, **more: Mapping[str, object]) -> dict[str, Callable[[F], F]]:
    """Return the decorators of the options that the fields of a request declare, by their values.

    Args:
        more: Facts for all of its options, and of single ones by the name of their values, that
            fields do not have: functions of this package.
    """
    found: dict[str, Callable[[F], F]] = {}
    shared = more.pop("shared", {})
    for field in option_fields(kind):
        names, facts = field.metadata["option"]
        dest = value_name(field)
        attributes = {**facts, **shared, **more.get(dest, {})}
        if (bounds := attributes.pop("bounds", None)) is not None:
            attributes["type"] = whole(*bounds)
        if (choices := attributes.pop("choices", None)) is not None:
            attributes["type"] = click.Choice(choices)
        if attributes.pop("is_number", False):
            attributes["type"] = not_negative
        if (shown := attributes.pop("default_text", None)) is not None:
            attributes["help"] += f"  [default: {shown}]"
        if field.default is False:
            attributes["is_flag"] = True
        attributes["multiple"] = attributes.get("form") in REPEATED
        default = attributes.pop("without", None if field.default is MISSING else field.default)
        if default is not None and default is not False and default != ():
            attributes = {"default": default, "show_default": True} | attributes
        found[dest] = option(*names, *() if dest in names else (dest,), **attributes)
    return found


def given_on_line(context: click.Context) -> Iterator[click.Option]:
    """Yield the options that the command line has, not the environment."""
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if isinstance(each, click.Option) and source is ParameterSource.COMMANDLINE:
            yield each


def conflict(one: str, other: str, reason: str | None = None) -> RequestError:
    """Return the error for two options that exclude each other."""
    because = "" if reason is None else f": {reason}"
    return RequestError(f"{one} and {other} cannot be combined{because}").naming(
        one.partition(" ")[0], other.partition(" ")[0]
    )


def value_name(field: Field[Any]) -> str:
    """Return the name of an option's value: the one without dashes, or the field's."""
    names, _ = field.metadata["option"]
    return next((name for name in names if not name.startswith("-")), field.name)


def filled(kind: type[R], values: Values, **own: Any) -> R:
    """Return a request with the values of its options.

    Args:
        own: The fields that are no options, or whose values are not those of the command line.
    """
    for field, name, convert in _sources(kind):  # type: ignore[arg-type]
        if field not in own:
            value = values if name is None else values[name]
            own[field] = value if value is None or convert is None else convert(value)
    return kind(**own)


@cache
def _sources(kind: Any) -> list[tuple[str, str | None, Callable[[Any], Any] | None]]:
    """Return the fields with options, the name of the value of each, and what converts it.

    A request in the request is made of all values.
    """
    found: list[tuple[str, str | None, Callable[[Any], Any] | None]] = []
    for field in fields(kind):
        if (inner := field.metadata.get("options")) is not None:
            found.append((field.name, None, partial(filled, inner)))
        elif "option" in field.metadata:
            is_parsed = field.metadata["option"][1].get("form") in (CaseForm.EXTENT, CaseForm.COUNT)
            found.append(
                (field.name, value_name(field), partial(_parsed, field) if is_parsed else None)
            )
    return found


def _parsed(field: Field[Any], text: str) -> Any:
    """Return the expressions of an extent or a number."""
    from cudarun.arguments.dimensions import parse_count, parse_extent, parse_size

    names, facts = field.metadata["option"]
    is_size = facts.get("metavar") == "BYTES"
    is_extent = facts["form"] is CaseForm.EXTENT
    parse = parse_extent if is_extent else parse_size if is_size else parse_count
    with errors_of(option=names[0]):
        return parse(text)
