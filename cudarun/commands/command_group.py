"""Command groups that suggest the nearest name for an unknown command."""

from __future__ import annotations

import click

from cudarun.errors import RequestError


class CommandGroup(click.Group):
    """A group whose suggestions include commands that are not imported yet."""

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
            raise RequestError(f"no such command {name!r}", hint=self._hint(ctx, name))
        return super().resolve_command(ctx, args)

    def _hint(self, ctx: click.Context, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, self.list_commands(ctx), 1)
        return f"did you mean '{ctx.command_path} {near[0]}'?" if near else usage_hint(ctx)


def usage_hint(ctx: click.Context) -> str:
    """Return the hint that leads to a command's usage."""
    return f"'{ctx.command_path} --help' shows how it is used"
