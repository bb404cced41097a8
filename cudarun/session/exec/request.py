"""The request of ``cudarun exec``."""

from __future__ import annotations

from cudarun.base.files import FileUse
from cudarun.base.options import field_of, option_field
from cudarun.base.records import dataclass
from cudarun.session.launch.request import Detection, ProgramOptions


@dataclass(frozen=True, slots=True)
class ExecRequest:
    """A program, and how its kernels run."""

    command: tuple[str, ...]  # the program and its arguments
    profile: str  # the GPU that the device emulates; empty for that of the environment
    detect: tuple[str, ...] = field_of(Detection, "detect")
    stats: bool = field_of(Detection, "stats")
    engine: str | None = field_of(ProgramOptions, "engine")
    timeout: float | None = option_field(
        "--timeout SECONDS",
        help="Time limit in seconds for the program; exit code 6 when exceeded.  [default: none]",
    )
    junit: str | None = option_field(
        "--junit FILE", file=FileUse.JUNIT, help="Write the outcome as JUnit XML to FILE."
    )
    exit_code: str = option_field(
        "--exit-code",
        default="report",
        choices=("report", "program"),
        help="Exit with 1 after findings or ignored errors, 5 after a fault and 6 after the time "
        "limit (report), or always with the code of the program.",
    )
    keeps_stdout: bool = False  # whether stdout is a document, so that the program's goes to stderr

    @property
    def detection(self) -> Detection:
        """The detectors, as those of a launch."""
        return Detection(detect=self.detect, stats=self.stats)
