"""``cudarun launch --spec`` on emulated devices: verdicts and isolation."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tests.commands.limits import at_a_limit
from tests.commands.notes import BY_ORDER
from tests.support.toolkit import without_driver

if TYPE_CHECKING:
    from conftest import Ran, Run

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TWO = {"CUDARUN_CPU_DEVICES": "2"}

HELLO = """
image = "samples/hello.ptx"
threads = 1
args = ["2026", "1.5"]
"""
SAXPY = """
image = "samples/saxpy.ptx"
threads = 100
args = ["a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100"]
check = "y == a*x + 1"
"""
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:1")
FAULT = """
image = "samples/out_of_bounds.ptx"
kernel = "far_past"
threads = 100
args = ["out=i32[n]", "n=i32:100"]
"""
HANG = """
image = "samples/endless.ptx"
threads = 1
args = ["flag=i32[1]:zeros"]
timeout = 1
"""


def spec(tmp_path: Path, *cases: str) -> None:
    (tmp_path / "cases.toml").write_text("".join(f"[[launch]]\n{case}\n" for case in cases))


def case(name: str, body: str, extra: str = "") -> str:
    return f'name = "{name}"{body}{extra}'


def verdicts(ran: Ran) -> dict[str, str]:
    """What the lines of a run say of each case, by ``NAME on DEVICE``."""
    found = {}
    for line in ran.out.splitlines():
        verdict, _, rest = line.partition(" ")
        if verdict in ("passed", "failed", "skipped"):
            found[rest.strip().partition("  ")[0]] = verdict
    return found


def test_every_kind_of_case_on_every_device(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("good", SAXPY),
        case("wrong", SAXPY, 'kernel = "saxpy"\nseed = 1\nprint = "y[0]"').replace("+ 1", "+ 2"),
        case("fault", FAULT, 'expect_error = "CUDA_ERROR_ILLEGAL_ADDRESS"'),
        case("after the fault", SAXPY),
        case("surprise", FAULT),
        case("hang", HANG, 'expect_error = "OutOfTime"'),
        case("not yet", SAXPY, 'skip = "waits for the driver"'),
        case("newer", SAXPY, 'requires = "sm_100"'),
        case("after it all", SAXPY),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu:all", env=TWO)
    expected = {
        "good": "passed",
        "wrong": "failed",
        "fault": "passed",
        "after the fault": "passed",
        "surprise": "failed",
        "hang": "passed",
        "not yet": "skipped",
        "newer": "skipped",
        "after it all": "passed",
    }
    assert verdicts(ran) == {
        f"{name} on {device}": verdict
        for name, verdict in expected.items()
        for device in ("cpu", "cpu:1")
    }
    assert ran.code == 5
    assert ran.out.splitlines()[-1].startswith("10 passed, 4 failed, 4 skipped in ")
    assert ran.err == ""
    for fact in (
        "failed: y == a*x + 2",
        "[0]: got 1.0, expected 2.0",
        "as expected: timed out after 1 s (--timeout 1); the worker was killed",
        "as expected: cuCtxSynchronize: an illegal memory access was encountered",
        "from out_of_bounds.cu:",
        "waits for the driver",
        "requires sm_100",
    ):
        assert fact in ran.out


def test_a_case_can_name_its_devices(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("first", SAXPY, 'device = "cpu:1"'),
        case("both", SAXPY, 'device = ["cpu", "cpu:1"]'),
        case("all", SAXPY, 'device = "cpu:all"\nsave = "y={device}.npy"'),
    )
    ran = run("launch", "--spec", "cases.toml", env=TWO)
    assert (ran.code, ran.err) == (0, "")
    assert {*verdicts(ran)} == {
        "first on cpu:1", "both on cpu", "both on cpu:1", "all on cpu", "all on cpu:1",
    }  # fmt: skip
    assert (tmp_path / "cpu.npy").exists()
    assert (tmp_path / "cpu-1.npy").exists()
    names = [case["name"] for case in run(
        "launch", "--spec", "cases.toml", "--json", "first", "both", env=TWO
    ).document["cases"]]  # fmt: skip
    assert names == ["first", "both", "both"]


@pytest.mark.parametrize(
    ("words", "environment"), [(("-d", "cpu"), {}), ((), {"CUDARUN_DEVICE": "cpu"})]
)
def test_a_device_of_the_command_line_wins(
    run: Run, tmp_path: Path, words: tuple[str, ...], environment: dict[str, str]
) -> None:
    spec(tmp_path, case("there", SAXPY, 'device = "7"'), case("here", SAXPY))
    ran = run("launch", "--spec", "cases.toml", *words, env=environment)
    assert (ran.code, verdicts(ran)) == (0, {"there on cpu": "passed", "here on cpu": "passed"})


def test_a_case_draws_a_seed(run: Run, tmp_path: Path) -> None:
    random = SAXPY.replace("x=f32[n]:iota", "x=f32[n]:rand")
    spec(tmp_path, case("drawn", random, 'seed = "random"'), case("fixed", random))
    seeds = [
        {found["name"]: found["seed"] for found in ran.document["cases"]}
        for ran in (run("launch", "--spec", "cases.toml", "-d", "cpu", "--json") for _ in range(3))
    ]
    assert len({each["drawn"] for each in seeds}) > 1
    assert {each["fixed"] for each in seeds} == {0}


def test_a_case_that_hangs_says_where(run: Run, tmp_path: Path) -> None:
    def attempt(limit: float) -> Ran:
        hang = HANG.replace("timeout = 1", f"timeout = {limit}")
        spec(tmp_path, case("hang", hang), case("after it", SAXPY))
        return run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "out.xml")

    ran, _ = at_a_limit(attempt, lambda ran: "thread runs" in ran.out)
    assert (ran.code, verdicts(ran)) == (6, {"hang on cpu": "failed", "after it on cpu": "passed"})
    assert "  |     at PTX line 30: ld.volatile.global.u32" in ran.out
    error = ElementTree.parse(tmp_path / "out.xml").getroot()[0][0].find("error")
    assert "from endless.cu:7" in error.text


COUNTED = [
    (SAXPY, 0),
    (SAXPY.replace("+ 1", "+ 2"), 1),
    (SAXPY.replace("+ 1", "+ 2") + 'expect_error = "CheckFailed"', 0),
    (SAXPY + 'expect_error = "CheckFailed"', 1),
    (SAXPY.replace('"n=i32:100"', '"n=i64:100"'), 2),
    (SAXPY.replace('"n=i32:100"', '"n=i64:100"') + 'expect_error = "RequestError"', 0),
    (FAULT, 5),
    (FAULT + "expect_error = 700", 0),
    (FAULT + 'expect_error = "MISALIGNED_ADDRESS"', 5),
    (SAXPY + 'expect_error = "DeviceFailed"', 1),
    (HANG.replace("timeout = 1", "timeout = 0.5"), 6),
]


def test_what_each_case_counts_for(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, *(case(f"case {i}", body) for i, (body, _) in enumerate(COUNTED)))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json")
    codes = [found["exit_code"] for found in ran.document["cases"]]
    assert codes == [code for _, code in COUNTED]
    assert ran.code == 6


def test_a_broken_image_is_a_result_and_no_wrong_spec(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.cubin").write_bytes(b"\x7fELF")
    broken = 'image = "broken.cubin"\n'
    spec(
        tmp_path, case("good", SAXPY), case("bad", "\n" + broken + 'expect_error = "ImageRefused"')
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, list(verdicts(ran).values())) == (0, ["passed", "passed"])
    spec(tmp_path, case("bad", "\n" + broken))
    assert run("launch", "--spec", "cases.toml", "-d", "cpu").code == 4


def test_variables_are_fresh_in_every_case(run: Run, tmp_path: Path) -> None:
    bump = '\nimage = "samples/managed.ptx"\nargs = ["k=i32:3"]\n'
    (tmp_path / "read.ptx").write_text("")
    read = bump + "block = 1\n"
    spec(tmp_path, *(case(f"bump {i}", read) for i in range(3)))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--trace")
    assert ran.code == 0, ran.out
    assert ran.err.count("cuLibraryLoadData(") == ran.err.count("cuLibraryUnload(") == 3
    assert ran.err.count("cuInit(") == 1


def test_one_worker_for_all_and_everything_given_back(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, *(case(f"case {i}", SAXPY) for i in range(4)))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--trace")
    assert ran.err.count("cuInit(") == 1
    assert ran.err.count("cuMemAlloc(") == ran.err.count("cuMemFree(") == 8


def test_context_options_of_a_case(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("plain", SAXPY),
        case("deep", SAXPY, 'limit = ["stack=4096"]\ncontext = "new"\nctx_flags = ["spin"]'),
        case("plain again", SAXPY),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--trace")
    assert ran.code == 0, ran.out
    assert ran.err.count("cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096)") == 1
    assert ran.err.count("cuCtxCreate(None, 1, 0)") == 1
    assert ran.err.count("cuInit(") == 2


def test_a_reference(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("agrees", SAXPY, 'reference = "cpu:1"'),
        case("fails there", SAXPY, 'reference = "cpu:9"'),
        case("agrees again", SAXPY, 'reference = "cpu:1"'),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", env=TWO)
    assert list(verdicts(ran).values()) == ["passed", "failed", "passed"]
    assert "reference: no device cpu:9: the driver reports 2" in ran.out
    assert ran.code == 3


def test_only_the_cases_that_are_named(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, *(case(name, SAXPY) for name in ("one", "two", "three")))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "three", "one")
    assert [*verdicts(ran)] == ["one on cpu", "three on cpu"]


def test_fail_fast(run: Run, tmp_path: Path) -> None:
    wrong = SAXPY.replace("+ 1", "+ 2")
    spec(tmp_path, case("one", SAXPY), case("two", wrong), case("three", FAULT))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--fail-fast")
    assert list(verdicts(ran).values()) == ["passed", "failed", "skipped"]
    assert "not run: an earlier case failed (--fail-fast)" in ran.out
    assert ran.code == 1


def test_quiet_shows_what_failed_and_the_sum(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", SAXPY), case("two", SAXPY.replace("+ 1", "+ 2")))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "-q")
    assert [*verdicts(ran)] == ["two on cpu"]


ODD = """
image = "samples/saxpy.ptx"
threads = 100
args = ["a=f32:2", "x=u32[n]:0x3f800000", "y=f32[200]", "n=i32:100"]
allow-type-mismatch = true
"""
NOTES = [
    BY_ORDER.replace("note: ", "note ").strip(),
    "note x is float const* in the kernel, got u32[100]",
    "note y has no initializer: the kernel reads or updates elements before it writes them; "
    "example: 'y=f32[200]:zeros'. --detect uninit locates the reads",
    "note y: 100 of 200 elements were never written",
]


def test_notes_are_told_once_for_all_cases(run: Run, tmp_path: Path) -> None:
    odd = ODD.replace("samples/saxpy.ptx", "typed.ptx")
    ptx = (SAMPLES / "saxpy.ptx").read_text()
    (tmp_path / "typed.ptx").write_text(ptx.replace("saxpy", "_Z5saxpyfPKfPfi"))
    spec(tmp_path, case("good", SAXPY), *(case(name, odd) for name in ("one", "two")))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu:all", "--junit", "out.xml", env=TWO)
    cases = sorted(f"{name} on {device}" for name in ("one", "two") for device in ("cpu", "cpu:1"))
    shown = ran.out.splitlines()[-5:-1]
    assert [line.partition("  (")[0] for line in shown] == NOTES
    assert shown[0].endswith(" and 3 more)")  # good, too
    for line in shown[1:]:
        named, _, rest = line.partition("  (")[2].partition(" and ")
        assert (rest, len(set(named.split(", ")) & set(cases))) == ("1 more)", 3)
    good, one, _ = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    assert good.find("system-err").text == BY_ORDER.strip()
    assert one.find("system-err").text == "\n".join(NOTES).replace("note ", "note: ")


def test_what_a_case_asks_for_stands_below_it(run: Run, tmp_path: Path) -> None:
    asked = 'print = "y[:2]"\nsave = "y=y.npy"\nforce = true\nshow = "x=hist"\n'
    spec(
        tmp_path,
        case("one", SAXPY, asked + "stats = true\n"),
        case("two", SAXPY.replace("+ 1", "+ 2"), 'print = "y[0]"'),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    one, _, two = ran.out.partition("failed ")
    assert one.splitlines()[1] == "y[:2] = [1. 3.]"
    for line in ("x:\n", "\nsaved y to ", "y.npy, 528 bytes\n", "\nwarp branches: "):
        assert line in one
    assert two.splitlines()[1] == "y[0] = 1.0"
    assert "y[" not in run("launch", "--spec", "cases.toml", "-d", "cpu", "-q", "one").out


def test_quiet_tells_no_notes(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", ODD))
    assert "note" in run("launch", "--spec", "cases.toml", "-d", "cpu").out
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "-q")
    assert ran.out.startswith("1 passed, 0 failed, 0 skipped in ")


def test_paths_start_from_the_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "x.bin").write_bytes(bytes(400))
    body = SAXPY.replace("samples/", "../samples/").replace("x=f32[n]:iota", "x=f32[n]:@x.bin")
    (tmp_path / "deep" / "cases.toml").write_text(
        f'[[launch]]\nname = "here"{body}save = "y=y.npy"\n'
    )
    ran = run("launch", "--spec", "deep/cases.toml", "-d", "cpu")
    assert ran.code == 0, ran.out
    assert (tmp_path / "deep" / "y.npy").exists()


def test_what_a_kernel_prints_is_kept_from_the_table(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("hello", HELLO),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json")
    [found] = ran.document["cases"]
    assert found["output"].startswith("hello from block 0, thread 0")


def test_the_document(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", SAXPY), case("two", FAULT), case("three", SAXPY, "skip = true"))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu:all", "--json", env=TWO)
    report = ran.document
    assert report["schema"] == "cudarun/launch-spec/1"
    assert (report["exit_code"], ran.code) == (5, 5)
    assert (report["passed"], report["failed"], report["skipped"]) == (2, 2, 2)
    assert [(c["name"], c["device"]) for c in report["cases"]] == [
        (name, device) for name in ("one", "two", "three") for device in ("cpu", "cpu:1")
    ]
    one, _, two, _, three, _ = report["cases"]
    assert (one["line"], one["verdict"], one["exit_code"]) == (1, "passed", 0)
    assert one["result"]["checks"][0]["passed"] is True
    assert two["error"]["cuda"] == {"name": "CUDA_ERROR_ILLEGAL_ADDRESS", "number": 700}
    assert three["reason"] == "skipped by the spec"


def test_junit(run: Run, tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("good", SAXPY),
        case("wrong", SAXPY.replace("+ 1", "+ 2")),
        case("fault", FAULT),
        case("skip", SAXPY, 'skip = "later"'),
    )
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu:all", "--junit", "out.xml", env=TWO)
    assert ran.code == 5
    root = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (root.tag, root.get("tests"), root.get("failures")) == ("testsuites", "8", "2")
    assert root.get("errors") == "2"
    names = [suite.get("name", "").partition(" (GPU-")[0] for suite in root]
    assert names == [f"cases.toml on {gethostname()}/{device}" for device in ("cpu", "cpu:1")]
    good, wrong, fault, skip = root[0]
    assert (good.get("name"), good.get("classname")) == ("good", "cases.cpu")
    assert [(each.tag, each.text) for each in good] == [("system-err", BY_ORDER.strip())]
    assert wrong.find("failure").get("message") == "failed: y == a*x + 2"
    assert fault.find("error").get("type") == "DeviceFailed"
    assert "from out_of_bounds.cu:" in fault.find("error").text
    assert skip.find("skipped").get("message") == "later"


def test_a_check_that_cannot_be_evaluated(run: Run, tmp_path: Path) -> None:
    checks = 'check = ["y[200] == 3", "y[1] == 9"]\n'
    spec(tmp_path, case("too far", SAXPY.replace('check = "y == a*x + 1"\n', checks)))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "out.xml")
    assert ran.code == 2
    assert "  --check: y[200] == 3: […]: index 200 is out of bounds" in ran.out
    assert "\nnot evaluated y[200] == 3\n" in ran.out
    assert "\nFAIL y[1] == 9 " in ran.out
    failure = ElementTree.parse(tmp_path / "out.xml").getroot()[0][0].find("failure")
    assert failure.get("type") == "RequestError"
    assert failure.text.splitlines()[-4:] == [
        "not evaluated y[200] == 3",
        "FAIL y[1] == 9  (rtol 1e-05, atol 1e-06)",
        "  got 3.0, expected 9; absolute error 6; relative error 0.666667",
        "  run again: cudarun launch --spec cases.toml -d cpu 'too far'",
    ]


@without_driver
def test_no_driver_is_one_answer_for_all(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, *(case(f"case {i}", SAXPY) for i in range(3)))
    ran = run("launch", "--spec", "cases.toml", "-d", "0")
    assert ran.code == 3
    assert list(verdicts(ran).values()) == ["failed"] * 3
    assert ran.out.count("no CUDA driver: libcuda.so.1 was not found") == 3
