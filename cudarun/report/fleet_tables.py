"""The table of ``fleet``: a line per GPU as its host ends, then the comparison and the totals."""

from __future__ import annotations

import re
import shlex

from rich.text import Text

from cudarun.base.errors import ExitCode
from cudarun.base.terminal import one_line
from cudarun.model.fleet import Consensus, FleetGpu, FleetHost, FleetReport, GpuVerdict
from cudarun.report.console import Part, print_line, print_unfolded
from cudarun.report.renderer import LiveTable
from cudarun.report.timing_tables import duration

_STYLES: dict[GpuVerdict, str] = {
    "ok": "green",
    "wrong answer": "red bold",
    "fault": "red bold",
    "hang": "red bold",
    "image refused": "red bold",
    "not measured": "yellow",
}
_WIDTH = max(map(len, _STYLES))
_UUID = len("GPU-01234567")
_PLAIN = re.compile(r"[\w./ -]*")
_MOST_NAMES = 8  # the GPUs that are named in a line


class FleetTable(LiveTable):
    """The lines of GPUs; the labels are the hosts."""

    def add(self, host: FleetHost) -> None:
        """Write the GPUs of a host."""
        if not host.gpus:
            self._line(host.host, "not measured", "", host.problem or "no device")
        for gpu in host.gpus:
            if gpu.exit_code is not ExitCode.OK or not self._style.quiet:
                name = f"{host.host}/{gpu.identity.label}"
                self._line(name, gpu.verdict, gpu.identity.uuid[:_UUID], _about(gpu))

    def _line(self, name: str, verdict: GpuVerdict, uuid: str, about: str) -> None:
        print_line(
            self._out,
            (f"{name:{self._width + len('/cpu:1')}}  ", "bold"),
            (f"{verdict:{_WIDTH}}", _STYLES[verdict]),
            (f"  {uuid:{_UUID}}", "dim"),
            f"  {about}",
        )

    def end(self, report: FleetReport) -> None:
        """Write the comparison of the GPUs, and the totals."""
        for each in report.consensus:
            print_line(self._out, _consensus(each))
        for host in report.hosts:
            for gpu in host.gpus:
                for text in gpu.slow:
                    words = f"slow  {host.host}/{gpu.identity.label}: {text}"
                    print_line(self._out, (words, "yellow"))
        counts = [f"{count} {verdict}" for verdict, count in report.counts.items() if count]
        seed = "" if report.seed is None else f"; seed {report.seed}"
        facts = f"{report.compared} outputs compared; {report.seconds:.1f} s{seed}"
        print_line(self._out, f"{', '.join(counts)}; {facts}")
        if report.kept is not None:
            again = f"cudarun fleet --node < {shlex.quote(report.kept)}"
            print_line(self._out, f"spec and inputs: {report.kept}; run again: {again}")
        for text in commands(report):
            print_unfolded(self._out, Text(one_line(text)))


def commands(report: FleetReport) -> list[str]:
    """Return the commands that take the sick hosts out of service, for Slurm and Kubernetes."""
    sick = report.sick
    if not sick:
        return []
    joined = ",".join(sick)
    reason = f'"cudarun fleet {report.spec}"'
    if not _PLAIN.fullmatch(report.spec):  # a shell reads more than a name between double quotes
        reason = shlex.quote(f"cudarun fleet {report.spec}")
    return [
        f"--exclude={joined}",
        f"scontrol update nodename={joined} state=drain reason={reason}",
        f"kubectl cordon {' '.join(sick)}",
    ]


def _about(gpu: FleetGpu) -> str:
    if gpu.reason is not None:
        return gpu.reason.partition("\n")[0]
    ran = [case for case in gpu.cases if case.verdict != "skipped"]
    runs = sum(case.runs for case in ran)
    times = [case.milliseconds for case in ran if case.milliseconds is not None]
    skipped = len(gpu.cases) - len(ran)
    words = f"{len(ran)} case{'s' * (len(ran) != 1)}, {runs} runs"
    words += f", {skipped} skipped" if skipped else ""
    return f"{words}, {duration(sum(times))}" if times else words


def _consensus(each: Consensus) -> Part:
    if not each.is_deterministic:
        words = f"not compared  {each.case}: {each.buffer} changes between runs"
        return f"{words}  ({each.kind})", "dim"
    names = ", ".join(each.dissenting[:_MOST_NAMES])
    more = len(each.dissenting) - _MOST_NAMES
    names += f" and {more} more" if more > 0 else ""
    if not each.agreeing:
        words = f"no majority  {each.case}: {each.buffer} differs: {names}"
    else:
        words = f"differs  {each.case}: {each.buffer} on {names}, equal on {each.agreeing} GPUs"
    return f"{words}  ({each.kind})", "red"
