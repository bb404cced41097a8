"""The driver's linker over the emulated driver: its calls in order, its logs in full."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cudarun.base.errors import CudarunError, ImageRefused, RequestError
from cudarun.images.versions import Architecture
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import choose_driver
from cudarun.session.image.image import Image
from cudarun.session.link import worker as linking
from cudarun.session.load import jit
from cudarun.session.load.jit import Logs, driver_options, option_refusals, with_whole_logs
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.pool import WorkerPool
from cudarun.session.workers.worker import WorkerSpec
from tests.images.golden_files import archive, golden

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "link"


def image(name: str) -> Image:
    return Image(name, (SAMPLES / name).read_bytes())


@dataclass
class Recording:
    """A driver whose ``cuLink`` calls are written down as they are passed on."""

    driver: Any
    calls: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.driver, name)
        if not name.startswith("cuLink"):
            return member

        def recorded(*args: Any) -> Any:
            self.calls.append((name, args))
            return member(*args)

        return recorded

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def in_worker(task):  # type: ignore[no-untyped-def]
    """Run a task with a driver that has a context; an emulator once initialised stays so."""
    with WorkerPool() as pool:
        return pool.call(WorkerSpec(_driver), task).unwrap()


def _driver(_: object) -> Recording:
    driver = Driver(choose_driver("cpu"))
    driver.cuInit(0)
    driver.version = driver.cuDriverGetVersion()
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(driver.cuDeviceGet(0)))
    recording = Recording(choose_driver("cpu").module)
    driver.module = recording
    driver.calls_made = recording  # type: ignore[attr-defined]
    return driver  # type: ignore[return-value]


def link_two(driver: Any) -> tuple[bytes, list[str]]:
    data, _ = linking.linked_by_driver(
        driver, [image("main.ptx"), image("lib.ptx")], JitOptions(), Logs()
    )
    return data, driver.calls_made.names


def link_broken(driver: Any) -> tuple[str, str, list[str]]:
    broken = Image("broken.ptx", image("lib.ptx").data.replace(b"mul.f32", b"mul.xx.f32"))
    with pytest.raises(ImageRefused) as refused:
        linking.linked_by_driver(driver, [image("main.ptx"), broken], JitOptions(), Logs())
    return refused.value.message, refused.value.log or "", driver.calls_made.names


def add_by_file(driver: Any) -> list[tuple[str, Any]]:
    """How inputs are handed over; the emulated linker refuses objects."""
    path = str(SAMPLES.parents[1] / "tests/images/golden/tiny.o")
    inputs = [
        Image(path, golden("tiny.o")),
        Image("<stdin>", golden("tiny.o")),
        Image("<stdin>", archive((b"a.o/", golden("tiny.o")))),
        Image("tiny.fatbin", golden("tiny.fatbin")),
    ]
    state = driver.cuLinkCreate(0, [], [])
    for given in inputs:
        with contextlib.suppress(CudarunError):
            linking._add(driver, state, given)
    return [(name, args[1].name) for name, args in driver.calls_made.calls[1:]]


def link_with_small_logs(driver: Any) -> tuple[int, str]:
    """The buffers are of 64 bytes at first; what is broken fills thousands."""
    lines = "".join(f"    bra nowhere_{number};\n" for number in range(200)).encode()
    text = image("lib.ptx").data.replace(b"    ret;", lines).replace(b"\tret;", lines)
    tries = 0

    def work(logs: Logs) -> Any:
        nonlocal tries
        tries += 1
        return linking.linked_by_driver(driver, [Image("many.ptx", text)], JitOptions(), logs)

    jit._FIRST_SIZE = 64  # type: ignore[misc]  # in this process alone
    with pytest.raises(ImageRefused) as refused:
        with_whole_logs(work)
    return tries, refused.value.log or ""


def test_the_calls_of_a_link() -> None:
    data, names = in_worker(link_two)
    assert names == [
        "cuLinkCreate", "cuLinkAddData", "cuLinkAddData", "cuLinkComplete", "cuLinkDestroy",
    ]  # fmt: skip
    assert data.startswith(b"// linked by cudarun")  # readable although the state is gone


def test_the_state_ends_when_an_input_is_refused() -> None:
    message, log, names = in_worker(link_broken)
    assert message.startswith("broken.ptx: cuLinkAddData: ")
    assert log.startswith("ptxas application ptx input, line ")
    assert names[-1] == "cuLinkDestroy"
    assert "cuLinkComplete" not in names


def test_objects_and_libraries_by_file_all_else_from_memory() -> None:
    assert in_worker(add_by_file) == [
        ("cuLinkAddFile", "CU_JIT_INPUT_OBJECT"),
        ("cuLinkAddData", "CU_JIT_INPUT_OBJECT"),
        ("cuLinkAddData", "CU_JIT_INPUT_LIBRARY"),
        ("cuLinkAddData", "CU_JIT_INPUT_FATBINARY"),
    ]


def test_a_log_that_does_not_fit_is_asked_for_again() -> None:
    tries, log = in_worker(link_with_small_logs)
    assert tries > 2
    assert log.count("Unknown symbol 'nowhere_") == 200


def test_a_log_has_at_most_the_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_FIRST_SIZE", 64)
    monkeypatch.setattr(jit, "_LARGEST_SIZE", 2048)
    sizes: list[int] = []

    def fill(logs: Logs) -> None:
        sizes.append(logs._size)
        logs._error = b"x" * logs._size

    with_whole_logs(fill)
    assert sizes == [64, 1024, 2048]


# --- options -------------------------------------------------------------------------------------


def options(**given: Any) -> dict[str, Any]:
    bindings = Driver(choose_driver("cuda"))
    found = driver_options(bindings, JitOptions(**given))
    return {key.name.removeprefix("CU_JIT_"): value for key, value in found.items()}


def test_nothing_is_said_that_was_not_asked_for() -> None:
    assert options() == {}


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"max_registers": 32}, "MAX_REGISTERS", 32),
        ({"threads_per_block": 256}, "THREADS_PER_BLOCK", 256),
        ({"optimization": 0}, "OPTIMIZATION_LEVEL", 0),
        ({"line_info": True}, "GENERATE_LINE_INFO", 1),
        ({"debug": True}, "GENERATE_DEBUG_INFO", 1),
        ({"position_independent": True}, "POSITION_INDEPENDENT_CODE", 1),
        ({"verbose": True}, "LOG_VERBOSE", 1),
        ({"cache_mode": "ca"}, "CACHE_MODE", "CU_JIT_CACHE_OPTION_CA"),
        ({"fallback": "prefer-ptx"}, "FALLBACK_STRATEGY", "CU_PREFER_PTX"),
        ({"target": Architecture(False, 90)}, "TARGET", "CU_TARGET_COMPUTE_90"),
        ({"target": Architecture(False, 90, "a")}, "TARGET", "CU_TARGET_COMPUTE_90A"),
    ],
)
def test_an_option_in_the_drivers_terms(given: dict[str, Any], name: str, value: Any) -> None:
    [(key, found)] = options(**given).items()
    assert key == name
    assert getattr(found, "name", found) == value


def test_a_target_that_the_bindings_do_not_know() -> None:
    with pytest.raises(
        Exception, match="the installed CUDA bindings do not support the target sm_999"
    ):
        options(target=Architecture(False, 999))


def test_an_option_that_the_bindings_do_not_pass() -> None:
    bindings = choose_driver("cuda").module
    option = bindings.CUjit_option.CU_JIT_FAST_COMPILE  # in the enum, unknown to their table
    known, unknown = "CU_JIT_POSITION_INDEPENDENT_CODE", "CU_JIT_FAST_COMPILE"
    told = option_refusals({}, Logs(16))
    with pytest.raises(RequestError, match=f"bindings do not pass {unknown}"), told:
        bindings.cuModuleLoadDataEx(b"\0", 1, [option], [1])
    told = option_refusals({}, Logs(16))
    with pytest.raises(RequestError, match=r"^--position-independent: the installed CUDA"), told:
        raise TypeError(f"Unsupported attribute: {known}")  # as of cuda-bindings 13.3.1
    with pytest.raises(TypeError), option_refusals({}, Logs(16)):
        raise TypeError("something else")


def test_both_logs_have_their_options() -> None:
    logs = Logs(16)
    option = choose_driver("cuda").module.CUjit_option
    fake = SimpleNamespace(CUjit_option=option, traits=choose_driver("cuda").traits)
    names = [option.name for option in logs.options(fake)]  # type: ignore[arg-type]
    assert names == [
        "CU_JIT_ERROR_LOG_BUFFER", "CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES",
        "CU_JIT_INFO_LOG_BUFFER", "CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES",
    ]  # fmt: skip
