"""Results of both engines on this machine: for each case, an engine and the digest of its bits.

``python -m tools.aarch64.results FORMS TEXTURES`` prints a line for each; the arguments are the
numbers of forms and of textures and surfaces, which are taken from all groups in turn.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.emulator import driver
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.golden.isa.case import Case
from tests.golden.isa.kernel import Group
from tools.aarch64.objects import use_machines_llvm
from tools.engines import forms, textures
from tools.engines.comparison import Part
from tools.engines.recorded import chapters

ROOT = Path(__file__).resolve().parents[2]
GROUP = 16  # forms in a kernel


def of_forms(count: int) -> Iterator[tuple[str, str, str]]:
    """Return the results of recorded forms, of each chapter as many."""
    for chapter, names in shares(chapters(), count).items():
        wanted = [case for case in forms._golden(chapter).values() if case.name in names]
        for kernel in _kernels(wanted):
            yield from _of_kernel(chapter, kernel)


def _of_kernel(chapter: str, kernel: list[Case]) -> Iterator[tuple[str, str, str]]:
    group = Group(kernel)
    for engine in (COMPILE, INTERPRET):
        for name, arrays in forms._run(group, engine).items():
            yield f"{chapter}: {name}", engine, _digest(arrays)


def of_textures(count: int) -> Iterator[tuple[str, str, str]]:
    """Return the results of recorded textures and surfaces, of each group as many."""
    groups = {group: [case.name for case in textures._golden(group)] for group in
              textures.subjects()}  # fmt: skip
    for group, names in shares(groups, count).items():
        for name, work in textures._work(Part(group, 0, tuple(names))):
            for engine in (INTERPRET, COMPILE):
                driver.select_engine(engine)
                yield f"{group}: {name}", engine, _digest([work()])


def of_kernels() -> Iterator[tuple[str, str, str]]:
    """Return the answers of the kernels of ``benchmarks/engines.py``, of small sizes."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from emulated_device import Device  # scripts, not a package
    from emulator_cases import Sizes, agrees, engine_cases

    device = Device()
    for name, make in engine_cases(Sizes(1 << 12, 64)).items():
        case = make()
        launch = device.prepared(case)
        for engine in (INTERPRET, COMPILE):
            device.select(engine)
            launch.reset()
            launch.run()
            answer = launch.answer()
            if not agrees(case, answer):
                raise AssertionError(f"{name}: the answer of {engine} is wrong")
            yield f"kernel: {name}", engine, _digest([answer])
        launch.free()


def shares(groups: Mapping[str, Sequence[str]], count: int) -> dict[str, set[str]]:
    """Return so many names of all groups: one of each in turn, spread over the group."""
    spread = {
        group: list(dict.fromkeys(names[i * 7919 % len(names)] for i in range(len(names))))
        for group, names in groups.items()
    }
    turns = zip_longest(*([(group, name) for name in names] for group, names in spread.items()))
    chosen = [pair for pair in chain.from_iterable(turns) if pair is not None][:count]
    return {group: {name for each, name in chosen if each == group} for group in groups}


def _kernels(cases: Iterable[Case]) -> Iterator[list[Case]]:
    by_target: dict[str, list[Case]] = {}
    for case in cases:
        by_target.setdefault(case.target, []).append(case)
    for same in by_target.values():
        for start in range(0, len(same), GROUP):
            yield same[start : start + GROUP]


def _digest(arrays: Sequence[Any]) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def main() -> None:
    """Print the results of all cases."""
    use_machines_llvm()
    form_count, texture_count = map(int, sys.argv[1:])
    for found in chain(of_kernels(), of_forms(form_count), of_textures(texture_count)):
        print("\t".join(found), flush=True)


if __name__ == "__main__":
    main()
