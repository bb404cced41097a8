"""What options say of themselves is complete, and is what the commands do."""

from __future__ import annotations

import ast
import copy
import re
from pathlib import Path
from typing import Any

import click
import pytest

from cudarun.api.keywords import LaunchKeywords
from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse
from cudarun.base.options import JOINED, REPEATED, CaseForm, OptionScope
from cudarun.commands import launch, load, spec_writer
from cudarun.commands.declaration import Option
from cudarun.commands.keywords import as_text, as_words, keyword_context, keyword_of
from cudarun.commands.spec_keys import OPTIONS, case_command, checked_value
from tests.imports import PACKAGE, modules, syntax_tree
from tests.support import command_tree
from tools import generate_api_keywords

ROOT = next(command_tree.contexts())
LAUNCH = [each for each in launch.command.params if isinstance(each, click.Option)]
IN_CASES = [each for each in LAUNCH if getattr(each, "form", None) is not None]

# A value that each takes; of a choice it is the first.
BY_NAME = {
    "--detect": "race",
    "--ctx-flags": "spin",
    "--expect": "x=@x.npy",
    "--baseline": "name:kernel",
    "--set": "x=1",
    "--schedule": "late",
    "--buffer": "x=f32[1]",
    "--candidate": "name",
}
BY_METAVAR = {
    **dict.fromkeys(("X[,Y[,Z]]", "BYTES", "PERCENT", "N", "X", "EXPR", "SECONDS", "LEVEL"), "3"),
    **dict.fromkeys(("FILE", "DIR", "NAME", "c++NN", "OPTION", "NAME[=VALUE]"), "name"),
    "DEVICE": "cpu",
    "LIST": "cpu",
    "EXE": "python3",
    "ARCH": "sm_90",
    "GPUS": "l4",
    "NAME=KIND": "x=hist",
    "CONDITION": "mma > 0",
    "A,B": "x,y",
    "NAME=PATH": "x=x.npy",
    "NAME=SIZE": "stack=4096",
    "NAME=EXPR": "half=x/2",
}


def name_of(option: click.Option) -> str:
    return option.opts[-1]


def given(option: click.Option) -> list[str]:
    """The option on a command line."""
    name = name_of(option)
    if option.is_flag:
        return [name]
    if isinstance(option.type, click.Choice):
        return [name, option.type.choices[0]]
    return [name, BY_NAME.get(name) or BY_METAVAR[option.metavar or ""]]


def by_name(options: list[click.Option]) -> Any:
    return pytest.mark.parametrize("option", options, ids=name_of)


@by_name(LAUNCH)
def test_every_option_of_launch_says_where_it_may_stand(option: click.Option) -> None:
    assert isinstance(option, Option)
    assert option.scope is not None
    assert (option.form is not None) == (option.scope in (OptionScope.CASE, OptionScope.OVERRIDE))


@pytest.mark.parametrize("context", [*command_tree.contexts()], ids=lambda each: each.command_path)
def test_an_option_is_the_same_in_every_command(context: click.Context) -> None:
    known = {name_of(option): option for option in LAUNCH}
    for option in context.command.params:
        if isinstance(option, Option) and option.scope is not None:
            of_launch = known[name_of(option)]
            assert isinstance(of_launch, Option)
            facts = option.scope, option.form, option.of_device
            assert facts == (of_launch.scope, of_launch.form, of_launch.of_device)


@by_name(LAUNCH)
def test_beside_spec_stands_what_says_so(option: Option) -> None:
    argv = ["--spec", "cases.toml", *given(option)]
    with launch.command.make_context("launch", argv, parent=ROOT).scope():
        if option.goes_with_spec:
            launch._refuse_with_spec()
            return
        with pytest.raises(RequestError, match=f"^--spec: {name_of(option)} applies to one launch"):
            launch._refuse_with_spec()


