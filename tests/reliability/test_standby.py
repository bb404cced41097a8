"""A worker that stands by and is killed is nobody's failure."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.support.fault_matrix import case, good
from tests.support.fault_runner import Cell, Run, Scene, wait_for_kernel


def test_a_killed_one_is_replaced(tmp_path: Path) -> None:
    def kill_the_newest(run: Run) -> None:
        wait_for_kernel(run)
        run.wait_until(lambda: len(run.workers()) == 2, "a worker that stands by")
        os.kill(run.workers()[1], signal.SIGKILL)

    spec = (
        case("slow", n=3000),
        case("out_of_bounds", 'expect_error = "ILLEGAL_ADDRESS"', name="expected"),
        good("after"),
    )
    cell = Cell(
        ("launch", "--spec", "".join(spec), "--trace"),
        0,
        "3 passed, 0 failed, 0 skipped",
        meanwhile=kill_the_newest,
    )
    result = Scene(tmp_path, ["cpu"]).run(cell)
    assert result.problems == (), result.output
