"""Command groups that suggest the nearest name for an unknown command."""

from __future__ import annotations

import click

from cudarun.base.errors import RequestError
from cudarun.commands.help import Command, HelpContext

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


class CommandGroup(click.Group):
    """A group whose suggestions include commands that are not imported yet."""

    context_class = HelpContext
    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names.

        Raises:
            RequestError: There is no such command.
        """
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
