"""``launch --detect race --prove``: what is reported, how it ends, where it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.commands.limits import at_a_limit

if TYPE_CHECKING:
    from conftest import Run

LAUNCH = ("launch", "samples/detect/patterns.ptx", "-d", "cpu", "-q", "--detect", "race", "--prove")
BUFFERS = ("x=i32[640]:iota", "sums=i32[64]", "rounds=i32:10")
DOUBLE = (*LAUNCH, "-k", "double_buffer", "--block", "64", *BUFFERS)
RACY = (
    *("launch", "samples/detect/race.ptx", "-k", "reverse_racy", "-d", "cpu", "-q"),
    *("--block", "64", "x=i32[64]:iota", "y=i32[64]"),
)

SOURCE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .b64 %o; .reg .u32 %v, %t; .reg .pred %p, %q;
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
  @%p bra SLOW;
MAIN:
  bar.sync 0;
  atom.global.or.b32 %v, [%o], 0;
  setp.eq.u32 %q, %v, 0;
  {otherwise}
  st.volatile.global.u32 [%o+4], 2;
  ret;
SLOW:
  atom.global.exch.b32 %v, [%o], 1;
  bra MAIN;
}}
"""
"""Without the barrier, threads but the first get 0, and that is no race."""
ATOMICS = (
    "  race        without atomic: PTX line 12: atom.global.or.b32 %v, [%o], 0;\n"
    "    out[0]: load at PTX line 12 and store at PTX line 12\n"
    "  no race     without atomic: PTX line 18: atom.global.exch.b32 %v, [%o], 1;\n"
)


def test_each_instruction_has_its_outcome_and_its_lines(run: Run) -> None:
    ran = run(*DOUBLE)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "PASS no race in this schedule; asynchronous copies included\n"
        "proof: a race without 5 of 5 synchronizing instructions\n"
        "  race        without barrier: patterns.cu:78, PTX line 407: bar.sync 0;\n"
        "    part + 4: store at patterns.cu:77 and load at patterns.cu:79\n"
        "    and 4 more PTX lines at this source line\n"
    )


def test_the_document(run: Run) -> None:
    [outcome] = run(*DOUBLE, "--json").document["outcomes"]
    watched = outcome["result"]["watched"]
    assert watched["findings"] == []
    assert watched["proof"]["skipped"] is None
    first = watched["proof"]["operations"][0]
    race = first.pop("race")
    assert first == {
        "kind": "barrier",
        "function": "double_buffer",
        "ptx_line": first["ptx_line"],
        "ptx": "bar.sync 0;",
        "source": first["source"],
        "outcome": "race",
        "fault": None,
    }
    assert [place["access"] for place in race["places"]] == ["store", "load"]
    [outcome] = run(*RACY, "--detect", "race", "--json").document["outcomes"]
    assert outcome["result"]["watched"]["proof"] is None


def test_a_redundant_barrier_is_a_note(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise=""))
    ran = run(
        *("launch", "k.ptx", "-d", "cpu", "-q", "--block", "64", "out=u32[2]:zeros"),
        *("--detect", "race", "--prove", "--check", "out == [1, 2]"),
    )
    assert (ran.code, ran.out) == (
        0,
        "PASS no race in this schedule; asynchronous copies included\n"
        "proof: a race without 1 of 3 synchronizing instructions\n"
        "  no race     without barrier: PTX line 11: bar.sync 0;\n"
        f"{ATOMICS}"
        "note: no race without 2 instructions: possibly redundant\n"
        "PASS out == [1, 2]\n",
    )


def test_a_variant_that_faults(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise="@%q trap;"))
    ran = run(
        *("launch", "k.ptx", "-d", "cpu", "-q", "--block", "64", "out=u32[2]:zeros"),
        *("--detect", "race", "--prove", "--check", "out == [1, 2]", "--save", "out=out.npy"),
    )
    assert ran.code == 0
    assert ran.out == (
        "saved out to out.npy, 136 bytes\n"
        "PASS no race in this schedule; asynchronous copies included\n"
        "proof: a race without 1 of 3 synchronizing instructions\n"
        "  fault       without barrier: PTX line 11: bar.sync 0;\n"
        "    the kernel executed 'trap'\n"
        f"{ATOMICS}"
        "note: no race without 1 instruction: possibly redundant\n"
        "PASS out == [1, 2]\n"
    )


