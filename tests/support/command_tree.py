"""All commands of the command line, as click knows them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cudarun.cli import cudarun


def contexts(parent: click.Context | None = None) -> Iterator[click.Context]:
    """A context for ``cudarun`` itself and for every command and subcommand, in ``--help`` order.

    ``context.command_path`` is what the user types, ``context.command`` what click will run.
    """
    if parent is None:
        parent = cudarun.context_class(cudarun, info_name="cudarun", **cudarun.context_settings)
    yield parent
    group = parent.command
    if isinstance(group, click.Group):
        for name in group.list_commands(parent):
            command = group.get_command(parent, name)
            assert command is not None, f"{name} is listed but not there"
            context = command.context_class(
                command, parent=parent, info_name=name, **command.context_settings
            )
            yield from contexts(context)


def find(words: list[str]) -> tuple[click.Context, list[str]]:
    """The innermost command that ``words`` (after ``cudarun``) name, and the words that are left.

    Options before a subcommand's name are not looked for: documents write them after it.
    """
    context = next(contexts())
    while isinstance(context.command, click.Group) and words:
        command = context.command.get_command(context, words[0])
        if command is None:
            break
        context = command.context_class(
            command, parent=context, info_name=words[0], **command.context_settings
        )
        words = words[1:]
    return context, words
