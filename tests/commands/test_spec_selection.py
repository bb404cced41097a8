"""Selection of cases by names and ``--filter``, their list, and the command that runs one again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tests.commands.test_launch_spec import FAULT, HELLO, SAXPY, case, spec, verdicts

if TYPE_CHECKING:
    from conftest import Run

MATRIX = "matrix = {n = [1, 31, 32], block = [64, 256]}\n"
OF_N = SAXPY.replace("n=i32:100", "n=i32:${n}").replace("threads = 100", "threads = '${n}'")


@pytest.fixture
def spec_of_three(tmp_path: Path) -> None:
    spec(
        tmp_path,
        case("saxpy", OF_N, 'block = "${block}"\n' + MATRIX),
        case("saxpy[n=1*", SAXPY, 'device = "cpu:1"\n'),
        case("Hello, world", HELLO, 'kernel = "hello"\nskip = "later"\n'),
    )


def listed(run: Run, *args: str) -> list[str]:
    ran = run("launch", "--spec", "cases.toml", "--list", "-q", *args)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.splitlines()


ALL = [
    *(f"saxpy[n={n},block={block}]" for n in (1, 31, 32) for block in (64, 256)),
    "saxpy[n=1*",
    "Hello, world",
]


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("spec_of_three")
@pytest.mark.parametrize(
    ("names", "selected"),
    [
        (("saxpy[n=31,block=64]",), ALL[2:3]),
        (("saxpy",), ALL[:6]),
        (("saxpy[n=1*",), ALL[6:7]),  # an exact name comes first
        (("saxpy[n=1,*",), ALL[:2]),
        (("saxpy[n=3?,block=64]",), [ALL[2], ALL[4]]),
        (("*block=256]", "Hello, world", "saxpy[n=1,block=256]"), [*ALL[1:6:2], ALL[7]]),
        (("*",), ALL),
    ],
)
def test_names(run: Run, names: tuple[str, ...], selected: list[str]) -> None:
    assert listed(run, *names) == selected


LISTED = "list the cases: cudarun launch --spec cases.toml --list"


@pytest.mark.usefixtures("spec_of_three")
@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("saxpi",), "cases.toml has no case 'saxpi'\nhint: did you mean saxpy?"),
        (("zzz",), "cases.toml has no case 'zzz'\nhint: " + LISTED),
        (("saxpy", "z*"), "cases.toml: no case matches 'z*'\nhint: " + LISTED),
        (
            ("--filter", "n == 33"),
            "--filter: no case matches 'n == 33'\nhint: list the cases with --list",
        ),
        (
            ("Hello, world", "--filter", "saxpy"),
            "--filter: no case matches 'saxpy'\nhint: list the cases with --list",
        ),
        (
            ("--filter", "bloc == 64"),
            "--filter: unknown name 'bloc'; the cases have name, image, kernel, device, n, block\n"
            "  bloc == 64\n  ^\nhint: did you mean block?",
        ),
        (
            ("--list", "--junit", "x.xml"),
            "--list and --junit cannot be combined: --list runs no case",
        ),
    ],
)
@pytest.mark.parametrize("before", [(), ("--list",)])
def test_nothing_is_selected(
    run: Run, before: tuple[str, ...], args: tuple[str, ...], says: str
) -> None:
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", *{*before} - {*args}, *args)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {says}\n")


# --- filter --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("spec_of_three")
def test_names_and_filter_together(run: Run) -> None:
    assert listed(run, "saxpy[*", "--filter", "n >= 31 and not block == 64") == [ALL[3], ALL[5]]
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--filter", "n==31 & block<=64")
    assert (ran.code, verdicts(ran)) == (0, {f"{ALL[2]} on cpu": "passed"})


@pytest.mark.usefixtures("spec_of_three")
def test_devices_are_those_of_the_command_line(run: Run) -> None:
    assert listed(run, "--filter", "device == cpu:1") == [ALL[6]]
    assert listed(run, "--filter", "device == cpu:1", "-d", "cpu:1") == ALL


# --- list ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("spec_of_three")
def test_the_list(run: Run) -> None:
    ran = run("launch", "--spec", "cases.toml", "--list", "--filter", "not n > 1", "--trace")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["line", "case", "image", "kernel", "device"],
        ["1", ALL[0], "samples/saxpy.ptx", "saxpy", "0"],
        ["1", ALL[1], "samples/saxpy.ptx", "saxpy", "0"],
        ["10", ALL[6], "samples/saxpy.ptx", "saxpy", "cpu:1"],
        ["18", "Hello,", "world", "samples/hello.ptx", "hello", "0"],
        ["4", "cases", "of", "cases.toml"],
    ]


@pytest.mark.usefixtures("spec_of_three")
def test_the_document_of_the_list(run: Run) -> None:
    ran = run("launch", "--spec", "cases.toml", "--list", "--json", "*block=64]", "Hello, world")
    report = ran.document
    assert (report["schema"], report["exit_code"]) == ("cudarun/launch-spec-list/1", 0)
    assert [each["name"] for each in report["cases"]] == [*ALL[:6:2], ALL[7]]
    assert report["cases"][1] == {
        "name": "saxpy[n=31,block=64]",
        "line": 1,
        "image": "samples/saxpy.ptx",
        "kernel": "saxpy",
        "arguments": ["a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:31"],
        "devices": ["0"],
        "matrix": {"n": 31, "block": 64},
        "skip": None,
        "command": "cudarun launch --spec cases.toml -d 0 'saxpy[n=31,block=64]'",
    }
    hello = report["cases"][-1]
    assert (hello["skip"], hello["kernel"]) == ("later", "hello")


def test_the_list_of_a_wrong_spec(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", SAXPY, "blok = 3"))
    ran = run("launch", "--spec", "cases.toml", "--list", "--json")
    assert (ran.code, ran.document["schema"]) == (2, "cudarun/launch-spec-list/1")
    assert ran.document["error"]["message"].startswith("cases.toml:7: case 'one': unknown key")


# --- the command that runs a case again ----------------------------------------------------------

WRONG = SAXPY.replace("+ 1", "+ 2").replace("x=f32[n]:iota", "x=f32[n]:rand")


def again(text: str) -> str:
    """The command line that a failure shows."""
    [command] = (
        line.strip().removeprefix("run again: ")
        for line in text.splitlines()
        if line.strip().startswith("run again: ")
    )
    return command


@pytest.mark.parametrize(
    "name", ["plain", 'it\'s $HOME `x` \\ "q"', "-x", "*", "~", "ünder; ls", "--spec"]
)
def test_a_failure_ends_with_a_command_to_paste(run: Run, tmp_path: Path, name: str) -> None:
    escapes = {"\\": "\\\\", '"': '\\"'}
    text = "".join(escapes.get(character, character) for character in name)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "cases.toml").write_text(
        f'[[launch]]\nname = "{text}"{WRONG}[[launch]]\nname = "other"{WRONG}'.replace(
            "samples/", "../samples/"
        )
    )
    args = ("launch", "--spec", "a b/cases.toml", "-d", "cpu", "--filter", "not other")
    ran = run(*args)
    assert ran.code == 1
    command = again(ran.out)
    shell = f'cudarun() {{ {shlex.quote(sys.executable)} -m cudarun "$@"; }}\n{command}'
    pasted = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
    assert (pasted.returncode, pasted.stderr) == (1, "")
    assert again(pasted.stdout) == command
    without_time = [line for line in ran.out.splitlines() if " ms" not in line and " s" not in line]
    assert without_time
    assert {*without_time} <= {*pasted.stdout.splitlines()}


def test_a_drawn_seed_is_in_the_command(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("drawn", WRONG, 'seed = "random"'), case("own", WRONG, "seed = 7"))
    document = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json").document
    drawn, own = document["cases"]
    assert drawn["command"] == (
        f"cudarun launch --spec cases.toml --seed {drawn['seed']} -d cpu drawn"
    )
    assert own["command"] == "cudarun launch --spec cases.toml -d cpu own"
    repeated = run(*shlex.split(drawn["command"])[1:], "--json").document["cases"][0]
    assert (repeated["seed"], repeated["command"]) == (drawn["seed"], drawn["command"])
    assert repeated["result"]["checks"] == drawn["result"]["checks"]


def test_the_seed_of_the_command_line_wins(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("own", WRONG, "seed = 7"), case("none", WRONG), case("constant", SAXPY))
    args = ("launch", "--spec", "cases.toml", "-d", "cpu", "--json", "--seed")
    assert [each["seed"] for each in run(*args, "3").document["cases"]] == [3, 3, None]
    own, none, constant = run(*args, "random").document["cases"]
    assert own["seed"] != none["seed"]
    assert f"--seed {own['seed']} " in own["command"]
    assert "--seed" not in constant["command"]


def test_options_that_can_change_a_result_are_in_the_command(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", WRONG))
    ran = run(
        "launch", "--spec", "cases.toml", "-d", "cpu", "--timeout", "30", "--context", "new",
        "--ctx-flags", "spin,map-host", "--limit", "stack=4Ki", "--limit", "malloc-heap=8Mi",
        "--check-strength", "fail", "--allow-python", "--python", "my python", "--trace",
        "--fail-fast", "-q", "--no-color", "--junit", "x.xml",
    )  # fmt: skip
    assert again(ran.out) == (
        "cudarun launch --spec cases.toml --check-strength=fail '--python=my python' "
        "--allow-python --timeout=30.0 --context=new --ctx-flags=spin,map-host "
        "--limit=stack=4096 --limit=malloc-heap=8388608 -d cpu one"
    )


def test_the_command_keeps_the_folder_and_force(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", WRONG, 'save = "y=y.npy"'))
    (tmp_path / "y.npy").touch()
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--force", "--confine", "/")
    assert again(ran.out) == "cudarun launch --spec cases.toml --force --confine=/ -d cpu one"


def test_a_list_writes_nothing(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", SAXPY, 'save = "y=y.npy"'))
    (tmp_path / "y.npy").touch()
    assert run("launch", "--spec", "cases.toml", "-d", "cpu").code == 2
    assert listed(run) == ["one"]
    assert (tmp_path / "y.npy").read_bytes() == b""


def test_instances_with_one_output(run: Run, tmp_path: Path) -> None:
    for path, code in (("y.npy", 2), ("y-${n}.npy", 0)):
        spec(tmp_path, case("one", SAXPY, f'save = "y={path}"\nmatrix = {{n = [1, 2]}}\n'))
        assert run("launch", "--spec", "cases.toml", "-d", "cpu").code == code
    assert (tmp_path / "y-2.npy").exists()


def test_junit_has_the_text_of_the_terminal(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("wrong", WRONG), case("fault", FAULT))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "out.xml")
    wrong, fault = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    shown = ran.out.splitlines()
    for element, kind in ((wrong, "failure"), (fault, "error")):
        found = element.find(kind)
        assert found is not None
        reason, *lines = (found.text or "").splitlines()
        start = next(n for n, line in enumerate(shown) if f"failed  {element.get('name')}" in line)
        assert shown[start].endswith(reason)
        assert shown[start + 1 : start + 1 + len(lines)] == lines
        assert lines[-1].startswith("  run again: cudarun launch --spec cases.toml -d cpu ")
    text = wrong.find("failure").text
    assert "\n  seed 0\n" in text
    assert "\nFAIL y == a*x + 2  (rtol 1e-05, atol 1e-06)\n  100 of 100 elements " in text
