"""Textures and surfaces in programs: steps that share arrays, and arrays that exchange names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

PTX = str(Path(__file__).resolve().parents[1] / "data" / "objects.ptx")
FIRST = ("-k", "write_1d", "--grid", "4", "--block", "1", "t=surface(i32[4]:iota)")
TWICE = ("--then", "-k", "twice", "--grid", "4", "--block", "1")


def launch(*words: str) -> tuple[str, ...]:
    return ("launch", PTX, "-d", "cpu", *words)


def test_a_later_step_reads_the_array_and_passes_the_object_again(run: Run) -> None:
    again = ("--then", "-k", "write_1d", "--grid", "4", "--block", "1", "--times", "3", "t")
    ran = run(*launch(*FIRST, *TWICE, "texture(t)", "t", *again, "--check", "t == 2*(old(t)+1)+3"))
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("option", ["--graph", "--repeat=2"])
def test_arrays_exchange_names(run: Run, option: str) -> None:
    step = (*TWICE, "texture(t)", "b=surface(i32[4])", "--times", "3", "--swap", "t,b", option)
    ran = run(
        *launch(*FIRST, *step, "--check", "b == 4*(old(t)+1)", "--check", "t == 8*(old(t)+1)")
    )
    assert ran.code == 0, ran.err
