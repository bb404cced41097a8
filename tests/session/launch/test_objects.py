"""Texture and surface objects as arguments: launches of `tests/data/objects.ptx`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.statements import parse_check
from cudarun.arguments.grammar import parse_arguments
from cudarun.base.errors import DeviceFailed
from cudarun.emulator.host.process import process
from cudarun.images.reader import read_image
from cudarun.model.launch import LaunchResult
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Program, ProgramOptions, Timing
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep, Save
from cudarun.session.launch.steps import load_libraries
from cudarun.session.launch.worker import run_on
from cudarun.session.workers.session import Session

PTX = Path(__file__).resolve().parents[2] / "data" / "objects.ptx"

Launch = Callable[..., LaunchResult]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Launch a kernel, a block of one thread to an element of the grid."""
    session = Session(Target(parse_devices("cpu")), parse_devices("cpu"))
    [device] = session.devices
    data = PTX.read_bytes()
    image = Image("objects.ptx", data, read_image(data, "objects.ptx"))

    def launch(
        kernel: str,
        grid: str,
        *arguments: str,
        checks: tuple[str, ...] = (),
        prints: tuple[str, ...] = (),
        saves: tuple[Save, ...] = (),
        timing: Timing | None = None,
    ) -> LaunchResult:
        step = LaunchStep(
            image=image,
            kernel=kernel,
            geometry=GeometryRequest(block=parse_extent("1"), grid=parse_extent(grid)),
            arguments=parse_arguments(arguments),
            checks=tuple(map(parse_check, checks)),
            prints=tuple(map(parse_expression, prints)),
            saves=saves,
        )
        program = Program((step,), ProgramOptions(timing=timing))
        session.enter(device)
        result = run_on(session, load_libraries(session, program), program, device)
        assert all(check.passed for check in result.checks), result.checks
        assert session.settle()
        session.release()
        return result

    yield launch
    process.reset()


HERE = "[0.5,0.5,0,0]"
READS = [
    ("linear", "texture(f32[4]:iota(5), linear)", "[2,0,0,0]", 7),
    ("linear", "texture(f32[4]:iota(5), linear)", "[4,0,0,0]", 0),
    ("read_2d", "texture(f32[2,8]:iota, linear, filter=linear)", "[2,1,0,0]", 5.5),
    ("read_1d", "texture(f32[4]:iota, filter=linear, address=border)", "[0,0,0,0]", 0),
    ("read_1d", "texture(f32[4]:iota, filter=linear)", "[1.25,0,0,0]", 0.75),
    ("read_1d", "texture(f32[4]:iota, normalized, address=wrap)", "[1.9,0,0,0]", 3),
    ("read_1d", "texture(f32[4]:iota, normalized, address=mirror)", "[1.9,0,0,0]", 0),
    ("read_1d", "texture(f16[4]:iota(0.5), filter=linear)", "[2,0,0,0]", 2),
    ("read_2d", "texture(f32[3,4]:iota)", "[3.5,2.5,0,0]", 11),
    # An address mode per axis, in the order of the axes: rows are clamped, columns are not.
    ("read_2d", "texture(f32[3,4]:iota(1), address=[clamp,border], border=9)", "[1,9,0,0]", 10),
    ("read_2d", "texture(f32[3,4]:iota(1), address=[clamp,border], border=9)", "[9,1,0,0]", 9),
    ("read_2d", "texture(u8[3,4]:255, read=normalized, filter=linear)", HERE, 1),
    ("read_2d", "texture(uchar4[1,1]:128, read=normalized, srgb)", HERE, 0.2158203125),
    ("read_3d", "texture(f32[2,3,4]:iota)", "[3.5,1.5,1.5,0]", 19),
    ("read_a1d", "texture(f32[2,4]:iota, layered)", "[2.5,0,0,1]", 6),
    ("read_a2d", "texture(f32[2,3,4]:iota, layered)", "[2.5,1.5,0,1]", 18),
    ("read_cube", "texture(f32[6,1,1]:iota, cube)", "[0,-1,0,0]", 3),
    ("read_cube", "texture(f32[6,2,2]:1, cube, filter=linear, seamless)", "[1,1,0.2,0]", 1),
    ("read_acube", "texture(f32[2,6,1,1]:iota, cube, layered)", "[0,0,1,1]", 10),
    ("gather_2d", "texture(f32[4,4]:iota, gather)", "[2,2,0,0]", 9),
    ("level_2d", "texture(f32[4,4]:iota, normalized, levels=all)", "[0,0,0,2]", 7.5),
    ("level_2d", "texture(f32[4,4]:iota, normalized, levels=2)", "[0,0,0,2]", 2.5),
    ("level_2d", "texture(f32[4,4]:0, normalized, levels=2, mip_clamp=0)", "[0,0,0,1]", 0),
    ("level_2d", "texture([f32[2,2]:1, f32[1,1]:3], normalized, mip_filter=linear)",
     "[0,0,0,0.5]", 2),
    ("level_2d", "texture([f32[2,2]:1, f32[1,1]:3], normalized, mip_bias=1)", "[0,0,0,0]", 3),
    ("int_2d", "texture(i16[2,2]:-7)", HERE, -7),
    ("int_2d", "texture(i16[2,2]:-7, address=border, border=-3)", "[-1,0,0,0]", -3),
    ("uint_2d", "texture(u32[1,1]:0xfffffff0)", HERE, 0xFFFFFFF0),
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "texture", "place", "value"), READS)
def test_a_read(launch: Launch, kernel: str, texture: str, place: str, value: float) -> None:
    element = {"int_2d": "int4", "uint_2d": "uint4"}.get(kernel, "float4")
    launch(
        *(kernel, "1", f"t={texture}", f"at=float4[1]:[{place}]", f"out={element}[1]", "n=1"),
        checks=(f"out[0, 0] == {value}", "t == old(t)"),
    )


