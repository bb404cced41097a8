"""nvJitLink's process: what becomes of a link when it crashes, hangs or is left alone."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cudarun.base.errors import ImageRefused, OutOfTime, WorkerDied
from cudarun.base.files import OutputFile
from cudarun.images.versions import Architecture
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices
from cudarun.session.image.image import Image
from cudarun.session.link import nvjitlink
from cudarun.session.link.request import LinkRequest
from cudarun.session.load.request import JitOptions
from tests.images.golden_files import golden
from tests.support.processes import PATIENCE
from tests.support.toolkit import needs_nvjitlink

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "link"
SM_90 = Architecture(False, 90)


def request(*names: str, timeout: float | None = PATIENCE) -> LinkRequest:
    inputs = tuple(Image(name, (SAMPLES / name).read_bytes()) for name in names)
    target = Target(parse_devices("cpu"), timeout=timeout)
    return LinkRequest(
        inputs, OutputFile("--output", "out"), JitOptions(), target, "nvjitlink", SM_90
    )


def crash(*_: Any) -> None:
    os.write(2, b"fatal   : Unknown arch name 'compute_9'\n")
    os.kill(os.getpid(), signal.SIGKILL)  # a SIGSEGV would have pytest print stacks


def hang(*_: Any) -> None:
    time.sleep(3600)


def test_a_crash_is_told_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nvjitlink, "_work", crash)
    with pytest.raises(WorkerDied) as died:
        nvjitlink.link_with_nvjitlink(request("main.ptx"), SM_90)
    assert "nvJitLink crashed on the inputs" in died.value.message
    assert "SIGKILL" in died.value.message
    assert died.value.log == "fatal   : Unknown arch name 'compute_9'"
    assert capfd.readouterr().err == ""


@needs_nvjitlink
def test_a_damaged_file_does_not_reach_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "_link", crash)
    damaged = Image("facts.cubin", golden("facts.cubin")[:3000])
    asked = replace(request("main.ptx"), inputs=(damaged,))
    with pytest.raises(ImageRefused, match="not a cubin"):
        nvjitlink.link_with_nvjitlink(asked, SM_90)


def test_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "_work", hang)
    with pytest.raises(OutOfTime):
        nvjitlink.link_with_nvjitlink(request("main.ptx", timeout=0.2), SM_90)


class _Library:
    """nvJitLink where all goes well but for what it writes on descriptor 2."""

    class nvJitLinkError(Exception):  # noqa: N801 - its name
        pass

    @staticmethod
    def create(*_: Any) -> int:
        return 1

    @staticmethod
    def complete(_: Any) -> None:
        os.write(2, b"@E@error   : Multiple definition of 'twice' in 'b', first defined in 'b'\n")

    @staticmethod
    def destroy(_: Any) -> None:
        pass


def complain_and_succeed(_: Any, __: Any, options: list[str], said: int) -> None:
    nvjitlink._link(_Library, [], SM_90, options, said)  # type: ignore[arg-type]


def test_what_is_said_on_descriptor_2_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "_work", complain_and_succeed)
    with pytest.raises(ImageRefused) as refused:
        nvjitlink.link_with_nvjitlink(request("main.ptx"), SM_90)
    assert refused.value.log is not None
    assert "Multiple definition of 'twice'" in refused.value.log


# --- options -------------------------------------------------------------------------------------


def options(lto: bool = False, **given: Any) -> list[str]:
    asked = LinkRequest(
        (),
        OutputFile("--output", "out"),
        JitOptions(**given),
        Target(parse_devices("cpu")),
        "nvjitlink",
        SM_90,
        lto,
    )
    return [*nvjitlink._options(asked, SM_90)]


def test_only_the_architecture_is_said_unasked() -> None:
    assert options() == ["-arch=sm_90"]


def test_its_spelling_of_the_options() -> None:
    given = options(
        lto=True, optimization=0, max_registers=64, line_info=True, debug=True, verbose=True
    )
    assert given == [
        "-arch=sm_90", "-O0", "-maxrregcount=64", "-lineinfo", "-g", "-verbose", "-lto",
    ]  # fmt: skip
