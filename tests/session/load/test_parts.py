"""The fatbins and parts of a file: each has its own verdict, also one that kills its worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cudarun.base.errors import WorkerDied
from cudarun.commands import inputs
from cudarun.commands.inputs import open_input
from cudarun.images.contents import MappedFile
from cudarun.images.fatbin import Entry
from cudarun.images.reader import file_parts, kernels_of
from cudarun.model.images import LoadReport
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.load import part_reader, worker
from cudarun.session.load.fatbins import UsedFatbin, loadable, used_fatbins
from cudarun.session.load.parent import load, prefetch
from cudarun.session.load.part_reader import FileParts
from cudarun.session.load.request import LoadRequest
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.session import Session
from tests.images.golden_files import archive, fatbin_of_ptx, golden

InSession = Callable[[Callable[[Session], Any]], Any]

SAXPY = (Path(__file__).resolve().parents[3] / "samples" / "saxpy.ptx").read_text()


@pytest.fixture(params=["read", "mapped"])
def library(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Image:
    """A library of four fatbins with a kernel each: k0, k1, k2, k3."""
    if request.param == "mapped":
        monkeypatch.setattr(inputs, "_MAPPED_FROM", 0)
    texts = [SAXPY.replace("saxpy", f"k{number}") for number in range(4)]
    fatbins = [fatbin_of_ptx(text.encode()) for text in texts]
    path = tmp_path / "lib.a"
    path.write_bytes(archive(*((b"%d/" % n, data) for n, data in enumerate(fatbins))))
    image = open_input(str(path))
    assert isinstance(image.data, MappedFile) is (request.param == "mapped")
    return image


def loaded(image: Image) -> LoadReport:
    with WorkerPool() as pool:
        target = Target(parse_devices("cpu"), capture=True)
        workers = DeviceWorkers(pool, target, prefetch)
        return load(LoadRequest((image,)), workers)


def test_a_fatbin_that_kills_its_worker_is_named(
    library: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The emulated driver crashes on no image, so the worker kills itself."""
    prepare = worker.prepare_fatbin

    def prepare_or_die(driver: Any, image: Image, number: int, *, is_alone: bool) -> Image:
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return prepare(driver, image, number, is_alone=is_alone)

    monkeypatch.setattr(worker, "prepare_fatbin", prepare_or_die)
    [outcome] = loaded(library).outcomes
    assert outcome.verdict == "crashed"
    assert [result.verdict for result in outcome.results] == [
        "loaded", "crashed", "loaded", "loaded",
    ]  # fmt: skip
    assert [[kernel.name for kernel in result.kernels] for result in outcome.results] == [
        ["k0"], [], ["k2"], ["k3"],
    ]  # fmt: skip
    assert isinstance(outcome.error, WorkerDied)
    assert outcome.error.what == (
        "the worker process was killed by signal 9 (SIGKILL) while it loaded fatbin 2 "
        "(compute_75; kernels: k1)"
    )
    assert outcome.device is not None


def found_in(image: Image, session: Session) -> tuple[UsedFatbin, ...]:
    return used_fatbins(session.driver, image)


def test_inputs_of_the_linker_are_not_loaded(in_session: InSession) -> None:
    """A library built with -rdc=true has them beside the linked code, as libnccl does."""
    linked, inputs = (
        in_session(partial(found_in, Image(name, golden(name))))
        for name in ("tiny.o", "tiny_rdc.o")
    )
    assert [(f.kernels, f.is_relocatable) for f in linked] == [(("tiny",), False)]
    assert [(f.kernels, f.is_relocatable) for f in inputs] == [(("tiny",), True)]
    library = Image("lib.so", golden("tiny.o"))
    assert loadable(library, [*inputs, *linked]) == linked
    assert loadable(library, inputs) == inputs
    assert loadable(Image("lib.a", archive()), [*inputs, *linked]) == (*inputs, *linked)


def die_of_the_third(part: Entry, origin: str) -> tuple[str, ...]:
    if part.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return kernels_of(part, origin)


def test_a_part_that_kills_its_reader(library: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_reader, "_WORTH_A_PROCESS", 0)
    parts = FileParts(library.data, library.origin, file_parts(library.data, library.origin))
    found = parts._read(die_of_the_third, [0, 1, 2, 3], None)
    assert isinstance(found.pop(2), WorkerDied)
    assert found == {0: ("k0",), 1: ("k1",), 3: ("k3",)}


def test_workers_read_what_one_process_reads(
    library: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = FileParts(library.data, library.origin, file_parts(library.data, library.origin))
    names, contents = parts.kernels(), parts.contents([1, 3])
    assert names == {0: ("k0",), 1: ("k1",), 2: ("k2",), 3: ("k3",)}
    monkeypatch.setattr(part_reader, "_WORTH_A_PROCESS", 0)
    monkeypatch.setattr(part_reader, "_CHUNK", 1)
    assert parts.kernels() == names
    assert parts.contents([1, 3]) == contents
    assert [part.number for part in contents.values()] == [2, 4]  # type: ignore[union-attr]
