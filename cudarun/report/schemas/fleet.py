"""The documents of ``fleet``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import Head, IdentityRecord


class ChangeRecord(TypedDict):
    """The first run of a case with another output than its first run on the same GPU.

    Attributes:
        buffer: The buffer.
        run: The number of the run, from 1.
        digests: Its digests in the first run and in this one.
    """

    buffer: str
    run: int
    digests: list[str]


class FleetCaseRecord(TypedDict):
    """A case on one GPU, with all its runs.

    Attributes:
        name: The name of the case.
        verdict: The worst result of its runs.
        reason: Why it failed or was skipped; null where it passed.
        exit_code: The largest code of its runs.
        runs: The number of runs.
        milliseconds: The median time of the runs; null where none came back.
        digests: By buffer, the digest of the first run.
        changes: The outputs that are not the same in all runs.
    """

    name: str
    verdict: Literal["passed", "failed", "skipped"]
    reason: str | None
    exit_code: int
    runs: int
    milliseconds: float | None
    digests: dict[str, str]
    changes: list[ChangeRecord]


class NodeGpuRecord(TypedDict):
    """A GPU of a node.

    Attributes:
        identity: The GPU.
        cases: Its cases, in the order of the spec.
    """

    identity: IdentityRecord
    cases: list[FleetCaseRecord]


class NodeDocument(Head):
    """The result of one node: ``fleet --node``.

    Attributes:
        schema: The schema of this document.
        version: The version of cudarun on the node.
        seconds: The time of all its runs.
        gpus: Its GPUs, in the order of their indices.
    """

    schema: Literal["cudarun/fleet-node/1"]
    version: str
    seconds: float
    gpus: list[NodeGpuRecord]


class FleetGpuRecord(TypedDict):
    """A GPU of the fleet.

    Attributes:
        identity: The GPU.
        verdict: The verdict.
        reason: Why it is not ok; null where it is.
        exit_code: The largest code of its cases.
        cases: Its cases, in the order of the spec.
        objections: Why its outputs are wrong though its checks pass, a text per output.
        slow: Its times that are outliers in the fleet, a text per case.
    """

    identity: IdentityRecord
    verdict: Literal["ok", "wrong answer", "fault", "hang", "image refused", "not measured"]
    reason: str | None
    exit_code: int
    cases: list[FleetCaseRecord]
    objections: list[str]
    slow: list[str]


class FleetHostRecord(TypedDict):
    """A host of the fleet.

    Attributes:
        host: The host, as in --hosts.
        seconds: The time of its command.
        gpus: Its GPUs; none where the host was not measured.
        problem: Why the host was not measured; null if it was.
    """

    host: str
    seconds: float
    gpus: list[FleetGpuRecord]
    problem: str | None


class ConsensusRecord(TypedDict):
    """The agreement of the GPUs of one kind on one output.

    Attributes:
        kind: The name of the GPUs.
        case: The case.
        buffer: The buffer.
        agreeing: The number of GPUs with the digest of the majority; 0 without a majority.
        dissenting: The other GPUs, as host/index; all without a majority.
        is_deterministic: Whether most GPUs agree with themselves over their runs; if not, the
            output is not compared.
    """

    kind: str
    case: str
    buffer: str
    agreeing: int
    dissenting: list[str]
    is_deterministic: bool


class FleetDocument(Head):
    """A spec on all GPUs of all hosts.

    Attributes:
        schema: The schema of this document.
        spec: The spec file.
        seed: The seed of all cases; null for their own.
        seconds: The time of the whole run.
        hosts: The hosts, in the order of --hosts.
        counts: The number of GPUs by verdict; a host that was not measured counts as one.
        consensus: The outputs on which GPUs disagree, or that are not deterministic.
        compared: The number of outputs that were compared.
        sick: The hosts with a GPU that is not ok, without those that were not measured.
        kept: The file with the spec and its inputs; null where none was written.
    """

    schema: Literal["cudarun/fleet/1"]
    spec: str
    seed: int | None
    seconds: float
    hosts: list[FleetHostRecord]
    counts: dict[str, int]
    consensus: list[ConsensusRecord]
    compared: int
    sick: list[str]
    kept: str | None