@pytest.mark.parametrize(
    ("kernel", "grid", "surface"),
    [
        ("write_1d", "4", "i32[4]"),
        ("write_2d", "4,3", "i32[3,4]"),
        ("write_3d", "4,3,2", "i32[2,3,4]"),
        ("write_a1d", "4,1,2", "i32[2,4]"),
        ("write_a2d", "4,3,2", "i32[2,3,4]"),
        ("write_a2d", "4,4,6", "i32[6,4,4]"),
    ],
)
def test_a_write(launch: Launch, kernel: str, grid: str, surface: str) -> None:
    option = ", cube" if surface.startswith("i32[6") else ", layered" if "_a" in kernel else ""
    launch(kernel, grid, f"s=surface({surface}:randint(0,99){option})", checks=("s == old(s) + 1",))


def test_runs_start_with_the_same_contents(launch: Launch) -> None:
    checks = ("s == old(s) + 1",)
    launch("write_1d", "4", "s=surface(i32[4]:iota)", checks=checks, timing=Timing(3, 1))


def test_a_surface_that_is_written_in_part(launch: Launch, tmp_path: Path) -> None:
    saves = (Save("s", str(tmp_path / "s.npy")),)
    result = launch("write_bytes", "4,2", "s=surface(u8[2,40])", "width=4", prints=("s[1]",),
                    saves=saves)  # fmt: skip
    assert result.prints[0].value == [16, 17, 18, 19, *[None] * 36]
    assert [each.never_written for each in result.buffers] == [72]
    assert np.load(tmp_path / "s.npy")[:, :4].tolist() == [[0, 1, 2, 3], [16, 17, 18, 19]]


def test_an_array_that_a_texture_and_a_surface_share(launch: Launch) -> None:
    launch("twice", "4", "t=texture(s)", "s=surface(i32[4]:iota)", checks=("s == 2 * old(s)",))
    launch("twice", "4", "t=texture(i32[4]:iota)", "s=surface(t)", checks=("t == 2 * old(t)",))


def test_objects_in_a_table_and_in_a_struct(launch: Launch) -> None:
    launch("table", "2", "ts=ptr[2]:[texture(f32[4]:iota), texture(f32[2]:7)]", "out=f32[2]", "n=2",
           checks=("out[0] == ts.0[0]", "out[1] == ts.1[1]"))  # fmt: skip
    launch("lens", "2", "lens={scale=i32:3, t=texture(f32[4]:rand)}", "out=f32[2]", "n=2",
           checks=("out == lens.scale * lens.t[:2]",))  # fmt: skip


def test_a_buffer_as_linear_memory(launch: Launch) -> None:
    launch("linear", "1", "t=texture(at, linear)", "at=float4[2]:[[1,0,0,0],[5,6,7,8]]",
           "out=float4[1]", "n=1", checks=("out == [5, 6, 7, 8]",))  # fmt: skip


def test_levels_that_are_computed_are_means(launch: Launch) -> None:
    result = launch(
        *("level_2d", "1", "t=texture(f32[4,5]:rand, normalized, levels=all)"),
        *("at=float4[1]:0", "out=float4[1]", "n=1"),
        prints=("t", "t.1", "t.2"),
    )
    level, first, second = (np.array(each.value, np.float64) for each in result.prints)
    expected = level[:, :4].reshape(2, 2, 2, 2).mean((1, 3))
    assert np.abs(first - expected).max() < 1e-6
    assert np.abs(second - expected.mean()).max() < 1e-6


def read(texture: str) -> tuple[str, ...]:
    return "read_2d", "1", f"t={texture}", "at=float4[1]:0", "out=float4[1]", "n=1"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (read("texture(f32[1,200000]:0)"), "array 't', f32[1,200000]: cuArray3DCreate: invalid"),
        (read("texture(f32[1,9]:0, linear)"), "its rows have 36 bytes, expected a multiple of 32"),
        (("write_1d", "1", "s=surface(i32[40000]:0)"), "the limit of this device is 32768"),
    ],
)
def test_an_object_that_the_driver_refuses(
    launch: Launch, words: tuple[str, ...], says: str
) -> None:
    with pytest.raises(DeviceFailed) as error:
        launch(*words)
    assert says in f"{error.value} {error.value.hint} {error.value.log}"
