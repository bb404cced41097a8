"""What hardware gave for each instruction form, and what the emulated device gives.

``isa-h200/`` was recorded by ``tools/record_isa.py`` on an H200. Results are equal bit for bit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.isa.form import InstructionForm
from cudarun.emulator.isa.requirements import is_newer, requirements
from cudarun.emulator.isa.table import forms, opcodes
from tests.golden import map_fields, tensor_kernels
from tests.golden.isa import lanewise, store
from tests.golden.isa.case import Case
from tests.golden.isa.enumeration import CHAPTERS, WANTED, cases
from tests.golden.isa.kernel import Group, Refused, Runner
from tests.golden.sampling import store as samples

FOLDER = Path(__file__).parent / "isa-h200"
WAITING: tuple[str, ...] = ()
"""Chapters that have not been on a GPU yet."""
RECORDED = tuple(chapter for chapter in CHAPTERS if chapter not in WAITING)
GROUP = 128
DRIVER = (9, 0)
"""The PTX of the driver that recorded."""

# Rows without a case. The first has no result, and waits for ever where registers are short; the
# others need objects, which cases have not; those with two words differ from four in their results
# only.
UNSEEN = {
    "setmaxnreg.what.sync.aligned.u32",
    "cp.async.bulk.to.source.mbarrier::complete_tx::bytes",
    "istypep.kind",
    "tex{.base}.geom.v2.dtype.ctype",
    "tex.level.geom.v2.dtype.ctype",
    "tex.grad.geom.v2.dtype.ctype",
    # Without a result; tests/conformance/test_tensor_maps.py executes some of them.
    "prefetch{.space}.tensormap",
    "tensormap.cp_fenceproxy.to.source.tensormap::generic.release.scope.sync.aligned",
    "fence.proxy.tensormap::generic.release.scope",
    "fence.proxy.tensormap::generic.acquire.scope",
}


def run(wanted: list[Case]) -> dict[str, list[np.ndarray]]:
    """The results of cases on the emulated device."""
    runner = Runner(driver)
    results: dict[str, list[np.ndarray]] = {}
    for target in sorted({case.target for case in wanted}):
        same = [case for case in wanted if case.target == target]
        for start in range(0, len(same), GROUP):
            results |= runner.run(Group(same[start : start + GROUP]))
    runner.close()
    return results


@pytest.mark.parametrize("chapter", RECORDED)
def test_as_on_hardware(chapter: str) -> None:
    golden = store.read(FOLDER / f"{chapter}.xz")
    assert golden.cases
    assert list(store.differences(golden, run(golden.cases))) == []


def test_what_waits_is_not_there_yet() -> None:
    """Once it is recorded it is to be compared."""
    assert [chapter for chapter in WAITING if (FOLDER / f"{chapter}.xz").exists()] == []


def test_what_is_wanted_is_not_there_yet() -> None:
    """Every such case is refused at its own line; one that is taken belongs into its chapter."""
    if not cases(WANTED):
        pytest.skip("nothing is wanted")
    group = Group(cases(WANTED))
    with pytest.raises(Refused) as refused:
        Runner(driver).run(group)
    blamed = group.blamed(refused.value.log)
    assert [case.name for case in cases(WANTED) if case not in blamed] == []


@pytest.mark.parametrize("opcode", sorted(opcodes()))
def test_every_row_has_a_case(opcode: str) -> None:
    """One that is recorded, or is to be."""
    spoken = instructions()
    for form in forms(opcode):
        seen = any(form.match(modifiers) is not None for modifiers in spoken.get(opcode, ()))
        assert seen or row(form) in UNSEEN or is_later(form), row(form)


def is_later(form: InstructionForm) -> bool:
    """Whether no Hopper has any instruction of a row, or its driver did not know it."""
    return (form.opcode in ("min", "max") and len(form.operands) == 4) or all(
        is_newer(form.opcode, words) or requirements(form.opcode, words)[1] > DRIVER
        for words in lanewise.spellings(form)
        if form.match(words) is not None
    )


def row(form: object) -> str:
    words = "".join(f"{{.{word}}}" if optional else f".{word}" for word, optional in form.words)  # type: ignore[attr-defined]
    return form.opcode + words  # type: ignore[attr-defined]


@cache
def instructions() -> dict[str, set[tuple[str, ...]]]:
    """The modifiers that all cases use, by opcode, and kernels that ``test_tensors.py`` runs."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for subject in samples.SUBJECTS:
        for sample in samples.cases(subject):
            opcode, *words = sample.instruction.split(".")
            found.setdefault(opcode, set()).add(tuple(words))
    kernels = (tensor_kernels.module(list(tensor_kernels.forms())), map_fields.module())
    for text in (*(case.text for case in every_case()), *kernels):
        for statement in re.split(r"[;{]\s+", text):
            match = re.match(r"(?:@!?%\w+ )?(\w+)((?:\.[\w:]+)*)", statement)
            if match is not None:
                found.setdefault(match[1], set()).add(tuple(match[2].split(".")[1:]))
    return found


def every_case() -> Iterator[Case]:
    for chapter in CHAPTERS:
        yield from cases(chapter)


# --- the means -----------------------------------------------------------------------------------


def test_what_is_written_is_read(tmp_path: Path) -> None:
    wanted = [case for case in cases("logic") if case.name.startswith(("shl", "lop3.or"))]
    results = run(wanted)
    store.write(tmp_path / "logic.xz", "a device", wanted, results)
    golden = store.read(tmp_path / "logic.xz")
    assert golden.cases == wanted
    assert golden.device == "a device"
    assert list(store.differences(golden, results)) == []


def test_a_difference_is_told(tmp_path: Path) -> None:
    wanted = [case for case in cases("logic") if case.name == "shl.b32"]
    results = run(wanted)
    store.write(tmp_path / "logic.xz", "a device", wanted, results)
    golden = store.read(tmp_path / "logic.xz")
    results["shl.b32"][0] = results["shl.b32"][0].copy()
    results["shl.b32"][0][3] ^= 1
    told = list(store.differences(golden, results))
    assert told[0].startswith("shl.b32: 1 of 256 lanes differ")
    assert told[1].lstrip().startswith("lane 3: (0x80000000, 0x0) gave 0x80000001")


def test_other_inputs_than_recorded_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [case for case in cases("logic") if case.name == "shl.b32"]
    store.write(tmp_path / "logic.xz", "a device", wanted, run(wanted))
    monkeypatch.setattr(store, "values", lambda pool, place: np.zeros(1, "u4"))
    with pytest.raises(ValueError, match="recorded with other inputs"):
        store.read(tmp_path / "logic.xz")
