"""Arguments of the same launch are bound once in a process, others in each launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudarun.arguments.binding import Binding
from cudarun.arguments.dimensions import parse_extent
from cudarun.arguments.grammar import parse_arguments
from cudarun.base.errors import RequestError
from cudarun.images.ptx_facts import read_ptx
from cudarun.session.image.image import Image
from cudarun.session.launch.step_binding import KernelSource, StepBinder
from cudarun.session.launch.step_request import GeometryRequest, LaunchStep

PTX = b""".version 7.0
.target sm_75
.address_size 64
.global .u32 counter;
.visible .entry k(.param .u64 p, .param .u32 n) { ret; }
"""


def bound(*texts: str) -> Binding:
    image = Image("k.ptx", PTX)
    facts = read_ptx(PTX, image.origin)
    [kernel] = facts.kernels
    source = KernelSource(
        image, image, kernel, kernel.parameters, (),
        names=lambda: ["k"], variables=lambda: facts.variables, facts=lambda: kernel,
    )  # fmt: skip
    geometry = GeometryRequest(grid=parse_extent("1"), block=parse_extent("1"))
    step = LaunchStep(image, None, geometry, arguments=parse_arguments(texts))
    return StepBinder("cpu").bind(step, source).binding


def test_the_same_arguments() -> None:
    assert bound("f32[n]", "n=3") is bound("f32[n]", "n=3")


@pytest.mark.parametrize("other", [("f32[n]", "n=4"), ("i32[n]", "n=3"), ("f32[n]:ones", "n=3")])
def test_other_arguments(other: tuple[str, str]) -> None:
    assert bound(*other) != bound("f32[n]", "n=3")


def test_a_name_that_another_launch_had() -> None:
    bound("f32[n]", "n=3")
    with pytest.raises(RequestError, match="no parameter 'm'"):
        bound("f32[n]", "m=3")


def test_a_file_that_changes(tmp_path: Path) -> None:
    shapes = []
    for count in (3, 5):
        np.save(tmp_path / "x.npy", np.ones(count, np.float32))
        binding = bound(f"@{tmp_path / 'x.npy'}", "n=3")
        shapes += [spec.shape for spec in binding.buffers]
    assert shapes == [(3,), (5,)]


def test_a_variable_of_the_image() -> None:
    assert bound("&counter", "1") is not bound("&counter", "1")
