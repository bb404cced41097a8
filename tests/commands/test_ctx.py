"""``cudarun ctx`` as a user runs it, on the emulated device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.commands.inputs import MAX_BYTES
from cudarun.session.contexts.verification import FACTS

if TYPE_CHECKING:
    from conftest import Run

TWO = {"CUDARUN_CPU_DEVICES": "2"}


# --- run -----------------------------------------------------------------------------------------


def test_steps_are_lines(run: Run) -> None:
    ran = run("ctx", "run", "create A; @t1 pop -> INVALID_CONTEXT; pop == none", "-d", "cpu")
    assert ran.out.splitlines() == [
        f"  1   create A                    {'SUCCESS':36}main [A]",
        f"  2 ✓ @t1 pop -> INVALID_CONTEXT  {'INVALID_CONTEXT (201)':36}main [A]  t1 []",
        f"  3 ✗ pop == none                 {'SUCCESS  A':36}main []  t1 []  floating A",
        "3 steps: 1 failed",
    ]
    assert (ran.code, ran.err) == (1, "")


def test_quiet_shows_what_went_wrong(run: Run) -> None:
    ran = run("ctx", "run", "create A; pop; pop", "-d", "cpu", "-q")
    assert [line.split()[:3] for line in ran.out.splitlines()[:2]] == [
        ["3", "!", "pop"], ["|", "no", "context"],
    ]  # fmt: skip
    assert ran.code == 5


def test_times(run: Run) -> None:
    ran = run("ctx", "run", "create A", "-d", "cpu", "--times")
    assert " ms  main [A]" in ran.out


def test_a_document_has_every_step(run: Run) -> None:
    ran = run("ctx", "run", "create A; @t1 alloc M 4; destroy A; current == none", "-d", "cpu",
              "--json")  # fmt: skip
    document = ran.document
    assert (document["schema"], document["exit_code"], ran.code) == ("cudarun/ctx-run/1", 5, 5)
    assert document["devices"] == ["cpu"]
    create, alloc, destroy, current = document["steps"]
    assert create["call"] == "cuCtxCreate"
    assert create["milliseconds"] >= 0
    assert (alloc["result"], alloc["code"], alloc["verdict"], alloc["thread"]) == (
        "CUDA_ERROR_INVALID_CONTEXT", 201, "error", "t1",
    )  # fmt: skip
    assert destroy["stacks"] == [
        {"thread": "main", "contexts": []}, {"thread": "t1", "contexts": []},
    ]  # fmt: skip
    assert (current["value"], current["expected"], current["verdict"]) == (
        "none",
        "== none",
        "passed",
    )


@pytest.mark.parametrize("path", ["/dev/zero", "-"])
def test_a_script_without_an_end(run: Run, path: str) -> None:
    ran = run("ctx", "run", "--script", path, "-d", "cpu", stdin=b" " * (MAX_BYTES + 1))
    assert (ran.code, ran.err) == (2, f"error: --script: {path}: larger than the limit of 4 MiB\n")


def test_a_script_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one.ctx").write_text("# floats\ncreate A\npop == A\n")
    assert run("ctx", "run", "--script", "one.ctx", "-d", "cpu").code == 0
    ran = run("ctx", "run", "--script", "-", "-d", "cpu", stdin=b"create A\npop == A\n")
    assert (ran.code, len(ran.out.splitlines())) == (0, 2)


def test_modules_from_files(run: Run) -> None:
    ran = run(
        "ctx", "run",
        "create A; module M samples/managed.ptx; function F M.bump; launch F k=i32:5; sync; "
        "global H M.hits; read H u32 == 1",
        "-d", "cpu",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")


MANAGED = "create A; module M samples/managed.ptx; function F M.bump; "


@pytest.mark.parametrize(
    ("launch", "hits"),
    [
        ("grid=k block=2x2 k=i32:5", 20),
        ("k=i32:9 grid=(k+7)//8,2 block=k-1", 32),
        ("k=i32:3 smem=4*k", 1),
        ("k=i32:3 smem=1Ki", 1),
    ],
)
def test_the_geometry_of_a_launch_is_of_expressions(run: Run, launch: str, hits: int) -> None:
    script = f"{MANAGED}launch F {launch}; sync; global H M.hits; read H u32 == {hits}"
    ran = run("ctx", "run", script, "-d", "cpu")
    assert (ran.code, ran.err) == (0, "")


def test_a_grid_of_zero_is_refused_by_the_driver(run: Run) -> None:
    for grid in ("0", "k-5", "2,k-5"):
        script = f"{MANAGED}launch F k=i32:5 grid={grid} -> INVALID_VALUE"
        assert run("ctx", "run", script, "-d", "cpu").code == 0


@pytest.mark.parametrize(
    ("launch", "says"),
    [
        ("grid=m", "grid=: 'm': unknown integer argument 'm'; the integer arguments are: k"),
        ("block=2,k-6", "block=: 'k-6' is -1: a dimension must be 0 to 4294967295"),
        ("smem=k-6", "smem=: 'k-6' is -1: a size must be 0 to 4294967295"),
    ],
)
def test_geometry_without_a_valid_value(run: Run, launch: str, says: str) -> None:
    ran = run("ctx", "run", f"{MANAGED}launch F k=i32:5 {launch}", "-d", "cpu")
    assert ran.code == 2
    assert f"error: {says}\n" in ran.err


def test_what_kernels_print_is_seen(run: Run) -> None:
    script = "create A; module M samples/hello.ptx; function F M.hello; launch F 1 f64:2; sync"
    words = "hello from block 0, thread 0: the year is 1, the version 2.0\n"
    assert words in run("ctx", "run", script, "-d", "cpu").out
    assert run("ctx", "run", script, "-d", "cpu", "--json").document["output"] == words


def test_a_hanging_kernel_is_ended_by_the_limit(run: Run) -> None:
    script = "create A; module M builtin; function F M.spin; launch F; sync"
    ran = run("ctx", "run", script, "-d", "cpu", "--timeout", "2")
    assert ran.code == 6
    done = [line[6:].partition("  ")[0] for line in ran.out.splitlines()]
    assert done == script.split("; ")[: len(done)]
    assert len(done) < 5
    assert "error: the script timed out after 2 s (--timeout 2); the worker was killed\n" in ran.err
    assert "  in step " in ran.err


def test_a_deadlock_ends_with_its_fault(run: Run) -> None:
    script = "create A; module M samples/deadlock.ptx; function F M.deadlock; launch F block=64"
    ran = run("ctx", "run", f"{script}; sync", "-d", "cpu")
    assert ran.code == 5
    assert "  5 ! sync                           LAUNCH_FAILED (719)" in ran.out
    assert "| kernel deadlock: deadlock: no thread can make progress" in ran.out


def test_a_refusal_as_a_document(run: Run) -> None:
    ran = run("ctx", "run", "pusj", "--json")
    assert ran.document["error"]["message"] == "unknown step 'pusj'"
    assert ran.document["schema"] == "cudarun/ctx-run/1"


def test_the_calls_of_the_script_are_traced_and_no_others(run: Run) -> None:
    ran = run("ctx", "run", "create A; create B; pop", "-d", "cpu", "--trace")
    calls = [line.partition("(")[0] for line in ran.err.splitlines()]
    assert calls[calls.index("cuCtxCreate") :] == ["cuCtxCreate", "cuCtxCreate", "cuCtxPopCurrent"]


# --- verify --------------------------------------------------------------------------------------


def test_every_fact_holds_or_is_not_supported(run: Run) -> None:
    ran = run("ctx", "verify", "-d", "cpu", "--json")
    document = ran.document
    assert (ran.code, document["schema"]) == (0, "cudarun/ctx-verify/1")
    assert [fact["name"] for fact in document["facts"]] == [fact.name for fact in FACTS]
    verdicts = {f["name"]: [o["verdict"] for o in f["outcomes"]] for f in document["facts"]}
    assert {name for name, found in verdicts.items() if found != ["passed"]} == {
        fact.name for fact in FACTS if fact.parsed().devices > 1
    }
    assert ["failed"] not in verdicts.values()


def test_facts_about_two_devices(run: Run) -> None:
    two = [fact.name for fact in FACTS if fact.parsed().devices > 1]
    ran = run("ctx", "verify", *two, "-d", "cpu:all", "--together", "--json", env=TWO)
    assert ran.document["devices"] == ["cpu", "cpu:1"]
    assert [
        [outcome["verdict"] for outcome in fact["outcomes"]] for fact in ran.document["facts"]
    ] == [["passed", "passed"]] * len(two)


WITH_A_WRONG_FACT = """
import cudarun.session.contexts.verification as facts
from cudarun.__main__ import main

