"""The orders of modifiers that ptxas takes are taken, with the same meaning, and no others."""

from __future__ import annotations

import pytest

from cudarun.emulator.isa.modifiers import ordered_kinds
from cudarun.emulator.isa.table import candidates
from tests.golden.isa.orders import Variant, forms, recorded, refusals, variants


def test_every_form_is_recorded() -> None:
    """If it fails: ``python -m tools.record_modifier_orders``."""
    assert {form for chapter in forms().values() for form in chapter} == recorded().keys()


def test_most_forms_have_several_orders() -> None:
    letters = "".join(recorded().values())
    assert letters.count("y") > 10_000
    assert letters.count("n") > 5_000


@pytest.mark.parametrize("chapter", forms())
def test_as_ptxas(chapter: str) -> None:
    chosen = variants(chapter)
    refused = refusals(chosen)
    assert all(0 <= number < len(chosen) for number in refused)
    expected = "".join(recorded()[form] for form in forms()[chapter])
    differing = [
        f"{variant.name}: ptxas {letter}, {refused.get(number, 'taken')}"
        for number, (variant, letter) in enumerate(zip(chosen, expected, strict=True))
        if (number in refused) == (letter == "y") and not another(variant, refused.get(number))
    ]
    assert differing == []


def another(variant: Variant, refusal: str | None) -> bool:
    """Whether an order makes an instruction of other types, which is not implemented."""
    opcode, *words = variant.form.split(".")
    kinds = ordered_kinds(opcode)
    changed = [w for w in words if w in kinds] != [w for w in variant.modifiers if w in kinds]
    return changed and "not implemented" in (refusal or "")


@pytest.mark.parametrize("chapter", forms())
def test_order_does_not_change_the_instruction(chapter: str) -> None:
    """Orders that keep the order of types, spaces and so on are one instruction."""
    names: dict[tuple[str, tuple[str, ...]], set[tuple[str, ...]]] = {}
    for variant in variants(chapter):
        opcode = variant.form.split(".")[0]
        kinds = ordered_kinds(opcode)
        ordered = tuple(word for word in variant.modifiers if word in kinds)
        found = tuple(candidate.name for candidate in candidates(opcode, variant.modifiers))
        if found:
            names.setdefault((variant.form, ordered), set()).add(found)
    assert [key for key, found in names.items() if len(found) > 1] == []
