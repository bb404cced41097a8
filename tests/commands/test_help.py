"""The help of ``launch``: its options in groups, the common ones first."""

from __future__ import annotations

import click
import pytest

from cudarun.commands import launch
from cudarun.commands.declaration import Option, OptionGroup
from tests.support import command_tree

HELP = command_tree.find(["launch"])[0]


def sections() -> dict[str, list[str]]:
    """The options in the help, by section."""
    found: dict[str, list[str]] = {}
    for line in launch.command.get_help(HELP).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            found[line[:-1]] = []
        elif line.startswith("  -") and found[[*found][-1]][-1:] != ["-h"]:  # not the epilog
            words = line.strip().replace(",", " ").replace(" / ", " ").split()
            found[[*found][-1]].append(words[0])
    return found


def test_the_groups_in_order() -> None:
    assert [*sections()] == [
        "Kernel and geometry", "Arguments", "Programs", "Checks", "Output", "Spec files", "Timing",
        "Compiling", "Devices and contexts", "Help",
    ]  # fmt: skip
    assert [*sections()][:-1] == [group.value for group in OptionGroup]


@pytest.mark.parametrize(
    "option",
    [each for each in launch.command.params if isinstance(each, click.Option)],
    ids=lambda each: each.opts[-1],
)
def test_every_option_is_in_exactly_one_group(option: click.Option) -> None:
    assert isinstance(option, Option)
    assert option.group is not None
    holders = [name for name, options in sections().items() if option.opts[0] in options]
    assert holders == [option.group.value]


def test_the_common_options_come_first() -> None:
    first = {name: options[0] for name, options in sections().items()}
    assert first["Kernel and geometry"] == "-k"
    assert sections()["Kernel and geometry"][1:4] == ["--threads", "--grid", "--block"]
    assert (first["Checks"], first["Output"], first["Timing"]) == ("--check", "--print", "--repeat")
    assert (first["Spec files"], first["Devices and contexts"]) == ("--spec", "-d")


def test_only_help_has_no_group() -> None:
    assert sections()["Help"] == ["-h"]