facts.FACTS = (facts.Fact("wrong", "A wrong fact.", "create A; current == none"),)
main()
"""


def test_a_broken_fact_is_told_step_by_step() -> None:
    """A fact that is wrong, put in the place of those that are right."""
    done = subprocess.run(
        [sys.executable, "-c", WITH_A_WRONG_FACT, "ctx", "verify", "-d", "cpu"],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[1].split()[:2] == ["wrong", "failed"]
    assert lines[2] == (
        "failed: wrong on cpu: step 2, current == none: expected == none, got CUDA_SUCCESS, A"
    )
    assert lines[4].startswith("  2 ✗ current == none  SUCCESS  A")
    assert lines[5] == "0 passed, 1 failed, 0 not supported"


def test_facts_are_listed_without_a_device(run: Run) -> None:
    ran = run("ctx", "verify", "--list", "--json")
    assert ran.code == 0
    listed = ran.document["facts"]
    assert [fact["script"] for fact in listed] == [fact.script for fact in FACTS]


# --- show ----------------------------------------------------------------------------------------


def test_show(run: Run) -> None:
    ran = run("ctx", "show", "-d", "cpu:all", "--json", env=TWO)
    assert (ran.code, ran.document["schema"]) == (0, "cudarun/ctx-show/1")
    first, second = (outcome["info"] for outcome in ran.document["outcomes"])
    assert (first["device"], second["device"]) == ("cpu", "cpu:1")
    assert (first["primary_active"], first["current_before"], first["made"]) == (
        False, False, "primary",
    )  # fmt: skip
    assert first["api_version"] == 3020
    assert first["limits"]["stack"] == 1024
    assert first["limits"]["sync-depth"] is None
    assert first["stream_priorities"] == [0, -5]


def test_show_of_a_context_as_asked_for(run: Run) -> None:
    ran = run("ctx", "show", "-d", "cpu", "--context", "new", "--ctx-flags", "spin",
              "--limit", "stack=4Ki", "--cache-config", "shared")  # fmt: skip
    assert ran.code == 0
    rows = dict(line.split("  ", 1) for line in ran.out.splitlines()[1:])
    rows = {key: value.strip() for key, value in rows.items()}
    assert (rows["flags"], rows["limit stack"], rows["cache preference"]) == (
        "spin", "4096", "shared",
    )  # fmt: skip
    assert rows["made current"] == "a new context"
    assert rows["its flags"] == "auto"
