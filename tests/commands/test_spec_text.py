"""The text of a spec: every valid form of TOML, lines, and limits that keep reading linear."""

from __future__ import annotations

import os
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.base.errors import RequestError
from cudarun.commands.inputs import MAX_BYTES, read_text
from cudarun.commands.spec_file import read_spec
from cudarun.commands.spec_text import MAX_KEY_PARTS, MAX_NESTING, MAX_NUMBER, SpecText, TomlTable
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from tests.commands.test_launch_spec import SAMPLES, SAXPY, case, spec, verdicts

if TYPE_CHECKING:
    from conftest import Run

INLINE = (
    '{name = "one", image = "samples/saxpy.ptx", threads = 100, args = ["a=f32:2", '
    '"x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100"]}'
)


def refusal(text: str) -> str:
    """The error of a spec, with its hint."""
    with pytest.raises(RequestError) as caught:
        SpecText("cases.toml", text)
    return f"{caught.value}\nhint: {caught.value.hint}" if caught.value.hint else str(caught.value)


# --- forms of the same ---------------------------------------------------------------------------


def place(table: TomlTable, key: str) -> int:
    return int(table.place_of(key).rpartition(":")[2])


@pytest.mark.parametrize(
    "text",
    [
        f"launch = [{INLINE}]",
        f"launch = [\n  # a comment\n  {INLINE},\n]",
        f'"launch" = [{INLINE}]',
        f'[["launch"]]\nname = "one"{SAXPY}',
        f"[['launch']]\nname = 'one'{SAXPY}",
        f'[["l\\u0061unch"]]\nname = "one"{SAXPY}',
        f'  [[ launch ]] # a comment\nname = "one"{SAXPY}',
    ],
)
def test_every_form_of_an_array_of_tables(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "cases.toml").write_text(text)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, ran.err, verdicts(ran)) == (0, "", {"one on cpu": "passed"})


@pytest.mark.parametrize("text", ["launch = 3", "launch = [3]", "launch = {}", "[launch]\nx = 1"])
def test_what_is_no_array_of_tables(text: str) -> None:
    assert refusal(f"# first\n{text}") == (
        "cases.toml:2: a spec consists of [[launch]] tables and a [defaults] table"
    )


LINES = """\
# launch
defaults.timeout = 3
[[launch]]
name = \"\"\"
[[launch]]
blok = 1
\"\"\"
args = [
  "[[launch]]",
]
[launch.matrix]
n = [1]

[["launch"]]  # another
"image" = "x" # image
'block' = '''
grid = 1'''
grid = 2
"""


def test_lines() -> None:
    text = SpecText("x", LINES)
    assert [text.line_of_case(index) for index in range(2)] == [3, 14]
    first, second = text.tables
    assert [place(first, key) for key in ("name", "args", "matrix")] == [4, 8, 11]
    assert [place(second, key) for key in ("image", "block", "grid")] == [15, 16, 18]
    assert place(first, "grid") == 3  # which it does not have
    assert place(text.defaults, "timeout") == 2


def test_lines_of_inline_tables() -> None:
    text = SpecText(
        "x", 'launch = [{name = "a"}, # {\n  {name = "b", args = ["{"]},\n\n{name="c"}]'
    )
    assert [text.line_of_case(index) for index in range(3)] == [1, 2, 4]
    assert [table.entries["name"].value for table in text.tables] == ["a", "b", "c"]


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"x = 1\n{'a.' * 2000}a = 1", f"2: a key has more than {MAX_KEY_PARTS} parts"),
        (f"[{'a . ' * 2000}a]", f"1: a key has more than {MAX_KEY_PARTS} parts"),
        (f"x = {{{'a.' * 2000}a = 1}}", f"1: a key has more than {MAX_KEY_PARTS} parts"),
        (f"""[{"'a'." * 2000}"a"]""", f"1: a key has more than {MAX_KEY_PARTS} parts"),
        (
            f"\nx = {'[' * 2000}{']' * 2000}",
            f"2: values are nested more than {MAX_NESTING} levels deep",
        ),
        (
            f"x = {'{a = ' * 2000}1{'}' * 2000}",
            f"1: values are nested more than {MAX_NESTING} levels deep",
        ),
        (
            f"x = {'[{a = ' * 2000}1{'}]' * 2000}",
            f"1: values are nested more than {MAX_NESTING} levels deep",
        ),
        (
            f"x = '''\n'''\nblock = {'9' * 5000}",
            "3: a number has 5000 characters; the limit is 100",
        ),
        (f"block = [\n-{'9' * 5000}]", "2: a number has 5001 characters; the limit is 100"),
        (f"block = 0x{'f' * 5000}", "1: a number has 5002 characters; the limit is 100"),
    ],
)
def test_what_no_spec_needs(text: str, says: str) -> None:
    assert refusal(text) == f"cases.toml:{says}"


