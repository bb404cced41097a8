"""Narrowing ``CUDA_VISIBLE_DEVICES``: composed with what the user has set, or left alone."""

from __future__ import annotations

import os

import pytest

from cudarun.session.driver import visibility
from cudarun.session.driver.selection import by_index, parse_devices

VARIABLE = visibility.VARIABLE


@pytest.fixture(autouse=True)
def four_gpus(tmp_path, monkeypatch):
    """A machine with the device nodes of four GPUs."""
    for name in ("nvidia0", "nvidia1", "nvidia2", "nvidia3", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    monkeypatch.setattr(visibility, "_NODES", str(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)
    visibility.narrow.cache_clear()


def _narrow(devices: str) -> visibility.VisibleDevices | None:
    chosen = by_index(parse_devices(devices))
    return visibility.narrow(chosen) if chosen else None


def narrowed(devices: str) -> tuple[tuple[int, ...] | None, str | None]:
    shown = _narrow(devices)
    return shown and shown.indices, os.environ.get(VARIABLE)


@pytest.mark.parametrize(
    ("listed", "devices", "shown", "variable"),
    [
        (None, "0", (0,), "0"),
        (None, "3", (3,), "3"),
        (None, "2,0", (2, 0), "2,0"),
        ("2,1", "0", (0,), "2"),
        ("2,1", "1", (1,), "1"),
        (" 3 , 0", "1", (1,), "0"),
        ("GPU-8d1f,MIG-77,1", "1", (1,), "MIG-77"),
        ("GPU-8d1f", "0", (0,), "GPU-8d1f"),
    ],
)
def test_the_driver_is_shown_the_chosen_ones(monkeypatch, listed, devices, shown, variable) -> None:
    if listed is not None:
        monkeypatch.setenv(VARIABLE, listed)
    assert narrowed(devices) == (shown, variable)


@pytest.mark.parametrize(
    ("listed", "devices"),
    [
        (None, "4"),  # not there
        (None, "all"),
        (None, "GPU-8d1f"),  # only the driver knows which that is
        (None, "0000:3b:00.0"),
        (None, "cpu"),
        ("2,1", "2"),  # the list is shorter
        ("", "0"),  # hides all
        ("-1,0", "1"),  # ends before it
        ("0,9,1", "2"),  # there is no GPU 9, so the list ends there
        ("1,1", "0"),
        ("none", "0"),
    ],
)
def test_what_is_not_certain_is_left_to_the_driver(monkeypatch, listed, devices) -> None:
    if listed is not None:
        monkeypatch.setenv(VARIABLE, listed)
    assert narrowed(devices) == (None, listed)


@pytest.mark.parametrize(("listed", "count"), [(None, 4), ("1,0", 2), ("0,-1,1", 1), ("", None)])
def test_count_is_of_what_the_user_lets_be_seen(monkeypatch, listed, count) -> None:
    if listed is not None:
        monkeypatch.setenv(VARIABLE, listed)
    assert visibility.count() == count


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open anything")
def test_a_gpu_that_may_not_be_opened_does_not_count(tmp_path) -> None:
    (tmp_path / "nvidia3").chmod(0)
    assert visibility.count() == 3


def test_without_device_nodes_nothing_is_known(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(visibility, "_NODES", str(tmp_path / "no-such-folder"))
    assert visibility.count() is None
    assert narrowed("0") == (None, None)


@pytest.mark.parametrize("listed", [None, "2,1"])
def test_widening_gives_back_what_the_user_set(monkeypatch, listed) -> None:
    if listed is not None:
        monkeypatch.setenv(VARIABLE, listed)
    shown = _narrow("1")
    assert shown is not None
    shown.widen()
    assert os.environ.get(VARIABLE) == listed
