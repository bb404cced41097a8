"""Images as libraries: kernels by name, parameters from the driver or from the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from cudarun.base.errors import ImageRefused, RequestError
from cudarun.images.parameters import Parameter
from cudarun.images.reader import read_image
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import select_kernel
from cudarun.session.load.library import load_image
from cudarun.session.workers.session import Session

InSession = Callable[[Callable[[Session], Any]], Any]
SampleImage = Callable[[str], Image]

SCALE = ("_ZN7example5scaleIfEEvPT_S1_i", "_ZN7example5scaleIiEEvPT_S1_i")


def _parameters(image: Image, version: int, session: Session) -> tuple[Parameter, ...]:
    session.driver.version = version
    return load_image(session, image).kernel(None).parameters


def test_the_driver_tells_offsets_and_the_text_tells_types(
    in_session: InSession, sample: SampleImage
) -> None:
    image = sample("saxpy.ptx")
    image = replace(image, facts=read_image(image.data, image.origin))
    parameters = in_session(partial(_parameters, image, 13000))
    assert [(p.offset, p.size, p.type) for p in parameters] == [
        (0, 4, "f32"), (8, 8, "u64"), (16, 8, "u64"), (24, 4, "u32"),
    ]  # fmt: skip


def _refused(image: Image, version: int, call: str, session: Session) -> list[str]:
    """The results that are not success, of the calls that ask for a kernel's parameters."""
    session.driver.version = version
    library, seen, attempt = load_image(session, image), [], session.driver.attempt

    def watched(name: str, *args: Any) -> tuple[Any, ...]:
        answer = attempt(name, *args)
        if name.startswith(call) and answer[0] != 0:
            seen.append(answer[0].name)
        return answer

    session.driver.attempt = watched  # type: ignore[method-assign]
    kernel = library.kernel(None)
    assert len(kernel.parameters) == 4
    return seen


@pytest.mark.parametrize(("told", "version", "refusals"), [
    (True, 13000, []),  # the text says how many there are
    (False, 13020, []),  # the driver counts them
    (False, 13000, ["CUDA_ERROR_INVALID_VALUE"]),  # it is asked until it refuses
])  # fmt: skip
def test_a_count_that_is_known_saves_a_refusal(
    in_session: InSession, sample: SampleImage, told: bool, version: int, refusals: list[str]
) -> None:
    image = sample("saxpy.ptx")
    facts = read_image(image.data, image.origin) if told else None
    found = in_session(partial(_refused, replace(image, facts=facts), version, "cuKernelGetParam"))
    assert found == refusals


def test_before_cuda_12_4_the_file_alone_tells_them(
    in_session: InSession, sample: SampleImage
) -> None:
    parameters = in_session(partial(_parameters, sample("saxpy.ptx"), 12030))
    assert [(p.offset, p.size) for p in parameters] == [(0, 4), (8, 8), (16, 8), (24, 4)]


def _symbol(image: Image, name: str, session: Session) -> int:
    return load_image(session, image).symbol(name)


def test_a_variable_that_is_not_there(in_session: InSession, sample: SampleImage) -> None:
    image = sample("managed.ptx")
    image = replace(image, facts=read_image(image.data, image.origin))
    assert in_session(partial(_symbol, image, "counter")) > 0
    with pytest.raises(
        RequestError, match=r"&count: managed\.ptx does not contain this variable"
    ) as caught:
        in_session(partial(_symbol, image, "count"))
    assert "counter" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "wanted",
    [
        SCALE[0],
        "example::scale<float>",
        "scale<float>",
        "void example::scale<float>(float*, float, int)",
    ],
)
def test_every_spelling_of_a_name(wanted: str) -> None:
    assert select_kernel(SCALE, wanted, "scale.ptx") == SCALE[0]


def test_a_spelling_that_fits_two() -> None:
    with pytest.raises(RequestError, match=r"'scale' matches 2 kernels of scale\.ptx") as caught:
        select_kernel(SCALE, "scale", "scale.ptx")
    assert SCALE[0] in (caught.value.hint or "")
    assert "void example::scale<int>(int*, int, int)" in (caught.value.hint or "")


def test_no_kernel_at_all() -> None:
    with pytest.raises(ImageRefused, match=r"x\.ptx: the image contains no kernels") as caught:
        select_kernel([], None, "x.ptx")
    assert "template __global__ void" in (caught.value.hint or "")


@pytest.mark.parametrize(("wanted", "is_one"), [("scale<double>", True), ("scales", False)])
def test_a_template_that_is_not_instantiated(wanted: str, is_one: bool) -> None:
    with pytest.raises(RequestError, match="has no kernel") as caught:
        select_kernel(SCALE, wanted, "scale.ptx")
    assert ("launch -k 'ns::f<float>'" in (caught.value.hint or "")) == is_one


def _loaded_ahead(image: Image, session: Session) -> int:
    """How many libraries are loaded for the next task after one that has loaded an image twice."""
    load_image(session, image).kernel(None)
    for _ in range(2):  # such as of a kernel and its baseline
        load_image(session, image, again=True)
    loads, attempt = [], session.driver.attempt

    def watched(name: str, *args: Any) -> tuple[Any, ...]:
        loads.append(name == "cuLibraryLoadData")
        return attempt(name, *args)

    session.driver.attempt = watched  # type: ignore[method-assign]
    session.settle()
    session.release()
    return sum(loads)


def test_an_image_is_loaded_ahead_once(in_session: InSession, sample: SampleImage) -> None:
    assert in_session(partial(_loaded_ahead, sample("saxpy.ptx"))) == 1
