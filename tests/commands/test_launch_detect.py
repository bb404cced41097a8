"""``launch --detect`` and ``--stats``: what is reported, how it ends, where it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.commands.limits import at_a_limit
from tests.support.toolkit import needs_nvrtc

if TYPE_CHECKING:
    from conftest import Run

RACE = ("launch", "samples/detect/race.ptx", "-d", "cpu", "-q")
RACY = (
    *RACE,
    "-k",
    "reverse_racy",
    "--grid",
    "2",
    "--block",
    "64",
    "x=i32[128]:iota",
    "y=i32[128]",
)
RIGHT = (*RACE, "-k", "reverse_block", *RACY[7:])
UNSET = (
    *("launch", "samples/detect/uninit.ptx", "-d", "cpu", "-q", "-k", "add_to", "--grid", "1"),
    *("--block", "64", "x=f32[n]:ones", "y=f32[n]", "n=i32:64"),
)


def test_a_race_is_exit_code_1_and_the_rest_is_done(run: Run, tmp_path: Path) -> None:
    ran = run(*RACY, "--detect", "race", "--check", "y[0] == 63", "--save", "y=y.npy")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "saved y to y.npy, 640 bytes\n"
        "FAIL race in shared memory: part + 252, 4 bytes at 0x4fc  (128 times)\n"
        "  written by block (0, 0, 0), thread (63, 0, 0)\n"
        "    race.cu:11, PTX line 50: st.shared.u32 [%rd9], %r5;\n"
        "  read by block (0, 0, 0), thread (0, 0, 0)\n"
        "    race.cu:12, PTX line 56: ld.shared.u32 %r8, [%rd11];\n"
        "PASS y[0] == 63\n"
    )
    assert np.load(tmp_path / "y.npy")[0] == 63


def test_nothing_found_is_said(run: Run) -> None:
    ran = run(*RIGHT, "--detect", "uninit,race")
    assert (ran.code, ran.out) == (
        0,
        "PASS no race in this schedule; asynchronous copies included\n"
        "PASS no uninitialized reads\n",
    )
    assert run(*RACY).code == 0


def test_the_document_has_everything(run: Run) -> None:
    ran = run(*UNSET, "--detect", "race,uninit", "--stats", "--json")
    assert ran.code == 1
    assert ran.document["exit_code"] == 1
    [outcome] = ran.document["outcomes"]
    watched = outcome["result"]["watched"]
    assert watched["detect"] == ["race", "uninit"]
    [finding] = watched["findings"]
    assert finding == {
        "kind": "uninit",
        "kernel": "add_to",
        "space": "global",
        "memory": "buffer y",
        "offset": 0,
        "element": 0,
        "address": finding["address"],
        "nbytes": 4,
        "places": [
            {
                "access": "load",
                "function": "add_to",
                "ptx_line": finding["places"][0]["ptx_line"],
                "ptx": "ld.global.f32 %f1, [%rd7];",
                "source": "uninit.cu:32",
                "block": [0, 0, 0],
                "thread": [0, 0, 0],
            }
        ],
        "count": 64,
    }
    statistics = watched["statistics"]
    kinds = {each["kind"]: (each["warps"], each["threads"]) for each in statistics["instructions"]}
    assert kinds["floating"] == (2, 64)
    assert statistics["thread_instructions"] == sum(threads for _, threads in kinds.values())
    [traffic] = statistics["traffic"]
    assert (traffic["space"], traffic["read_bytes"], traffic["written_bytes"]) == (
        "global", 512, 256,
    )  # fmt: skip


def test_a_launch_that_nobody_watches_says_nothing_of_it(run: Run) -> None:
    [outcome] = run(*RACY, "--json").document["outcomes"]
    assert outcome["result"]["watched"] is None


@pytest.mark.parametrize("initial", [":zeros", ":ones", ":rand", ":[1,2,3,4]", ":@y.npy"])
def test_what_initialises_a_buffer_writes_it(run: Run, tmp_path: Path, initial: str) -> None:
    np.save(tmp_path / "y.npy", np.ones(4, np.float32))
    ran = run(
        *UNSET[:-3], "x=f32[n]:ones", f"y=f32[n]{initial}", "n=i32:4", "--detect", "uninit",
        "--seed", "1",
    )  # fmt: skip
    assert (ran.code, ran.err) == (0, "")


# --- beside a fault -------------------------------------------------------------------------------

FAULTY = (*RACY[:-1], "y=i32[64]")


def test_what_was_found_before_a_fault_is_reported_beside_it(run: Run) -> None:
    ran = run(*FAULTY, "--detect", "race")
    assert ran.code == 5
    assert ran.out == (
        "FAIL race in shared memory: part + 252, 4 bytes at 0x4fc  (128 times)\n"
        "  written by block (0, 0, 0), thread (63, 0, 0)\n"
        "    race.cu:11, PTX line 50: st.shared.u32 [%rd9], %r5;\n"
        "  read by block (0, 0, 0), thread (0, 0, 0)\n"
        "    race.cu:12, PTX line 56: ld.shared.u32 %r8, [%rd11];\n"
    )
    assert "ILLEGAL_ADDRESS" in ran.err


def test_the_document_has_them_in_the_error(run: Run) -> None:
    ran = run(*FAULTY[:-2], "x=i32[128]", "y=i32[64]", "--detect", "race,uninit", "--json")
    assert ran.code == 5
    found = [
        (finding["kind"], finding["memory"], finding["count"])
        for finding in ran.document["outcomes"][0]["error"]["findings"]
    ]
    assert found == [("race", "variable part", 128), ("uninit", "buffer x", 128)]
    unwatched = run(*FAULTY, "--json")
    assert "findings" not in unwatched.document["error"]


def test_what_was_counted_before_a_fault_is_reported_beside_it(run: Run) -> None:
    ran = run(*FAULTY, "--stats")
    assert ran.code == 5
    assert ran.out.startswith("instructions  warps  threads  threads per warp\n")
    [outcome] = run(*FAULTY, "--stats", "--json").document["outcomes"]
    counted = outcome["error"]["statistics"]
    assert f"all              {counted['warp_instructions']}     " in ran.out
    shared = next(each for each in counted["traffic"] if each["space"] == "shared")
    assert (shared["written_bytes"], shared["read_bytes"]) == (512, 512)


def test_what_was_counted_of_a_kernel_that_hangs(run: Run) -> None:
    command = (
        *("launch", "samples/endless.ptx", "-d", "cpu", "--threads", "1", "x=i32[1]:zeros"),
        *("--stats", "--json"),
    )
    ran, _ = at_a_limit(
        lambda limit: run(*command, "--timeout", f"{limit}"), lambda ran: "traffic" in ran.out
    )
    assert ran.code == 6
    counted = ran.document["error"]["statistics"]
    assert counted["branches"] > 1
    assert [traffic["space"] for traffic in counted["traffic"]] == ["global"]


def test_nothing_was_counted_of_a_launch_that_is_refused(run: Run) -> None:
    ran = run(*RACY, "--block", "2000", "--stats")
    assert (ran.code, ran.out) == (5, "")


def test_a_case_of_a_spec_that_faults_has_the_counts(run: Run, tmp_path: Path) -> None:
    two_blocks = SPEC.replace("block = 64", "block = 64\ngrid = 2", 1).replace("64]", "128]", 1)
    told = 'expect_error = "ILLEGAL_ADDRESS"\nstats = true'
    (tmp_path / "cases.toml").write_text(two_blocks.format(detect='"race"', more=told))
    ran = run("launch", "--spec", "cases.toml", "racy", "-d", "cpu")
    assert ran.out.startswith("passed  racy on cpu")
    assert "\ninstructions  warps " in ran.out


def test_a_case_of_a_spec_that_faults_has_them(run: Run, tmp_path: Path) -> None:
    two_blocks = SPEC.replace("block = 64", "block = 64\ngrid = 2", 1).replace("64]", "128]", 1)
    (tmp_path / "cases.toml").write_text(two_blocks.format(detect='"race"', more=""))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "cases.xml")
    assert ran.code == 5
    assert "FAIL race in shared memory: part + 252, 4 bytes at 0x4fc" in ran.out
    assert "\nFAIL race in shared memory: part + 252," in (tmp_path / "cases.xml").read_text()


def test_the_races_of_a_buffer_are_one_reason(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(LAST_BLOCK)
    [case] = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json").document["cases"]
    assert len(case["result"]["watched"]["findings"]) > 1
    assert case["reason"] == "failed: race in buffer sums"


LAST_BLOCK = """
[[launch]]
name = "last block"
image = "samples/detect/race.ptx"
kernel = "last_block_racy"
grid = 16
block = 64
args = ["x=i32[1024]:iota", "sums=i32[16]", "done=u32[1]:zeros", "total=i32[1]"]
detect = "race"
"""


# --- where it is refused -------------------------------------------------------------------------


# --- together with the rest ----------------------------------------------------------------------


@pytest.mark.parametrize("together", [(), ("--together",)])
def test_each_device_has_its_own_findings(run: Run, together: tuple[str, ...]) -> None:
    ran = run(
        *RACY, "-d", "cpu:all", "--detect", "race", "--json", *together,
        env={"CUDARUN_CPU_DEVICES": "2"},
    )  # fmt: skip
    counts = [
        [finding["count"] for finding in outcome["result"]["watched"]["findings"]]
        for outcome in ran.document["outcomes"]
    ]
    assert counts == [[128], [128]]


def test_the_reference_is_not_watched(run: Run) -> None:
    ran = run(*RIGHT, "--detect", "race", "--reference", "cpu")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("PASS no race in this schedule; asynchronous copies included\nPASS ")


SPEC = """
[[launch]]
name = "racy"
image = "samples/detect/race.ptx"
kernel = "reverse_racy"
block = 64
args = ["x=i32[64]:iota", "y=i32[64]"]
detect = {detect}
{more}

