"""``--reference``, ``--save`` and ``--show`` of ``cudarun launch`` on the emulated device."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cudarun.arguments.grammar import parse_type
from cudarun.session.launch.pictures import write_png
from cudarun.session.launch.reference import struct_members
from tests.support.terminals import on_a_terminal

if TYPE_CHECKING:
    from conftest import Run

ONE = ("--threads", "1")
SAXPY = ("launch", "samples/saxpy.ptx", "-d", "cpu", "--threads", "100", "--block", "32")
ARGUMENTS = ("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", "n=i32:100")
TWO = {"CUDARUN_CPU_DEVICES": "2"}

# Writes the buffer's own address, which is another on each device, at index 3; and, where it is a
# struct of 16 bytes, leaves the first member as it was.
ADDRESS = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry address(.param .u64 p)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    st.global.u64 [%rd1+24], %rd1;
    ret;
}
"""


@pytest.fixture
def address(tmp_path: Path) -> str:
    (tmp_path / "address.ptx").write_text(ADDRESS)
    return "address.ptx"


# --- --reference ---------------------------------------------------------------------------------


def test_every_buffer_is_compared_with_the_reference(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--reference", "cpu:1", env=TWO)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[1:] == [
        "PASS x as on cpu:1  (rtol 1e-05, atol 1e-06)",
        "PASS y as on cpu:1  (rtol 1e-05, atol 1e-06)",
    ]


def test_addresses_are_not_compared_with_the_reference() -> None:
    types = map(parse_type, ("ptr", "{p=ptr, n=i32}", "f32"))
    assert [[*struct_members(each)] for each in types] == [[], ['["n"]'], [""]]


def test_random_inputs_are_the_same_there(run: Run) -> None:
    ran = run(
        *SAXPY, "a=f32:1", "x=f32[n]:randn", "y=f32[n]:rand", "n=i32:100",
        "--reference", "cpu:1", "--rtol", "0", "--atol", "0", env=TWO,
    )  # fmt: skip
    assert ran.code == 0, ran.out + ran.err


def test_a_difference_is_reported_as_a_check_is(run: Run, address: str) -> None:
    ran = run(
        "launch",
        address,
        "--threads",
        "1",
        "-d",
        "cpu:1",
        "p=u64[8]:iota",
        "--reference",
        "cpu",
        "-q",
        env=TWO,
    )
    assert ran.code == 1
    verdict, counts, element = ran.out.splitlines()
    assert verdict == "FAIL p as on cpu"
    assert counts.startswith("  1 of 8 elements mismatched; largest absolute error ")
    assert element == f"  [3]: got {0x400_0000_0000}, expected {0x200_0000_0000}"


def test_structs_are_compared_member_by_member(run: Run, address: str) -> None:
    ran = run(
        "launch", address, *ONE, "-d", "cpu", "p={key=f32, i64}[4]:iota", "--reference", "cpu:1",
        "--json", env=TWO,
    )  # fmt: skip
    assert ran.code == 1
    [outcome] = ran.document["outcomes"]
    reference = outcome["result"]["reference"]
    assert reference["device"] == "cpu:1"
    found = {each["expression"]: each for each in reference["comparisons"]}
    assert list(found) == ['p["key"]', 'p["f1"]']
    assert (found['p["key"]']["passed"], found['p["key"]']["rtol"]) == (True, 1e-05)
    assert (found['p["f1"]']["passed"], found['p["f1"]']["mismatches"]) == (False, 1)
    assert found['p["f1"]']["first"][0]["index"] == [1]


def test_each_device_is_compared(run: Run, address: str) -> None:
    ran = run(
        "launch",
        address,
        "--threads",
        "1",
        "-d",
        "cpu:all",
        "p=u64[8]:iota",
        "--reference",
        "cpu:1",
        "-q",
        env=TWO,
    )
    assert ran.code == 1
    assert [line for line in ran.out.splitlines() if "as on" in line] == [
        "FAIL p as on cpu:1",
        "PASS p as on cpu:1",
    ]


def test_what_was_never_written_agrees(run: Run) -> None:
    add = (
        *("launch", "samples/vector_add.ptx", "-d", "cpu", "--threads", "25", "-q"),
        *("a=f32[100]:iota", "b=f32[100]:ones", "c=f32[200]", "n=i32:25"),
    )
    ran = run(*add, "--save", "c=c.npy", "--reference", "cpu")
    assert ran.code == 0, ran.out
    again = run(*add, "--expect", "c=@c.npy")
    assert again.code == 0, again.out
    assert "100 of 200 elements were never written" in again.out


