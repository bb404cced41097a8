"""The profiles of GPUs, beside CUDA's own occupancy calculator and attributes of real GPUs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudarun.base.profiles import profiles
from tools.generate_profile_docs import DOCUMENT, text

_RECORDED = json.loads(Path(__file__).parent.joinpath("golden/occupancy.json").read_text())
_ARCHITECTURES = [name for name in profiles() if name.startswith("sm_")]


@pytest.mark.parametrize("name", _ARCHITECTURES)
def test_occupancy_is_that_of_the_toolkit(name: str) -> None:
    profile = profiles()[name]
    found = [
        profile.resident_blocks(threads, registers, static + dynamic)
        for threads, registers, static, dynamic in _RECORDED["cases"]
    ]
    assert found == _RECORDED["blocks"][name]
    assert max(found) == profile.blocks  # the limit itself is reached


def test_every_architecture_was_recorded() -> None:
    assert sorted(_RECORDED["blocks"]) == sorted(_ARCHITECTURES)


@pytest.mark.parametrize(
    ("threads", "registers"),
    [(32, 255), (256, 255), (288, 168), (384, 168), (512, 128), (1024, 64)],
)
def test_most_registers(threads: int, registers: int) -> None:
    """They are those that ptxas gives a kernel with such a ``.maxntid``."""
    assert profiles()["h200"].most_registers(threads) == registers


@pytest.mark.parametrize(
    ("name", "facts"),
    [  # from published outputs of deviceQuery
        ("rtx5090", (120, 170, 100663296, 1536, 102400, 101376)),
        ("b200", (100, 148, 132644864, 2048, 233472, 232448)),
        ("a100", (80, 108, 41943040, 2048, 167936, 166912)),
        ("t4", (75, 40, 4194304, 1024, 65536, 65536)),
        ("h200", (90, 132, 62914560, 2048, 233472, 232448)),
    ],
)
def test_facts(name: str, facts: tuple[int, ...]) -> None:
    found = profiles()[name]
    assert facts == (
        *(found.architecture, found.multiprocessors, found.l2_cache, found.threads),
        *(found.shared, found.shared_optin),
    )


def test_an_architecture_has_the_limits_of_its_gpus() -> None:
    for gpu in profiles().values():
        architecture = profiles()[f"sm_{gpu.architecture}"]
        assert (gpu.shared, gpu.blocks) == (architecture.shared, architecture.blocks)


def test_the_documented_tables_are_current() -> None:
    document = DOCUMENT.read_text()
    assert document == text(document), "run python -m tools.generate_profile_docs"
