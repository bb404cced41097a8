"""Positive control of the race detector: a kernel without each of its synchronizing instructions.

A launch is followed by a launch of the same kernel without each barrier, fence or wait, and with
each atomic operation as a plain one, each time with the memory as it was before the launch. The
results of the unmodified launch remain.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from cudarun.base.records import dataclass
from cudarun.emulator.code import FunctionCode
from cudarun.emulator.decode.module import CallGraph
from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.findings import Baseline, DetectorFinding, FirstRace
from cudarun.emulator.detectors.grid_history import GridHistory
from cudarun.emulator.detectors.synchronization import Removal, Synchronization, synchronization_of
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.heap import snapshot
from cudarun.emulator.machine.launch import LaunchConfig
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.memory import Memory
from cudarun.emulator.program import KernelCode, ModuleCode

Limited = Callable[[Callable[[], None]], bool]
"""Calls a function; returns false if it stopped it at a time limit."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The outcome of a launch without one synchronizing instruction."""

    removed: Synchronization
    # A race was found; none was found; the launch faulted, or was stopped at the time limit; or no
    # thread reached the instruction.
    outcome: Literal["race", "no race", "fault", "timeout", "not reached"]
    race: DetectorFinding | None = None  # the first race
    fault: str = ""  # the report of the fault


class Prover:
    """Executes launches, and then their variants."""

    def __init__(self, limited: Limited) -> None:
        self._limited = limited  # limits the time of a variant
        # Facts of the unmodified launches, which `DetectorObserver` collects.
        self.baseline = Baseline()
        # The variants of all launches; ``None`` if there was none, or the unmodified kernel has
        # races.
        self.variants: list[Variant] | None = None

    def execute(
        self,
        program: ModuleCode,
        kernel: KernelCode,
        config: LaunchConfig,
        *,
        memories: Sequence[Memory],
        observer: Observer,
        printf: Callable[[bytes], None],
        **options: Any,
    ) -> None:
        """Execute a launch as `execution.execute` does, and its variants unless it has races."""
        run = partial(execute, program, kernel, config, memories=memories, **options)
        assert isinstance(observer, DetectorObserver)
        before = snapshot(memories, config.heap)
        overlaps = config.overlap is not None and config.overlap.before is not None
        history = observer.history.copied() if overlaps else GridHistory()
        run(observer=observer, printf=printf)
        if any(finding.kind == "race" for finding in observer.findings):
            return
        after = snapshot(memories, config.heap)
        self.variants = self.variants or []
        try:
            for removed in synchronization_of(_functions(program, kernel)):
                before()
                self.variants.append(self._variant(removed, run, history.copied()))
        finally:
            after()

    def _variant(
        self, removed: Synchronization, run: Callable[..., None], history: GridHistory
    ) -> Variant:
        removal = Removal(removed, is_joint=removed.site in self.baseline.joint)
        observer = DetectorObserver(
            ["race"], removal=removal, baseline=self.baseline, history=history
        )
        try:
            with contextlib.redirect_stderr(io.StringIO()):  # failed assertions
                variant = partial(run, observer=observer, printf=lambda text: None)
                in_time = self._limited(variant)
        except FirstRace as found:
            return Variant(removed, "race", found.race)
        except DeviceFault as fault:
            return Variant(removed, "fault", fault=fault.report)
        if not in_time:
            return Variant(removed, "timeout")
        return Variant(removed, "no race" if removal.reached else "not reached")


def _functions(program: ModuleCode, kernel: KernelCode) -> list[FunctionCode]:
    """Return the code of a kernel, of those it can launch, and of the functions they can call."""
    graph = CallGraph(program.code, program.kernels.keys())
    launched = graph.launched(program.code[kernel.name])
    found = {each.name: each for one in launched for each in graph.reached(one)}
    return list(found.values())
