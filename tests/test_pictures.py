"""The pictures of the README show what their commands print, and load nothing from other hosts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import generate_pictures as pictures

README = (pictures.ROOT / "README.md").read_text()


def svg(name: str) -> str:
    return Path(pictures.TARGET, f"{name}.svg").read_text()


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_picture_is_current(name: str) -> None:
    assert pictures.faults(name, svg(name)) == [], "run python -m tools.generate_pictures"


def test_changed_output_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "output", lambda command: "PASS y == a*x + 2\n")
    found = pictures.faults("launch", svg("launch"))
    assert "+ PASS y == a*x + 2" in found
    assert any(line.startswith("- PASS y == a*x + 1") for line in found)


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_picture_fits_a_terminal(name: str) -> None:
    assert max(map(len, pictures.shown(svg(name)))) <= 80


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_picture_refers_to_no_host(name: str) -> None:
    text = svg(name).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(
        r"//|@import|@font-face|<script|href", re.sub(r"<text.*?</text>", "", text)
    )


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_picture_and_its_command_are_in_the_readme(name: str) -> None:
    assert f"](docs/pictures/{name}.svg)" in README
    assert pictures.PICTURES[name][-1] in README


def test_no_other_pictures() -> None:
    assert {path.stem for path in pictures.TARGET.iterdir()} == set(pictures.PICTURES)
