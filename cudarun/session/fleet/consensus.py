"""The consensus of a fleet: outputs that differ on a minority of GPUs, and times far from the rest.

A check's tolerance can pass an output with a wrong bit. The same inputs give the same bits on all
GPUs of a kind, unless the kernel is not deterministic, which the runs on each GPU show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

from cudarun.base.errors import ExitCode
from cudarun.model.fleet import Consensus, FleetGpu, FleetHost

_LEAST = 3  # the least GPUs of a kind of which a minority can be named
_MOST_DEVIATIONS = 5.0
"""The deviations from the median, in standard deviations of a normal distribution with the same
MAD, from which on a time is an outlier."""
_NORMAL = 1.4826  # the standard deviation of a normal distribution by its MAD
_LEAST_RATIO = 1.05
"""The ratio to the median below which a time is no outlier, however narrow the distribution."""

_Place = tuple[int, int]  # a host and a GPU of it, by their numbers


class FleetComparison(NamedTuple):
    """The result of comparing all GPUs."""

    hosts: tuple[FleetHost, ...]  # the hosts, with objections to GPUs and their slow cases
    # The outputs with a disagreement, and those that are not deterministic.
    consensus: tuple[Consensus, ...]
    compared: int  # the number of outputs that were compared


def compare(hosts: Sequence[FleetHost]) -> FleetComparison:
    """Compare the outputs and the times of all GPUs of each kind."""
    outputs: dict[tuple[str, str, str], dict[_Place, str | None]] = {}
    times: dict[tuple[str, str], dict[_Place, float]] = {}
    for place, gpu in _gpus(hosts):
        kind = gpu.identity.name
        for case in gpu.cases:
            if case.verdict == "failed" and case.exit_code is not ExitCode.CHECK_FAILED:
                continue  # no output, or not of all runs
            changed = {change.buffer for change in case.changes}
            for buffer, digest in case.digests.items():
                found = outputs.setdefault((kind, case.name, buffer), {})
                found[place] = None if buffer in changed else digest
            if case.milliseconds is not None:
                times.setdefault((kind, case.name), {})[place] = case.milliseconds
    objections: dict[_Place, list[str]] = {}
    consensus: list[Consensus] = []
    for (kind, case_name, buffer), digests in outputs.items():
        majority, count, is_deterministic = _agreement(digests)
        against = [p for p in digests if is_deterministic and digests[p] != majority]
        if majority is not None:
            some = f"{count} of {len(digests)} GPUs"
            for place in against:
                text = f"differs from {some} of this kind"
                if digests[place] is None:
                    text = f"changes between runs; it does not on {some}"
                objections.setdefault(place, []).append(f"{case_name}: {buffer} {text}")
        if against or not is_deterministic:
            names = tuple(
                f"{hosts[host].host}/{hosts[host].gpus[gpu].identity.label}"
                for host, gpu in against
            )
            consensus.append(Consensus(kind, case_name, buffer, count, names, is_deterministic))
    slow: dict[_Place, list[str]] = {}
    for (_, case_name), measured in times.items():
        middle = median(measured.values())
        if len(measured) < _LEAST or not middle:  # a time of zero is none
            continue
        deviation = median(abs(time - middle) for time in measured.values())
        limit = max(middle + _MOST_DEVIATIONS * _NORMAL * deviation, middle * _LEAST_RATIO)
        for place, time in measured.items():
            if time > limit:
                text = f"{time:.4g} ms, median {middle:.4g} ± {deviation:.2g} ms"
                text = f"{case_name} {text} ({time / middle:.2f} ×)"
                slow.setdefault(place, []).append(text)
    gpus: list[list[FleetGpu]] = [[] for _ in hosts]
    for place, gpu in _gpus(hosts):
        objected, late = (tuple(texts.get(place, ())) for texts in (objections, slow))
        gpus[place[0]].append(replace(gpu, objections=objected, slow=late))
    annotated = (replace(host, gpus=tuple(own)) for host, own in zip(hosts, gpus, strict=True))
    return FleetComparison(tuple(annotated), tuple(consensus), len(outputs))


def _agreement(digests: dict[_Place, str | None]) -> tuple[str | None, int, bool]:
    """Return the digest of the majority, its GPUs, and whether most agree with themselves.

    The majority is one of GPUs, which must not be outvoted by hosts: a single node can claim many.
    Without one the digest is ``None``, as that of a GPU that disagrees with itself.
    """
    total = len(digests)
    known = Counter(digest for digest in digests.values() if digest is not None)
    if 2 * known.total() <= total:
        return None, 0, False
    [(digest, count)] = known.most_common(1)
    on_hosts = {(found, host) for (host, _), found in digests.items() if found is not None}
    hosts = Counter(found for found, _ in on_hosts)
    is_majority = total >= _LEAST and 2 * count > total and hosts[digest] == max(hosts.values())
    return (digest, count, True) if count == total or is_majority else (None, 0, True)


def _gpus(hosts: Sequence[FleetHost]) -> Iterable[tuple[_Place, FleetGpu]]:
    for number, host in enumerate(hosts):
        for index, gpu in enumerate(host.gpus):
            yield (number, index), gpu
