"""Commands of click with ``--help`` in groups, nvcc's options, and hints for unknown commands."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError
from cudarun.report.terminal import fold_command, folded

_NO_REWRAP = "\b"  # click's mark of a paragraph that keeps its lines
_HYPHEN = "\N{NON-BREAKING HYPHEN}"
_NARROWEST = 8  # columns of the option names
_MOST_LINES, _LONG_LINE = 100, 10_000  # lines that are kept, and characters of one that is not
_SHORT = f"{__name__}.short"
"""The mark of a context in which ``--help`` shows the options of a first launch alone."""


class _HelpFormatter(click.HelpFormatter):
    """Click's formatter, which would break words that are long or have hyphens."""

    def write_text(self, text: str) -> None:
        """Write paragraphs; those that keep their lines are folded where they must be."""
        super().write_text(_unbroken("\n\n".join(self._fitted(text.split("\n\n")))))

    def _fitted(self, paragraphs: Sequence[str]) -> Iterator[str]:
        room = self.width - self.current_indent
        for paragraph in paragraphs:
            mark, newline, rest = paragraph.partition("\n")
            if mark.strip() != _NO_REWRAP or max(map(len, rest.split("\n"))) <= room:
                yield paragraph
                continue
            lines: list[str] = []
            for line in rest.replace("\\\n", "").split("\n"):
                is_command = line.startswith("cudarun ")
                lines += fold_command(line, room) if is_command else [folded(line, room)]
            yield f"{mark}{newline}" + "\n".join(lines)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write terms with their descriptions, whose longest word decides where they start."""
        rows = [(term, _unbroken(text)) for term, text in rows]
        longest = max((len(word) for _, text in rows for word in text.split()), default=0)
        room = self.width - self.current_indent - col_spacing - longest - 2
        super().write_dl(rows, max(_NARROWEST, min(col_max, room)), col_spacing)

    def getvalue(self) -> str:
        """Return the help."""
        return super().getvalue().replace(_HYPHEN, "-")


def _unbroken(text: str) -> str:
    """Return a text that is not wrapped at hyphens."""
    return text.replace("-", _HYPHEN)


class HelpContext(click.Context):
    """A context whose help breaks no words, and has two names: a command keeps its first ones."""

    formatter_class = _HelpFormatter

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.help_option_names = ["-h", "--help"]


class Command(click.Command):
    """A command whose help breaks no words, and which takes nvcc's options where it compiles."""

    context_class = HelpContext
    _parser: Any = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of a command line, or set what they were parsed to before.

        A server gets many a line again. The values of options are immutable.
        """
        variables = (os.environ.get(str(each.envvar)) for each in self.params if each.envvar)
        line = (ctx.resilient_parsing, *variables, *args)
        length = sum(map(len, args))
        if line in self._lines:
            values, sources, rest = self._lines[line]
            ctx.params.update(values)
            for name, source in sources.items():
                ctx.set_parameter_source(name, source)
            ctx.args = [*rest]
            return ctx.args
        if "--compile-option" in self._known:
            args = [*own_words(args, self._known)]
        rest = super().parse_args(ctx, args)
        sources = {
            name: ctx.get_parameter_source(name) for each in self.params if (name := each.name)
        }
        given = (each for each in self.params if sources[each.name] is not ParameterSource.DEFAULT)
        if length < _LONG_LINE and not any(each.callback for each in given):
            if len(self._lines) == _MOST_LINES:
                self._lines.clear()
            self._lines[line] = {**ctx.params}, sources, [*rest]
        return rest

    @cached_property
    def _lines(self) -> dict[Any, tuple[dict[str, Any], dict[str, Any], list[str]]]:
        """The values of lines, their sources, and the words that are left."""
        return {}

    @cached_property
    def _known(self) -> set[str]:
        return {name for each in self.params for name in (*each.opts, *each.secondary_opts)}

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser, which is made once: a server parses many command lines."""
        self._parser = self._parser or super().make_parser(ctx)
        self._parser.ctx = ctx
        return self._parser


