"""The page that lists the instructions with a second definition in the compiled engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.kernels import KernelModule
from cudarun.emulator.machine.transfers import (
    Fence,
    GridDependency,
    GroupControl,
    NoEffect,
    ProxyFence,
)
from cudarun.emulator.machine.warpgroups import ProductFence, ProductGroups
from tests.emulator.device import Device
from tests.golden.isa import store
from tests.golden.isa.case import Case
from tests.golden.isa.kernel import KERNEL, Group
from tools.engines.recorded import FORMS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "how-cpu-works.md"
EMPTY = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }"
CONTROL = {"bra", "brx", "call", "ret", "exit", "trap", "bar", "barrier"}
NOTHING = (
    Fence,
    GridDependency,
    NoEffect,
    ProxyFence,
    GroupControl,
    ProductFence,
    ProductGroups,
)  # no code at all


def opcode(name: str) -> str:
    return re.split(r"[. ,]", name)[0]


def listed() -> set[str]:
    """The opcodes of the table."""
    section = PAGE.read_text().partition("### Definitions of instructions\n")[2]
    rows = re.findall(r"^\| (`.*?) \|", section.partition("\n### ")[0], re.MULTILINE)
    return {opcode(name) for row in rows for name in re.findall(r"`(.*?)`", row)}


def recorded() -> Iterator[list[Case]]:
    """Groups of recorded forms, the first few of each opcode in each chapter."""
    for path in sorted(FORMS.glob("*.xz")):
        found: dict[tuple[str, str], list[Case]] = {}
        for case in store.read(path).cases:
            same = found.setdefault((case.target, opcode(case.name)), [])
            if len(same) < 8:
                same.append(case)
        for target in {target for target, _ in found}:
            yield [case for (own, _), cases in found.items() if own == target for case in cases]


def of_their_own() -> set[str]:
    """The opcodes of recorded forms that have rules of their own in the compiled engine."""
    program = Device(EMPTY).program
    rules = KernelModule(program.code["empty"], program).code._actions
    found = set()
    for cases in recorded():
        group = Group(cases)
        for block in Device(group.text).program.code[KERNEL].blocks:
            for operation in block.operations:
                if operation.site.line in group.lines and isinstance(operation, Action):
                    action = type(operation.action)
                    if action in rules and action not in NOTHING:
                        found.add(opcode(operation.site.name))
    return found


def test_the_page_lists_the_instructions_with_a_second_definition() -> None:
    assert listed() - CONTROL == of_their_own()
