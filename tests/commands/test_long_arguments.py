"""An error does not repeat an argument of 20,000 characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

LONG = "A" * 20_000
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--block", "1")


@pytest.mark.parametrize(
    "command",
    [
        (LONG,),
        ("launch", LONG, "-d", "cpu"),
        ("launch", "samples/saxpy.ptx", "-d", LONG),
        ("launch", "samples/saxpy.ptx", f"--{LONG}"),
        (*SAXPY, LONG),
        (*SAXPY, f"f32[n]:@{LONG}"),
        (*SAXPY, "--save", LONG),
        (*SAXPY, "--save", f"y={LONG}"),
        (*SAXPY, "--check", f"{LONG}=={LONG}="),
        (*SAXPY, "--expect", f"y=@{LONG}"),
        (*SAXPY, "--print", f"{LONG}("),
        (*SAXPY, "-k", LONG),
        (*SAXPY, "--timeout", LONG),
        (*SAXPY, "--grid", LONG),
        ("link", LONG, "-o", LONG),
        ("load", LONG, "--offline"),
        ("ctx", "run", LONG, "-d", "cpu"),
        ("ctx", "verify", LONG, "-d", "cpu"),
        ("managed", "samples/managed.ptx", LONG, "-d", "cpu"),
        ("launch", "--spec", LONG),
    ],
)
def test_an_error_is_short(run: Run, command: tuple[str, ...]) -> None:
    ran = run(*command)
    assert ran.code not in (0, 7)
    assert ran.err.startswith("error: ")
    assert len(ran.err) < 3000
