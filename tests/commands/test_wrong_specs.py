"""``cudarun launch --spec`` of wrong specs: the messages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.base.errors import RequestError
from cudarun.commands.spec_file import read_spec
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices

if TYPE_CHECKING:
    from conftest import Run

from tests.commands.test_launch_spec import SAMPLES, SAXPY, case, spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "launch = [",
            "cases.toml: Invalid value (at end of document)\nhint: a spec is a TOML file",
        ),
        ("x = 1\n", "cases.toml:1: unknown key 'x': a spec consists of [[launch]] tables "
         "and a [defaults] table"),
        ("\n[launch]\n", "cases.toml:2: a spec consists of [[launch]] tables and a "
         "[defaults] table"),
        ("\n[[defaults.step]]\nkernel = 'f'\n", "cases.toml:2: the steps of a case are "
         "[[launch.step]] tables"),
        ("", "cases.toml: the spec has no cases\nhint: add a [[launch]] table for each case"),
        (
            f"[[launch]]{SAXPY}chek = 'y == 1'",
            "cases.toml:6: unknown key 'chek'\nhint: did you mean check?",
        ),
        (
            f"[[launch]]{SAXPY}\n[[launch]]\nname = 'b'{SAXPY}block = '1,2,3,4'",
            "cases.toml:13: case 'b': --block: '1,2,3,4' has 4 dimensions; "
            "the maximum is 3",
        ),
        (f"[[launch]]{SAXPY}block = [16, 0]", "cases.toml:6: --block: 0: "
         "a dimension must be 1 to 4294967295"),
        (f"[[launch]]{SAXPY}grid = 3", "cases.toml:3: --grid and --threads cannot be combined: "
                                       "each sets the total size"),
        (f"[[launch]]{SAXPY}cooperative = 1", "cases.toml:6: cooperative must be true or false"),
        (f"[[launch]]{SAXPY}kernel = ['a', 'b']", "cases.toml:6: kernel must be a single value, "
                                                  "not a list"),
        (f"[[launch]]{SAXPY}rtol = true", "cases.toml:6: rtol must be a string or a number"),
        (f"[[launch]]{SAXPY}device = 'gpu'", "cases.toml:6: --device: 'gpu' is not a device\n"
         "hint: use an index, 'all', a GPU UUID, a PCI bus id, 'cpu', 'cpu:N', 'cpu:all' or "
         "'cpu@GPU'"),
        (
            f"[[launch]]{SAXPY}requires = ['sm_90', 'gold']",
            "cases.toml:6: requires: 'gold' is not a device requirement\n"
            "hint: gpu · cpu · sm_90 (or newer) · cuda 12.4 (or newer) · memory 16Gi (or more)",
        ),
        (
            f"[[launch]]{SAXPY}expect_error = 'ILLEGAL_ADRESS'",
            "cases.toml:6: expect_error: 'ILLEGAL_ADRESS' is neither a CUresult nor one of "
            "CheckFailed, "
            "DeviceFailed, ImageRefused, NoDevice, OutOfTime, RequestError, WorkerDied\n"
            "hint: did you mean ILLEGAL_ADDRESS?",
        ),
        (f"[[launch]]{SAXPY}skip = 3",
         "cases.toml:6: skip must be true, or the reason as a string"),
        (f"[[launch]]{SAXPY}name = 3", "cases.toml:6: name must be a string"),
        ("[[launch]]\nname = 'x'", "cases.toml:1: case 'x': the case has no image"),
        ("[[launch]]\nargs = []\nimage = 'none.ptx'", "cases.toml:3: none.ptx: No such file or "
         "directory"),
        ("[[launch]]\nimage = '-'", "cases.toml:2: image: a case cannot read its image from "
                                    "stdin; pass a file"),
        ("[[launch]]\nimage = 'samples/saxpy.ptx'\nargs = 'n=3'",
         "cases.toml:3: args must be a list of strings"),
        (
            "[[launch]]\nimage = 'samples/saxpy.ptx'\nargs = ['a=f3:2']",
            "cases.toml:3: unknown type 'f3'\n  a=f3:2\n    ^\nhint: did you mean f32?",
        ),
        (
            "[[launch]]\nimage = 'samples/saxpy.ptx'\ncheck = ['y == 1', 'y ==']",
            "cases.toml:3: expected a value, found the end\n  y ==\n      ^",
        ),
        (
            f"[[launch]]\nname = 'x'{SAXPY}\n[[launch]]\nname = 'x'{SAXPY}",
            "cases.toml:8: duplicate case 'x', first defined in line 1",
        ),
        (
            # What looks like a case or a key within a text is none.
            f'[[launch]]{SAXPY}skip = """\n[[launch]]\nblok = 1\n"""\n\n[[launch]]{SAXPY}blok = 1',
            "cases.toml:16: unknown key 'blok'\nhint: did you mean block?",
        ),
    ],
)  # fmt: skip
def test_a_wrong_spec_is_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    (tmp_path / "samples").symlink_to(SAMPLES)
    (tmp_path / "cases.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError) as caught:
        read_spec("cases.toml", [], Target(parse_devices("cpu")))
    hint = f"\nhint: {caught.value.hint}" if caught.value.hint else ""
    assert f"{caught.value}{hint}" == says


def test_nothing_runs_of_a_wrong_spec(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("good", SAXPY), case("bad", SAXPY, "blok = 1"))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--trace")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(
        "error: cases.toml:14: case 'bad': unknown key 'blok'\nhint: did you mean block?\n"
    )
    assert (
        "cuLibraryLoadData" not in ran.err
    )  # the worker may have been as far as to have a context


def test_a_long_spec_is_read_as_often_as_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many cases it has, each character is parsed a few times."""
    parsed = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: (parsed.append(len(text)), loads(text))[1])
    (tmp_path / "samples").symlink_to(SAMPLES)
    path = tmp_path / "cases.toml"
    spec(tmp_path, *(case(f"case {number}", SAXPY) for number in range(50)))
    cases = read_spec(str(path), [], Target(parse_devices("cpu")))
    headers = [n for n, line in enumerate(path.read_text().split("\n"), 1) if "[[launch" in line]
    assert [each.line for each in cases] == headers
    assert sum(parsed) < 4 * len(path.read_text())


def test_an_unknown_name(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("saxpy", SAXPY))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "saxpi")
    assert ran.code == 2
    assert ran.err == "error: cases.toml has no case 'saxpi'\nhint: did you mean saxpy?\n"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--grid", "3"), "--spec: --grid applies to one launch; set it in the cases of the spec"),
        (
            ("--dry-run",),
            "--spec: --dry-run applies to one launch; set it in the cases of the spec",
        ),
        (
            ("--together",),
            "--spec: --together applies to one launch; set it in the cases of the spec",
        ),
        (
            ("--junit", "no/out.xml"),
            "--junit: no/out.xml cannot be written: the directory no does not exist",
        ),
    ],
)
def test_what_does_not_go_with_a_spec(
    run: Run, tmp_path: Path, args: tuple[str, ...], says: str
) -> None:
    spec(tmp_path, case("saxpy", SAXPY))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", *args)
    assert (ran.code, ran.out, ran.err) == (2, "", f"error: {says}\n")
