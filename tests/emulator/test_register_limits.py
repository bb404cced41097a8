"""Blocks that need more registers than there are: refused, noted or launched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cuda.bindings import nvjitlink
from cuda.pathfinder import DynamicLibNotFoundError

from cudarun.emulator import driver
from cudarun.emulator.host import register_limits
from cudarun.emulator.host.process import Process
from tests.support.register_kernels import kernel
from tests.support.toolkit import needs_nvjitlink


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let no result of another test be known here, nor one of these to others."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    register_limits._compiler_log.cache_clear()
    yield
    register_limits._compiler_log.cache_clear()


def launch(text: str, threads: int) -> tuple[str, str]:
    """Launch one block; return the name of the result, and the note on the launch."""

    def ok(answer):  # type: ignore[no-untyped-def]
        result, *values = answer
        assert result == 0
        return values[0] if values else None

    ok(driver.cuInit(0))
    ok(driver.cuCtxCreate(None, 0, 0))
    function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(text.encode())), b"k"))
    address = ok(driver.cuMemAlloc(4096))
    (result,) = driver.cuLaunchKernel(
        function, 1, 1, 1, threads, 1, 1, 0, 0, ((address,), (None,)), 0
    )
    return result.name, driver.launch_notes().get("k", "")


@needs_nvjitlink
@pytest.mark.parametrize(
    ("text", "threads", "result", "note"),
    [
        (kernel(120), 1024, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", ""),
        (kernel(220), 512, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", ""),
        (kernel(120), 512, "CUDA_SUCCESS", ""),
        (kernel(220), 256, "CUDA_SUCCESS", ""),
        (kernel(70), 1024, "CUDA_SUCCESS", "64 registers per thread are available to blocks of"),
        (kernel(120, ".maxntid 1024"), 1024, "CUDA_SUCCESS", ""),
        (kernel(250, ".maxntid 384"), 384, "CUDA_SUCCESS", ""),  # 168 each, not 170
        (kernel(120, ".maxnreg 64"), 1024, "CUDA_SUCCESS", ""),
        (kernel(8, unused=200), 1024, "CUDA_SUCCESS", ""),
    ],
)
def test_launches(fresh_process: Process, text: str, threads: int, result: str, note: str) -> None:
    for _ in range(2):  # the second time from the cache
        found = launch(text, threads)
        assert found[0] == result
        assert found[1].startswith(note)
        assert bool(found[1]) == bool(note)
        register_limits._compiler_log.cache_clear()


def test_without_nvjitlink(fresh_process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise DynamicLibNotFoundError("nvJitLink")

    monkeypatch.setattr(nvjitlink, "version", missing)
    result, note = launch(kernel(120), 1024)
    assert result == "CUDA_SUCCESS"
    assert note.endswith("the number that it needs is unknown (nvJitLink is not installed)")
    assert launch(kernel(60), 1024) == ("CUDA_SUCCESS", "")


@needs_nvjitlink
def test_text_that_nvjitlink_does_not_know(
    fresh_process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = kernel(120).replace("ld.param", "// an instruction of a later PTX\nld.param")
    monkeypatch.setattr(nvjitlink, "add_data", refuse)
    result, note = launch(text, 1024)
    assert result == "CUDA_SUCCESS"
    assert "unknown (nvJitLink " in note
    assert "does not compile it)" in note


def refuse(*_: object) -> None:
    raise nvjitlink.nvJitLinkError(4)