@by_name([each for each in load.command.params if isinstance(each, click.Option)])
def test_without_a_device_stands_what_says_so(option: click.Option) -> None:
    argv = ["x.ptx", "--offline", *given(option)]
    with load.command.make_context("load", argv, parent=ROOT).scope():
        if not getattr(option, "of_device", False):
            load._refuse_offline()
            return
        with pytest.raises(
            RequestError, match=f"^{name_of(option)} and --offline cannot be combined"
        ):
            load._refuse_offline()


def test_options_of_a_device_are_those_that_tell_the_driver_something() -> None:
    asked = {name_of(o) for o in load.command.params if isinstance(o, Option) and o.of_device}
    none = {name_of(o) for o in load.command.params if isinstance(o, click.Option)} - asked
    assert none == {
        *(
            "--offline",
            "--arch",
            "--for",
            "--kernel",
            "--compiler",
            "--include",
            "--define",
            "--std",
            "--compile-option",
        ),
        *("--max-image", "--timeout", "--trace", "--json", "--verbose", "--quiet"),
        *("--raw-output", "--color"),
    }


# --- files ---------------------------------------------------------------------------------------

OPTIONS_OF_ALL = {
    f"{context.command_path} {name_of(option)}": option
    for context in command_tree.contexts()
    for option in context.command.params
    if isinstance(option, click.Option)
}
NAMES_A_FILE = re.compile(r"FILE|PATH|DIR|EXPECTED")


@pytest.mark.parametrize("name", OPTIONS_OF_ALL)
def test_an_option_that_names_files_says_whether_it_writes_them(name: str) -> None:
    option = OPTIONS_OF_ALL[name]
    names_files = NAMES_A_FILE.search(option.metavar or "") is not None
    writes = re.match(r"Write|Append|The file to write", option.help or "") is not None
    declared = option.file if isinstance(option, Option) else None
    assert (declared is not None) == names_files
    assert (declared is not None and declared.is_output) == (writes and names_files)


def test_every_output_of_every_command() -> None:
    """A new one is to be tested in test_output_files.py."""
    outputs = {
        name: option.file
        for name, option in OPTIONS_OF_ALL.items()
        if isinstance(option, Option) and option.file is not None and option.file.is_output
    }
    assert outputs == {
        "cudarun exec --junit": FileUse.JUNIT,
        "cudarun fleet --junit": FileUse.JUNIT,
        "cudarun fleet --keep": FileUse.OUTPUT,
        "cudarun fleet --openmetrics": FileUse.METRICS,
        "cudarun launch --save": FileUse.OUTPUT,
        "cudarun launch --junit": FileUse.JUNIT,
        "cudarun launch --write-spec": FileUse.APPENDED,
        "cudarun link --output": FileUse.OUTPUT,
        "cudarun record --output": FileUse.OUTPUT,
    }


def test_files_are_written_in_one_place() -> None:
    """`open` for writing, by the name of a file, is in no other module of the commands.

    The emulator's are driver calls, which no command makes.
    """
    writers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if PACKAGE / "emulator" not in path.parents
        for call in ast.walk(syntax_tree(path))
        if isinstance(call, ast.Call) and _opens_for_writing(call)
    }
    assert writers == {
        "base/files.py",
        "base/cache.py",
        # files of our own that other processes share
        "session/launch/assertions.py",
        "session/exec/compiler.py",
        "session/exec/libraries.py",
        "session/judge/confinement.py",
        "session/judge/programs/exchange.py",
        "session/workers/c_library.py",
        "session/compile/nvcc.py",
        "session/launch/expected/comparison.py",
        "session/launch/expected/function_call.py",
        "session/launch/reference.py",
        "session/launch/sanitizer_worker.py",
        "session/record/bisection.py",
        "session/record/control.py",
    }


def _opens_for_writing(call: ast.Call) -> bool:
    function = ast.unparse(call.func)
    owner, _, name = function.rpartition(".")
    if name in ("write_text", "write_bytes", "savez", "tofile"):
        return owner != "super()"  # click's formatter has a `write_text`, too
    mode = call.args[1] if len(call.args) > 1 else None
    return (
        function == "open"
        and isinstance(mode, ast.Constant)
        and any(each in str(mode.value) for each in "wax+")
    )


