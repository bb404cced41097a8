"""``--timeout`` of reading; that of workers is tested in ``tests/session/workers``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from cudarun.commands import launch
from cudarun.session.driver.contexts import Target
from cudarun.session.spec.case import Case
from tests.commands.conftest import Ran
from tests.commands.limits import at_a_limit
from tests.support import command_tree
from tests.support.processes import PATIENCE

if TYPE_CHECKING:
    from conftest import Run

ROOT = Path(__file__).resolve().parents[2]
GROUP = next(command_tree.contexts())


def test_a_limit_of_a_year(run: Run) -> None:
    """Some waits have fewer milliseconds."""
    assert run("ctx", "verify", "none-current", "-d", "cpu", "--timeout", "8760h").code == 0


@pytest.mark.parametrize(
    "line",
    [
        "launch - -d cpu",
        "launch - --dry-run",
        "launch --spec /dev/stdin -d cpu",
        "load - -d cpu",
        "load - --offline",
        "link - -o out.cubin -d cpu",
        "managed - -d cpu",
        "ctx run --script - -d cpu",
    ],
)
def test_reading_from_a_pipe_that_stays_open_ends(line: str, tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cudarun", *line.split(), "--timeout", "0.2"],
            stdin=read,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.fspath(ROOT)},
            timeout=PATIENCE,
        )
    finally:
        os.close(read)
        os.close(write)
    assert done.returncode == 6, done.stderr
    assert done.stderr.startswith("error: reading the request timed out after 0.2 s")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ((), {"default": 60, "own": 3, "none": None}),
        (("--timeout", "5"), dict.fromkeys(("default", "own", "none"), 5)),
        (("--timeout", "0"), dict.fromkeys(("default", "own", "none"))),
    ],
)
def test_the_cases_of_a_spec_have_a_limit(
    words: tuple[str, ...],
    limits: dict[str, float | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image = f'image = "{ROOT}/samples/endless.ptx"'
    text = f"""
        [[launch]]
        name = "default"
        {image}
        [[launch]]
        name = "own"
        {image}
        timeout = 3
        [[launch]]
        name = "none"
        {image}
        timeout = 0
    """
    (tmp_path / "cases.toml").write_text(text)
    found: dict[str, float | None] = {}

    cases_of = launch._cases

    def read(values: Any, where: Target) -> list[Case]:
        found.update({case.name: case.timeout for case in cases_of(values, where)})
        raise click.exceptions.Exit(0)  # no case has to run

    monkeypatch.setattr(launch, "_cases", read)
    spec = os.fspath(tmp_path / "cases.toml")
    arguments = ["--spec", spec, "-d", "cpu", *words]
    with (
        launch.command.make_context("launch", arguments, parent=GROUP) as context,
        pytest.raises(click.exceptions.Exit),
    ):
        launch.command.invoke(context)
    assert found == limits


MISSING_COPY = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 arrives)
{
    .reg .b32 %arrives, %bar;
    .reg .b64 %state;
    .reg .pred %is_first, %done;
    .shared .align 8 .b64 bar[2];
    ld.param.u32 %arrives, [arrives];
    mov.u32 %bar, bar;
    mbarrier.init.shared.b64 [%bar], 3;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 4096;
    mbarrier.arrive.shared.b64 %state, [%bar], %arrives;
wait:
    mbarrier.try_wait.parity.shared.b64 %done, [%bar], 0;
    @!%done bra wait;
    ret;
}
"""


@pytest.mark.parametrize(("arrives", "pending"), [(2, "1 of 3 arrivals"), (3, "0 of 3 arrivals")])
def test_an_mbarrier_that_waits_for_a_copy(
    run: Run, tmp_path: Path, arrives: int, pending: str
) -> None:
    (tmp_path / "copy.ptx").write_text(MISSING_COPY)
    command = ("launch", "copy.ptx", "-d", "cpu", "--block", "1", f"arrives=i32:{arrives}")
    tested = "1 thread last tested an mbarrier object whose phase is incomplete: block (0, 0, 0)"
    ran, _ = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"), lambda ran: tested in ran.err
    )
    assert ran.code == 6
    after = ran.err.partition(tested)[2].splitlines()
    assert "at PTX line 17: mbarrier.try_wait.parity.shared.b64 %done, [%bar], 0;" in after[1]
    assert after[2] == f"  |     {pending} and 4096 bytes of copies are pending"


COMPILES_FOR_EVER = """
import sys, time
import cudarun.emulator.compiled.jit as jit
from cudarun.cli import main
jit._compiled = lambda *given: time.sleep(1e6)
sys.exit(main(sys.argv[1:]))
"""


def test_a_limit_that_passes_while_a_kernel_is_compiled(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    image = os.fspath(ROOT / "samples/endless.ptx")

    def attempt(limit: float) -> Ran:
        done = subprocess.run(
            [
                *(sys.executable, "-c", COMPILES_FOR_EVER, "launch", image, "-d", "cpu"),
                *("--threads", "1", "i32[1]:zeros", "--cpu-engine", "compile"),
                *("--timeout", str(limit)),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": os.fspath(ROOT), "CUDARUN_CACHE": "off"},
            timeout=PATIENCE,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    ran, limit = at_a_limit(attempt, lambda ran: "compiled" in ran.err)
    assert (ran.code, ran.out) == (6, "")  # no engine has run it
    lines = [line for line in ran.err.splitlines() if not line.startswith("  in ")]
    assert lines == [
        f"error: timed out after {limit} s (--timeout {limit}) while the kernel was being "
        "compiled; the worker was killed",
        "  | kernel endless: it is being compiled; 0 of 1 blocks have finished",
        "hint: raise --timeout, or interpret the kernel: --cpu-engine interpret, or "
        "CUDARUN_CPU_ENGINE=interpret",
    ]
