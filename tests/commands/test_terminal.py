r"""Control characters of others are shown as ``\x1b`` on a terminal, except by ``--raw-output``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import terminals

if TYPE_CHECKING:
    from conftest import Run

ROOT = Path(__file__).resolve().parents[2]
EVIL = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\r\x9b2J\u202e"
SHOWN = r"\x1b]0;owned\x07\x1b[31mred\x1b[0m\x0d\x9b2J\u202e"
LAUNCH = ("launch", "evil.cu", "-d", "cpu", "--block", "1", "-q", "--no-color")
SOURCE = r"""
#include <cstdio>
extern "C" __global__ void evil(int n) {
    printf("\x1b]0;owned\a\x1b[31mred\x1b[0m\r\xc2\x9b" "2J\xe2\x80\xae\n");
    if (n) asm volatile("trap;");
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evil.cu").write_text(SOURCE)
    return tmp_path


def on_a_terminal(folder: Path, *args: str) -> str:
    """What a command writes to its terminal, stdout and stderr together."""
    environment = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    _, written = terminals.on_a_terminal(*args, env=environment, cwd=folder)
    return written.replace("\r\n", "\n")


@pytest.mark.parametrize("argument", ["i32:0", "i32:1"], ids=["passes", "faults"])
def test_kernel_output(folder: Path, argument: str) -> None:
    written = on_a_terminal(folder, *LAUNCH, argument)
    assert f"{SHOWN}\n" in written
    assert "\x1b]" not in written
    assert "\x07" not in written
    assert f"{EVIL}\n" in on_a_terminal(folder, *LAUNCH, argument, "--raw-output")


def test_kernel_output_of_other_commands(folder: Path) -> None:
    hello = (ROOT / "samples" / "hello.ptx").read_text()
    assert "{104, 101," in hello  # "he"
    (folder / "hello.ptx").write_text(hello.replace("{104, 101,", "{27, 93,"))
    script = "create A; module M hello.ptx; function F M.hello; launch F i32:1 f64:1; sync"
    for command in (
        ("managed", "evil.cu", "-d", "cpu", "--launch", "evil i32:0"),
        ("ctx", "run", script, "-d", "cpu"),
    ):
        written = on_a_terminal(folder, *command)
        assert r"\x1b]" in written
        assert "\x1b]" not in written
        assert "\x1b]" in on_a_terminal(folder, *command, "--raw-output")


def test_kernel_output_in_a_pipe_is_unchanged(folder: Path, run: Run) -> None:
    assert run(*LAUNCH, "i32:0").out == f"{EVIL}\n"


def test_documents_escape_control_characters_everywhere(folder: Path, run: Run) -> None:
    ran = run(*LAUNCH, "i32:0", "--json")
    [outcome] = ran.document["outcomes"]
    assert outcome["output"] == f"{EVIL}\n"
    assert not set(EVIL) & set("\x1b\x07\r\x9b\u202e") & set(ran.out)


@pytest.mark.parametrize(
    "command",
    [
        ("launch", f"no-{EVIL}.ptx", "-d", "cpu"),
        ("launch", "evil.cu", "-d", "cpu", "--block", "1", f"i32:{EVIL}"),
        ("launch", "evil.cu", "-d", "cpu", "--block", "1", "i32:0", f"--{EVIL}"),
        ("launch", "evil.cu", "-d", "cpu", "--block", "1", "i32:0", "--timeout", EVIL),
        ("launch", "bad.ptx", "-d", "cpu", "--block", "1"),
        ("launch", "bad.cu", "-d", "cpu", "--block", "1"),
        ("load", "bad.ptx", "-d", "cpu"),
        ("load", f"name{EVIL}.ptx", "-d", "cpu"),
        ("load", "--offline", f"name{EVIL}.ptx"),
        ("launch", "--spec", "cases.toml", "-d", "cpu"),
        ("launch", "--spec", "bad.toml", "-d", "cpu"),
        (EVIL,),
    ],
)
def test_names_logs_and_errors(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "bad.ptx").write_text(f".version 8.0\n.target sm_75\n.address_size 64\n{EVIL}\n")
    (folder / "bad.cu").write_text(f"__global__ void k() {{ {EVIL} }}\n")
    header = ".version 8.0\n.target sm_75\n.address_size 64\n"
    (folder / f"name{EVIL}.ptx").write_text(f"{header}.visible .entry k() {{ ret; }}\n")
    name = "".join(f"\\u{ord(each):04x}" if not each.isalnum() else each for each in EVIL)
    case = f'[[launch]]\nname = "{name}"\nimage = "evil.cu"\nblock = 1\nargs = ["i32:0"]\n'
    (folder / "cases.toml").write_text(case)
    (folder / "bad.toml").write_text(f'{case}grid = "{name}"\n')
    written = on_a_terminal(folder, *command, "--no-color")
    assert "x1b]0;owned" in written
    for each in ("\x1b]", "\x1b[31mred", "\x07", "\x9b", "\u202e", "\rx"):
        assert each not in written


def test_nothing_of_ours_is_lost(folder: Path) -> None:
    """Colors are not shown as escapes."""
    command = tuple(word for word in LAUNCH if word != "--no-color")
    written = on_a_terminal(folder, *command, "i32:1", "--color")
    assert "\x1b[1m" in written
    assert r"\x1b[1m" not in written


def test_both_names_of_a_kernel_have_a_line(folder: Path) -> None:
    entry = ".visible .entry _Z4fillPi(.param .u64 out) { ret; }\n"
    (folder / "fill.ptx").write_text(f".version 7.0\n.target sm_70\n.address_size 64\n{entry}")
    written = on_a_terminal(folder, "load", "fill.ptx", "--offline", "--no-color")
    assert "\x1b[1mfill(int*)\x1b[0m\n\x1b[1m  _Z4fillPi\x1b[0m\n" in written
