"""On narrow terminals no line is broken inside a word: every command, its errors and its help."""

from __future__ import annotations

import os
import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from tests.support.command_tree import contexts
from tests.support.terminals import on_a_terminal
from tests.support.toolkit import without_driver

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "1000")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:1000")
ENVIRONMENT = {"NO_COLOR": "1", "CUDARUN_CPU_DEVICES": "2"}

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_REWRITTEN = re.compile(r"[^\n]*\r(?!\n)(?:\x1b\[K)?")  # the progress, which is overwritten
_NUMBER = re.compile(r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_UUID = re.compile(r"GPU-[0-9a-f-]+")
_NOISE = re.compile(r"noisy:.*?(?=\nnote |\Z)", re.DOTALL)  # a note that not every run has

# Commands with the exit code of each: together they show every table, note and error form.
COMMANDS = [
    ("help", 0, ("launch", "--help")),
    ("devices", 0, ("devices", "-d", "cpu:all", "--attributes")),
    ("devices without a GPU", 0, ("devices",)),
    ("doctor", 3, ("devices", "--doctor")),
    ("launch", 0, (*SAXPY, *ARGUMENTS, "-v", "--check", "y == a*x + 1", "--print", "y[:40]")),
    ("a failed check", 1, (*SAXPY, *ARGUMENTS, "--check", "y == a*x + 1.5")),
    ("timing", 0, (*SAXPY, *ARGUMENTS, "--repeat", "3", "--flops", "2*n")),
    ("statistics", 0, (*SAXPY, *ARGUMENTS, "--stats")),
    ("the plan", 0, (*SAXPY, *ARGUMENTS, "--dry-run")),
    ("a race", 1, (
        "launch", "samples/reverse.ptx", "-k", "reverse_racy", "-d", "cpu", "--grid", "1",
        "--block", "64", "--smem", "256", "data=i32[64]:iota", "--detect", "race",
    )),
    ("a fault", 5, (
        "launch", "samples/out_of_bounds.ptx", "-k", "far_past", "-d", "cpu", "--threads", "64",
        "x=i32[64]", "n=i32:64",
    )),
    ("missing arguments", 2, ("launch", "samples/matmul.ptx", "-k", "matmul_tiled", "-d", "cpu")),
    ("a missing struct", 2, ("launch", "samples/particles.ptx", "-d", "cpu")),
    ("no such kernel", 2, ("launch", "samples/matmul.ptx", "-k", "matmull", "-d", "cpu")),
    ("load", 0, ("load", "samples/scale.ptx", "samples/particles.ptx", "-d", "cpu",
                 "--block", "256")),
    ("load both ways", 0, ("load", "samples/managed.ptx", "-d", "cpu", "--via", "both")),
    ("load offline", 0, ("load", "--offline", "samples/managed.ptx", "samples/link/main.ptx")),
    ("managed", 0, ("managed", "samples/managed.ptx", "-d", "cpu:all", "--launch", "bump k=i32:5")),
    ("ctx show", 0, ("ctx", "show", "-d", "cpu:all")),
    ("ctx run", 0, ("ctx", "run", "-d", "cpu", "create A; create B; pop; destroy A")),
    ("ctx verify", 0, ("ctx", "verify", "--list")),
]  # fmt: skip


_UNITS = ("µs", "ms", "s")  # of times, which another run may have in another unit


def words(text: str) -> list[str]:
    """The words of an output; numbers that another run may have are masked."""
    plain = _REWRITTEN.sub("", _STYLE.sub("", text.replace("\r\n", "\n")))
    return _NUMBER.sub("0", _UUID.sub("GPU", _NOISE.sub("", plain))).split()


def broken(shown: str, piped: str, columns: int) -> list[str]:
    """Words of a terminal's output that are not in the piped one, and lines that do not fit."""
    whole = {*words(piped), "\\", *_UNITS}
    plain = _REWRITTEN.sub("", _STYLE.sub("", shown.replace("\r\n", "\n")))
    wide = [
        line
        for line in plain.splitlines()
        if len(line.rstrip()) > columns and len(line.split()) > 1
    ]
    return wide + [word for word in words(shown) if word not in whole]


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize(
    ("code", "args"),
    [
        pytest.param(*values, id=name, marks=without_driver if name == "doctor" else ())
        for name, *values in COMMANDS
    ],
)
def test_no_output_has_a_broken_word(code: int, args: tuple[str, ...], columns: int) -> None:
    shown = on_a_terminal(*args, env=ENVIRONMENT, columns=columns)
    assert shown[0] == code, shown[1]
    assert broken(shown[1], _on_a_wide_terminal(args), columns) == []


@cache
def _on_a_wide_terminal(args: tuple[str, ...]) -> str:
    return on_a_terminal(*args, env=ENVIRONMENT, columns=1000)[1]


@pytest.mark.parametrize("columns", [80, 60])
@pytest.mark.parametrize("context", [*contexts()], ids=lambda context: context.command_path)
def test_no_help_has_a_broken_word(context: click.Context, columns: int) -> None:
    helps = []
    for each in (200, columns):
        context.terminal_width = context.max_content_width = each
        helps.append(context.command.get_help(context))
    wide, narrow = helps
    assert broken(narrow, wide, columns) == []


def test_the_command_of_a_failed_case_can_be_pasted(tmp_path: Path) -> None:
    image = Path.cwd() / "samples/saxpy.ptx"
    args = ["f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:8"]
    case = f'name = "a long name"\nimage = "{image}"\nthreads = 8\ncheck = "y == x"\nargs = {args}'
    (tmp_path / "cases.toml").write_text(f"[[launch]]\n{case}\n")
    command = ("launch", "--spec", "cases.toml", "--check-strength=fail", "-d", "cpu")
    environment = {**ENVIRONMENT, "PYTHONPATH": str(image.parents[1])}
    code, shown = on_a_terminal(*command, env=environment, columns=60, cwd=tmp_path)
    assert code == 1
    after = shown.replace("\r\n", "\n").partition("run again:\n")[2].replace("\\\n", "")
    assert shlex.split(after.splitlines()[0]) == ["cudarun", *command, "a long name"]


def test_a_broken_word_is_noticed() -> None:
    assert broken("a bro\nken word", "a broken word", 60) == ["bro", "ken"]
    assert broken("two  words", "two words", 8) == ["two  words"]
    assert broken(f"{os.linesep}two\n words 17", "two words 4", 9) == []
