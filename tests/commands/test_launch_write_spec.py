"""``cudarun launch --write-spec``: a command kept as a case."""

from __future__ import annotations

import os
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.base.options import CaseForm
from cudarun.commands.spec_writer import toml_value
from tests.commands.notes import BY_ORDER
from tests.commands.test_launch_spec import ARGUMENTS, verdicts

if TYPE_CHECKING:
    from conftest import Run


def test_a_command_is_kept_and_runs_again(run: Run, tmp_path: Path) -> None:
    command = (
        "launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100,1,1", "--block", "32",
        "a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100",
        "--check", "y == a*x + 1", "--print", "y[:2]", "--limit", "stack=4Ki", "--repeat", "2",
        "--bytes", "12*n", "--equal-nan", "--rtol", "0.5", "--ctx-flags", "spin,map-host",
        "--write-spec", "kept.toml",
    )  # fmt: skip
    for name in ("saxpy", "saxpy-2"):
        ran = run(*command)
        assert (ran.code, ran.err) == (0, f"appended case '{name}' to kept.toml\n{BY_ORDER}")
    first, second = (tmp_path / "kept.toml").read_text().split("\n\n")
    assert second.replace("saxpy-2", "saxpy").strip() == first.strip()
    assert first == (
        '[[launch]]\nname = "saxpy"\nimage = "samples/saxpy.ptx"\nthreads = [100, 1, 1]\n'
        'block = 32\ncheck = ["y == a*x + 1"]\n'
        'rtol = 0.5\nequal-nan = true\nprint = ["y[:2]"]\nrepeat = 2\n'
        'bytes = "12*n"\ndevice = "cpu"\nctx-flags = "spin,map-host"\nlimit = ["stack=4096"]\n'
        'args = ["a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100"]'
    )
    ran = run("launch", "--spec", "kept.toml", "-d", "cpu")
    assert (ran.code, [*verdicts(ran)]) == (0, ["saxpy on cpu", "saxpy-2 on cpu"])


