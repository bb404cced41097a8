"""The driver under test: the emulator, or with ``--driver cuda`` the real one."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.arrays import array_with
from tests.conformance.texture_objects import described, fetched, of_array
from tests.support.processes import PATIENCE

HERE = Path(__file__).parent
DRIVERS = {"emulator": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}
PREFIX = "CUDA_ERROR_"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--driver",
        choices=sorted(DRIVERS),
        default="emulator",
        help="which driver tests/conformance speaks to",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "assumed: read in documentation, not yet seen on hardware")


@pytest.fixture(scope="session")
def driver_name(request: pytest.FixtureRequest) -> str:
    # The default serves where this file was found too late to add the option.
    return str(request.config.getoption("--driver", default="emulator"))


@pytest.fixture
def drv(driver_name: str) -> Any:
    """The driver's module, initialised. The emulator has two devices."""
    module = importlib.import_module(DRIVERS[driver_name])
    if driver_name == "cuda":
        (result,) = module.cuInit(0)
    else:
        result = _with_two_devices(module)
    assert int(result) == 0, f"cuInit: {result!r}"
    return module


def _with_two_devices(emulator: Any) -> Any:
    """Initialise the emulator, anew where other tests of this process have used it meanwhile."""
    from cudarun.emulator.host.process import process

    count = emulator.cuDeviceGetCount()
    if int(count[0]) == 0 and count[1] == 2:
        return count[0]
    process.reset()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDARUN_CPU_DEVICES", "2")
        return emulator.cuInit(0)[0]


class Driver:
    """The driver's calls, checked: each returns its values alone and fails the test otherwise.

    Enums and types pass through. `result` makes a call whose failure is what is asked for.
    """

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.module, name)
        if not (name.startswith("cu") and name[2:3].isupper()):
            return member

        def checked(*args: Any) -> Any:
            result, *values = member(*args)
            assert int(result) == 0, f"{name}: {result!r}"
            return values[0] if len(values) == 1 else tuple(values) or None

        return checked

    def result(self, name: str, *args: Any) -> str:
        """The name of what a call returns, without its prefix."""
        return str(getattr(self.module, name)(*args)[0].name).removeprefix(PREFIX)

    def create_context(self, flags: int = 0, device: Any = 0) -> Any:
        """``cuCtxCreate``, whose parameters differ between CUDA 12 and 13."""
        if self.module.CUDA_VERSION >= 13000:
            return self.cuCtxCreate(None, flags, device)
        return self.cuCtxCreate(flags, device)

    def load_library(self, image: bytes) -> Any:
        """``cuLibraryLoadData`` without options."""
        return self.cuLibraryLoadData(image, [], [], 0, [], [], 0)

    def launch(
        self,
        function: Any,
        values: tuple[Any, ...] = (),
        types: tuple[Any, ...] = (),
        *,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        shared: int = 0,
        stream: Any = 0,
    ) -> None:
        """``cuLaunchKernel`` with parameters as values and ctypes."""
        self.cuLaunchKernel(function, *grid, *block, shared, stream, (values, types), 0)


@pytest.fixture
def cuda(drv: Any) -> Driver:
    return Driver(drv)


@pytest.fixture(autouse=True)
def empty_stack(cuda: Driver) -> Iterator[None]:
    """Every test begins without a current context, whatever became of the one before."""
    yield
    left = 0
    while int(cuda.cuCtxGetCurrent()):
        cuda.cuCtxPopCurrent()
        left += 1
    assert left == 0, "a test must leave the thread's stack as it was"


@pytest.fixture
def device(cuda: Driver) -> Any:
    return cuda.cuDeviceGet(0)


@pytest.fixture
def context(cuda: Driver, device: Any) -> Iterator[Any]:
    """A new context, current to the test's thread; afterwards the thread has none."""
    created = cuda.create_context(0, device)
    yield created
    cuda.cuCtxDestroy(created)


@pytest.fixture
def second_device(cuda: Driver) -> Any:
    if cuda.cuDeviceGetCount() < 2:
        pytest.skip("one device only")
    return cuda.cuDeviceGet(1)


@pytest.fixture
def ptx() -> Callable[[str], bytes]:
    """The text of ``ptx/<name>.ptx``, NUL-terminated."""
    return lambda name: (HERE / "ptx" / f"{name}.ptx").read_bytes() + b"\0"


@pytest.fixture(scope="session")
def in_new_process(driver_name: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script of ``scripts/`` by itself, for a fault is the end of a process's driver.

    The script gets the driver's module name and the arguments, and finds the modules that this
    process does; the environment may be extended.
    """

    def run(script: str, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        path, words = HERE / "scripts" / script, (DRIVERS[driver_name], *args)
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
        if driver_name == "cuda":  # a GPU's driver does not survive a fork
            return subprocess.run(
                [sys.executable, path, *words],
                capture_output=True,
                text=True,
                check=True,
                timeout=PATIENCE,
                env=env,
            )
        from tests.support.forked_processes import run_script

        code, out, err = run_script(path, words, env)
        assert code == 0, err.decode()
        return subprocess.CompletedProcess([path.name, *words], code, out.decode(), err.decode())

    return run


# --- textures ------------------------------------------------------------------------------------


@pytest.fixture
def fetch(cuda: Any, context: Any, ptx: Callable[[str], bytes]) -> Callable[..., Any]:
    """Launch a kernel of `textures.ptx` on a texture, one thread to a coordinate."""
    return partial(fetched, cuda, cuda.cuModuleLoadData(ptx("textures")))


@pytest.fixture
def texture(cuda: Any, context: Any) -> Iterator[Callable[..., Any]]:
    """A texture object of an array with these texels."""
    made = []

    def make(texels: Any, **how: Any) -> Any:
        array = array_with(cuda, texels)
        described_as = described(cuda, **how)
        made.append((cuda.cuTexObjectCreate(of_array(cuda, array), described_as, None), array))
        return made[-1][0]

    yield make
    for created, array in made:
        cuda.cuTexObjectDestroy(created)
        cuda.cuArrayDestroy(array)
