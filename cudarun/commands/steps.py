"""The steps of a program on the command line: divided at ``--then`` before click reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from click.core import ParameterSource

from cudarun.base.errors import RequestError
from cudarun.commands.declaration import Option, Values
from cudarun.commands.help import GroupedCommand

THEN = "--then"
STEPS = "steps"  # the key of the contexts of later steps among the values of the command


class LaunchCommand(GroupedCommand):
    """A command whose line can have several steps, each with options and arguments of its own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse each step; options of the whole program may stand in any of them."""
        first, *others = divided(args)
        rest = super().parse_args(ctx, first)
        later: list[click.Context] = []
        for words in others:
            step = self.context_class(self, info_name=ctx.info_name, parent=ctx.parent)
            super().parse_args(step, ["", *words])  # the image is not positional here
            for option in self.params:  # those of the whole program are taken from it
                name = option.name or ""
                is_given = step.get_parameter_source(name) is ParameterSource.COMMANDLINE
                if not isinstance(option, Option) or option.of_step or not is_given:
                    continue
                if not option.expose_value:  # it has no value: its callback did everything
                    continue
                value = step.params[name]
                if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    if option.multiple:
                        value = (*ctx.params[name], *value)
                    elif value != ctx.params[name]:
                        flag = option.opts[-1]
                        what = "applies to the whole program and is given with two values"
                        raise RequestError(f"{flag} {what}").naming(flag)
                ctx.params[name] = value
                ctx.set_parameter_source(name, ParameterSource.COMMANDLINE)
            later.append(step)
        ctx.params[STEPS] = tuple(later)
        ctx.color = ctx.find_root().color  # --color can be given in any step, too
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say which options are of a step."""
        own = [
            option.opts[-1]
            for option in self.get_params(ctx)
            if isinstance(option, Option) and option.of_step
        ]
        self.epilog = (
            f"Each step of a program has its own arguments, {', '.join(own)}. The other options "
            "apply to the whole program and can be given in any step."
        )
        super().format_epilog(ctx, formatter)


def divided(words: Sequence[str]) -> list[list[str]]:
    """Return the words of each step."""
    steps: list[list[str]] = [[]]
    for word in words:
        if word == THEN:
            steps.append([])
        else:
            steps[-1].append(word)
    return steps


def step_values(values: Values) -> Iterator[Values]:
    """Yield the values of every step: its own, and those of the whole program.

    A step without an image has that of the step before it.
    """
    if values["step_image"] is not None:
        raise RequestError(
            "the image of the first step is the first argument",
            hint="--image FILE is for steps after --then",
            option="--image",
        )
    parameters = click.get_current_context().command.params
    options = [each for each in parameters if isinstance(each, Option)]
    of_step = {each.name for each in options if each.of_step} | {"arguments"}
    yield values
    image = values["image"]
    for step in values[STEPS]:
        own = step.params
        image = own["step_image"] or image
        whole = {name: value for name, value in values.items() if name not in of_step}
        yield {**whole, **{name: own[name] for name in of_step if name in own}, "image": image}
