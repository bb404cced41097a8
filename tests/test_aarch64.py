"""The emulated device on AArch64 has the results of this machine (`tools/aarch64`)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.aarch64.__main__ import results
from tools.aarch64.objects import PYTHON
from tools.aarch64.results import shares

FOLDER = "CUDARUN_AARCH64"


def test_cases_are_of_all_groups() -> None:
    groups = {"many": [f"case {number}" for number in range(100)], "few": ["a", "b"]}
    found = shares(groups, 12)
    assert {group: len(names) for group, names in found.items()} == {"many": 10, "few": 2}
    assert found["many"] < {*groups["many"]}
    assert shares(groups, 0) == {"many": set(), "few": set()}


@pytest.mark.skipif(
    FOLDER not in os.environ, reason=f"{FOLDER} names no folder of python -m tools.aarch64"
)
def test_results_are_the_same() -> None:
    """A form of each group, some textures and the kernels of ``benchmarks/engines.py``."""
    python = Path(os.environ[FOLDER]).resolve() / "aarch64" / "bin" / "python"
    theirs = results(python, ["27", "3"], {PYTHON: sys.executable})
    assert len({name for name, _ in theirs}) > 27
    assert theirs == results(Path(sys.executable), ["27", "3"], {})
