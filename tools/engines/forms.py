"""The recorded instruction forms on both engines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.kernels import KernelModule
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import Device
from tests.golden.isa import store
from tests.golden.isa.case import Case
from tests.golden.isa.inputs import LANES
from tests.golden.isa.kernel import KERNEL, MARKER, SCRATCH, Group
from tools.engines.comparison import Comparison, Part
from tools.engines.recorded import FORMS, chapters

GROUP = 32  # forms in a kernel
_LARGE = 400_000  # characters of a module; of longer ones, LLVM takes longer per form

Results = dict[str, list[npt.NDArray[Any]]]

_LINE = re.compile(r" \(PTX line (\d+)\)$")


def parts(only: str = "", every: int = 1) -> list[Part]:
    """Return the forms by kernel, those with the most operands first: LLVM needs time for each.

    Args:
        only: Leave out the forms without this in their names.
        every: Run one kernel of so many in each chapter.
    """
    found: list[tuple[int, Part]] = []
    for chapter in chapters():
        cases = [case for case in _golden(chapter).values() if only in case.name]
        kernels = [
            same[start : start + GROUP]
            for target in sorted({case.target for case in cases})
            for same in [[case for case in cases if case.target == target]]
            for start in range(0, len(same), GROUP)
        ]
        for number, kernel in enumerate(kernels):
            operands = sum(len(case.sources) + len(case.results) for case in kernel)
            names = tuple(case.name for case in kernel)
            found.append((operands, Part(chapter, number, names, number % every == 0)))
    return [part for _, part in sorted(found, key=lambda each: -each[0])]


def compare(part: Part) -> Comparison:
    """Run forms of a chapter on both engines."""
    found, cases = Comparison(part.group), _golden(part.group)
    _compare([cases[name] for name in part.cases], found, runs=part.runs)
    return found


@cache
def _golden(chapter: str) -> dict[str, Case]:
    return {case.name: case for case in store.read(FORMS / f"{chapter}.xz").cases}


def _compare(cases: Sequence[Case], found: Comparison, *, runs: bool) -> None:
    """Run forms in kernels, without those that cannot be compiled."""
    left = list(cases)
    while left:
        group = Group(left)
        device = Device(group.text)
        half = len(left) // 2
        try:
            module = KernelModule(device.program.code[KERNEL], device.program)
        except Untraceable as refusal:
            reason = str(refusal)
            line = _LINE.search(reason)
            blamed = group.lines.get(int(line[1])) if line else None
            if blamed is None and half:
                _compare(left[:half], found, runs=runs)
                left = left[half:]
            else:
                blamed = blamed or left[0]
                found.interpreted[blamed.name] = _LINE.sub("", reason)
                left.remove(blamed)
            continue
        if runs and half and len(module.text.text()) > _LARGE:
            _compare(left[:half], found, runs=runs)
            left = left[half:]
            continue
        if not runs:
            found.untested += [case.name for case in left]
            return
        same = _same(group)
        for case in left:
            if same[case.name]:
                found.equal.append(case.name)
            elif reason := _visible_order(case):
                found.interpreted[case.name] = reason
            else:
                found.different.append(case.name)
        return


def _visible_order(case: Case) -> str:
    """Return why the results of a form can show the order of warps; empty if they cannot."""
    program = Device(Group([case]).text).program
    return KernelModule(program.code[KERNEL], program).visible_order


def _same(group: Group) -> dict[str, bool]:
    """Return for each form of a group whether both engines give the same bits."""
    compiled, interpreted = _run(group, COMPILE), _run(group, INTERPRET)
    return {
        name: all(np.array_equal(a, b) for a, b in zip(arrays, interpreted[name], strict=True))
        for name, arrays in compiled.items()
    }


def _run(group: Group, mode: str) -> Results:
    """Return the results of a group of forms on an engine."""
    device = Device(group.text, execute=partial(execute, engines=Engines(mode)))
    given = group.inputs()
    results = device.buffer(np.zeros(group.result_bytes, np.uint8))
    pools, scratch = device.buffer(given), device.buffer(np.zeros(SCRATCH * LANES, np.uint8))
    device.launch(KERNEL, (1,), (LANES,), pools, results, scratch, MARKER)
    return group.kept(device.read(results, np.uint8, group.result_bytes))
