"""The kernels that a submission launches, as the emulated device or the recorder sees them."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from cudarun.base.records import dataclass
from cudarun.model.judge import ObservedKernel
from cudarun.programs.report import SKIPS_KERNELS
from cudarun.session.driver.selection import Selector

_LIBRARY = re.compile(
    r"\bat::|cublas|cudnn|cufft|cusparse|cutlass_\d\d_|nvjet|gemmk1_|gemvNSP|gemv2|_xmma_"
    r"|(?:ampere|turing|volta|maxwell)_\w*gemm"
)
"""Names of kernels of PyTorch and of CUDA's libraries."""
_AUXILIARY = re.compile(r"FillFunctor|copy_kernel|distribution_")
"""Those of them that create tensors."""


def is_library_kernel(name: str) -> bool:
    """Return whether a kernel is one of PyTorch or CUDA's libraries that computes."""
    return bool(_LIBRARY.search(name)) and not _AUXILIARY.search(name)


@dataclass(frozen=True, slots=True)
class LaunchObservation:
    """The launches of a program."""

    kernels: tuple[ObservedKernel, ...]  # the kernels of the program
    library: tuple[str, ...] = ()  # the kernels of libraries, and the libraries that could not run
    # The bytes that kernels stored in global memory; ``None`` if not counted.
    stored_bytes: int | None = None
    fault: str | None = None  # the report of a fault
    # The executions of each PTX instruction, and the other counts of assertions, by name.
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def launches(self) -> int:
        """The launches of the program's own kernels."""
        return sum(each.launches for each in self.kernels if not _LIBRARY.search(each.kernel))


@dataclass(frozen=True, slots=True)
class ObservedDevice:
    """A device for a program."""

    environment: Mapping[str, str]  # the variables of the program
    # Returns the observation; called when the program has ended.
    finish: Callable[[], LaunchObservation]
    skip: Callable[[], object]  # skips the kernels of the program from now on
    readable: tuple[str, ...] = ()  # the folders of the observer that the program reads
    writable: tuple[str, ...] = ()  # those in which the library of the observer writes


@contextmanager
def observed_device(
    device: Selector, folder: Path, timeout: float | None
) -> Iterator[ObservedDevice]:
    """Yield a device whose launches are observed.

    Args:
        folder: An empty folder.
        timeout: The time limit of work that the program leaves, in seconds.
    """
    if device.driver != "cpu":
        yield _recorded(device, folder)
        return
    # Imported here: a GPU needs no servers.
    from cudarun.session.exec.libraries import build_cuda_libraries
    from cudarun.session.exec.parent import execution_report, program_environment, running_servers
    from cudarun.session.exec.request import ExecRequest

    request = ExecRequest((), device.profile, stats=True)
    build_cuda_libraries(folder)
    with running_servers(request, folder) as servers:

        def finish() -> LaunchObservation:
            end = None if timeout is None else time.monotonic() + timeout
            is_late = servers.finish(is_killed=False, end=end)
            report = execution_report(
                request, folder, 0, 0.0, is_late=is_late, is_broken=servers.have_failed
            )
            statistics = [each.statistics for each in report.detectors if each.statistics]
            traffic = (each for found in statistics for each in found.traffic)
            counts: Counter[str] = Counter()
            for found in statistics:
                counts.update(found.counts)
            return LaunchObservation(
                tuple(ObservedKernel(each.demangled, each.launches) for each in report.kernels),
                tuple(
                    each.partition(" cannot be loaded")[0]
                    for each in report.problems
                    if "machine code" in each or is_library_kernel(each)
                ),
                sum(t.written_bytes + t.atomic_bytes for t in traffic if t.space == "global"),
                report.fault or next(iter((*report.problems, *report.defects)), None),
                counts,
            )

        yield ObservedDevice(
            program_environment(folder), finish, (folder / SKIPS_KERNELS).touch,
            readable=(os.fspath(folder),),
        )  # fmt: skip


def _recorded(device: Selector, folder: Path) -> ObservedDevice:
    # Imported here: the emulated device needs no recorder.
    from cudarun.session.record.control import ControlPage, RecordMode
    from cudarun.session.record.parent import read_lists, recorder_environment

    page = ControlPage(folder / "control", RecordMode.LIST)
    environment = recorder_environment(folder) | {"CUDA_VISIBLE_DEVICES": device.value}

    def finish() -> LaunchObservation:
        found: dict[str, int] = {}
        for each in read_lists(folder):
            found[each.demangled] = found.get(each.demangled, 0) + each.launches
        used = (name for name in found if is_library_kernel(name))
        return LaunchObservation(
            tuple(ObservedKernel(*each) for each in found.items()), tuple(used)
        )

    return ObservedDevice(environment, finish, page.skip, writable=(os.fspath(folder),))
