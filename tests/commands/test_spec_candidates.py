"""``--candidate``, ``--best`` and ``--format jsonl``: one spec for many images."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.json_documents import validate
from tests.support.servers import KERNELS

if TYPE_CHECKING:
    from conftest import Ran, Run

SPEC = """
[defaults]
kernel = "center"
grid = "rows"
block = 64
args = ["x=f32[rows,columns]:rand", "y=f32[rows,columns]", "rows=i32:2", "columns=i32:${columns}"]
check = ["y == (old(x).T - mean(old(x), axis=1)).T"]

[[launch]]
name = "rows"
matrix = {columns = [64, 60]}
"""
HONEST, ZEROS, SHORT = (
    f"samples/judge/{name}.ptx" for name in ("honest_serial", "zeros", "one_size")
)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    path = tmp_path / "specs/judge.toml"
    path.write_text(SPEC)
    return path


def judged(run: Run, *images: str, words: tuple[str, ...] = ()) -> Ran:
    candidates = [word for image in images for word in ("--candidate", image)]
    return run("launch", "--spec", "specs/judge.toml", "-d", "cpu", *candidates, *words)


def lines(ran: Ran) -> list[Any]:
    """The documents of ``--format jsonl``, each valid under its schema."""
    documents = [json.loads(line) for line in ran.out.splitlines()]
    for document in documents:
        validate(document)
    return documents


def test_each_candidate_runs_all_cases(run: Run, spec: Path) -> None:
    ran = judged(run, HONEST, SHORT)
    assert ran.code == 1
    verdicts = [line.split("  ")[0] for line in ran.out.splitlines() if " on cpu  " in line]
    assert verdicts == [
        f"passed  {HONEST}: rows[columns=64] on cpu".split("  ")[0], "passed", "passed", "failed",
    ]  # fmt: skip
    assert ran.out.splitlines()[-3:-1] == [
        f"passed  {HONEST}  2 of 2 cases passed",
        f"failed  {SHORT}  1 of 2 cases passed; rows[columns=60]: failed: "
        "y == (old(x).T - mean(old(x), axis=1)).T",
    ]


def test_the_command_of_a_failure_runs_its_candidate_alone(run: Run, spec: Path) -> None:
    ran = judged(run, HONEST, ZEROS)
    [command, _] = re.findall(r"run again: cudarun (.*)", ran.out)
    assert command == (
        f"launch --spec specs/judge.toml --candidate {ZEROS} -d cpu 'rows[columns=64]'"
    )
    again = run(*command.replace("'", "").split())
    assert again.code == 1
    assert "0 passed, 1 failed" in again.out


def test_names_and_filters_select_cases_of_every_candidate(run: Run, spec: Path) -> None:
    ran = judged(run, HONEST, ZEROS, words=("--filter", "columns == 60", "--json"))
    cases = [(case["candidate"], case["name"]) for case in ran.document["cases"]]
    assert cases == [(HONEST, "rows[columns=60]"), (ZEROS, "rows[columns=60]")]
    assert [each["verdict"] for each in ran.document["candidates"]] == ["passed", "failed"]
    assert judged(run, HONEST, words=("none",)).code == 2


def test_a_line_for_each_case_candidate_and_the_totals(run: Run, spec: Path) -> None:
    ran = judged(run, HONEST, ZEROS, words=("--format", "jsonl"))
    assert ran.code == 1
    documents = lines(ran)
    assert [document["schema"].split("/")[1] for document in documents] == [
        *["launch-case"] * 4, *["launch-candidate"] * 2, "launch-spec",
    ]  # fmt: skip
    *_, honest, zeros, totals = documents
    assert documents[2]["candidate"] == ZEROS
    assert documents[2]["result"]["checks"][0]["passed"] is False
    assert (honest["verdict"], honest["reason"], honest["failures"]) == ("passed", None, [])
    assert zeros["failures"] == ["rows[columns=64]", "rows[columns=60]"]
    assert (totals["exit_code"], totals["failed"], totals["cases"]) == (1, 2, [])


def test_a_spec_without_candidates_has_lines_too(run: Run, spec: Path) -> None:
    spec.write_text(SPEC.replace('kernel = "center"', f'image = "../{HONEST}"'))
    documents = lines(run("launch", "--spec", "specs/judge.toml", "-d", "cpu", "--format", "jsonl"))
    assert [document.get("candidate") for document in documents[:-1]] == [None, None]
    assert (documents[-1]["candidates"], documents[-1]["passed"]) == ([], 2)


def test_the_image_of_the_spec_is_replaced(run: Run, spec: Path) -> None:
    spec.write_text(SPEC.replace('kernel = "center"', 'image = "missing.ptx"'))
    assert judged(run, HONEST).code == 0
    assert judged(run).code == 2


def test_a_candidate_that_is_no_image_fails_alone(run: Run, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged.ptx").write_text(".version 8.0\n.target sm_75\n.visible .entry center(")
    ran = judged(run, "damaged.ptx", HONEST, words=("--json",))
    assert ran.code == 4
    assert [each["verdict"] for each in ran.document["candidates"]] == ["failed", "passed"]


def test_a_candidate_with_a_reference_to_the_matrix_in_its_name(
    run: Run, spec: Path, tmp_path: Path
) -> None:
    (tmp_path / "${columns}.ptx").write_bytes((tmp_path / HONEST).read_bytes())
    assert judged(run, "${columns}.ptx").code == 0


def test_the_fastest_passing_case(run: Run, spec: Path) -> None:
    spec.write_text(SPEC.replace("block = 64", "block = 64\nrepeat = 2\nwarmup = 0"))
    ran = judged(run, ZEROS, SHORT, HONEST, words=("--best", "min", "--json"))
    assert ran.code == 1
    [best] = ran.document["best"]
    times = {
        (case["candidate"], case["name"]): case["result"]["timing"]["minimum"]
        for case in ran.document["cases"]
        if case["verdict"] == "passed"
    }
    assert len(times) == best["cases"] == 3
    assert best["milliseconds"] == min(times.values())
    assert times[best["candidate"], best["name"]] == best["milliseconds"]
    ran = judged(run, HONEST, words=("--best", "median"))
    assert ran.code == 0
    assert re.search(rf"^fastest on cpu: {HONEST}: rows\[columns=6[04]\]  median .* of 2 cases$",
                     ran.out, re.MULTILINE)  # fmt: skip


def test_no_case_passes(run: Run, spec: Path) -> None:
    spec.write_text(SPEC.replace("block = 64", "block = 64\nrepeat = 2\nwarmup = 0"))
    ran = judged(run, ZEROS, words=("--best", "min", "--json"))
    assert (ran.code, ran.document["best"]) == (1, [])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--candidate", "none.ptx"), "--candidate: none.ptx: no such file"),
        (("--candidate", HONEST, "--candidate", HONEST), f"--candidate: {HONEST} is given twice"),
        (("--candidate", HONEST, "--best", "min"), "--best: no selected case is timed"),
        (("--candidate", HONEST, "--format", "jsonl", "--json"), "--json and --format jsonl"),
        (("--candidate", HONEST, "--format", "jsonl", "--list"), "--format jsonl and --list"),
        (("--candidate", HONEST, "--confine", "specs"), "is outside specs"),
    ],
)
def test_unusable_requests(run: Run, spec: Path, words: tuple[str, ...], says: str) -> None:
    ran = run("launch", "--spec", "specs/judge.toml", "-d", "cpu", *words)
    assert ran.code == 2
    assert says in ran.err


def test_candidates_in_a_list(run: Run, spec: Path) -> None:
    ran = judged(run, HONEST, words=("--list", "--json"))
    assert [case["image"] for case in ran.document["cases"]] == [f"../{HONEST}"] * 2
    assert f"--candidate {HONEST}" in ran.document["cases"][0]["command"]


def test_emulated_times_give_no_speed(run: Run, spec: Path) -> None:
    timed = f'baseline = "../{HONEST}"\nrepeat = 2\nwarmup = 0'
    spec.write_text(SPEC.replace("block = 64", f"block = 64\n{timed}"))
    ran = judged(run, HONEST, ZEROS, words=("--format", "jsonl"))
    *cases, honest, zeros, _ = lines(ran)
    assert [case["result"]["baseline"].get("speed") for case in cases] == [None] * 4
    assert (honest["ratio"], honest["compared"]) == (zeros["ratio"], zeros["compared"]) == (None, 0)
    assert judged(run, HONEST).out.splitlines()[-2] == f"passed  {HONEST}  2 of 2 cases passed"


def test_the_first_error_of_a_compiler_is_in_the_line_of_a_candidate(
    run: Run, spec: Path, tmp_path: Path
) -> None:
    (tmp_path / "open.cu").write_text('extern "C" __global__ void center(float* x) { x[0] = 1 }')
    ran = judged(run, "open.cu")
    assert ran.code == 4
    reason = r'open.cu: NVRTC: the source does not compile: expected a ";" \(\S*open.cu:1:56\)'
    assert re.search(reason, ran.out.splitlines()[-2])


FAILING = """
[defaults]
image = "a.ptx"
threads = 1
[[launch]]
name = "first"
kernel = "fill"
args = ["y=i32[1]", "k=i32:3"]
check = ["y == 4"]
[[launch]]
name = "second"
kernel = "{kernel}"
[[launch]]
name = "third"
kernel = "say"
"""
FAULTY = """\
extern "C" __global__ void f(int *y, int n) {
    if (n > 0)
        y[1 << 28] = n;
}
"""


@pytest.fixture
def two_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ptx").write_text(KERNELS)
    Path("b.ptx").write_text(
        KERNELS.replace("st.global.u32 [%y], %k", "mov.u32 %k, 4; st.global.u32 [%y], %k")
    )


def verdicts(ran: Ran) -> dict[str, list[str]]:
    """The verdicts of the cases of each candidate."""
    found: dict[str, list[str]] = {}
    for document in lines(ran)[:-1]:
        if document["schema"] == "cudarun/launch-case/1":
            found.setdefault(document["candidate"], []).append(document["verdict"])
    return found


CANDIDATES = ("-d", "cpu", "--candidate", "a.ptx", "--candidate", "b.ptx", "--format", "jsonl")


def test_fail_fast_stops_only_the_candidate_that_fails(run: Run, two_candidates: None) -> None:
    Path("s.toml").write_text(FAILING.format(kernel="say"))
    ran = run("launch", "--spec", "s.toml", *CANDIDATES, "--fail-fast")
    assert verdicts(ran) == {"a.ptx": ["failed", "skipped", "skipped"], "b.ptx": ["passed"] * 3}


def test_each_candidate_has_its_own_budget(run: Run, two_candidates: None) -> None:
    """The endless kernel fails at the end of the budget, and the next cases are not run."""
    head, *texts = FAILING.format(kernel="endless").split("[[launch]]")
    Path("s.toml").write_text("[[launch]]".join([head, texts[1], texts[0], texts[2]]))
    ran = run("launch", "--spec", "s.toml", *CANDIDATES, "--budget", "1")
    assert ran.code == 6
    cases = [each for each in lines(ran) if each["schema"] == "cudarun/launch-case/1"]
    reasons = [each["reason"] for each in cases]
    passed = "the time of the candidate has passed: 1 s (--budget)"
    assert reasons == [passed, f"not run: {passed}", f"not run: {passed}"] * 2
    of_each = ["failed", "skipped", "skipped"]
    assert verdicts(ran) == {"a.ptx": of_each, "b.ptx": of_each}


def test_sarif_has_the_lines_of_the_kernel(run: Run, two_candidates: None) -> None:
    Path("f.cu").write_text(FAULTY)
    words = ("launch", "f.cu", "-d", "cpu", "--threads", "1", "y=i32[1]", "n=1")
    [result] = json.loads(run(*words, "--format", "sarif").out)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("DeviceFailed", "error")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "f.cu"},
        "region": {"startLine": 3},
    }
    Path("s.toml").write_text(FAILING.format(kernel="say"))
    ran = run("launch", "--spec", "s.toml", "-d", "cpu", "--format", "sarif")
    [result] = json.loads(ran.out)["runs"][0]["results"]
    assert result["ruleId"] == "Check"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 5}


@pytest.mark.parametrize("option", [("--format", "sarif"), ("--format=sarif",)])
def test_error_of_a_command_is_sarif(run: Run, option: tuple[str, ...]) -> None:
    ran = run("launch", "no file.ptx", "-d", "cpu", *option)
    [result] = json.loads(ran.out)["runs"][0]["results"]
    assert (ran.code, result["ruleId"]) == (2, "RequestError")


def test_sarif_quotes_the_name_of_a_file(run: Run, two_candidates: None) -> None:
    Path("a 100%.cu").write_text(FAULTY)
    words = ("launch", "a 100%.cu", "-d", "cpu", "--threads", "1", "y=i32[1]", "n=1")
    [result] = json.loads(run(*words, "--format", "sarif").out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20100%25.cu"}


def test_candidate_without_a_file(run: Run, two_candidates: None) -> None:
    Path("s.toml").write_text('[[launch]]\nname = "a"\nimage = "a.ptx"\ncandidate = ":fill"\n')
    ran = run("launch", "--spec", "s.toml", "-d", "cpu")
    assert ran.code == 2
    assert "s.toml:4: case 'a': --candidate: expected FILE[:KERNEL]" in ran.err
