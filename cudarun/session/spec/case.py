"""One case of a spec: a launch, its requirements, its expected outcome and its verdict."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, ExitCode, InternalError, Interrupted, RequestError
from cudarun.base.records import dataclass, derived
from cudarun.session.driver.contexts import ContextOptions
from cudarun.session.driver.selection import DriverName
from cudarun.session.launch.request import Program

if TYPE_CHECKING:
    from cudarun.base.files import OutputFile
    from cudarun.model.devices import DeviceInfo
    from cudarun.model.launch import LaunchResult
    from cudarun.model.spec import ListedCase, MatrixValue, Verdict
    from cudarun.session.workers.job import Devices

_REQUIREMENT = re.compile(
    r"(?P<kind>gpu|cpu)"
    r"|sm_(?P<major>\d+)(?P<minor>\d)"
    r"|cuda (?P<cuda>\d+\.\d+)"
    r"|memory (?P<gibibytes>\d+)Gi"
)
_NAME_PREFIX = "CUDA_ERROR_"


def parse_requirement(text: str) -> str:
    """Return an item of ``requires``; `RequestError` if the requirement is unknown."""
    if _REQUIREMENT.fullmatch(text) is None:
        raise RequestError(
            f"'{text}' is not a device requirement",
            hint="gpu · cpu · sm_90 (or newer) · cuda 12.4 (or newer) · memory 16Gi (or more)",
            option="requires",
        )
    return text


def is_met(requirement: str, driver: DriverName, device: DeviceInfo) -> bool:
    """Return whether a device, of this driver, meets a requirement."""
    match = _REQUIREMENT.fullmatch(requirement)
    assert match is not None, "`parse_requirement` refuses others"
    if match["kind"]:
        return match["kind"] == ("cpu" if driver == "cpu" else "gpu")
    if match["major"]:
        return device.compute_capability >= (int(match["major"]), int(match["minor"]))
    if match["cuda"]:
        major, minor = map(int, match["cuda"].split("."))
        return device.driver_version >= (major, minor)
    return device.memory_total >= int(match["gibibytes"]) << 30


def parse_expected(text: str) -> str:
    """Return ``expect_error``; `RequestError` if there is no such error."""
    kinds = {kind.__name__ for kind in CudarunError.__subclasses__()} - {Interrupted.__name__}
    if text in kinds:
        return text
    from cuda.bindings.driver import CUresult

    results = {int(result): result.name.removeprefix(_NAME_PREFIX) for result in CUresult if result}
    wanted = text.upper().removeprefix(_NAME_PREFIX)
    if wanted in results.values() or (wanted.isdecimal() and int(wanted) in results):
        return text
    import difflib

    near = difflib.get_close_matches(wanted, results.values(), n=1)
    raise RequestError(
        f"'{text}' is neither a CUresult nor one of {', '.join(sorted(kinds))}",
        hint=f"did you mean {near[0]}?" if near else None,
        option="expect_error",
    )


def is_expected(error: CudarunError, expected: str) -> bool:
    """Return whether an error is the expected one; a bug in cudarun never is.

    ``ILLEGAL_ADDRESS``, ``CUDA_ERROR_ILLEGAL_ADDRESS`` and ``700`` are equivalent; ``OutOfTime``
    and ``CheckFailed`` are kinds.
    """
    if isinstance(error, InternalError):
        return False
    if expected in (kind.__name__ for kind in type(error).__mro__):
        return True
    if error.cuda is None:
        return False
    name, number = error.cuda
    wanted = expected.upper().removeprefix(_NAME_PREFIX)
    is_number = wanted.isdecimal() and int(wanted) == number
    return is_number or wanted == name.removeprefix(_NAME_PREFIX)


@dataclass(frozen=True, slots=True)
class Case:
    """One ``[[launch]]`` of a spec."""

    name: str  # the name, unique in the spec
    line: int
    # The launch; ``None`` without an image, and then ``skip`` or ``refused`` is set.
    request: Program | None
    devices: Devices
    context: ContextOptions
    timeout: float | None = None  # the time limit in seconds; ``None``: unlimited
    requires: tuple[str, ...] = ()  # the requirements on a device
    expected: str | None = None  # the expected error; ``None`` if the case is expected to pass
    skip: str | None = None
    refused: CudarunError | None = None  # the error of reading the image
    inputs: tuple[str, ...] = ()
    outputs: tuple[OutputFile, ...] = ()
    image: str = ""  # the image, as in the spec
    base: str = ""  # the name without the values of the matrix
    kernel: str | None = None  # the kernel; ``None`` where only the loaded image has its name
    arguments: tuple[str, ...] = ()  # the arguments, as in the spec
    # The values of the matrix, by name.
    matrix: Mapping[str, MatrixValue] = field(default_factory=dict)
    # The command that runs the case again, without its device and name; ``None`` if the spec can be
    # read only once.
    rerun: tuple[str, ...] | None = None
    drawn_seed: int | None = None  # the seed, if it was drawn for this run
    candidate: str | None = None  # the image that replaces that of the spec, if there is one

    @property
    def label(self) -> str:
        """The name of the case, after that of its candidate."""
        from cudarun.model.spec import case_label

        return case_label(self.candidate, self.name)

    def command(self, device: str) -> str | None:
        """Return the command line that runs the case again on a device, quoted for a shell."""
        if self.rerun is None:
            return None
        seed = [] if self.drawn_seed is None else ["--seed", str(self.drawn_seed)]
        candidate = [] if self.candidate is None else ["--candidate", self.candidate]
        end = ["--"] if self.name.startswith("-") else []
        return shlex.join([*self.rerun, *candidate, *seed, "-d", device, *end, self.name])

    def listed(self) -> ListedCase:
        """Return the case for a list of cases."""
        from cudarun.model.spec import ListedCase

        devices = tuple(map(str, self.devices))
        return derived(ListedCase, self, devices=devices, command=self.command(",".join(devices)))

    @property
    def is_timed(self) -> bool:
        """True if the case has ``repeat``."""
        return self.request is not None and self.request.options.timing is not None

    @property
    def ends_worker(self) -> bool:
        """True if the case's worker will probably have to be replaced."""
        harmless = {"CheckFailed", "RequestError", "ImageRefused"}
        return self.expected is not None and self.expected not in harmless

    def unmet(self, driver: DriverName, device: DeviceInfo) -> str | None:
        """Return the first unmet requirement, as the reason to skip the case on the device."""
        lacking = [each for each in self.requires if not is_met(each, driver, device)]
        return f"requires {', '.join(lacking)}" if lacking else None

    def judge(
        self, result: LaunchResult | None, error: CudarunError | None
    ) -> tuple[Verdict, str | None, ExitCode]:
        """Return the verdict, its reason, and the resulting exit code."""
        if error is None and result is not None and not result.passed:
            from cudarun.base.errors import CheckFailed

            error = CheckFailed(f"failed: {'; '.join(result.failures)}")
        if self.expected is None:
            if error is None:
                return "passed", None, ExitCode.OK
            return "failed", _reason(error), error.exit_code
        if error is None:
            reason = f"expected {self.expected}, but the launch passed"
            return "failed", reason, ExitCode.CHECK_FAILED
        if is_expected(error, self.expected):
            return "passed", None, ExitCode.OK
        return "failed", f"expected {self.expected}, got: {error}", error.exit_code


def _reason(error: CudarunError) -> str:
    """Return the message of an error, with the first error of a compiler or linker."""
    if error.kind == "ImageRefused":
        from cudarun.diagnostics.entries import Diagnosed

        first = None
        if isinstance(error, Diagnosed):
            first = next((each for each in error.diagnostics if each.is_serious), None)
        if first is not None:
            return f"{error}: {first.message}" + (f" ({first.place})" if first.place else "")
    return str(error)
