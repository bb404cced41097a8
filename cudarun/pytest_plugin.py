"""The pytest plugin: the fixture ``cudarun``, the devices of tests, and spec files as tests.

pytest imports it in every run of an environment that has cudarun, so it imports nothing else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path
    from typing import Unpack

    from cudarun.api.functions import ImageSource
    from cudarun.api.keywords import LaunchKeywords, LoadKeywords
    from cudarun.api.results import LaunchOutputs, LoadedImages

_OPTION = "--cudarun-device"
_VARIABLE = "CUDARUN_DEVICE"
_MARKER = "cudarun_device"
_DEVICE = "cudarun_device"  # the fixture
_PROBE = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry probe() { ret; }\n"
_absent_devices = pytest.StashKey[dict[str, str | None]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--cudarun-device``."""
    parser.getgroup("cudarun").addoption(
        _OPTION,
        metavar="LIST",
        help="Run tests of the fixture 'cudarun' and test_*.cudarun.toml on these devices, such as "
        "cpu or cpu,0; once on each. [default: CUDARUN_DEVICE, else cpu]",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and check the option."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*devices): run the test on these devices in place of those of "
        "--cudarun-device, such as 'cpu' or 0; skip it where the machine has no such GPU.",
    )
    config.stash[_absent_devices] = {}
    if config.getoption(_OPTION):
        _chosen(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once on each device, if there are several."""
    if _DEVICE not in metafunc.fixturenames:
        return
    marked = _marked(metafunc.definition)
    devices = _chosen(metafunc.config) if marked is None else marked
    if len(devices) > 1:
        metafunc.parametrize(_DEVICE, devices, indirect=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecTests | None:
    """Collect ``test_*.cudarun.toml``."""
    if file_path.name.startswith("test_") and file_path.name.endswith(".cudarun.toml"):
        tests: SpecTests = SpecTests.from_parent(parent, path=file_path)
        return tests
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    """Take the annotations of a launch that fails a test in GitHub Actions."""
    report = yield
    if report.failed and os.environ.get("GITHUB_ACTIONS") == "true" and call.excinfo is not None:
        report.cudarun_annotations = getattr(call.excinfo.value, "annotations", ())
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Annotate the lines of kernels in GitHub Actions."""
    for report in terminalreporter.stats.get("failed", ()):
        for line in getattr(report, "cudarun_annotations", ()):
            terminalreporter.write_line(line)


def _chosen(config: pytest.Config) -> list[str]:
    """Return the devices of the command line, or of the environment.

    Raises:
        UsageError: They are not devices, one by one.
    """
    option = config.getoption(_OPTION)
    given = option or os.environ.get(_VARIABLE) or "cpu"
    devices = dict.fromkeys(device.strip() for device in given.split(","))
    return _checked([*devices], _OPTION if option else _VARIABLE)


def _marked(node: pytest.Item) -> list[str] | None:
    """Return the devices of a test's marker; ``None`` without a marker."""
    marker = node.get_closest_marker(_MARKER)
    if marker is None:
        return None
    return _checked([str(device) for device in marker.args], f"{node.nodeid}: {_MARKER}")


def _checked(devices: list[str], where: str) -> list[str]:
    """Return devices; `UsageError` if there is none, or a word stands for several."""
    if not devices or any(not device or device.endswith("all") for device in devices):
        raise pytest.UsageError(
            f"{where}: name devices such as 'cpu' or 0, got {', '.join(devices) or 'none'}"
        )
    return devices


# --- the fixture ----------------------------------------------------------------------------------


class KernelFixture:
    """The fixture ``cudarun``: `cudarun.launch` and `cudarun.load` on the device of the test.

    Relative paths start from the folder of the test's file. The fixture also has the exceptions of
    `cudarun`, whose name it takes in the test: ``cudarun.WrongResult``.
    """

    def __init__(self, device: str, directory: Path) -> None:
        self.device = device
        self._directory = directory

    def launch(
        self, image: ImageSource, kernel: str | None = None, **options: Unpack[_FixtureKeywords]
    ) -> LaunchOutputs:
        """Launch a kernel; see `cudarun.launch`. Its ``printf`` goes to the output of the test."""
        from cudarun.api.failures import Failure
        from cudarun.api.functions import launch  # numpy, if the test did not import it

        __tracebackhide__ = True
        try:
            outputs = launch(image, kernel, **self._completed(options))
        except Failure as error:
            print(error.printed, end="")
            raise
        print(outputs.printed, end="")
        return outputs

    def load(self, *images: ImageSource, **options: Unpack[LoadKeywords]) -> LoadedImages:
        """Load images; see `cudarun.load`."""
        from cudarun.api.functions import load

        __tracebackhide__ = True
        return load(*images, **self._completed(options))

    def _completed(self, options: Any) -> Any:
        return {"device": self.device, "directory": self._directory, **options}

    def __getattr__(self, name: str) -> Any:
        import cudarun

        if name in cudarun.__all__:
            return getattr(cudarun, name)
        raise AttributeError(f"the fixture cudarun has no attribute {name!r}")


if TYPE_CHECKING:

    class _FixtureKeywords(LaunchKeywords, total=False):
        args: Any
        device: str | int
        timeout: float | None


@pytest.fixture
def cudarun_device(request: pytest.FixtureRequest) -> str:
    """The device of the test: ``"cpu"``, ``"0"``. A marked GPU that does not exist skips it."""
    marked = _marked(request.node)
    devices = _chosen(request.config) if marked is None else marked
    device: str = getattr(request, "param", devices[0])
    if marked is not None:
        reason = _absence(request.config, device)
        if reason is not None:
            pytest.skip(reason)
    return device


@pytest.fixture
def cudarun(request: pytest.FixtureRequest, cudarun_device: str) -> KernelFixture:
    """Launch and load kernels on the device of the test: ``cudarun.launch("k.cu", …)``."""
    return KernelFixture(cudarun_device, request.path.parent)


def _absence(config: pytest.Config, device: str) -> str | None:
    """Return why a marked device is not usable; ``None`` for ``cpu`` and GPUs that exist."""
    if device.startswith("cpu"):
        return None
    known = config.stash[_absent_devices]
    if device not in known:
        from cudarun.api.failures import DeviceNotFound
        from cudarun.api.functions import load

        known[device] = None
        try:
            load(_PROBE, device=device)
        except DeviceNotFound as error:
            known[device] = f"device {device}: {error.document['error']['message']}"
    return known[device]


# --- spec files -----------------------------------------------------------------------------------


class SpecTests(pytest.File):
    """A spec file, whose cases are tests."""

    def collect(self) -> Iterable[SpecTestCase]:
        """Yield a test for each case and device; `CollectError` if the spec is not valid."""
        from cudarun.api.calls import list_cases
        from cudarun.api.failures import Failure

        devices = _chosen(self.config)
        try:
            cases = list_cases(_relative(self.path), ",".join(devices))
        except Failure as error:
            raise self.CollectError(str(error)) from None
        return self._tests(cases, devices)

    def _tests(
        self, cases: Iterable[dict[str, object]], devices: list[str]
    ) -> Iterator[SpecTestCase]:
        for case in cases:
            for device in devices:
                test: SpecTestCase = SpecTestCase.from_parent(
                    self,
                    name=case["name"] if len(devices) == 1 else f"{case['name']}[{device}]",
                    case=case["name"],
                    line=case["line"],
                    device=device,
                )
                yield test


class SpecTestCase(pytest.Item):
    """A case of a spec on a device.

    Args:
        case: The name of the case.
        line: Its line in the file, from 1.
        attributes: Those of `pytest.Item`.
    """

    def __init__(self, case: str, line: int, device: str, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.case = case
        self.line = line
        self.device = device

    def runtest(self) -> None:
        """Run the case."""
        from cudarun.api.calls import run_case

        reason = run_case(_relative(self.path), self.case, self.device)
        if reason is not None:
            pytest.skip(reason)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *rest: Any) -> Any:
        """Return the report of a failed case."""
        from cudarun.api.failures import Failure

        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, *rest)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the case."""
        return self.path, self.line - 1, self.name


def _relative(path: Path) -> str:
    """Return a path as a user would write it here."""
    found = os.path.relpath(path)
    return str(path) if found.startswith(os.pardir) else found
