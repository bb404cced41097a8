"""What every command has: options, numbers, help texts, colours, words of what is being done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest

from tests.commands.notes import BY_ORDER
from tests.support import command_tree
from tests.support.toolkit import without_driver

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100")
ARGUMENTS = ("a=2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")

COMMANDS = [c for c in command_tree.contexts() if not isinstance(c.command, click.Group)]
EVERYWHERE = {
    *("--device", "--json", "--timeout", "--trace", "--verbose", "--quiet", "--color"),
    *("--no-color", "--together", "--raw-output", "--help"),
}
OF_CONTEXTS = {"--context", "--ctx-flags", "--limit", "--cache-config"}
WITHOUT_DEVICES = {
    *("cudarun compare", "cudarun completion"),
    "cudarun fleet",  # its devices are those of the nodes
    *("cudarun exec", "cudarun record"),  # of the program
    *("cudarun debug", "cudarun judge"),  # a launch on cpu; the launches of a submission
    *("cudarun serve", "cudarun skill"),
}
OWN_CONTEXTS = {"cudarun ctx run", "cudarun ctx verify"}  # which make what they are told to


@pytest.mark.parametrize(
    "context",
    [each for each in COMMANDS if each.command_path not in WITHOUT_DEVICES],
    ids=lambda context: context.command_path,
)
def test_every_command_has_the_options_of_all(context: click.Context) -> None:
    options = {o for p in context.command.get_params(context) for o in (*p.opts, *p.secondary_opts)}
    assert options >= EVERYWHERE | {"-d", "-v", "-q", "-h"}
    if context.command_path not in OWN_CONTEXTS:
        assert options >= OF_CONTEXTS
    device = next(p for p in context.command.params if p.name == "devices")
    assert device.envvar == "CUDARUN_DEVICE"


@pytest.mark.parametrize("context", COMMANDS, ids=lambda context: context.command_path)
def test_values_have_names_of_ours(context: click.Context) -> None:
    for parameter in context.command.params:
        words = parameter.make_metavar(context)
        assert not re.search(r"RANGE|TEXT|INTEGER|FLOAT|FUNCTION|FILENAME", words), parameter.name
        assert isinstance(parameter, click.Argument) or parameter.help, parameter.name


def test_numbers_are_written_as_in_arguments(run: Run) -> None:
    ran = run(*SAXPY[:4], *ARGUMENTS, "--grid", "0x2,0b1", "--block", "1_0", "--smem", "1Ki")
    assert (ran.code, ran.err) == (0, BY_ORDER)
    assert ran.out.startswith("saxpy  grid 2 × block 10 = 20 threads  shared 1024 B")


@pytest.mark.parametrize(
    "args",
    [
        ("launch", "samples/hello.ptx", "--threads", "1", "1", "2.5"),
        ("load", "samples/hello.ptx"),
        ("link", "samples/link/main.ptx", "samples/link/lib.ptx", "-o", "out.ptx", "--force"),
        ("devices",),
        ("managed", "samples/managed.ptx"),
        ("ctx", "show"),
        ("ctx", "run", "create A"),
    ],
    ids=lambda args: " ".join(args[:2]),
)
def test_verbose_says_each_step_as_it_begins(run: Run, args: tuple[str, ...]) -> None:
    quiet = run(*args, "-d", "cpu")
    verbose = run(*args, "-d", "cpu", "--verbose")
    assert (quiet.code, verbose.code, quiet.err) == (0, 0, "")
    steps = [line for line in verbose.err.splitlines() if re.match(r" +\d+\.\d{3} s  \w", line)]
    assert "initializing the driver" in steps[0]
    assert steps == verbose.err.splitlines()
    seconds = [float(step.split()[0]) for step in steps]
    assert seconds == sorted(seconds)


def test_several_devices_say_which_they_are(run: Run) -> None:
    ran = run("load", "samples/hello.ptx", "-d", "cpu:all", "-v", env={"CUDARUN_CPU_DEVICES": "2"})
    steps = ran.err.splitlines()
    assert ran.code == 0
    for device in ("cpu", "cpu:1"):
        assert any(step.endswith(f"loading samples/hello.ptx  on {device}") for step in steps)


@without_driver
@pytest.mark.parametrize(
    "args",
    [
        ("launch", "samples/hello.ptx", "--threads", "1", "1", "2.5"),
        ("devices", "-q"),
        ("ctx", "show"),
    ],
)
def test_the_device_of_the_environment(run: Run, args: tuple[str, ...]) -> None:
    assert run(*args).code == 3
    assert run(*args, env={"CUDARUN_DEVICE": "cpu"}).code == 0
    assert run(*args, "-d", "cpu", env={"CUDARUN_DEVICE": "0"}).code == 0


def test_colours_are_asked_for_or_not(run: Run) -> None:
    failing = (*SAXPY, *ARGUMENTS, "--check", "y == 0")
    assert "\x1b[" not in run(*failing).out
    assert "\x1b[" in run(*failing, "--color").out
    assert "\x1b[" not in run(*failing, "--color", "--no-color").out
    error = (*SAXPY, *ARGUMENTS, "--check", "y == nothing")
    assert "\x1b[" not in run(*error).err
    assert "\x1b[" in run(*error, "--color").err


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (("launch", "x.ptx", "--thread", "9"), "did you mean '--threads'?"),
        (("load", "x.ptx", "--blok", "9"), "did you mean '--block'?"),
        (("--verison",), "did you mean '--version'?"),
        (("-d", "cpu", "devices"), "put options after the command: cudarun COMMAND [OPTIONS] …"),
        (("--json", "devices"), "put options after the command: cudarun COMMAND [OPTIONS] …"),
        (("load", "x.ptx", "-b", "9"), "did you mean '--block'?"),
        (("launch", "x.ptx", "-t", "9"), "did you mean '--then' or '--threads' or '--times'?"),
        (("launch", "x.ptx", "--shared", "9"), "did you mean '--smem'?"),
        (("devices", "-z"), "see 'cudarun devices --help'"),
        (("devices", "--zzz"), "see 'cudarun devices --help'"),
        (("devices", "--shared", "9"), "see 'cudarun devices --help'"),
    ],
)
def test_an_option_that_there_is_not(run: Run, args: tuple[str, ...], hint: str) -> None:
    ran = run(*args)
    assert ran.code == 2
    error, shown = ran.err.splitlines()
    assert error.startswith("error: no such option '-")
    assert shown == f"hint: {hint}"


@pytest.mark.parametrize("value", ["0", "offf", "OFF"])
def test_a_value_of_the_cache_variable(run: Run, value: str) -> None:
    """A value that would silently leave the caches on is refused."""
    ran = run("devices", "-d", "cpu", env={"CUDARUN_CACHE": value})
    assert (ran.code, ran.err.splitlines()) == (
        2,
        [f"error: CUDARUN_CACHE={value}: expected on, off", "hint: unset CUDARUN_CACHE"],
    )
    for allowed in ("on", "off", ""):
        assert run("devices", "-d", "cpu", env={"CUDARUN_CACHE": allowed}).code == 0
