"""The comparison of times in two JSON documents, case by case: ``cudarun compare``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, TypeAlias

from cudarun.base.decoding import InvalidDocument, decode
from cudarun.base.errors import RequestError
from cudarun.base.records import derived
from cudarun.comparison.rank_test import TimeRatio, time_ratio
from cudarun.model.compare import CaseTimings, ComparedCase, SpeedVerdict

Document: TypeAlias = Mapping[str, Any]  # a part of a JSON document


def timings_of(document: object, origin: str) -> list[CaseTimings]:
    """Return the times in a document of ``launch``, ``launch --spec`` or ``fleet``.

    Raises:
        RequestError: It is another document, or it has no times of launches that passed.
    """
    known: Document = document if isinstance(document, dict) else {}
    try:
        match known.get("schema"):
            case "cudarun/launch/1":
                found = [*_of_launch(known)]
            case "cudarun/launch-spec/1":
                found = [*_of_spec(known)]
            case "cudarun/fleet/1":
                found = [*_of_fleet(known)]
            case _:
                raise RequestError(
                    f"{origin} is not a document of launch, launch --spec or fleet",
                    hint="write one with --json",
                )
    except (KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"{origin}: the document is incomplete: {error}") from None
    if not found:
        raise RequestError(
            f"{origin} has no times of passed launches", hint="measure with --repeat"
        )
    return found


def compare_timings(
    old: Sequence[CaseTimings], new: Sequence[CaseTimings], threshold: float
) -> list[ComparedCase]:
    """Compare the cases that both documents have.

    A case that each document has on one device is compared even if the devices are different.

    Args:
        threshold: The change of a time that counts, as a part of 1.
    """
    found: list[ComparedCase] = []
    by_place = {(each.case, each.device): each for each in new}
    for one in old:
        other = by_place.get((one.case, one.device))
        if other is None:
            here = [each for each in old if each.case == one.case]
            there = [each for each in new if each.case == one.case]
            if len(here) != 1 or len(there) != 1:
                continue
            [other] = there
        found.append(_compared(one, other, threshold))
    return found


def unpaired(timings: Sequence[CaseTimings], cases: Sequence[ComparedCase]) -> list[str]:
    """Return the names of cases that are in one document only."""
    known = {case.case for case in cases}
    return [*dict.fromkeys(each.case for each in timings if each.case not in known)]


def _compared(old: CaseTimings, new: CaseTimings, threshold: float) -> ComparedCase:
    found = time_ratio(old.samples, new.samples)
    return derived(
        ComparedCase,
        found,
        case=old.case,
        device=old.device if old.device == new.device else f"{old.device} → {new.device}",
        old=median(old.samples),
        new=median(new.samples),
        runs=(len(old.samples), len(new.samples)),
        verdict=_verdict(found, threshold),
        differences=tuple(
            f"{name} {text} → {new.work[name]}"
            for name, text in old.work.items()
            if name in new.work and new.work[name] != text
        ),
    )


def _verdict(found: TimeRatio, threshold: float) -> SpeedVerdict:
    if not found.is_significant:
        return "no difference"
    if found.ratio > 1 + threshold:
        return "slower"
    return "faster" if found.ratio < 1 / (1 + threshold) else "no difference"


def _of_launch(document: Document) -> Iterator[CaseTimings]:
    if document.get("exit_code", 0) != 0:  # a wrong result is not faster
        return
    for outcome in document["outcomes"]:
        if (result := outcome["result"]) is not None:
            yield from _timed(result["demangled"], outcome["device"], result)


def _of_spec(document: Document) -> Iterator[CaseTimings]:
    for case in document["cases"]:
        result = case["result"]
        if case.get("verdict") != "failed" and result is not None:
            yield from _timed(case["name"], case["device"], result)


def _timed(name: str, device: str, result: Document) -> Iterator[CaseTimings]:
    if result["timing"] is not None:
        yield CaseTimings(name, device, _samples(result), _work(result))


def _of_fleet(document: Document) -> Iterator[CaseTimings]:
    """Yield the medians of all GPUs of a kind as one sample."""
    found: dict[tuple[str, str], list[float]] = {}
    for host in document["hosts"]:
        for gpu in host["gpus"]:
            for case in gpu["cases"]:
                if case["milliseconds"] is not None and case.get("verdict") != "failed":
                    place = case["name"], gpu["identity"]["name"]
                    found.setdefault(place, []).append(_time(case["milliseconds"]))
    for (name, kind), samples in found.items():
        yield CaseTimings(name, kind, tuple(samples))


def _work(result: Document) -> dict[str, str]:
    """Return the geometry and the buffers of a launch, by which equal work is recognized."""
    extents = {name: "×".join(map(str, result[name])) for name in ("grid", "block")}
    return extents | {
        buffer["name"]: f"{buffer['type']}[{','.join(map(str, buffer['shape']))}]"
        for buffer in result["buffers"]
    }


def _samples(result: Document) -> tuple[float, ...]:
    samples = tuple(map(_time, result["timing"]["samples"]))
    if not samples:
        raise KeyError("samples")
    return samples


def _time(value: object) -> float:
    try:
        return decode(float, value)
    except InvalidDocument:
        raise TypeError(f"{value!r} is not a time") from None
