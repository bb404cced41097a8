"""The page on PTX is what the tables say, and the tables know what they refuse."""

from __future__ import annotations

import pytest

from cudarun.emulator.decode.operands import Unimplemented
from cudarun.emulator.isa.manual import illegal, missing, opcodes
from cudarun.emulator.isa.table import candidates, module_forms
from tools import generate_ptx_support
from tools.ptx_chapters import CHAPTERS, CONTROL_FORMS, REFUSED_FORMS


def split(name: str) -> tuple[str, tuple[str, ...]]:
    opcode, *words = name.split(".")
    return opcode, tuple(words)


def test_the_page_is_up_to_date() -> None:
    assert generate_ptx_support.TARGET.read_text() == generate_ptx_support.document()


def test_every_row_is_on_the_page_once() -> None:
    lines = [line for chapter in CHAPTERS for rows in
             generate_ptx_support.belongs(chapter).values() for line in rows]  # fmt: skip
    shown = sum(1 for line in lines if not line.startswith(" "))
    rows = sum(map(len, module_forms().values()))
    assert shown == rows + len(CONTROL_FORMS)


@pytest.mark.parametrize("name", REFUSED_FORMS)
def test_what_is_called_refused_is_refused(name: str) -> None:
    assert candidates(*split(name)) == ()


def test_every_refused_instruction_has_a_reason() -> None:
    found = {form.split(".", 1)[0] if form in opcodes() else form for form in REFUSED_FORMS}
    refused = {
        name
        for chapter in CHAPTERS
        for name, rows in generate_ptx_support.belongs(chapter).items()
        if not rows and chapter.tables
    }
    refused |= {name for chapter in CHAPTERS if not chapter.tables for name in chapter.instructions}
    mixed = {"add", "sub", "fma"}  # with .f32.f16; their names are those of others, too
    assert refused - found - mixed == set()


REFUSED = [
    name
    for chapter in CHAPTERS
    for name, rows in generate_ptx_support.belongs(chapter).items()
    if not rows and "." in name
]


def complaint(opcode: str, words: tuple[str, ...]) -> str:
    return illegal(opcode, words) or str(Unimplemented(*missing(opcode, words)))


@pytest.mark.parametrize("name", REFUSED)
def test_instructions_without_a_row_are_said_to_be_not_implemented(name: str) -> None:
    assert "not implemented by the emulated device" in complaint(*split(name))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("foo.u32", "Not a name of any known instruction: 'foo'"),
        ("add.xx.u32", "Unknown modifier '.xx'"),
        ("add.wide.u32", "Unknown modifier '.wide'"),
        ("setp.lt.ftz.s32", "'setp.lt.ftz.s32' is not a form of instruction 'setp' for sm_90"),
        ("multimem.red", "instruction 'multimem.red' is not implemented by the emulated device"),
        ("vadd.sat.u32.u32.u32.sat", "'vadd.sat.u32.u32.u32.sat' is not a form of instruction "
         "'vadd' for sm_90"),
        ("cvt.rs.f16x2.f32", "this form of 'cvt' is not implemented by the emulated device: "
         "'cvt.rs.f16x2.f32'"),
        ("vadd.s16.u32.s32", "Unexpected instruction types specified for 'vadd'"),
        ("vset.u32.u32.lt.sat", "Illegal modifier '.sat' for instruction 'vset'"),
        ("vset.u32.u32", "Comparison modifier required for instruction 'vset'"),
        ("vshl.u32.u32.u32", "Clamp modifier required for instruction 'vshl'"),
        ("vshl.u32.u32.s32.clamp", "Operation requires .u32 type"),
        ("shfl.up.u32", "'shfl.up.u32' is not a form of instruction 'shfl' for sm_90"),
    ],
)  # fmt: skip
def test_what_is_no_ptx_is_told_from_what_is_not_there(name: str, says: str) -> None:
    assert complaint(*split(name)) == says
