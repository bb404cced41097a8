"""The comparison of the engines of the emulated device, and its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.shared_folders import made_once
from tools.engines import page
from tools.engines.comparison import Comparison, Part

pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")


def _forms(chapter: str, only: str, every: int = 1) -> Comparison:
    from tools.engines import forms

    parts = [part for part in forms.parts(only, every) if part.group == chapter]
    return Comparison.merged(chapter, [forms.compare(part) for part in parts])


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.delenv("CUDARUN_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(made_once(tmp_path_factory, "kernels")))


def test_forms_are_compared_on_both_engines() -> None:
    found = _forms("logic", "lop3.or")
    assert found.equal
    assert (found.different, found.interpreted) == ([], {})


def test_other_bits_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from cudarun.emulator.compiled.lanes import operators

    monkeypatch.setitem(operators.OPERATORS, "bitwise_xor", operators.OPERATORS["bitwise_or"])
    found = _forms("logic", "xor.b")
    assert found.different == ["xor.b16", "xor.b32", "xor.b64"]


def test_forms_without_a_rule_are_named_and_the_others_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cudarun.emulator.compiled.lanes import operators

    monkeypatch.delitem(operators.OPERATORS, "bitwise_xor")
    found = _forms("logic", "or.b16")
    assert found.interpreted == {"xor.b16": "bitwise_xor"}
    assert found.equal == ["or.b16"]


def test_groups_that_do_not_run_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.engines import forms

    monkeypatch.setattr(forms, "GROUP", 2)
    found = _forms("logic", "or.b", every=2)
    assert (len(found.equal), len(found.untested)) == (6, 6)
    assert found.compiled == found.cases == 12


def test_commands_of_samples_are_compared() -> None:
    from tools.engines import samples

    found = samples.compare(Part("some", 0, ("saxpy", "one_past", "reverse_racy")))
    assert found.equal == ["saxpy", "one_past"]
    assert list(found.interpreted) == ["reverse_racy"]


def test_other_buffers_of_a_sample_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tools.engines import samples

    monkeypatch.setattr(samples, "COMPILE", "interpret")
    seeds = iter(["1", "2", "3"])
    run = samples.run_command
    monkeypatch.setattr(
        samples, "run_command", lambda words, *more: run([*words, "--seed", next(seeds)], *more)
    )
    found = samples.compare(Part("some", 0, ("reduce",)))
    assert found.different == ["reduce"]


def test_the_page_lists_what_is_not_compared() -> None:
    some = Comparison("some", ["a"], ["b"], [], {"c": "no rule", "d": "a loop", "e": "no rule"})
    other = Comparison("other", ["f"], [], ["g"], {})
    text = page.section("chapter", [some, other], "today")
    assert text == (
        "| chapter | cases | compared | not compared |\n"
        "|---|---|---|---|\n"
        "| `some` | 5 | 2 (40.0 %) | 3 |\n"
        "| `other` | 2 | 2 (100.0 %) | 0 |\n"
        "| **all** | 7 | 4 (57.1 %) | 3 |\n"
        "\n"
        "Run on both engines: 3 of 4 cases (today); 1 gave different bits.\n"
        "\n"
        "Not compared, by reason:\n"
        "\n"
        "- no rule (2): `c`, `e`\n"
        "- **different** (1): `g`\n"
        "- a loop (1): `d`"
    )
    some.equal.append(some.untested.pop())
    other_run = page.section("chapter", [some, other], "today")
    assert other_run != text
    assert page.without_runs(other_run) == page.without_runs(text)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| `logic` |", "| `logics` |", "other numbers of forms than are recorded"),
        ("- none", "- a reason (1): `add.u33`", "'add.u33' is no recorded form"),
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
