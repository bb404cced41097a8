"""A long spec with a fault every tenth case: nothing is lost, and memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.soak import GROWTH, soak
from tools.hardware.bench import Bench, Check, check


def checks(bench: Bench) -> Iterator[Check]:
    """Run it; the resident memory of the command's own process is told in fifths."""
    launches = min(bench.options.launches, 100) if bench.is_emulated else bench.options.launches
    soaked = soak(launches, bench.device)
    name = f"{launches} launches: every verdict"
    detail = "\n".join(soaked.problems) or f"at most {soaked.processes} processes at once"
    yield check(name, not soaked.problems, detail, soaked.seconds)
    samples = [size for size in soaked.memory if size]
    steps = [samples[index * (len(samples) - 1) // 5] / 2**20 for index in range(6) if samples]
    detail = "MiB resident, in fifths: " + " ".join(f"{step:.1f}" for step in steps)
    yield check("the parent's memory", samples and soaked.growth <= GROWTH, detail)
