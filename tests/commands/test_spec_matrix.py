"""``[defaults]`` and ``matrix`` in a spec: replaced texts, names of instances, wrong ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cudarun.base.errors import RequestError
from cudarun.base.toml_text import escaped_references
from cudarun.commands.spec_file import MAX_CASES, read_spec
from cudarun.commands.spec_matrix import substituted, typed
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from tests.commands.test_launch_spec import SAMPLES, SAXPY, verdicts

if TYPE_CHECKING:
    from conftest import Run

    from cudarun.session.spec.case import Case

MATRIX = """
[[launch]]
name = "saxpy"
image = "samples/saxpy.ptx"
threads = "${n}"
block = "${block}"
args = ["a=f32:2", "x=f32[${n}]:iota", "y=f32[${n}]:ones", "n=i32:${n}"]
check = "y == a*x + 1"
matrix = {n = [1, 31, 32, 1000], block = [64, 256]}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a spec in the working directory, with the samples beside it."""
    (tmp_path / "samples").symlink_to(SAMPLES)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cases.toml"


def cases(place: Path, text: str) -> list[Case]:
    place.write_text(text)
    return read_spec("cases.toml", [], Target(parse_devices("cpu")))


def refusal(place: Path, text: str) -> str:
    with pytest.raises(RequestError) as caught:
        cases(place, text)
    return f"{caught.value}\nhint: {caught.value.hint}" if caught.value.hint else str(caught.value)


# --- matrix --------------------------------------------------------------------------------------


def test_a_matrix_is_launched_with_each_combination(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(MATRIX)
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu", "--json")
    assert ran.code == 0
    found = ran.document["cases"]
    expected = [(n, block) for n in (1, 31, 32, 1000) for block in (64, 256)]
    assert [each["matrix"] for each in found] == [{"n": n, "block": b} for n, b in expected]
    assert [each["name"] for each in found] == [f"saxpy[n={n},block={b}]" for n, b in expected]
    assert [each["result"]["block"] for each in found] == [[b, 1, 1] for _, b in expected]
    assert [each["result"]["buffers"][0]["shape"] for each in found] == [[n] for n, _ in expected]
    assert {each["line"] for each in found} == {2}


def test_the_table_names_each_instance(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(MATRIX.replace("[1, 31, 32, 1000]", "[5]"))
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, [*verdicts(ran)]) == (
        0, ["saxpy[n=5,block=64] on cpu", "saxpy[n=5,block=256] on cpu"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ('name = "a"', ["a[n=1,m=x y]", "a[n=2,m=x y]"]),
        ('name = "a ${n}"', ["a 1[m=x y]", "a 2[m=x y]"]),
        ('name = "${m}-${n}"', ["x y-1", "x y-2"]),
        ('name = "$${m} $k ${n}"', ["${m} $k 1[m=x y]", "${m} $k 2[m=x y]"]),
        ("", ["saxpy-1[n=1,m=x y]", "saxpy-1[n=2,m=x y]"]),
    ],
)
def test_names_of_instances(place: Path, name: str, names: list[str]) -> None:
    matrix = 'matrix = {n = [1, 2], m = ["x y"]}'
    found = cases(place, f"[[launch]]\n{name}{SAXPY}{matrix}")
    assert [each.name for each in found] == names


def test_values_keep_their_type_where_they_stand_alone(place: Path) -> None:
    text = SAXPY.replace("threads = 100", 'threads = "${n}"')
    text += 'cooperative = "${c}"\nequal-nan = "${c}"\nrtol = "${r}"\nskip = "${c}"\n'
    text += "matrix = {n = [100], c = [true, false], r = [0.5]}"
    skipped, runs = cases(place, f"[[launch]]{text}")
    assert skipped.skip == "skipped by the spec"
    assert runs.skip is None
    assert runs.request is not None
    assert (runs.request.last.geometry.cooperative, runs.request.last.tolerance.rtol) == (
        False,
        0.5,
    )
    assert runs.name == "saxpy-1[n=100,c=false,r=0.5]"


def test_every_key_can_be_of_the_matrix(place: Path) -> None:
    text = """
