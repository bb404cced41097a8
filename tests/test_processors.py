"""The number of cores: the affinity, and the quotas of control groups."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudarun.base.machine import available_cores


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process run on eight cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))


def cores(folder: Path, membership: str, files: dict[str, str]) -> int:
    """The number of cores with control groups of these contents."""
    for name, text in files.items():
        path = folder / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "membership").write_text(membership)
    return available_cores(folder / "groups", folder / "membership")


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 8), ("150000 100000", 2), ("5000 100000", 1), ("900000 100000", 8)],
)
def test_version_2(quota: str, expected: int, tmp_path: Path) -> None:
    assert cores(tmp_path, "0::/\n", {"cpu.max": f"{quota}\n"}) == expected


def test_the_smallest_quota_of_the_groups_around_counts(tmp_path: Path) -> None:
    files = {"a/cpu.max": "300000 100000\n", "a/b/cpu.max": "max 100000\n"}
    assert cores(tmp_path, "0::/a/b\n", files) == 3


@pytest.mark.parametrize(("quota", "expected"), [("-1", 8), ("200000", 2)])
def test_version_1(quota: str, expected: int, tmp_path: Path) -> None:
    """In a container, whose own group is the root, though the membership has the host's path."""
    files = {"cpu/cpu.cfs_quota_us": f"{quota}\n", "cpu/cpu.cfs_period_us": "100000\n"}
    membership = "4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n0::/\n"
    assert cores(tmp_path, membership, files) == expected


def test_without_control_groups(tmp_path: Path) -> None:
    assert available_cores(tmp_path / "groups", tmp_path / "membership") == 8
