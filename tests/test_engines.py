"""The comparison of the engines of the emulated device, and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.engines import page
from tools.engines.comparison import Comparison

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")


def test_forms_are_compared_on_both_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.engines import forms

    monkeypatch.setenv("CUDARUN_CACHE", "off")
    found = forms.compare("logic", "lop3.or")
    assert found.equal
    assert (found.different, found.interpreted) == ([], {})


def test_other_bits_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudarun.emulator.compiled import operators
    from tools.engines import forms

    monkeypatch.setenv("CUDARUN_CACHE", "off")
    monkeypatch.setitem(operators.OPERATORS, "bitwise_xor", operators.OPERATORS["bitwise_or"])
    found = forms.compare("logic", "xor.b")
    assert found.different == ["xor.b16", "xor.b32", "xor.b64"]


def test_forms_without_a_rule_are_named_and_the_others_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cudarun.emulator.compiled import operators
    from tools.engines import forms

    monkeypatch.setenv("CUDARUN_CACHE", "off")
    monkeypatch.delitem(operators.OPERATORS, "bitwise_xor")
    found = forms.compare("logic", "or.b16")
    assert found.interpreted == {"xor.b16": "bitwise_xor"}
    assert found.equal == ["or.b16"]


def test_groups_that_do_not_run_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.engines import forms

    monkeypatch.setenv("CUDARUN_CACHE", "off")
    monkeypatch.setattr(forms, "GROUP", 2)
    found = forms.compare("logic", "or.b", every=2)
    assert (len(found.equal), len(found.untested)) == (6, 6)
    assert found.compiled == found.cases == 12


def test_the_page_lists_what_is_interpreted() -> None:
    some = Comparison("some", ["a"], ["b"], [], {"c": "no rule", "d": "a loop", "e": "no rule"})
    other = Comparison("other", ["f"], [], ["g"], {})
    text = page.section("chapter", [some, other])
    assert text == (
        "| chapter | cases | compiled | interpreted |\n"
        "|---|---|---|---|\n"
        "| `some` | 5 | 2 (40.0 %) | 3 |\n"
        "| `other` | 2 | 2 (100.0 %) | 0 |\n"
        "| **all** | 7 | 4 (57.1 %) | 3 |\n"
        "\n"
        "Run on both engines: 3 compiled cases; 1 gave different bits.\n"
        "\n"
        "Interpreted, by reason:\n"
        "\n"
        "- no rule (2): `c`, `e`\n"
        "- **different** (1): `g`\n"
        "- a loop (1): `d`"
    )
    some.equal.append(some.untested.pop())
    other_run = page.section("chapter", [some, other])
    assert other_run != text
    assert page.without_runs(other_run) == page.without_runs(text)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| `logic` |", "| `logics` |", "other numbers of forms than are recorded"),
        (": `", ": `add.u33`, `", "'add.u33' is no recorded form"),
    ],
)
def test_a_stale_page_is_found(
    old: str, new: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.PAGE.read_text()
    assert old in text
    stale = tmp_path / "engines.md"
    stale.write_text(text.replace(old, new, 1))
    monkeypatch.setattr(page, "PAGE", stale)
    assert any(re.match(fault, found) for found in page.faults())
