"""Commands of a wrong form, and the hints that show the right one."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from conftest import Run

SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "4")


def test_several_images(run: Run) -> None:
    """The command of the hint links them, and the result launches."""
    images = ("samples/link/main.ptx", "samples/link/lib.ptx")
    arguments = ("f32[4]:ones", "f32[4]", "4")
    ran = run("launch", *images, "-d", "cpu", "--threads", "4", *arguments)
    assert (ran.code, ran.out) == (2, "")
    first, hint = ran.err.splitlines()
    assert first == f"error: launch accepts one image, got 2: {', '.join(images)}"
    _, *command = shlex.split(hint.removeprefix("hint: link them first: "))
    assert command[:3] == ["link", *images]
    assert run(*command).code == 0
    assert run("launch", "linked.ptx", "-d", "cpu", "--threads", "4", *arguments).code == 0
    ran = run("launch", *images)
    assert ran.err.endswith("-o linked.cubin -d 0\n")


def test_a_script_in_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my script").write_text("create A; current == A\n")
    ran = run("ctx", "run", "my script", "-d", "cpu")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "error: 'my script' is a file, not a script\n"
        "hint: run it: cudarun ctx run --script 'my script'\n"
    )
    assert run("ctx", "run", "--script", "my script", "-d", "cpu").code == 0


def test_save_without_a_name(run: Run, tmp_path: Path) -> None:
    arguments = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:4")
    ran = run(*SAXPY, *arguments, "--save", "y.npy")
    assert ran.code == 2
    assert ran.err == (
        "error: --save: 'y.npy' is not NAME=PATH\nhint: name the buffer: --save y=y.npy\n"
    )
    assert run(*SAXPY, *arguments, "--save", "y=y.npy").code == 0
    assert np.load(tmp_path / "y.npy").tolist() == [1, 3, 5, 7]
    assert run(*SAXPY, *arguments, "--save", "=y.npy").err.endswith("--save y=y.npy\n")


def test_an_image_without_a_command(run: Run) -> None:
    arguments = ("-d", "cpu", "--threads", "4", "f32:2", "f32[n]:iota", "f32[n]:ones", "i32:4")
    ran = run("samples/saxpy.ptx", *(each.replace("[n]", "[4]") for each in arguments))
    assert (ran.code, ran.out) == (2, "")
    first, hint = ran.err.splitlines()
    assert first == "error: no such command 'samples/saxpy.ptx'"
    program, *command = shlex.split(hint.removeprefix("hint: launch it: "))
    assert (program, command[:2]) == ("cudarun", ["launch", "samples/saxpy.ptx"])
    assert run(*command).code == 0
    assert run("kernel.txt").err.endswith("hint: see 'cudarun --help'\n")