[[launch]]
name = "unwatched"
image = "samples/detect/race.ptx"
kernel = "reverse_racy"
block = 64
args = ["x=i32[64]:iota", "y=i32[64]"]

[[launch]]
name = "right"
image = "samples/detect/race.ptx"
kernel = "reverse_block"
block = 64
args = ["x=i32[64]:iota", "y=i32[64]"]
detect = "race,uninit"
stats = true
"""


@pytest.mark.parametrize("detect", ['"race,uninit"', '["race", "uninit"]'])
def test_cases_of_a_spec(run: Run, tmp_path: Path, detect: str) -> None:
    (tmp_path / "cases.toml").write_text(SPEC.format(detect=detect, more=""))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json")
    assert ran.code == 1
    cases = {case["name"]: case for case in ran.document["cases"]}
    assert [case["verdict"] for case in cases.values()] == ["failed", "passed", "passed"]
    assert len(cases["racy"]["result"]["watched"]["findings"]) == 1
    assert cases["unwatched"]["result"]["watched"] is None
    assert cases["right"]["result"]["watched"]["findings"] == []
    shown = run("launch", "--spec", "cases.toml", "-d", "cpu").out
    assert "FAIL race in shared memory: part + 252, 4 bytes at 0x4fc  (64 times)\n" in shown


def test_a_case_for_cpu_alone_may_stand_in_a_spec_for_gpus(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(SPEC.format(detect='"race"', more=""))
    ran = run("launch", "--spec", "cases.toml", "-d", "0")
    assert ran.code == 2
    assert ran.err.startswith(
        "error: cases.toml:8: case 'racy': --detect: requires the emulated device"
    )
    (tmp_path / "cases.toml").write_text(SPEC.format(detect='"race"', more='requires = "cpu"'))
    ran = run("launch", "--spec", "cases.toml", "-d", "0")
    assert ran.err.startswith(
        "error: cases.toml:24: case 'right': --detect: requires the emulated device"
    )


def test_a_fault_does_not_keep_the_next_from_being_watched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(
        """
