"""Notes on launches: oddities that are no failures, each in one line."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cudarun.model.detectors import Proof
from cudarun.model.launch import BufferResult, LaunchResult
from cudarun.model.spec import CaseReport


def never_written(buffer: BufferResult) -> str | None:
    """Return a note on elements that were never written; ``None`` where there are none."""
    if not buffer.never_written:
        return None
    count = math.prod(buffer.shape)
    return f"{buffer.name}: {buffer.never_written} of {count} elements were never written"


def own_reference(result: LaunchResult) -> str | None:
    """Return a note on ``--reference`` that compared a device with itself."""
    if result.reference is None or not result.reference.is_itself:
        return None
    return f"the reference device is the same device ({result.reference.device})"


def weak_checks(result: LaunchResult) -> str | None:
    """Return a note on checks that would pass whatever the kernel did; ``None`` if they are not."""
    if not result.weaknesses:
        return None
    replaced = " or ".join(result.weaknesses)
    return f"weak checks: all also pass with the outputs replaced by {replaced}"


def changed_variables(result: LaunchResult) -> str | None:
    """Return a note on variables of the image that launches changed; ``None`` if there is none."""
    if result.state is None or not result.state.changed:
        return None
    return f"the launches changed variables of the image: {', '.join(result.state.changed)}"


def redundant(proof: Proof) -> str | None:
    """Return a note on instructions without a race, but for copies of one with a race."""
    needed = {each.source for each in proof.operations if each.outcome == "race"} - {None}
    without = [each for each in proof.operations if each.outcome == "no race"]
    count = sum(each.source not in needed for each in without)
    if not count:
        return None
    what = "1 instruction" if count == 1 else f"{count} instructions"
    return f"no race without {what}: possibly redundant"


def remarks(case: CaseReport) -> Iterator[tuple[str, str]]:
    """Yield the compiler's warnings and our notes on a case of a spec: ``("note", text)``."""
    result, error = case.result, case.error
    for warning in result.diagnostics if result else error.warnings if error else ():
        place = f"{warning.place}: " if warning.place else ""
        yield warning.severity, f"{place}{warning.message}"
    if result is None:
        return
    weak = None if result.weak_is_failure else weak_checks(result)
    proof = None if result.watched is None else result.watched.proof
    unneeded = None if proof is None else redundant(proof)
    odd = own_reference(result), changed_variables(result)
    for note in (*map(never_written, result.buffers), *odd, weak, unneeded):
        if note is not None:
            yield "note", note
