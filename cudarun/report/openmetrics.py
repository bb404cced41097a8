"""The GPUs of a fleet as OpenMetrics 1.0, which Prometheus reads: a textfile of node_exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, get_args

from cudarun.base.files import whole_file
from cudarun.model.fleet import GpuVerdict

if TYPE_CHECKING:
    from cudarun.base.files import OutputFile
    from cudarun.model.fleet import FleetReport
    from cudarun.model.report import Report

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
_FAMILIES = {
    "cudarun_host_measured": ("gauge", "1 if the host was measured, else 0."),
    "cudarun_gpu_verdict": ("stateset", "The result of a GPU."),
    "cudarun_gpu_slow_cases": ("gauge", "Cases whose times are outliers in the fleet."),
    "cudarun_case_passed": ("gauge", "1 if the case passed on the GPU, else 0."),
    "cudarun_case_seconds": ("gauge", "The median time of the runs of a case."),
    "cudarun_fleet_disagreements": ("gauge", "Outputs that differ between GPUs of a kind."),
}
"""The type and the description of each family of samples."""

_Sample = tuple[str, Mapping[str, str], float]


def write_metrics(report: Report, output: OutputFile) -> None:
    """Write the metrics of a fleet."""
    if report.tag != "fleet":
        return
    lines: dict[str, list[str]] = {name: [] for name in _FAMILIES}
    for name, labels, value in _samples(report):
        shown = ",".join(f'{key}="{text.translate(_ESCAPED)}"' for key, text in labels.items())
        lines[name].append(f"{name}{{{shown}}} {value:g}" if shown else f"{name} {value:g}")
    with whole_file(output) as file:
        for name, (kind, text) in _FAMILIES.items():
            head = [f"# TYPE {name} {kind}", f"# HELP {name} {text}"]
            file.write("".join(f"{line}\n" for line in (*head, *lines[name])).encode())
        file.write(b"# EOF\n")


def _samples(report: FleetReport) -> Iterator[_Sample]:
    yield "cudarun_fleet_disagreements", {}, sum(each.is_deterministic for each in report.consensus)
    for host in report.hosts:
        yield "cudarun_host_measured", {"host": host.host}, bool(host.gpus)
        for gpu in host.gpus:
            labels = {"host": host.host, "gpu": gpu.identity.label, "uuid": gpu.identity.uuid}
            for verdict in get_args(GpuVerdict):
                state = labels | {"cudarun_gpu_verdict": verdict}
                yield "cudarun_gpu_verdict", state, gpu.verdict == verdict
            yield "cudarun_gpu_slow_cases", labels, len(gpu.slow)
            for case in gpu.cases:
                if case.verdict == "skipped":
                    continue
                of_case = labels | {"case": case.name}
                yield "cudarun_case_passed", of_case, case.verdict == "passed"
                if case.milliseconds is not None:
                    yield "cudarun_case_seconds", of_case, case.milliseconds / 1e3