def test_a_variant_that_never_ends(run: Run, tmp_path: Path) -> None:
    """The limit counts for each variant, and begins with it."""
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise="STAY: @%q bra STAY;"))
    ran, _ = at_a_limit(
        lambda limit: run(
            *("launch", "k.ptx", "-d", "cpu", "-q", "--block", "64", "out=u32[2]:zeros"),
            *("--detect", "race", "--prove", "--check", "out == [1, 2]", "--timeout", str(limit)),
        ),
        lambda ran: ran.code == 0,
    )
    assert (ran.code, ran.err) == (0, "")
    assert "  timed out   without barrier: PTX line 11: bar.sync 0;\n" in ran.out
    assert ran.out.endswith("PASS out == [1, 2]\n")


def test_nothing_is_proved_of_a_kernel_with_races(run: Run) -> None:
    ran = run(*RACY, "--detect", "race", "--prove")
    assert ran.code == 1
    assert ran.out.endswith("proof: skipped: the kernel has races; fix them first\n")


def test_a_kernel_without_synchronization(run: Run) -> None:
    ran = run(
        *("launch", "samples/saxpy.ptx", "-d", "cpu", "-q", "--threads", "64", "--block", "32"),
        *("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:64", "--detect", "all", "--prove"),
    )
    assert (ran.code, ran.out) == (
        0,
        "PASS no race in this schedule; asynchronous copies included\n"
        "PASS no uninitialized reads, no synchronization errors\n"
        "proof: the kernel has no barriers, fences or atomic operations\n",
    )


def test_each_device_has_its_own_proof(run: Run) -> None:
    ran = run(*DOUBLE, "-d", "cpu:all", "--together", "--json", env={"CUDARUN_CPU_DEVICES": "2"})
    proofs = [each["result"]["watched"]["proof"] for each in ran.document["outcomes"]]
    assert proofs[0] == proofs[1]
    assert {each["outcome"] for each in proofs[0]["operations"]} == {"race"}


SPEC = """
[[launch]]
name = "exchange"
image = "k.ptx"
block = 64
detect = "race"
prove = true
args = ["out=u32[2]:zeros"]
check = ["out == [1, 2]"]
"""


def test_a_case_of_a_spec(run: Run, tmp_path: Path) -> None:
    """The worker is used again, and the next case is launched once."""
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise=""))
    after = SPEC.replace("exchange", "after").replace("prove = true\n", "")
    (tmp_path / "cases.toml").write_text(SPEC + after)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, ran.err) == (0, "")
    first, proof = ran.out.split("proof: a race without 1 of 3 synchronizing instructions\n")
    assert first.startswith("passed  exchange on cpu")
    assert proof.startswith(
        f"  no race     without barrier: PTX line 11: bar.sync 0;\n{ATOMICS}passed  after on cpu"
    )
    assert "note no race without 2 instructions: possibly redundant  (exchange on cpu)" in proof
    cases = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json").document["cases"]
    proofs = [case["result"]["watched"]["proof"] for case in cases]
    assert len(proofs[0]["operations"]) == 3
    assert proofs[1] is None


def test_a_case_requires_the_race_detector(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise=""))
    (tmp_path / "cases.toml").write_text(SPEC.replace('detect = "race"\n', ""))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert ran.code == 2
    assert "cases.toml:6: case 'exchange': --prove: requires the race detector" in ran.err


def test_the_case_of_a_command_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise=""))
    words = ("k.ptx", "-d", "cpu", "--block", "64", "--detect", "race", "--prove")
    assert run("launch", *words, "out=u32[2]:zeros", "--write-spec", "new.toml").code == 0
    assert "prove = true\n" in (tmp_path / "new.toml").read_text()


def test_all_cases_of_a_spec(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(SOURCE.format(otherwise=""))
    own = 'detect = "race"\nprove = true\n'
    (tmp_path / "cases.toml").write_text(SPEC.replace(own, ""))
    words = ("launch", "--spec", "cases.toml", "-d", "cpu", "--prove")
    ran = run(*words)
    assert ran.code == 2
    assert "case 'exchange': --prove: requires the race detector" in ran.err
    ran = run(*words, "--detect", "race")
    assert (ran.code, ran.err) == (0, "")
    assert "proof: a race without 1 of 3 synchronizing instructions\n" in ran.out