@pytest.mark.parametrize(
    "text",
    [
        f"name = '{'a.' * 2000}'",
        f'name = "{"[" * 2000}"',
        f"name = '{'9' * 5000}'",
        f'name = """{chr(10).join(["[" * 20] * 20)}"""',
        f"# {'a.' * 2000}",
        f"args = [{', '.join(['[1]'] * 200)}]",
        f"block = {'9' * MAX_NUMBER}",
    ],
)
def test_limits_are_about_tables_and_values_alone(text: str) -> None:
    assert len(SpecText("cases.toml", f"[[launch]]\n{text}\n").tables) == 1


def test_the_largest_spec(tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_bytes(b"#" * MAX_BYTES)
    assert len(read_text(str(path), "--spec")) == MAX_BYTES
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(RequestError, match="larger than the limit of 4 MiB"):
        read_text(str(path), "--spec")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom"])
def test_an_endless_spec(run: Run, path: str) -> None:
    ran = run("launch", "--spec", path, "-d", "cpu", "--timeout", "0")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: --spec: {path}: larger than the limit of 4 MiB\n")


def test_a_spec_from_stdin_or_a_pipe(run: Run, tmp_path: Path) -> None:
    text = f'[[launch]]\nname = "one"{SAXPY}'.replace("+ 1", "+ 2")
    for path in ("-", "/dev/stdin"):
        ran = run("launch", "--spec", path, "-d", "cpu", stdin=text.encode())
        assert (ran.code, verdicts(ran)) == (1, {"one on cpu": "failed"})
        assert "run again" not in ran.out  # it can be read only once
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(text,))
    writer.start()
    ran = run("launch", "--spec", "pipe", "-d", "cpu")
    writer.join()
    assert (ran.code, verdicts(ran)) == (1, {"one on cpu": "failed"})


def test_too_much_from_stdin(run: Run) -> None:
    ran = run("launch", "--spec", "-", "-d", "cpu", stdin=b"#" * (MAX_BYTES + 1))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: --spec: -: larger than the limit of 4 MiB\n")


def test_lines_are_found_in_one_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like a case inside a text does not parse the text before it again."""
    parsed = []
    loads = tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: (parsed.append(len(text)), loads(text))[1])
    text = '[[launch]]\nname = """\n' + "[[launch]]\nname = 1\n" * 500 + '"""\n'
    assert place(SpecText("cases.toml", text).tables[0], "name") == 2
    assert parsed == [len(text)]


# --- NUL -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('name = "a\\u0000b"', "name"),
        ('args = ["x=@a\\u0000b.npy"]', "args"),
        ('check = "x == load(\\"a\\u0000b.npy\\")"', "check"),
        ('print = ["1", "load(\\"a\\u0000b.npy\\")"]', "print"),
        ('let = "x=load(\\"a\\u0000b.npy\\")"', "let"),
        ('save = "y=a\\u0000b.npy"', "save"),
        ('expect = "y=@a\\u0000b.npy"', "expect"),
        ('include = ["a\\u0000b"]', "include"),
        ('kernel = "a\\u0000b"', "kernel"),
    ],
)
def test_nul_in_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, key: str
) -> None:
    (tmp_path / "samples").symlink_to(SAMPLES)
    (tmp_path / "cases.toml").write_text(
        f'[[launch]]\nimage = "samples/saxpy.ptx"\nthreads = 1\n{line}\n'
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError) as caught:
        read_spec("cases.toml", [], Target(parse_devices("cpu")))
    assert caught.value.what == f"{key} contains a NUL character"
    assert str(caught.value).startswith("cases.toml:4: ")


def test_nul_in_the_image(run: Run, tmp_path: Path) -> None:
    spec(tmp_path, case("one", '\nimage = "a\\u0000b.ptx"\n'))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "error: cases.toml:3: case 'one': image contains a NUL character\n"