def test_what_the_reference_prints_is_dropped(run: Run) -> None:
    args = ("launch", "samples/hello.ptx", "-d", "cpu", "--block", "2", "2026", "1.5", "-q")
    assert run(*args, "--reference", "cpu").out == run(*args).out


def test_nan_is_as_on_the_reference_only_if_nan_may_be_equal(run: Run) -> None:
    args = (*SAXPY, "a=f32:nan", *ARGUMENTS[1:], "-q", "--reference", "cpu")
    assert run(*args).code == 1
    assert run(*args, "--equal-nan").code == 0


# --- --save --------------------------------------------------------------------------------------


def test_a_table(run: Run, tmp_path: Path) -> None:
    ran = run(
        *SAXPY[:4], "--threads", "3", "a=f32:0.1", "x=f32[3]:[1,2,inf]", "y=f32[3]:zeros",
        "n=i32:3", "--save", "y=y.csv",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert (tmp_path / "y.csv").read_text() == "0.1\n0.2\ninf\n"


def test_a_table_of_structs_has_their_members_names(run: Run, tmp_path: Path, address: str) -> None:
    ran = run(
        "launch", address, "--threads", "1", "-d", "cpu",
        "p={n=i32, v=float2, s={i8, b=bool}}[4]:ones", "--save", "p=p.csv",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    first, second, *_ = (tmp_path / "p.csv").read_text().splitlines()
    assert first == "n,v.0,v.1,s.f0,s.b"
    assert second == "1,1.0,1.0,1,True"


def test_a_table_of_rows_and_columns(run: Run, tmp_path: Path) -> None:
    run(*SAXPY, "a=f32:1", "x=f32[2,50]:iota", "y=float2[50]:zeros", "n=i32:100",
        "--save", "x=x.csv", "--save", "y=y.csv")  # fmt: skip
    assert np.loadtxt(tmp_path / "x.csv", delimiter=",").shape == (2, 50)
    assert (tmp_path / "y.csv").read_text().splitlines()[1] == "2.0,3.0"


def pixels(path: Path) -> np.ndarray:
    """The image in a PNG file without interlacing or filters."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(kind + content),)
        parts[kind] = content
        at += 12 + length
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, bits, color, *rest = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    assert (bits, rest) == (8, [0, 0, 0])
    channels = {0: 1, 2: 3, 6: 4}[color]
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


def test_a_picture(run: Run, tmp_path: Path) -> None:
    ran = run(
        *SAXPY[:4], "--threads", "1", "a=f32:0", "x=uchar4[1,2]:[[[1,2,3,255],[4,5,6,0]]]",
        "y=f32[1]:zeros", "n=i32:0", "--save", "x=x.png",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert pixels(tmp_path / "x.png").tolist() == [[[1, 2, 3, 255], [4, 5, 6, 0]]]


@pytest.mark.parametrize(
    ("data", "image"),
    [
        (
            np.array([[0, 1, 2], [253, 254, 255]], np.uint8),
            [[[0], [1], [2]], [[253], [254], [255]]],
        ),
        (np.array([[0, 0.5, 1]], np.float32), [[[0], [128], [255]]]),
        (np.array([[-2, 0, 2]], np.float32), [[[0], [128], [255]]]),
        (np.array([[np.nan, 1, 3]], np.float64), [[[0], [0], [255]]]),
        (np.array([[0, 1, 2]], np.int32), [[[0], [128], [255]]]),
        (np.array([[7, 7]], np.int16), [[[0], [0]]]),
        (np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8), [[[1, 2, 3], [4, 5, 6]]]),
        (np.array([[True, False]]), [[[255], [0]]]),
    ],
)
def test_how_numbers_become_brightness(tmp_path: Path, data: np.ndarray, image: object) -> None:
    with (tmp_path / "x.png").open("wb") as file:
        write_png(file, data)
    assert pixels(tmp_path / "x.png").tolist() == image


@pytest.mark.parametrize(
    ("save", "says"),
    [
        ("x=x.png", "--save: x.png: x is f32[100], which is not an image"),
        ("y=y.csv", "--save: y.csv: y is f32[2,5,10]: a table has only rows and columns"),
        ("y=y.png", "--save: y.png: y is f32[2,5,10], which is not an image"),
        ("a=a.npy", "--save: unknown buffer 'a'"),
    ],
)
def test_a_format_that_cannot_hold_it_is_refused_before_the_launch(
    run: Run, tmp_path: Path, save: str, says: str
) -> None:
    arguments = ("a=f32:2", "x=f32[n]:iota", "y=f32[2,5,10]", "n=i32:100")
    ran = run(*SAXPY, *arguments, "--save", save, "--trace")
    assert ran.code == 2
    assert f"error: {says}\n" in ran.err
    assert "cuLaunchKernel" not in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]


# --- --show --------------------------------------------------------------------------------------


def test_a_histogram(run: Run) -> None:
    ran = run(*SAXPY, "a=f32:0", "x=f32[4]:[1,2,2,nan]", "y=f32[n]:ones", "n=i32:0", "-q",
              "--show", "x=hist")  # fmt: skip
    lines = ran.out.splitlines()
    assert lines[0] == "x:"
    assert lines[1] == "    1  1 " + 25 * "█"
    assert lines[2] == "1.062  0"
    assert lines[16] == "1.938  2 " + 50 * "█"
    assert lines[17:] == ["    2", "1 NaN or infinite elements"]


def test_a_plot(run: Run) -> None:
    ran = run(*SAXPY, "a=f32:0", "x=f32[4]:[0,23,0,nan]", "y=f32[n]:ones", "n=i32:0", "-q",
              "--show", "x=plot")  # fmt: skip
    lines = ran.out.splitlines()
    assert lines == ["x:", "23  ▀", *10 * [""], " 0 ▄ ▄", "1 NaN or infinite elements"]


def test_an_image_in_characters_and_in_colours(run: Run) -> None:
    args = (*SAXPY, "a=f32:0", "x=u8[3,2]:[[0,255],[0,255],[255,0]]", "y=f32[n]:ones", "n=i32:0",
            "-q", "--show", "x=image")  # fmt: skip
    assert run(*args).out == "x:\n @\n@\n"
    colored = run(*args, "--color", env={"COLORTERM": "truecolor"}).out
    assert "\x1b[38;2;255;255;255;48;2;255;255;255m▀" in colored
    assert colored.count("▀") == 4
    without = {"COLORTERM": "truecolor", "TERM": "xterm-256color", "NO_COLOR": "1"}
    assert on_a_terminal(*args, env=without)[1].splitlines()[-3:] == ["x:", " @", "@"]


@pytest.mark.parametrize("shape", ["1000,2", "2,1000"])
def test_a_narrow_image_has_a_row_and_a_column(run: Run, shape: str) -> None:
    args = (*SAXPY, "a=f32:0", f"x=u8[{shape}]:255", "y=f32[n]:ones", "n=i32:0")
    shown = run(*args, "-q", "--show", "x=image").out
    assert shown.count("@") == (40 if shape == "1000,2" else 80)


@pytest.mark.parametrize("kind", ["plot", "hist", "image"])
def test_elements_never_written_are_shown_without_a_warning(run: Run, kind: str) -> None:
    args = (*SAXPY, "a=f32:0", "x=f32[2,2]", "y=f32[n]:ones", "n=i32:0", "-q")
    ran = run(*args, "--show", f"x={kind}")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "x:")
    assert "Warning" not in ran.err


def test_what_is_shown_is_in_the_document(run: Run) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--json", "--show", "y=hist", "--show", "x=plot")
    [outcome] = ran.document["outcomes"]
    hist, plot = outcome["result"]["figures"]
    assert (hist["name"], hist["kind"], sum(hist["series"])) == ("y", "hist", 100)
    assert (hist["minimum"], hist["maximum"], hist["not_finite"]) == (1.0, 199.0, 0)
    assert (plot["series"][0], len(plot["series"])) == ([0.0, 1.0], 68)


@pytest.mark.parametrize(
    ("show", "says"),
    [
        ("y", "--show: 'y' is not NAME=KIND with KIND one of hist, image, plot"),
        ("y=pie", "--show: 'y=pie' is not NAME=KIND with KIND one of hist, image, plot"),
        ("z=hist", "--show: unknown buffer 'z'"),
        ("y=image", "--show: y is f32[100], which is not an image"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_launch(run: Run, show: str, says: str) -> None:
    ran = run(*SAXPY, *ARGUMENTS, "--show", show, "--trace")
    assert ran.code == 2
    assert f"error: {says}\n" in ran.err
    assert "cuLaunchKernel" not in ran.err


@pytest.mark.parametrize("kind", ["plot", "hist", "image"])
def test_no_figure_is_wider_than_a_narrow_terminal(kind: str) -> None:
    wide = (*SAXPY, "a=f32:0", "x=f32[500,500]:rand(-123456,1)", "y=f32[n]:ones", "n=i32:0", "-q")
    code, shown = on_a_terminal(*wide, "--show", f"x={kind}", env={"NO_COLOR": "1"})
    assert code == 0
    assert max(map(len, shown.splitlines())) <= 80
