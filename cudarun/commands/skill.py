"""``cudarun skill``: instructions for agents."""

from __future__ import annotations

from importlib.resources import files

import click

from cudarun.commands.help import Command


@click.command("skill", cls=Command)
def command() -> None:
    """Print instructions for agents, in the format of SKILL.md files.

    \b
    cudarun skill > .claude/skills/cudarun/SKILL.md
    """
    click.echo(files("cudarun").joinpath("SKILL.md").read_text(encoding="utf-8"), nl=False)
