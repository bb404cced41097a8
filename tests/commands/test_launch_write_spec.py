"""``cudarun launch --write-spec``: a command kept as a case."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

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
    assert ran.err.startswith("error: --write-spec: kept.toml is no spec: ")
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
