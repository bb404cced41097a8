"""The tables of ``--detect``, ``--stats`` and ``--sanitize``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from cudarun.model import detectors
from cudarun.report.console import FAILED, PASSED, FittingTable, print_line
from cudarun.report.notes import redundant

Names = Mapping[str, str]  # of kernels, to be printed before their findings

_SHOWN = 10  # findings at different lines of the source
_WORDS = {"race": "race in", "uninit": "uninitialized read of"}
_MORE = {1: ("PTX line", "PTX lines"), 2: ("pair of PTX lines", "pairs of PTX lines")}
_CLAIMS = {
    "race": "no race in {schedules}; asynchronous copies included",
    "race=strict": "no race in {schedules}; asynchronous copies and equal writes included",
    "uninit": "no uninitialized reads",
    "sync": "no synchronization errors",
}
_VERBS = {
    "load": "read",
    "store": "written",
    "arrival": "reached",
    "skip": "skipped",
    "use": "used",
    "asynchronous load": "read asynchronously",
    "asynchronous store": "written asynchronously",
    "asynchronous use": "used asynchronously",
}


def show_watched(
    watched: detectors.DetectorReport,
    out: Console,
    names: Names | None = None,
    *,
    schedules: int = 1,
) -> None:
    """Print the findings, the detectors without any in so many schedules, and the counts."""
    show_findings(watched.findings, out, names)
    found = {finding.kind for finding in watched.findings}
    silent = [name for name in watched.detect if name.partition("=")[0] not in found]
    races = [_CLAIMS[name] for name in silent if name.startswith("race")]
    others = [_CLAIMS[name] for name in silent if not name.startswith("race")]
    for claims in filter(None, (races, others)):
        text = "this schedule" if schedules == 1 else f"{schedules} schedules"
        print_line(out, PASSED, ", ".join(claims).format(schedules=text))
    if watched.proof is not None:
        show_proof(watched.proof, out)
        note = redundant(watched.proof)
        if note is not None:
            print_line(out, f"note: {note}")
    show_statistics(watched.statistics, out)


def show_findings(
    findings: Sequence[detectors.LaunchFinding], out: Console, names: Names | None = None
) -> None:
    """Print findings; those at the same lines of the source, as of unrolled loops, are one."""
    groups: dict[object, list[detectors.LaunchFinding]] = {}
    for number, finding in enumerate(findings):
        sources = tuple(place.source for place in finding.places)
        key = number if None in sources else (finding.kind, finding.problem, sources)
        groups.setdefault(key, []).append(finding)
    for first, *others in [*groups.values()][:_SHOWN]:
        start = f"{names.get(first.kernel, first.kernel)}: " if names else ""
        count = first.count + sum(other.count for other in others)
        times = f"  ({count} times)" if count > 1 else ""
        print_line(out, FAILED, f"{start}{_title(first)}", (times, "dim"))
        for place in first.places:
            print_line(out, f"  {_who(place)}")
            function = "" if place.function == first.kernel else f" in {place.function}"
            where = _where(f"{place.source}{function}" if place.source else None, place)
            print_line(out, f"    {where}")
        if first.kind == "race" and first.problem:
            print_line(out, f"  {first.problem}")
        if others:
            what = _MORE[len(first.places)][len(others) > 1]
            print_line(out, f"  and {len(others)} more {what} at these source lines")
    if len(groups) > _SHOWN:
        out.print(f"{len(groups) - _SHOWN} more findings; --json lists all")


def _title(finding: detectors.LaunchFinding) -> str:
    """Return the fault, with the bytes of its memory."""
    if finding.kind == "sync" or finding.space == "register":
        return finding.summary
    size = "1 byte" if finding.nbytes == 1 else f"{finding.nbytes} bytes"
    where = f"{_name(finding)}, {size} at {finding.address:#x}"
    return f"{_WORDS[finding.kind]} {finding.space} memory: {where}"


def _name(finding: detectors.LaunchFinding) -> str:
    """Return ``x[12]``, ``tile + 16``, or an offset alone."""
    assert finding.memory is not None
    kind, _, name = finding.memory.rpartition(" ")
    if kind == "buffer" and finding.element is not None:
        return f"{name}[{finding.element}]"
    if finding.space == "tensor":
        return finding.memory
    if not name:
        return f"offset {finding.offset}"
    return f"{name if kind == 'variable' else finding.memory} + {finding.offset}"


def _who(place: detectors.MemoryAccess) -> str:
    verb = _VERBS.get(place.access, place.access)
    text = f"{verb} by block {_triple(place.block)}, thread {_triple(place.thread)}"
    if place.lanes is not None:
        text += f", lanes {place.lanes:#010x}"
    return text if place.members is None else f"{text}, member mask {place.members:#010x}"


def _where(
    source: str | None,
    place: detectors.MemoryAccess | detectors.BankConflicts | detectors.ProvedOperation,
) -> str:
    start = f"{source}, " if source else ""
    return f"{start}PTX line {place.ptx_line}: {place.ptx}"


def _triple(numbers: detectors.Coordinates) -> str:
    return f"({', '.join(map(str, numbers))})"


# --- proof ---------------------------------------------------------------------------------------


def show_proof(proof: detectors.Proof, out: Console) -> None:
    """Print the outcome without each synchronizing instruction."""
    if proof.skipped is not None:
        print_line(out, f"proof: skipped: {proof.skipped}")
        return
    if not proof.operations:
        print_line(out, "proof: the kernel has no barriers, fences or atomic operations")
        return
    races = sum(each.outcome == "race" for each in proof.operations)
    of_all = f"{races} of {len(proof.operations)} synchronizing instructions"
    print_line(out, f"proof: a race without {of_all}")
    groups: dict[object, list[detectors.ProvedOperation]] = {}
    for number, each in enumerate(proof.operations):  # those of unrolled loops are one
        key = number if each.source is None else (each.kind, each.source, each.outcome)
        groups.setdefault(key, []).append(each)
    for first, *others in groups.values():
        where, outcome = _where(first.source, first), first.outcome.replace("timeout", "timed out")
        print_line(out, f"  {outcome:11} without {first.kind}: {where}")
        if first.race is not None:
            accesses = " and ".join(place.summary for place in first.race.places)
            print_line(out, f"    {_name(first.race)}: {accesses}")
        elif first.fault is not None:
            print_line(out, f"    {first.fault}")
        if others:
            what = _MORE[1][len(others) > 1]
            print_line(out, f"    and {len(others)} more {what} at this source line")


# --- statistics ----------------------------------------------------------------------------------


def show_statistics(statistics: detectors.LaunchStatistics | None, out: Console) -> None:
    """Print the counts, if there are any."""
    if statistics is None or not statistics.instructions:
        return
    rows = FittingTable("instructions", "warps", "threads", "threads per warp", numbers=True)
    for each in statistics.instructions:
        rows.add_row(*_row(each.kind, each.warps, each.threads))
    rows.add_row(*_row("all", statistics.warp_instructions, statistics.thread_instructions))
    out.print(rows)
    divergent = statistics.divergent_branches
    share = f" ({divergent / statistics.branches:.1%})" if divergent else ""
    out.print(f"warp branches: {statistics.branches}, {divergent} divergent{share}")
    if statistics.traffic:
        columns = "requests", "read B", "written B", "atomic B", "sectors"
        rows = FittingTable("memory", *columns, numbers=True)
        for traffic in statistics.traffic:
            nbytes = traffic.read_bytes, traffic.written_bytes, traffic.atomic_bytes
            rows.add_row(traffic.space, traffic.requests, *nbytes, traffic.sectors)
        out.print(rows)
    if statistics.shared_accesses:
        out.print(
            f"shared memory: {statistics.bank_conflicts} bank conflicts in "
            f"{statistics.shared_accesses} warp accesses"
        )
    for conflicts in statistics.worst_conflicts:
        where = _where(conflicts.source, conflicts)
        print_line(out, f"  {conflicts.conflicts} in {conflicts.accesses} at {where}")


def _row(kind: str, warps: int, threads: int) -> tuple[object, ...]:
    return kind, warps, threads, f"{threads / warps:.1f}" if warps else ""


# --- sanitizer -----------------------------------------------------------------------------------


def show_sanitizer(report: detectors.SanitizerReport, device: str, out: Console) -> None:
    """Print each finding with its places, and the number of findings."""
    if not report.findings:
        print_line(out, PASSED, f"{report.tool}: nothing found on {device}")
        return
    for finding in report.findings:
        mark = FAILED if finding.severity == "error" else "warning "
        print_line(out, mark, f"{report.tool}: {finding.message}")
        for place in finding.places:
            if place.file is not None:  # as a compiler writes it
                access = f"{place.access} in " if place.access else ""
                what = f"{access}{place.function or 'an unknown function'}"
                print_line(out, f"  {place.file}:{place.line}: {what}")
        for line in finding.details:
            print_line(out, f"  {line}")
    left = report.total - len(report.findings)
    more = f", {left} not shown" if left > 0 else ""
    count = max(report.total, len(report.findings))
    noun = "finding" if count == 1 else "findings"
    print_line(out, f"{report.tool}: {count} {noun} on {device}{more}")
