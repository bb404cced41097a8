"""What a GPU's driver was seen to do and the emulated one does not, one call changed for it.

The driver's compute cache, of which the compiler says nothing; code that wants symbols of other
files; damaged files, which must not reach the driver at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from cudarun.base.errors import ImageRefused
from cudarun.model.documents import plain
from cudarun.model.images import LoaderReport
from cudarun.session.image.diagnosis import check_structure, device_target
from cudarun.session.image.image import Image
from cudarun.session.load.preparation import prepare_all
from cudarun.session.load.request import JitOptions, LoadRequest
from cudarun.session.load.worker import load_file
from cudarun.session.workers.session import Session
from tests.images.golden_files import golden

InSession = Callable[[Callable[[Session], Any]], Any]
SampleImage = Callable[[str], Image]


class Differing:
    """A driver module some of whose functions are others."""

    def __init__(self, module: Any, **others: Any) -> None:
        self._module = module
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def ways(session: Session, image: Image, *, verbose: bool = False) -> tuple[LoaderReport, ...]:
    request = LoadRequest((image,), JitOptions(verbose=verbose), "both")
    _, result = load_file(request, image, session).on(session.devices[0])
    return result.loaders


def told_of_cached(image: Image, verbose: bool, session: Session) -> list[tuple[str, str | None]]:
    """What is said of code whose compiler writes into no log."""
    module = session.driver.module

    def library(data: Any, *_: Any) -> Any:
        return module.cuLibraryLoadData(data, [], [], 0, [], [], 0)

    def loaded(data: Any, *_: Any) -> Any:
        return module.cuModuleLoadDataEx(data, 0, [], [])

    session.driver.module = Differing(module, cuLibraryLoadData=library, cuModuleLoadDataEx=loaded)
    return [(way.info_log, way.silence) for way in ways(session, image, verbose=verbose)]


def test_code_from_the_compute_cache_says_so(in_session: InSession, sample: SampleImage) -> None:
    cached = (
        "loaded from the driver's compute cache without compiling "
        "(set CUDA_CACHE_DISABLE=1 to compile)"
    )
    told = in_session(partial(told_of_cached, sample("saxpy.ptx"), True))
    assert told == [("", cached)] * 2
    assert in_session(partial(told_of_cached, sample("saxpy.ptx"), False)) == [("", None)] * 2


def told_of_compiled(image: Image, session: Session) -> list[tuple[bool, str | None]]:
    return [(bool(way.info_log), way.silence) for way in ways(session, image, verbose=True)]


def test_a_compiler_that_speaks_is_not_silent(in_session: InSession, sample: SampleImage) -> None:
    assert in_session(partial(told_of_compiled, sample("saxpy.ptx"))) == [(True, None)] * 2


def refused_by(call: str, image: Image, session: Session) -> list[tuple[Any, ...]]:
    """The errors of both ways where a call does not find a symbol."""
    driver = session.driver
    missing = driver.CUresult.CUDA_ERROR_NOT_FOUND
    driver.module = Differing(driver.module, **{call: lambda *_: (missing, None)})
    errors = [way.error for way in ways(session, image) if way.error is not None]
    return [(type(error).__name__, error.message, plain(error)) for error in errors]


@pytest.mark.parametrize(("call", "count"), [("cuKernelGetFunction", 1), ("cuFuncLoad", 2)])
def test_a_kernel_that_wants_a_symbol_of_others_is_refused(
    in_session: InSession, sample: SampleImage, call: str, count: int
) -> None:
    found = in_session(partial(refused_by, call, sample("saxpy.ptx")))
    assert len(found) == count
    for _, message, error in found:
        assert message.startswith(f"saxpy.ptx: {call}: ")
        assert error["exit_code"] == 4
        assert error["explanation"] == ("The image is not linked: it has undefined symbols.")


def loaded_without_memory(image: Image, session: Session) -> tuple[list[Any], list[str]]:
    """The kernels and the errors where the device has no memory for the code."""
    driver = session.driver
    full = driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    driver.module = Differing(driver.module, cuFuncLoad=lambda *_: (full,))
    _, result = load_file(LoadRequest((image,)), image, session).on(session.devices[0])
    return [*result.kernels], [type(each.error).__name__ for each in result.loaders]


def test_code_without_memory_has_no_kernels(in_session: InSession, sample: SampleImage) -> None:
    found = in_session(partial(loaded_without_memory, sample("saxpy.ptx")))
    assert found == ([], ["DeviceFailed"])


def handed_over(image: Image, prepare: bool, session: Session) -> None:
    """What is done before a driver of a GPU gets a file."""
    session.driver.traits = replace(session.driver.traits, runs_machine_code=True)
    if prepare:
        prepare_all(session.driver, image, session.devices)
    else:
        check_structure(image, device_target(session.driver))


@pytest.mark.parametrize("prepare", [True, False])
@pytest.mark.parametrize(("name", "kept"), [("tiny.fatbin", 4000), ("facts.cubin", 2000)])
def test_a_file_cut_off_does_not_reach_a_gpus_driver(
    in_session: InSession, name: str, kept: int, prepare: bool
) -> None:
    in_session(partial(handed_over, Image(name, golden(name)), prepare))
    with pytest.raises(ImageRefused) as caught:
        in_session(partial(handed_over, Image(name, golden(name)[:kept]), prepare))
    explanation = caught.value.explanation
    assert explanation.startswith(f"The {name.rpartition('.')[2]} is damaged: ")
