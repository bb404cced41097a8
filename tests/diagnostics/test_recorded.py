"""What drivers said of the files of ``tests/support/refusals.py``, and the explanation of each.

``tests/data/refusals`` has a record for each device, made by ``tools/hardware/images.py``. What the
driver answered then is explained again now, from the same file: the complaints with their lines,
the reason and the remedy must be those of the record.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cudarun.base.errors import CudarunError, ImageRefused
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.session.image.diagnosis import diagnose
from cudarun.session.image.image import Image
from cudarun.session.link.symbols import SymbolTable
from tests.support import refusals

DATA = Path(__file__).resolve().parents[1] / "data/refusals"
RECORDS = {path.stem: json.loads(path.read_text()) for path in sorted(DATA.glob("*.json"))}
RECIPES = {refusal.name: refusal for refusal in refusals.REFUSALS}


def told_by_a_log(record: Any) -> bool:
    """Whether a driver or compiler had the word; the rest is said by the commands themselves."""
    return bool(record["error"].get("log") or record["error"].get("explanation"))


CASES = [
    pytest.param(name, record, id=f"{name}: {record['name']}")
    for name, device in RECORDS.items()
    for record in device["refusals"]
    if told_by_a_log(record)
]


def place_of(device: Any, name: str) -> LoadTarget:
    major, minor = device["compute_capability"]
    return LoadTarget(
        device["name"],
        10 * major + minor,
        cuda=tuple(device["driver_version"]),
        runs_machine_code=name != "cpu",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("refused")
    refusals.write(made)
    return made


def images_of(error: Any, recipe: refusals.Refusal, folder: Path) -> list[Image]:
    """The file that the message begins with; all files of a link that failed as a whole."""
    named = [name for name in recipe.files if error["message"].startswith(f"{name}: ")]
    assert named or recipe.link
    return [
        Image(name, refusals.path_of(name, folder).read_bytes()) for name in named or recipe.files
    ]


@pytest.mark.parametrize(("name", "record"), CASES)
def test_the_explanation_is_that_of_the_record(name: str, record: Any, folder: Path) -> None:
    error, recipe = record["error"], RECIPES[record["name"]]
    place = place_of(RECORDS[name]["device"], name)
    if error["message"].endswith("NVRTC: the source does not compile"):
        place = LoadTarget("NVRTC", place.architecture)
    cuda = error.get("cuda")
    refused: CudarunError = ImageRefused(
        error["message"],
        cuda=(cuda["name"], cuda["number"]) if cuda else None,
        log=error.get("log"),
    )
    images = images_of(error, recipe, folder)
    if recipe.link:  # as `link.worker` does
        symbols = SymbolTable(images, place.architecture)
        found = diagnose(refused, images, place, symbols.definers)
        found.diagnostics = symbols.with_lines(found.diagnostics)
    else:
        found = diagnose(refused, images, place)
    assert [asdict(diagnostic) for diagnostic in found.diagnostics] == error["diagnostics"]
    assert found.explanation == error.get("explanation")
    assert found.hint == error.get("hint")


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_every_refusal(name: str) -> None:
    wanted = {each.name for each in refusals.REFUSALS if not (each.gpu and name == "cpu")}
    assert {record["name"] for record in RECORDS[name]["refusals"]} == wanted