# --- cases of a spec -----------------------------------------------------------------------------


def test_cases_have_the_options_of_launch_that_say_so() -> None:
    assert [name_of(each) for each in OPTIONS.values()] == [
        name_of(each) for each in case_command.params if isinstance(each, Option) and each.form
    ]
    assert set(OPTIONS) == {name_of(each).removeprefix("--") for each in IN_CASES}


@by_name(IN_CASES)
def test_form_is_one_that_the_option_can_have(option: Option) -> None:
    assert (option.form is CaseForm.FLAG) == option.is_flag
    assert (option.form in REPEATED) == option.multiple


@by_name(IN_CASES)
def test_what_is_written_is_read_as_what_was_given(option: Option) -> None:
    assert option.name is not None
    value = parsed(given(option))[option.name]
    toml = spec_writer.toml_value(option.form, value, Path())
    case = {keyword_of(option): checked_value(keyword_of(option), toml)}
    assert keyword_context(case_command, case).params[option.name] == value
    assert parsed(as_words(option, toml))[option.name] == value


@by_name([each for each in IN_CASES if each.form in JOINED])  # type: ignore[attr-defined]
def test_a_list_is_joined(option: Option) -> None:
    assert as_text(option, ["a", "b"]) == "a,b"


def test_a_list_of_two_names_is_a_pair() -> None:
    swap = OPTIONS["swap"]
    assert as_text(swap, ["a", "b"]) == as_text(swap, "a,b") == as_text(swap, [("a", "b")])
    assert as_text(swap, [1, 2]) == ["1,2"]
    assert as_words(swap, ["a,b", "b,c"]) == ["--swap=a,b", "--swap=b,c"]


@by_name([each for each in IN_CASES if each.form in REPEATED - {CaseForm.PAIRS}])  # type: ignore[attr-defined]
def test_a_list_is_repeated(option: Option) -> None:
    assert as_words(option, ["a", "b"]) == [f"{name_of(option)}=a", f"{name_of(option)}=b"]


def parsed(argv: list[str]) -> dict[str, Any]:
    context = click.Context(case_command)
    case_command.parse_args(context, [*argv, "--", "image.ptx"])
    return context.params


# --- the keywords of the Python API ---------------------------------------------------------------


def test_keywords_of_the_python_api_are_up_to_date() -> None:
    stale = generate_api_keywords.TARGET.read_text() != generate_api_keywords.module()
    assert not stale, "run python -m tools.generate_api_keywords"


def test_every_key_of_a_case_is_a_keyword_of_the_python_api() -> None:
    """Those for what a program does with the arrays are not."""
    keys = {*map(keyword_of, IN_CASES)}
    parameters = {"device", "timeout", "kernel"}
    terminal = {"print", "show", "save", "force", "for"}
    reserved = {"assert"}  # by Python: the keyword is asserts
    assert keys - LaunchKeywords.__optional_keys__ == parameters | terminal | reserved


def test_a_command_without_a_parent_has_both_names_of_help() -> None:
    command = copy.copy(launch.command)
    command._help_option = None
    option = command.get_help_option(command.make_context("launch", [], resilient_parsing=True))
    assert option is not None
    assert set(option.opts) == {"-h", "--help"}  # in which order, a version of click decides


def test_a_line_that_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its values are those of its first time, but for the environment."""

    def parsed() -> tuple[dict[str, Any], list[object]]:
        words = ["a.ptx", "x=f32[4]", "--threads", "4", "--check", "x == 1", "-q"]
        context = launch.command.make_context("launch", words)
        return context.params, [*map(context.get_parameter_source, context.params)]

    monkeypatch.delenv("CUDARUN_DEVICE", raising=False)
    first, second = parsed(), parsed()
    assert first == second
    first[0]["checks"] = ()
    assert parsed() == second
    monkeypatch.setenv("CUDARUN_DEVICE", "cpu:1")
    values, sources = parsed()
    assert (values["devices"], sources) != (second[0]["devices"], second[1])
