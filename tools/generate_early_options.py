"""Write ``session/workers/early_options.py``: a table of the options of ``launch``.

The early start parses the command line with it, before click is imported.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import click

from cudarun.base.options import EarlyEffect
from cudarun.commands.declaration import Option
from tests.support.command_tree import find

TARGET = (
    Path(__file__).resolve().parent.parent / "cudarun" / "session" / "workers" / "early_options.py"
)

_COMMAND = "launch"

_HEAD = '''\
"""Options of ``{command}`` for the early start.

Written by `python -m tools.generate_early_options` from the declarations: change those.
"""

COMMAND = "{command}"
DEVICE_VARIABLE = "{variable}"
DEFAULT_DEVICE = "{default}"

_GROUPS = {{
{groups}
}}
OPTIONS = {{name: group for group, names in _GROUPS.items() for name in names.split()}}
"""By name: whether the option takes a value, and its effect on early workers."""
'''


def module() -> str:
    """Return the text of the module."""
    context, _ = find([_COMMAND])
    options = [
        each for each in context.command.get_params(context) if isinstance(each, click.Option)
    ]
    [devices] = (each for each in options if _effect(each, context) is EarlyEffect.DEVICES)
    groups: dict[tuple[bool, str], list[str]] = {}
    for option in options:
        group = groups.setdefault((takes_value(option), _effect(option, context).value), [])
        group += (*option.opts, *option.secondary_opts)
    return _HEAD.format(
        command=_COMMAND,
        variable=devices.envvar,
        default=devices.default,
        groups="\n".join(
            f'    ({value}, "{effect}"): """\n{_wrapped(names)}\n    """,'
            for (value, effect), names in sorted(groups.items())
        ),
    )


def _wrapped(names: list[str]) -> str:
    indent = " " * 8
    return textwrap.fill(
        " ".join(sorted(names)), 100, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False,
    )  # fmt: skip


def takes_value(option: click.Option) -> bool:
    """Return whether the option takes a value.

    Raises:
        ValueError: The early start cannot parse options of this kind.
    """
    names = (*option.opts, *option.secondary_opts)
    if any(not name.startswith("--") and len(name) != 2 for name in names):
        raise ValueError(f"{names}: a long name with one dash")
    if option.nargs != 1 or getattr(option, "_flag_needs_value", False):
        raise ValueError(f"{names}: not one value")
    return not (option.is_flag or option.count)


def _effect(option: click.Option, context: click.Context) -> EarlyEffect:
    """Return the option's effect; ``--help``, which click makes, runs nothing."""
    if isinstance(option, Option):
        return option.early
    if set(option.opts) == set(context.help_option_names):  # in any order with click 8.2
        return EarlyEffect.NO_WORKER
    raise ValueError(f"{option.opts} is declared without what it means")


def main() -> int:
    """Write the module, and say so when that changed it."""
    text = module()
    if not TARGET.exists() or TARGET.read_text() != text:
        TARGET.write_text(text)
        print(f"wrote {TARGET.relative_to(TARGET.parents[3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
