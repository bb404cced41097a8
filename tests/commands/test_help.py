"""The help of ``launch``: the options of a first launch, and all options in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest

from cudarun.base.options import OptionGroup
from cudarun.commands import launch
from cudarun.commands.declaration import Option
from tests.support import command_tree

if TYPE_CHECKING:
    from conftest import Run

HELP = command_tree.find(["launch"])[0]


def sections(text: str | None = None) -> dict[str, list[str]]:
    """The options in the help, by section."""
    found: dict[str, list[str]] = {}
    for line in (text or launch.command.get_help(HELP)).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            found[line[:-1]] = []
        elif line.startswith("  -") and found[[*found][-1]][-1:] != [
            "--help-all"
        ]:  # not the epilog
            words = line.strip().replace(",", " ").replace(" / ", " ").split()
            found[[*found][-1]].append(words[0])
    return found


def test_the_groups_in_order() -> None:
    assert [*sections()] == [
        "First launch", "Launch attributes", "Arguments", "Programs", "Checks", "Output",
        "Spec files", "Timing", "Compiling", "Devices and contexts", "Help",
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
    assert sections()["First launch"] == [
        "-k", "--threads", "--grid", "--block", "--smem", "--check", "--expect", "--print",
        "--detect", "-d",
    ]  # fmt: skip


def test_only_help_has_no_group() -> None:
    assert sections()["Help"] == ["-h", "--help-all"]


def test_help_is_of_a_first_launch(run: Run) -> None:
    every = run("launch", "--help-all")
    assert (every.code, every.err) == (0, "")
    assert sections(every.out) == sections()
    for name in ("-h", "--help"):
        first = run("launch", name)
        assert (first.code, first.err) == (0, "")
        assert sections(first.out) == {name: sections()[name] for name in ("First launch", "Help")}