[[launch]]
name = "fault"
image = "samples/out_of_bounds.ptx"
kernel = "far_past"
block = 64
args = ["out=i32[64]", "n=i32:64"]
detect = "race,uninit"
expect_error = "ILLEGAL_ADDRESS"
"""
        + SPEC.format(detect='"race"', more="")
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json")
    verdicts = [case["verdict"] for case in ran.document["cases"]]
    assert verdicts == ["passed", "failed", "passed", "passed"]


def test_write_spec_keeps_what_is_watched(run: Run, tmp_path: Path) -> None:
    ran = run(*RACY, "--detect", "race,uninit", "--stats", "--write-spec", "cases.toml")
    assert ran.code == 1
    text = (tmp_path / "cases.toml").read_text()
    assert 'detect = "race,uninit"\n' in text
    assert "stats = true\n" in text
    assert run("launch", "--spec", "cases.toml", "-d", "cpu").code == 1


# --- synchronization errors, and registers -------------------------------------------------------

SYNC = ("launch", "samples/detect/sync.ptx", "-d", "cpu", "-q", "--detect", "all")


def test_a_synchronization_error(run: Run) -> None:
    launch = (*SYNC, "--block", "64", "x=i32[64]:iota", "y=i32[64]")
    ran = run(*launch, "-k", "neighbors_divergent", "--json")
    result = ran.document["outcomes"][0]["result"]
    [found] = result["watched"]["findings"]
    problem = "lanes of a warp at different barriers"
    assert (ran.code, found["kind"], found["problem"], found["count"]) == (1, "sync", problem, 2)
    assert (found["space"], found["memory"], found["address"]) == (None, None, None)
    places = [(each["source"], each["lanes"], each["members"]) for each in found["places"]]
    assert places == [("sync.cu:14", 0x55555555, None), ("sync.cu:11", 0xAAAAAAAA, None)]
    assert run(*launch, "-k", "neighbors").code == 0


DIVERGENT = """
[[launch]]
image = "samples/detect/sync.ptx"
kernel = "neighbors_divergent"
block = 64
args = ["x=i32[64]:iota", "y=i32[64]"]
detect = "sync"
"""


def test_a_synchronization_error_of_a_case(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(DIVERGENT)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "cases.xml")
    reason = "failed: synchronization error: lanes of a warp at different barriers"
    assert (ran.code, reason in ran.out) == (1, True)
    assert reason in (tmp_path / "cases.xml").read_text()


def test_a_shuffle_from_a_lane_outside_the_mask(run: Run) -> None:
    launch = (*SYNC, "--block", "32", "x=i32[32]:iota", "y=i32[32]")
    ran = run(*launch, "-k", "half_sums_outside")
    assert "lanes 0x0000ff00, member mask 0x0000ffff\n    sync.cu:33, PTX line 162: " in ran.out
    assert (ran.code, run(*launch, "-k", "half_sums").code) == (1, 0)
    document = run(*launch, "-k", "half_sums_outside", "--json").document
    [found] = document["outcomes"][0]["result"]["watched"]["findings"]
    assert (found["places"][0]["lanes"], found["places"][0]["members"]) == (0xFF00, 0xFFFF)


def test_an_unwritten_register(run: Run) -> None:
    launch = (
        *("launch", "samples/detect/uninit.ptx", "-d", "cpu", "-q", "--block", "32"),
        *("--detect", "uninit", "x=f32[4,32]:ones", "y=f32[32]", "4"),
    )
    ran = run(*launch, "-k", "column_sums_unset", "--json")
    result = ran.document["outcomes"][0]["result"]
    [found] = result["watched"]["findings"]
    assert (ran.code, found["space"], found["memory"]) == (1, "register", "register %f21")
    assert [each["source"] for each in found["places"]] == ["uninit.cu:55", "uninit.cu:56"]
    assert run(*launch, "-k", "column_sums").code == 0


# --- all detectors, and misspelled ones ----------------------------------------------------------


def test_writes_of_equal_values(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "flag.ptx"
    source.write_text(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }\n"
    )
    flag = ("launch", str(source), "-k", "k", "-q", "-d", "cpu", "--block", "32", "p=u32[1]:zeros")
    claim = "no race in this schedule; asynchronous copies"
    assert run(*flag, "--detect", "race").out == f"PASS {claim} included\n"
    for engine in ("interpret", "compile"):
        strict = run(*flag, "--detect", "race=strict", "--cpu-engine", engine)
        assert strict.code == 1
        assert strict.out.startswith("FAIL race in global memory: p[0]")
    alone = run(*flag[:-2], "1", "p=u32[1]:zeros", "--detect", "race=strict,all")
    assert alone.out.startswith(f"PASS {claim} and equal writes included\nPASS no uninit")


def test_all_detectors(run: Run, tmp_path: Path) -> None:
    passed = (
        "PASS no race in this schedule; asynchronous copies included\n"
        "PASS no uninitialized reads, no synchronization errors\n"
    )
    assert run(*RIGHT, "--detect", "all").out == passed
    assert run(*RIGHT, "--detect", "uninit,all").out == passed
    (tmp_path / "cases.toml").write_text(SPEC.format(detect='"all"', more=""))
    cases = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json").document["cases"]
    assert cases[0]["result"]["watched"]["detect"] == ["race", "uninit", "sync"]


@needs_nvrtc
def test_uninitialized_reads_that_the_compiler_removes(run: Run, tmp_path: Path) -> None:
    """``detectors.md`` names them; without optimization they are in the PTX, and found."""
    text = "int t[8], i = threadIdx.x; if (i > 3) t[i] = i; b[i] = t[i];"
    path = tmp_path / "kernel.cu"
    path.write_text(f"__global__ void k(int *b) {{ {text} }}")
    words = ("launch", str(path), "-d", "cpu", "--block", "8", "b=i32[8]", "--detect", "uninit")
    assert run(*words).out.splitlines()[-1] == "PASS no uninitialized reads"
    ran = run(*words, "--compile-option=-G")
    assert ran.code == 1
    assert "FAIL uninitialized read of local memory: offset 0, 4 bytes at 0x0  (4 times)" in ran.out
