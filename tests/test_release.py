"""The files of a release agree on version, date and dependencies."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from cudarun import __version__
from tools import generate_man_page

ROOT = Path(__file__).resolve().parents[1]


def text(name: str) -> str:
    return (ROOT / name).read_text()


def test_the_version_has_a_dated_section_in_the_changelog() -> None:
    assert re.search(
        rf"^## {re.escape(__version__)} – \d{{4}}-\d\d-\d\d$", text("CHANGELOG.md"), re.M
    )


def test_the_citation_has_version_and_date() -> None:
    citation = text("CITATION.cff")
    assert f"\nversion: {__version__}\n" in citation
    assert f'\ndate-released: "{generate_man_page.release_date()}"\n' in citation


def test_the_recipe_has_the_version_and_the_dependencies() -> None:
    recipe = text("recipe/recipe.yaml")
    assert f'\n  version: "{__version__}"\n' in recipe
    project = tomllib.loads(text("pyproject.toml"))["project"]
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.M)
    assert run is not None
    required = {each.removeprefix("    - ").replace(" ", "") for each in run[1].splitlines()}
    assert required == {
        "__linux",
        f"python{project['requires-python']}",
        *project["dependencies"],
    }


def test_tested_pythons_are_declared() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    prefix = "Programming Language :: Python :: 3."
    minors = [int(c.removeprefix(prefix)) for c in project["classifiers"] if c.startswith(prefix)]
    assert f">=3.{minors[0]}" == project["requires-python"]
    assert minors == list(range(minors[0], minors[-1] + 1))
