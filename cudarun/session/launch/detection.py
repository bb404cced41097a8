"""Detectors of a launch, and ``--prove``: enabled in the driver, with their results as a report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial

from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass, derived
from cudarun.images.demangler import demangle
from cudarun.model.detectors import (
    BankConflicts,
    DetectorReport,
    InstructionCount,
    LaunchFinding,
    LaunchStatistics,
    LaunchTraffic,
    MemoryAccess,
    Proof,
    ProvedOperation,
)
from cudarun.session.driver import drivers
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.selection import Selector
from cudarun.session.launch.request import Detection, Program
from cudarun.session.workers.deadline import interrupted_after
from cudarun.session.workers.progress import Progress

_WORST = 3  # the number of instructions with bank conflicts that are reported
# The time limit of a launch without a synchronizing instruction, for `--prove`.
_SHORTEST = 10.0  # seconds, by default
_TIMES = 10.0  # by default, as a multiple of the time of the unmodified launch
_MARGIN = 5.0  # seconds after which the parent's limit ends a worker that did not stop by itself


def check_detection(program: Program, devices: Iterable[Selector]) -> None:
    """Refuse detectors, schedules and algebra on devices, or with an engine, without support."""
    options, detection = program.options, program.options.detection
    check_engine(detection, options.engine, counts=program.counts)
    if program.algebra:
        check_algebra(program)
    wanted = {
        "--prove": detection.prove,
        "--detect": detection.detect,
        "--stats": detection.stats,
        "--algebra": program.algebra,
        "--schedule": options.schedule is not None,
        "--schedules": bool(options.schedules),
    }
    option = next((option for option, given in wanted.items() if given), None)
    for selector in devices if option else ():
        if not drivers.has_detectors(selector.driver):
            raise RequestError(
                f"requires the emulated device; device {selector} is a GPU",
                hint="run the launch with -d cpu, or use --sanitize on a GPU",
                option=option,
            )
    interrupted = {"--graph": options.graph, "--repeat": options.timing is not None}
    other = next((option for option, given in interrupted.items() if given), None)
    if other and program.counts and any(drivers.has_detectors(each.driver) for each in devices):
        raise RequestError(
            f"instructions are not counted with {other}",
            hint="assert them in a separate launch",
            option="--assert",
        )


def check_engine(detection: Detection, engine: str | None, *, counts: bool = False) -> None:
    """Refuse what compiled code alone cannot do."""
    if (counts or detection.stats or detection.prove) and engine == "compile":
        raise RequestError(
            "compiled kernels have no statistics and proofs",
            hint="--cpu-engine auto interprets these launches",
            option="--cpu-engine",
        )


def check_algebra(program: Program) -> None:
    """Refuse what has no meaning where floats are numbers modulo a prime."""
    reference = program.options.reference
    for option, given in {
        "--expect": any(step.expectations for step in program.steps),
        "a recording": any(step.image.recording is not None for step in program.steps),
        "--repeat": program.options.timing is not None,
        "--reference on a GPU": reference is not None and reference.driver != "cpu",
        "--cpu-engine compile": program.options.engine == "compile",
    }.items():
        if given:
            raise RequestError(
                f"{option} has no meaning with numbers modulo a prime",
                hint="compare by --check, or with another kernel by --baseline",
                option="--algebra",
            )


@dataclass(slots=True)
class DetectorResults:
    """The results of the detectors after a launch."""

    findings: Sequence[drivers.DetectorFinding] = ()
    variants: Sequence[drivers.Variant] | None = None
    counted: drivers.Statistics | None = None
    limit: VariantLimit | None = None  # the time limit of variants; ``None`` without ``--prove``

    @property
    def statistics(self) -> LaunchStatistics | None:
        """The statistics for the report; ``None`` where nothing was counted."""
        return None if self.counted is None else _statistics(self.counted)


@contextmanager
def detecting(
    driver: Driver, detection: Detection, progress: Progress, *, counts: bool
) -> Iterator[DetectorResults]:
    """Instrument allocations and launches within the block; do nothing without detectors.

    Args:
        counts: Count instructions, where the driver can.
    """
    results = DetectorResults()
    traits = driver.traits
    if not detection and (traits.start_detectors is None or not counts):
        yield results
        return
    assert traits.start_detectors, "check_detection has refused other devices"
    assert traits.stop_detectors, "what starts can be stopped"
    if detection.prove:
        results.limit = VariantLimit(progress, detection.limit)
    traits.start_detectors(detection.detect, count=counts, prove=results.limit)
    try:
        yield results
    finally:
        results.variants = traits.variants()
        results.findings, results.counted = traits.stop_detectors()


def detector_report(
    detection: Detection,
    results: DetectorResults,
    specs: Sequence[BufferSpec],
    addresses: Mapping[str, int],
) -> DetectorReport | None:
    """Return the report of the detectors, with buffers by name; ``None`` without detectors.

    Args:
        results: The results, also of a launch that ended with a fault or a timeout.
    """
    if not detection:
        return None
    finding = partial(_finding, [(addresses[spec.name], spec) for spec in specs])
    variants = results.variants
    proof = Proof(skipped="the kernel has races; fix them first") if detection.prove else None
    if variants is not None:
        proof = Proof(tuple(_variant(each, finding) for each in variants))
    return DetectorReport(
        detect=detection.detect,
        findings=tuple(map(finding, results.findings)),
        statistics=results.statistics if detection.stats else None,
        proof=proof,
    )


def _variant(
    variant: drivers.Variant, finding: Callable[[drivers.DetectorFinding], LaunchFinding]
) -> ProvedOperation:
    fault = variant.fault.partition("\n")[0].partition(": ")[2]  # without "kernel NAME"
    return derived(
        ProvedOperation,
        variant.removed,
        **_instruction(variant.removed.site),
        function=demangle(variant.removed.site.function),
        outcome=variant.outcome,
        race=None if variant.race is None else finding(variant.race),
        fault=fault or None,
    )


def _finding(
    buffers: Sequence[tuple[int, BufferSpec]], found: drivers.DetectorFinding
) -> LaunchFinding:
    accessed, element, memory = found.memory, None, None
    offset = address = nbytes = space = None
    if accessed is not None:
        memory, space, nbytes = _words(accessed.name), accessed.space, accessed.size
        offset, address = accessed.offset, accessed.address
        for start, spec in buffers if space == "global" else ():
            if 0 <= address - start < max(spec.nbytes, 1):
                memory, offset = f"buffer {spec.name}", address - start
                element = offset // spec.dtype().itemsize
    return LaunchFinding(
        kind=found.kind,
        kernel=demangle(found.kernel),
        space=space,
        memory=memory,
        offset=offset,
        element=element,
        address=address,
        nbytes=nbytes,
        places=tuple(map(_access, found.places)),
        count=found.count,
        problem=found.problem or None,
    )


def _words(name: str) -> str:
    """Return ``variable sum._ZZ3sumE4part`` by its name in the source: ``variable part``."""
    kind, space, symbol = name.rpartition(" ")
    return f"{kind}{space}{demangle(symbol.rpartition('.')[2]).rpartition('::')[2]}"


def _access(access: drivers.AccessSite) -> MemoryAccess:
    own = _instruction(access.site)
    return derived(MemoryAccess, access, **own, function=demangle(access.site.function))


def _instruction(site: drivers.Site) -> dict[str, object]:
    """Return the fields of a report about the instruction of a site."""
    return {"ptx_line": site.line, "ptx": " ".join(site.text.split()), "source": site.source}


def _statistics(counted: drivers.Statistics) -> LaunchStatistics:
    instructions = sorted(counted.instructions.items(), key=lambda each: -each[1].warps)
    conflicts = sorted(counted.banks.items(), key=lambda each: each[1].accesses - each[1].turns)
    return LaunchStatistics(
        instructions=tuple(InstructionCount(k, c.warps, c.threads) for k, c in instructions),
        warp_instructions=sum(count.warps for _, count in instructions),
        thread_instructions=sum(count.threads for _, count in instructions),
        branches=counted.branches,
        divergent_branches=counted.divergent,
        traffic=tuple(
            derived(LaunchTraffic, t, space=s, sectors=t.sectors if s == "global" else None)
            for s, t in sorted(counted.traffic.items())
        ),
        executed=tuple((name, count.warps) for name, count in counted.executed.items()),
        shared_accesses=sum(count.accesses for _, count in conflicts),
        bank_conflicts=sum(count.turns - count.accesses for _, count in conflicts),
        worst_conflicts=tuple(
            derived(BankConflicts, c, **_instruction(site), conflicts=c.turns - c.accesses)
            for site, c in conflicts[:_WORST]
            if c.turns > c.accesses
        ),
    )


class _TimedOut(Exception):
    """The time limit of a variant has passed."""


@dataclass(slots=True)
class VariantLimit:
    """The time limit of the launches without a synchronizing instruction, in a worker."""

    progress: Progress  # the worker's progress, whose phase each variant starts anew
    # The limit of ``--timeout``; by default, ten times as long as the unmodified launch with its
    # buffers takes, at least 10 s.
    seconds: float | None
    created: float = field(default_factory=time.monotonic)
    spent: float = 0.0  # the seconds that variants have taken

    def __call__(self, run: Callable[[], None]) -> bool:
        """Run a variant; return whether it ended within the limit."""
        if self.seconds is None:
            self.seconds = max(_SHORTEST, _TIMES * (time.monotonic() - self.created))
        self.progress.start_phase(_MARGIN)
        started = time.monotonic()
        try:
            with interrupted_after(self.seconds, _TimedOut()):
                run()
        except _TimedOut:
            return False
        finally:
            self.spent += time.monotonic() - started
        return True