[[launch]]
image = "samples/${image}.ptx"
kernel = "${image}"
device = "${device}"
threads = ["${n}", 1]
requires = ["sm_${n}"]
expect_error = "${error}"
args = ["${n}"]
matrix.image = ["saxpy"]
matrix.device = ["cpu", "0,1"]
matrix.n = [90]
matrix.error = [700]
"""
    first, second = cases(place, text)
    assert (first.image, first.kernel, first.arguments) == ("samples/saxpy.ptx", "saxpy", ("90",))
    assert [[*map(str, each.devices)] for each in (first, second)] == [["cpu"], ["0", "1"]]
    assert first.requires == ("sm_90",)
    assert first.expected == "700"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${n}", "31"),
        ("${n}+${n}", "31+31"),
        ("$k {k}", "$k {k}"),
        ("$", "$"),
        ("$$", "$"),
        ("$${n}", "${n}"),
        ("$$${n}", "$31"),
        ("$$$${n}", "$${n}"),
        ("$L__BB0_1 $x", "$L__BB0_1 $x"),
    ],
)
def test_replacement(text: str, result: str) -> None:
    assert substituted(text, {"n": 31}) == result


@pytest.mark.parametrize(
    "text", ["$", "$$", "${n}", "$${n}", "$$$", "a$b", "${", "$a ${b} $$c", ""]
)
def test_what_is_escaped_is_itself(text: str) -> None:
    assert substituted(escaped_references(text), {"n": 31}) == text
    assert typed(escaped_references(text), {"n": 31}) == text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            'check = "y == ${block}"',
            "unknown value ${block}: the matrix has n, blocks\nhint: did you mean blocks?",
        ),
        (
            'check = "y == ${}"',
            "unknown value ${}: the matrix has n, blocks\nhint: write $${ for the characters ${",
        ),
        (
            'check = "y == ${n"',
            "'${' is not followed by a name and '}'\nhint: write ${n} for a value of the matrix, "
            "$${ for the characters ${",
        ),
    ],
)
def test_an_unknown_value(place: Path, line: str, says: str) -> None:
    text = SAXPY.replace('check = "y == a*x + 1"\n', "")
    said = refusal(place, f"[[launch]]\nname = 'x'{text}{line}\nmatrix = {{n = [1], blocks = [2]}}")
    assert said == f"cases.toml:6: case 'x': {says}"


def test_an_unknown_value_without_a_matrix(place: Path) -> None:
    assert refusal(place, "[[launch]]\nimage = '${n}.ptx'\n") == (
        "cases.toml:2: unknown value ${n}: the case has no matrix\nhint: write $${ for the "
        "characters ${"
    )


def test_an_error_shows_the_replaced_text_and_the_line(place: Path) -> None:
    text = MATRIX.replace('"n=i32:${n}"', '"n=i3:${n}"')
    assert refusal(place, text) == (
        "cases.toml:7: case 'saxpy': unknown type 'i3'\n  n=i3:1\n    ^\nhint: did you mean i32 "
        "or int3?"
    )


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ("3", "must be lists of values by name, such as matrix = {n = [1, 31, 32]}"),
        ("[1]", "must be lists of values by name, such as matrix = {n = [1, 31, 32]}"),
        ("{n = 3}", "n must be a list of strings, numbers or booleans, and not empty"),
        ("{n = []}", "n must be a list of strings, numbers or booleans, and not empty"),
        ("{n = [[1]]}", "n must be a list of strings, numbers or booleans, and not empty"),
        ("{n = [nan]}", "n must be a list of strings, numbers or booleans, and not empty"),
        ("{n = [2020-01-01]}", "n must be a list of strings, numbers or booleans, and not empty"),
        ("{n = [1, 2, 1]}", "n contains the value 1 more than once"),
        ('{n = ["true", true]}', "n contains the value true more than once"),
        ("{a-b = [1]}", "'a-b' is not a valid name: a letter or _, then letters, digits and _"),
        ('{"" = [1]}', "'' is not a valid name: a letter or _, then letters, digits and _"),
    ],
)
def test_a_wrong_matrix(place: Path, matrix: str, says: str) -> None:
    assert refusal(place, f"[[launch]]{SAXPY}matrix = {matrix}") == f"cases.toml:6: matrix: {says}"


def test_at_most_ten_thousand_cases(place: Path) -> None:
    hundred = [*range(100)]

    def text(*sizes: int) -> str:
        return "".join(
            f"[[launch]]{SAXPY}skip = true\nmatrix = {{n = {hundred}, m = {[*range(size)]}}}\n"
            for size in sizes
        )

    assert MAX_CASES == 10_000
    assert len(cases(place, text(2))) == 200
    assert refusal(place, text(1, 100)) == (
        "cases.toml:14: 10100 cases exceed the limit of 10000 cases per spec"
    )
    assert refusal(place, text(1, 1 << 18)).startswith("cases.toml:14: 26214500 cases exceed")
    sizes = ", ".join(f"m{i} = {hundred}" for i in range(20))
    assert refusal(place, f"[[launch]]{SAXPY}matrix = {{{sizes}}}") == (
        f"cases.toml:6: {10**40} cases exceed the limit of 10000 cases per spec"
    )


def test_a_name_is_one_line(place: Path) -> None:
    text = f"[[launch]]\nname = 'x'{SAXPY}matrix = {{n = ['1', \"2\\n\"]}}"
    assert refusal(place, text) == (
        "cases.toml:2: case 'x': name: the name 'x[n=2\\n]' contains a control character"
    )


def test_two_instances_of_one_name(place: Path) -> None:
    text = f"[[launch]]\nname = '${{n}}${{m}}'{SAXPY}matrix = {{n = [1, 11], m = [11, 1]}}"
    assert refusal(place, text) == "cases.toml:1: duplicate case '111', first defined in line 1"


# --- defaults ------------------------------------------------------------------------------------

DEFAULTS = """
[defaults]
image = "samples/saxpy.ptx"
threads = "n"
args = ["a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:${n}"]
check = ["y == a*x + 1"]
equal-nan = true
matrix = {n = [7, 8]}
"""


def test_values_of_a_case_win_over_defaults(place: Path) -> None:
    text = DEFAULTS + '[[launch]]\nname = "a"\n[[launch]]\nname = "b"\nequal_nan = false\n'
    text += 'check = []\nmatrix = {n = [9]}\n[[launch]]\nname = "c"\nmatrix = {}\nargs = []\n'
    found = cases(place, text)
    assert [each.name for each in found] == ["a[n=7]", "a[n=8]", "b[n=9]", "c"]
    facts = []
    for each in found:
        assert each.request is not None
        request = each.request
        facts.append(
            (each.arguments[-1:], len(request.last.checks), request.last.tolerance.equal_nan)
        )
    assert facts == [
        (("n=i32:7",), 1, True), (("n=i32:8",), 1, True), (("n=i32:9",), 0, False), ((), 1, True),
    ]  # fmt: skip


def test_defaults_can_stand_anywhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cases.toml").write_text(f'[[launch]]\nname = "a"\n{DEFAULTS}')
    ran = run("launch", "--spec", "cases.toml", "-d", "cpu")
    assert (ran.code, [*verdicts(ran)]) == (0, ["a[n=7] on cpu", "a[n=8] on cpu"])


def test_a_case_without_defaults(place: Path) -> None:
    text = f'{DEFAULTS}[[launch]]\ndefaults = false\nname = "plain"{SAXPY}'
    [case] = cases(place, text)
    assert (case.name, case.matrix) == ("plain", {})
    assert case.request is not None
    assert not case.request.last.tolerance.equal_nan


@pytest.mark.parametrize(
    ("defaults", "case", "says"),
    [
        (
            "\nchek = 3",
            "image = 'samples/saxpy.ptx'",
            "cases.toml:3: unknown key 'chek'\nhint: did you mean check?",
        ),
        ("defaults = false", "", "cases.toml:2: unknown key 'defaults'"),
        (
            'block = 0\nimage = "samples/saxpy.ptx"',
            'name = "x"',
            "cases.toml:2: case 'x': --block: 0: a dimension must be 1 to 4294967295",
        ),
        (
            'image = "samples/saxpy.ptx"\nthreads = 1',
            'name = "x"\nblock = 0',
            "cases.toml:6: case 'x': --block: 0: a dimension must be 1 to 4294967295",
        ),
        (
            'image = "samples/saxpy.ptx"\nargs = ["${k}"]',
            "matrix = {n = [1]}",
            "cases.toml:3: unknown value ${k}: the matrix has n\nhint: write $${ for the "
            "characters ${",
        ),
        (
            "matrix = {n = 3}",
            "",
            "cases.toml:2: matrix: n must be a list of strings, numbers or booleans, and not empty",
        ),
        ("", "defaults = 1", "cases.toml:4: defaults must be true or false"),
    ],
)
def test_wrong_defaults(place: Path, defaults: str, case: str, says: str) -> None:
    assert refusal(place, f"[defaults]\n{defaults}\n[[launch]]\n{case}\n") == says


@pytest.mark.parametrize("text", ["defaults = 3", "[[defaults]]\nimage = 'x'"])
def test_what_are_no_defaults(place: Path, text: str) -> None:
    assert refusal(place, text) == (
        "cases.toml:1: a spec consists of [[launch]] tables and a [defaults] table"
    )


def test_defaults_alone(place: Path) -> None:
    assert (
        refusal(place, DEFAULTS)
        == "cases.toml: the spec has no cases\nhint: add a [[launch]] table for each case"
    )
