"""The rule for outputs: no input, no other output, no existing file without ``--force``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Run

LINK = ("link", "main.ptx", "lib.ptx", "-d", "cpu", "--force")
SAXPY = (
    "launch", "saxpy.ptx", "-d", "cpu", "--threads", "4", "--block", "4",
    "a=f32:2", "x=f32[n]:@x.bin", "y=f32[n]:ones", "n=i32:4", "--force",
)  # fmt: skip
FLEET = ("fleet", "cases.toml", "--hosts", "a", "-d", "cpu")
CASE = """
[[launch]]
name = "{name}"
image = "saxpy.ptx"
threads = 4
block = 4
args = ["a=f32:2", "x=f32[n]:@x.bin", "y=f32[n]:ones", "n=i32:4"]
{rest}
"""


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """Files of our own for inputs, each with a symbolic and a hard link."""
    for name in ("saxpy.ptx", "link/main.ptx", "link/lib.ptx"):
        shutil.copy(tmp_path / "samples" / name, tmp_path)
    (tmp_path / "x.bin").write_bytes(bytes(16))
    (tmp_path / "cases.toml").write_text(CASE.format(name="one", rest='save = "y=y.npy"'))
    for path in [*tmp_path.glob("*.*")]:
        (tmp_path / f"soft-{path.name}").symlink_to(path.name)
        (tmp_path / f"hard-{path.name}").hardlink_to(path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("link", ["", "soft-", "hard-"])
@pytest.mark.parametrize(
    ("argv", "option", "victim"),
    [
        (LINK, "--output", "main.ptx"),
        (LINK, "--output", "lib.ptx"),
        (SAXPY, "--save", "x.bin"),
        (SAXPY, "--write-spec", "saxpy.ptx"),
        (SAXPY, "--write-spec", "x.bin"),
        (("launch", "--spec", "cases.toml", "-d", "cpu", "--force"), "--junit", "cases.toml"),
        (("launch", "--spec", "cases.toml", "-d", "cpu", "--force"), "--junit", "saxpy.ptx"),
        (("launch", "--spec", "cases.toml", "-d", "cpu", "--force"), "--junit", "x.bin"),
        (FLEET, "--junit", "cases.toml"),
        (FLEET, "--openmetrics", "cases.toml"),
        (FLEET, "--keep", "cases.toml"),
        (FLEET, "--keep", "saxpy.ptx"),
    ],
)
def test_no_output_is_an_input(
    run: Run, folder: Path, argv: tuple[str, ...], option: str, victim: str, link: str
) -> None:
    before = contents(folder)
    target = f"{link}{victim}"
    ran = run(*argv, option, f"y={target}" if option == "--save" else target)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {option}: {target} is ")
    assert ran.err.endswith("an input of this command\n")
    assert contents(folder) == before


def test_headers_and_arrays_of_expressions_are_inputs(run: Run, folder: Path) -> None:
    (folder / "k.cu").write_text(
        '#include "k.bin"\nextern "C" __global__ void k(float* y) { y[0] = ONE; }\n'
    )
    (folder / "k.bin").write_text("#define ONE 1.0f\n")
    (folder / "e.npy").touch()
    launch = ("launch", "k.cu", "-d", "cpu", "--threads", "1", "y=f32[1]", "--force")
    for name, words in (
        ("k.bin", ()),
        ("e.npy", ("--check", "y == load('e.npy')")),
        ("e.npy", ("--expect", "y=@e.npy")),
    ):
        ran = run(*launch, *words, "--save", f"y={name}")
        assert (ran.code, ran.err) == (
            2,
            f"error: --save: {name} is also an input of this command\n",
        )


@pytest.mark.parametrize("link", ["y.npy", "./y.npy", "link.npy"])
def test_two_outputs_of_a_launch_are_two_files(run: Run, folder: Path, link: str) -> None:
    (folder / "link.npy").symlink_to("y.npy")  # which is yet to be made
    ran = run(*SAXPY, "--save", "y=y.npy", "--save", f"x={link}")
    assert ran.code == 2
    assert ran.err.endswith("written by --save\n")
    assert not (folder / "y.npy").exists()


@pytest.mark.parametrize("link", ["y.npy", "link.npy"])
def test_so_are_those_of_two_cases(run: Run, folder: Path, link: str) -> None:
    (folder / "link.npy").symlink_to("y.npy")
    text = CASE.format(name="one", rest='save = "y=y.npy"')
    text += CASE.format(name="two", rest=f'save = "x={link}"\nforce = true')
    (folder / "cases.toml").write_text(text)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert ran.code == 2
    assert ran.err.startswith(f"error: cases.toml:10: case 'two': --save: {link} is ")
    assert ran.err.endswith("written by --save of case 'one'\n")
    assert not (folder / "y.npy").exists()
    one = run("launch", "--spec", "cases.toml", "-d", "cpu", "two")
    assert one.code == 0, one.err


def test_a_report_is_not_the_output_of_a_case(run: Run, folder: Path) -> None:
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--junit", "y.npy")
    assert (ran.code, ran.err) == (
        2,
        "error: --junit: y.npy is also written by --save of case 'one'\n",
    )


def test_a_report_replaces_a_report_only(run: Run, folder: Path) -> None:
    spec = ("launch", "--spec", "cases.toml", "-d", "cpu", "-q")
    (folder / "notes.xml").write_text("<notes/>")
    ran = run(*spec, "--junit", "notes.xml")
    assert (ran.code, ran.err) == (
        2,
        "error: --junit: notes.xml exists and is not a JUnit report\nhint: replace it with "
        "--force\n",
    )
    assert run(*spec, "--junit", "report.xml").code == 0
    (folder / "y.npy").unlink()
    assert run(*spec, "--junit", "report.xml").code == 0
    assert run(*spec, "--junit", "notes.xml", "--force").code == 0, "for --save, too"
    assert b"<testsuites" in (folder / "notes.xml").read_bytes()


def test_a_spec_is_extended(run: Run, folder: Path) -> None:
    assert run(*SAXPY, "--write-spec", "cases.toml").code == 0
    assert (folder / "cases.toml").read_text().count("[[launch]]") == 2
    reader = os.open(_pipe(folder), os.O_RDONLY | os.O_NONBLOCK)
    assert run(*SAXPY, "--write-spec", "pipe").code == 0
    assert os.read(reader, 100).startswith(b"[[launch]]\n")
    os.close(reader)


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def test_it_is_checked_before_any_work(run: Run, folder: Path) -> None:
    (folder / "y.npy").touch()
    words = [word for word in SAXPY if word != "--force"]
    for more in ((), ("--dry-run",), ("--trace",)):
        ran = run(*words, "--save", "y=y.npy", *more)
        assert (ran.code, ran.out) == (2, "")
        assert "error: --save: y.npy exists\nhint: replace it with --force\n" in ran.err
        assert "cuLaunchKernel" not in ran.err


def test_the_devices_of_all_are_checked_before_any_launch(run: Run, folder: Path) -> None:
    (folder / "y-cpu-1.npy").touch()
    words = [word for word in SAXPY if word not in ("--force", "-d", "cpu")]
    ran = run(
        *words, "-d", "cpu:all", "--together", "--save", "y=y-{device}.npy", "--trace",
        env={"CUDARUN_CPU_DEVICES": "2"},
    )  # fmt: skip
    assert ran.code == 2
    assert "error: --save: y-cpu-1.npy exists" in ran.err