def test_paths_are_written_as_seen_from_the_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "x.bin").write_bytes(bytes(400))
    ran = run(
        "launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "a=f32:2",
        "x=f32[n]:@x.bin", "y=f32[n]:ones", "n=i32:100", "--save", "y=y.npy",
        "--write-spec", "deep/kept.toml",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    text = (tmp_path / "deep" / "kept.toml").read_text()
    assert '"x=f32[n]:@../x.bin"' in text
    assert 'save = ["y=../y.npy"]' in text
    ran = run(
        "launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "a=f32:2",
        "x=@y.npy", "y=f32[n]:ones", "n=i32:100", "--check", 'x == load("y.npy")',
        "--write-spec", "deep/again.toml",
    )  # fmt: skip
    assert run("launch", "--spec", "deep/again.toml", "-d", "cpu").code == 0


def test_each_path_of_an_expression_is_moved_once() -> None:
    text = 'z["load("] == load("a") - load( \'../a\') + z["a"]'
    moved = 'z["load("] == load("../a") - load( \'../../a\') + z["a"]'
    assert toml_value(CaseForm.EXPRESSIONS, (text,), Path("deep")) == [moved]


def test_an_empty_path_is_the_working_directory() -> None:
    assert toml_value(CaseForm.PATHS, ("", "a"), Path("deep")) == ["..", "../a"]


def test_how_source_is_compiled_is_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    ran = run(
        "launch", "samples/saxpy.ptx", *ARGUMENTS, "--threads", "n", "--dry-run",
        "-I", "headers", "-D", "N=3", "--std", "c++17", "--write-spec", "deep/kept.toml",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    text = (tmp_path / "deep" / "kept.toml").read_text()
    assert 'include = ["../headers"]\ndefine = ["N=3"]\nstd = "c++17"\n' in text
    assert run("launch", "--spec", "deep/kept.toml", "-d", "cpu").code == 0


def test_a_command_that_is_wrong_is_not_kept(run: Run, tmp_path: Path) -> None:
    ran = run("launch", "samples/saxpy.ptx", "-d", "cpu", "a=f3:2", "--write-spec", "kept.toml")
    assert ran.code == 2
    assert not (tmp_path / "kept.toml").exists()


def test_what_is_no_spec_is_not_appended_to(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept.toml").write_text("a letter\n")
    ran = run("launch", "samples/saxpy.ptx", "-d", "cpu", "--write-spec", "kept.toml")
    assert ran.code == 2
    assert ran.err.startswith("error: --write-spec: kept.toml is not a spec: ")
    assert (tmp_path / "kept.toml").read_text() == "a letter\n"


def test_seed_and_device_are_kept(run: Run, tmp_path: Path) -> None:
    command = (
        "launch", "samples/saxpy.ptx", "--threads", "n", "a=f32:2", "x=f32[n]:rand",
        "y=f32[n]:ones", "n=i32:9", "--print", "x[0]", "--write-spec", "kept.toml",
    )  # fmt: skip
    ran = run(*command, "-d", "cpu", "--seed", "random", "--json")
    assert ran.code == 0, ran.err
    assert run(*command, env={"CUDARUN_DEVICE": "cpu"}).code == 0
    drawn, fixed = tomllib.loads((tmp_path / "kept.toml").read_text())["launch"]
    assert (drawn["device"], drawn["seed"]) == ("cpu", ran.document["seed"])
    assert (fixed["device"], fixed["seed"]) == ("cpu", 0)
    again = run("launch", "--spec", "kept.toml", "--json").document["cases"]
    [outcome] = ran.document["outcomes"]
    assert again[0]["result"]["prints"] == outcome["result"]["prints"]
    assert again[1]["result"]["prints"] != outcome["result"]["prints"]


def kept(run: Run, tmp_path: Path, *args: str) -> str:
    """The case that a command appends to a spec."""
    before = (tmp_path / "kept.toml").read_text() if (tmp_path / "kept.toml").exists() else ""
    ran = run("launch", *args, "-d", "cpu", "--write-spec", "kept.toml")
    assert ran.code == 0, ran.err
    text = (tmp_path / "kept.toml").read_text()
    assert text.startswith(before)
    return text[len(before) :]


def test_dollars_are_kept(run: Run, tmp_path: Path) -> None:
    ptx = (tmp_path / "samples" / "saxpy.ptx").read_text().replace("saxpy", "$$a$b")
    (tmp_path / "${n}.ptx").write_text(ptx)
    written = kept(
        run, tmp_path, "${n}.ptx", "-k", "$$a$b", *ARGUMENTS, "--threads", "n", "--check", "y == 1"
    )
    assert 'image = "$${n}.ptx"\nkernel = "$$$$a$$b"\n' in written
    document = run("launch", "--spec", "kept.toml", "--json").document
    [case] = document["cases"]
    assert (case["verdict"], case["name"]) == ("passed", "$$a$b")
    assert case["result"]["kernel"] == "$$a$b"


def test_a_control_character_is_kept(run: Run, tmp_path: Path) -> None:
    ran = run(
        "launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "4", "a=2", "x=f32[4]:iota",
        "y=f32[4]:ones", "n=4", "--save", "y=a\x7fb.npy", "--write-spec", "kept.toml",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    [case] = tomllib.loads((tmp_path / "kept.toml").read_text())["launch"]
    assert case["save"] == ["y=a\x7fb.npy"]


def test_a_command_is_kept_beside_defaults_and_a_matrix(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept.toml").write_text(
        '[defaults]\nimage = "samples/hello.ptx"\ngrid = "${g}"\nequal-nan = true\n'
        'matrix = {g = [1, 2]}\nargs = ["2026", "1.5"]\ncheck-strength = "fail"\n'
        '[[launch]]\nname = "saxpy"\nskip = true'  # and no line end
    )
    written = kept(run, tmp_path, "samples/saxpy.ptx", *ARGUMENTS, "--threads", "n")
    assert written.startswith('\n\n[[launch]]\nname = "saxpy-2"\nimage = ')
    assert "\ndefaults = false\n" in written
    ran = run("launch", "--spec", "kept.toml")
    assert (ran.code, verdicts(ran)) == (
        0,
        {"saxpy[g=1] on 0": "skipped", "saxpy[g=2] on 0": "skipped", "saxpy-2 on cpu": "passed"},
    )
    listed = run("launch", "--spec", "kept.toml", "--list", "-q", "saxpy-2")
    assert listed.out == "saxpy-2\n"


def test_an_array_in_one_value_is_not_extended(run: Run, tmp_path: Path) -> None:
    text = 'launch = [{image = "samples/saxpy.ptx"}]\n'
    for before in (text, "launch = []\n"):
        (tmp_path / "kept.toml").write_text(before)
        ran = run("launch", "samples/saxpy.ptx", *ARGUMENTS, "--threads", "n", "-d", "cpu",
                  "--write-spec", "kept.toml")  # fmt: skip
        assert (ran.code, ran.err.splitlines()[-2:]) == (
            2,
            [
                "error: --write-spec: kept.toml: TOML cannot extend launch = […]",
                "hint: convert its cases to [[launch]] tables",
            ],
        )
        assert (tmp_path / "kept.toml").read_text() == before


def test_a_quoted_array_is_extended(run: Run, tmp_path: Path) -> None:
    (tmp_path / "kept.toml").write_text('[["launch"]]\nname = "saxpy"\nimage = "x"\nskip = true\n')
    assert 'name = "saxpy-2"' in kept(run, tmp_path, "samples/saxpy.ptx", *ARGUMENTS, "--block=1")
    assert run("launch", "--spec", "kept.toml").code == 0


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_is_written_and_not_read(run: Run, path: str) -> None:
    ran = run("launch", "samples/saxpy.ptx", *ARGUMENTS, "--block=1", "-d", "cpu",
              "--timeout", "0", "--write-spec", path)  # fmt: skip
    assert (ran.code, ran.err.splitlines()[0]) == (0, f"appended case 'saxpy' to {path}")


def test_a_large_file_is_not_extended(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "kept.toml").open("wb") as file:
        file.truncate(1 << 40)
    ran = run("launch", "samples/saxpy.ptx", *ARGUMENTS, "--block=1", "-d", "cpu",
              "--write-spec", "kept.toml")  # fmt: skip
    assert ran.code == 2
    assert "error: --write-spec: kept.toml: larger than the limit of 4 MiB\n" in ran.err


def test_a_pipe_gets_the_case(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    ran = run("launch", "samples/saxpy.ptx", *ARGUMENTS, "--block=1", "-d", "cpu",
              "--write-spec", "pipe")  # fmt: skip
    reader.join()
    assert ran.code == 0
    assert read[0].startswith('[[launch]]\nname = "saxpy"\n')
