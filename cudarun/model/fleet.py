"""The reports of ``cudarun fleet``: of one node, and of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.machine import DeviceIdentity
from cudarun.base.records import dataclass

GpuVerdict = Literal["ok", "wrong answer", "fault", "hang", "image refused", "not measured"]
"""The result of a GPU. One that was not measured is neither well nor sick."""

VERDICTS: Mapping[ExitCode, GpuVerdict] = {
    ExitCode.OK: "ok",
    ExitCode.CHECK_FAILED: "wrong answer",
    ExitCode.UNUSABLE_REQUEST: "not measured",
    ExitCode.NO_DEVICE: "not measured",
    ExitCode.IMAGE_REFUSED: "image refused",
    ExitCode.DEVICE_FAILED: "fault",
    ExitCode.OUT_OF_TIME: "hang",
    ExitCode.WORKER_DIED: "fault",
}
"""The verdict on a GPU by the exit code of its cases."""


def overall(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the code of several results: the largest one of a failure.

    A result that was not measured hides no failure, whatever its code. It counts where all others
    are well.
    """
    return max(
        codes,
        key=lambda code: (VERDICTS[code] != "ok", VERDICTS[code] != "not measured", code),
        default=ExitCode.NO_DEVICE,
    )


@dataclass(frozen=True, slots=True)
class Change:
    """The first run of a case with another output than its first run on the same GPU."""

    buffer: str  # the buffer
    run: int  # the number of the run, from 1
    digests: tuple[str, ...]  # its digests in the first run and in this one


@dataclass(frozen=True, slots=True)
class FleetCase:
    """A case on one GPU, with all its runs."""

    name: str  # the name of the case
    verdict: Literal["passed", "failed", "skipped"]  # the worst result of its runs
    reason: str | None  # why it failed or was skipped; ``None`` where it passed
    exit_code: ExitCode  # the largest code of its runs
    runs: int  # the number of runs
    milliseconds: float | None  # the median time of the runs; ``None`` where none came back
    # By buffer, the digest of the first run.
    digests: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()  # the outputs that are not the same in all runs


def cases_code(cases: Iterable[FleetCase], *, objected: bool = False) -> ExitCode:
    """Return the overall code of the cases of a GPU; that of no device where none ran."""
    ran = [case.exit_code for case in cases if case.verdict != "skipped"]
    return overall([*ran, *([ExitCode.CHECK_FAILED] if objected else [])])


@dataclass(frozen=True, slots=True)
class NodeGpu:
    """A GPU of a node."""

    identity: DeviceIdentity  # the GPU
    cases: tuple[FleetCase, ...]  # its cases, in the order of the spec

    @property
    def exit_code(self) -> ExitCode:
        """The overall code of its cases."""
        return cases_code(self.cases)


@dataclass(frozen=True, slots=True)
class FleetGpu:
    """A GPU of the fleet."""

    identity: DeviceIdentity  # the GPU
    verdict: GpuVerdict = field(init=False)  # the verdict
    reason: str | None = field(init=False)  # why it is not ok; ``None`` where it is
    exit_code: ExitCode = field(init=False)  # the largest code of its cases
    cases: tuple[FleetCase, ...]  # its cases, in the order of the spec
    # Why its outputs are wrong though its checks pass, a text per output.
    objections: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()  # its times that are outliers in the fleet, a text per case

    def __post_init__(self) -> None:
        code = cases_code(self.cases, objected=bool(self.objections))
        object.__setattr__(self, "exit_code", code)
        object.__setattr__(self, "verdict", VERDICTS[code])
        object.__setattr__(self, "reason", self._reason(code))

    def _reason(self, code: ExitCode) -> str | None:
        """Return the first case with the exit code, or the first objection."""
        if code is ExitCode.OK:
            return None
        for case in self.cases:
            if case.verdict == "failed" and case.exit_code is code:
                return f"{case.name}: {case.reason}"
        if self.objections:
            return self.objections[0]
        return "every case was skipped" if self.cases else "the spec has no case for it"


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The result of one node: ``fleet --node``."""

    tag: ClassVar[Literal["fleet-node"]] = "fleet-node"

    version: str  # the version of cudarun on the node
    seconds: float  # the time of all its runs
    gpus: tuple[NodeGpu, ...]  # its GPUs, in the order of their indices

    @property
    def exit_code(self) -> ExitCode:
        """The overall code of its GPUs."""
        return overall(gpu.exit_code for gpu in self.gpus)


@dataclass(frozen=True, slots=True)
class FleetHost:
    """A host of the fleet."""

    tag: ClassVar[Literal["fleet-host"]] = "fleet-host"

    host: str  # the host, as in ``--hosts``
    seconds: float  # the time of its command
    gpus: tuple[FleetGpu, ...] = ()  # its GPUs; none where the host was not measured
    problem: str | None = None  # why the host was not measured; ``None`` if it was

    @property
    def exit_code(self) -> ExitCode:
        """The overall code of its GPUs; that of no device where it was not measured."""
        return overall(gpu.exit_code for gpu in self.gpus)


@dataclass(frozen=True, slots=True)
class Consensus:
    """The agreement of the GPUs of one kind on one output."""

    kind: str  # the name of the GPUs
    case: str  # the case
    buffer: str  # the buffer
    agreeing: int  # the number of GPUs with the digest of the majority; 0 without a majority
    dissenting: tuple[str, ...]  # the other GPUs, as ``host/index``; all without a majority
    # Whether most GPUs agree with themselves over their runs; if not, the output is not compared.
    is_deterministic: bool


@dataclass(frozen=True, slots=True)
class FleetReport:
    """A spec on all GPUs of all hosts."""

    tag: ClassVar[Literal["fleet"]] = "fleet"

    spec: str  # the spec file
    seed: int | None  # the seed of all cases; ``None`` for their own
    seconds: float  # the time of the whole run
    hosts: tuple[FleetHost, ...]  # the hosts, in the order of ``--hosts``
    # The number of GPUs by verdict; a host that was not measured counts as one.
    counts: dict[GpuVerdict, int] = field(init=False)
    # The outputs on which GPUs disagree, or that are not deterministic.
    consensus: tuple[Consensus, ...]
    compared: int  # the number of outputs that were compared
    # The hosts with a GPU that is not ok, without those that were not measured.
    sick: tuple[str, ...] = field(init=False)
    # The file with the spec and its inputs; ``None`` where none was written.
    kept: str | None = None

    def __post_init__(self) -> None:
        counts: dict[GpuVerdict, int] = dict.fromkeys(VERDICTS.values(), 0)
        for host in self.hosts:
            for verdict in [gpu.verdict for gpu in host.gpus] or ["not measured"]:
                counts[verdict] += 1
        sick = (
            host.host
            for host in self.hosts
            if any(gpu.verdict not in ("ok", "not measured") for gpu in host.gpus)
        )
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "sick", tuple(sick))

    @property
    def exit_code(self) -> ExitCode:
        """The overall code of all hosts; not success where outputs differ without a majority."""
        differs = any(each.dissenting for each in self.consensus)
        codes = [host.exit_code for host in self.hosts]
        return overall([*codes, *([ExitCode.CHECK_FAILED] if differs else [])])
