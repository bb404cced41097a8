"""The examples of the documentation of the Python API."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from cudarun.api import functions
from cudarun.api.keywords import LaunchKeywords
from tests.support.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "python.md"


def test_examples_of_the_docstrings() -> None:
    assert doctest.testmod(functions) == (0, 7)


def test_examples_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```pycon\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    text = "\n".join(blocks).replace("… ms", "... ms")
    page = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(PAGE), 0)
    assert len(page.examples) > 8
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(page).failed == 0


def test_page_has_every_keyword() -> None:
    text = Path(PAGE).read_text()
    assert [name for name in LaunchKeywords.__optional_keys__ if f"`{name}`" not in text] == []