class GroupedCommand(Command):
    """A command with many options, in groups: ``--help`` shows the first, ``--help-all`` all."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with ``--help-all`` at the end."""
        return [*super().get_params(ctx), self._help_all]

    @cached_property
    def _help_all(self) -> click.Option:
        from cudarun.commands.declaration import Option

        return Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=partial(_show, is_short=False),
            help="Show all options and exit.",
        )

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return ``--help``, which shows the options of a first launch."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.callback = partial(_show, is_short=True)
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by `OptionGroup`, then those without one, such as ``--help``."""
        from cudarun.base.options import OptionGroup

        parameters = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for group in (OptionGroup.FIRST, None) if _SHORT in ctx.meta else (*OptionGroup, None):
            of_group = (each for each in parameters if getattr(each, "group", None) is group)
            records = [record for each in of_group if (record := each.get_help_record(ctx))]
            if records:
                with formatter.section("Help" if group is None else group.value):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog, which is about options of all groups."""
        if _SHORT not in ctx.meta:
            super().format_epilog(ctx, formatter)


def _show(ctx: click.Context, _: click.Parameter, wanted: bool, is_short: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        if is_short:
            ctx.meta[_SHORT] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


# --- options of nvcc -----------------------------------------------------------------------------


_PASS = "--compile-option"
# `re` compiles both when they are used: `--help` uses none.
_FLAG = (
    r"-O[0-3]|-[Ggw]|-m64|-lineinfo|-Wno-[a-z-]+"
    r"|--?(?:use_fast_math|restrict|extended-lambda|expt-[a-z-]+)"
)
_WITH_VALUE = (
    r"--?(?:std|arch|gpu-architecture|gencode|generate-code|maxrregcount|ftz|fmad|prec-div|prec-sqrt"
    r"|rdc|relocatable-device-code|Xptxas|ptxas-options|Xcompiler|compiler-options|Xcudafe"
    r"|ccbin|compiler-bindir|isystem|system-include|Werror|default-stream"
    r"|diag-suppress|diag-warn|diag-error)"
)


def own_words(words: Sequence[str], known: Container[str]) -> Iterator[str]:
    """Yield the words of a command line with nvcc's options in cudarun's spelling.

    Users paste them from their builds. ``-I`` and ``-D`` are the same for both. ``-std`` and, where
    the command has it, ``-arch`` are options of cudarun, too. The others are for the compiler:
    ``--compile-option``.

    Args:
        known: The command's own options, which have precedence.
    """
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            yield word
            yield from rest
        elif word == _PASS:
            yield from (word, *[each for each in [next(rest, None)] if each is not None])
        elif name in known:
            yield word
        elif re.fullmatch(_WITH_VALUE, name):  # before -d, whose value could follow: -diag-suppress
            value = value if equals else next(rest, "")
            own = f"--{name.lstrip('-')}"
            yield f"{own}={value}" if own in known else f"{_PASS}={name}={value}"
        elif word[:2] not in known and re.fullmatch(_FLAG, word):
            yield f"{_PASS}={word}"
        else:
            yield word


# --- groups --------------------------------------------------------------------------------------


COMPLETION_VARIABLE = "_CUDARUN_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_IMAGE_SUFFIXES = (".cu", ".ptx", ".cubin", ".fatbin", ".ltoir", ".o", ".a", ".cudarun")


def is_image_name(text: object) -> bool:
    """Return whether a word on the command line is the name of an image file, by its extension."""
    return (
        isinstance(text, str)
        and text.endswith(_IMAGE_SUFFIXES)
        and not text.startswith(_IMAGE_SUFFIXES)
    )


class CommandGroup(click.Group, Command):
    """A group whose suggestions include commands that are not imported yet."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names; `RequestError` if there is none."""
        name = args[0]
        is_option = name.startswith("-")
        if not is_option and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            raise RequestError(f"no such command {name!r}", hint=self._hint(ctx, args))
        return super().resolve_command(ctx, args)

    def _hint(self, ctx: click.Context, args: list[str]) -> str:
        import difflib
        import shlex

        known = self.list_commands(ctx)
        if "launch" in known and is_image_name(args[0]):
            return f"launch it: {ctx.command_path} launch {shlex.join(args)}"
        near = difflib.get_close_matches(args[0], known, 1)
        return f"did you mean '{ctx.command_path} {near[0]}'?" if near else usage_hint(ctx)


def usage_hint(ctx: click.Context) -> str:
    """Return the hint that leads to a command's usage."""
    return f"see '{ctx.command_path} --help'"
