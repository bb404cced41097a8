"""The early start reads a command line as click does, where no value looks like an option."""

from __future__ import annotations

import copy
import os
from unittest import mock

import click
import pytest
from click.core import ParameterSource
from hypothesis import example, given, reject
from hypothesis import strategies as st

from cudarun.base.errors import RequestError
from cudarun.commands import launch
from cudarun.commands.declaration import Option
from cudarun.commands.steps import LaunchCommand
from cudarun.session.workers.prefork import DEVICE_VARIABLE, WITHOUT_WORKER, read
from tests.support import command_tree

ROOT = next(command_tree.contexts())


def _as_text(parameter: click.Parameter) -> click.Parameter:
    """The parameter without what makes something else of its text, so that any value will do."""
    plain = copy.copy(parameter)
    plain.callback = None
    if not (isinstance(plain, click.Option) and plain.is_flag):
        plain.type = click.STRING
    return plain


COMMAND = LaunchCommand("launch", params=[_as_text(each) for each in launch.command.params])
OPTIONS = [each for each in COMMAND.params if isinstance(each, Option)]
CONTEXT, _ = command_tree.find(["launch"])
NAMES = {name for each in CONTEXT.command.get_params(CONTEXT) for name in each.opts}
SHORT_FLAGS = [name for o in OPTIONS if o.is_flag for name in o.opts if not name.startswith("--")]


def by_click(words: list[str]) -> tuple[str, bool] | None:
    """What click makes of a command line: devices and whether they are together, or no worker."""
    try:
        context = COMMAND.make_context("launch", [*words], parent=ROOT)
    except click.exceptions.Exit:
        return None
    except (click.UsageError, RequestError):
        reject()  # the command ends, whatever has begun
    given = {
        name
        for option in OPTIONS
        if context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        for name in option.opts
    }
    if given & WITHOUT_WORKER:
        return None
    return context.params["devices"], context.params["together"]


def by_read(words: list[str]) -> tuple[str, bool] | None:
    return read(["launch", *words], os.environ)


def option_words(option: Option) -> st.SearchStrategy[list[str]]:
    """An option as use written, clustered with flags where it is short."""
    names = st.sampled_from([*option.opts, *option.secondary_opts])
    return st.tuples(names, clusters, values, st.booleans()).map(
        lambda drawn: _written(option, *drawn)
    )


def _written(option: Option, name: str, flags: str, value: str, attached: bool) -> list[str]:
    if name.startswith("--"):
        if option.is_flag:
            return [name]
        return [f"{name}={value}"] if attached else [name, value]
    word = f"-{flags}{name[1:]}"
    if option.is_flag:
        return [word]
    return [f"{word}{value}"] if attached else [word, value]


clusters = st.lists(st.sampled_from([name[1:] for name in SHORT_FLAGS]), max_size=2).map("".join)
values = st.one_of(
    st.sampled_from(["cpu", "0,1", "all", "", "=x", "a b", "d"]),
    st.text(st.characters(codec="utf-8"), max_size=3).filter(lambda text: text[:1] != "-"),
)
effective = [o for o in OPTIONS if {*o.opts} & (WITHOUT_WORKER | {"-d", "--together"})]
harmless = [o for o in OPTIONS if not {*o.opts} & WITHOUT_WORKER]
written = st.one_of(
    st.sampled_from(harmless).flatmap(option_words),
    st.sampled_from(harmless).flatmap(option_words),
    st.sampled_from([o for o in effective if o in harmless]).flatmap(option_words),
    st.sampled_from(effective).flatmap(option_words),
    st.sampled_from([["x.ptx"], ["n=i32:1"], ["x=f32[n]:iota"], ["-"], ["--"], [""]]),
)


@given(st.lists(written, max_size=6), st.sampled_from([None, "", "cpu", "1,2"]))
@example([["--kernel", "x"], ["-qdcpu"]], None)
@example([["--"], ["-d", "cpu"]], "1")
@example([["--then"], ["--"], ["--then"], ["-d", "cpu"]], None)
@example([["--then"], ["--color"]], None)
@example([["--kernel="], ["--together"]], None)
def test_it_reads_what_click_reads(written: list[list[str]], variable: str | None) -> None:
    words = [word for each in written for word in each]
    with mock.patch.dict(os.environ, {} if variable is None else {DEVICE_VARIABLE: variable}):
        if variable is None:
            os.environ.pop(DEVICE_VARIABLE, None)
        assert by_read(words) == by_click(words)


@pytest.mark.parametrize("name", sorted(WITHOUT_WORKER))
def test_options_without_a_worker_are_known_in_any_place(name: str) -> None:
    assert name in NAMES
    assert by_read(["x.ptx", "--kernel", "k", name]) is None
    assert by_read([f"{name}=value", "x.ptx"]) is None
    assert by_read(["x.ptx", "--then", "--", "1", "--then", name]) is None


@pytest.mark.parametrize("words", [[], ["load", "x.ptx"], ["-d", "cpu", "launch"], ["launches"]])
def test_other_commands_begin_nothing(words: list[str]) -> None:
    assert read(words, {}) is None


def test_a_launch_begins_workers() -> None:
    """That the properties above are not of command lines which all begin nothing."""
    start = read(["launch", "x.ptx", "-qdcpu", "--together", "--", "--spec"], {})
    assert start == ("cpu", True)
