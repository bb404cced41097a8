"""The text of ``--device``."""

from __future__ import annotations

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.driver.selection import Selector, parse_devices


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", [("cuda", "index", "0")]),
        ("0,2", [("cuda", "index", "0"), ("cuda", "index", "2")]),
        ("2, 0, 2", [("cuda", "index", "2"), ("cuda", "index", "0")]),
        ("00,0", [("cuda", "index", "0")]),
        ("all", [("cuda", "all", "all")]),
        ("cpu", [("cpu", "index", "0")]),
        ("cpu:0", [("cpu", "index", "0")]),
        ("cpu:1", [("cpu", "index", "1")]),
        ("cpu:all", [("cpu", "all", "all")]),
        ("GPU-1a2b", [("cuda", "uuid", "GPU-1a2b")]),
        ("1a2b3c4d-11", [("cuda", "uuid", "1a2b3c4d-11")]),
        ("MIG-77", [("cuda", "uuid", "MIG-77")]),
        ("0000:3b:00.0", [("cuda", "pci", "0000:3b:00.0")]),
        ("3B:00", [("cuda", "pci", "3B:00")]),
        ("0,cpu", [("cuda", "index", "0"), ("cpu", "index", "0")]),
    ],
)
def test_forms(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = parse_devices(text)
    assert [(s.driver, s.by, s.value) for s in found] == expected


@pytest.mark.parametrize("text", ["", "0,", "cpu:", "cpu:x", "gpu0", "-1", "1.5", "cpu 1", "*"])
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(RequestError, match=r"--device: '.*' is not a device") as caught:
        parse_devices(text)
    assert caught.value.exit_code == 2
    assert "a GPU UUID" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "label", "profile"),
    [
        ("cpu@rtx5090", "cpu@rtx5090", "rtx5090"),
        ("cpu@A100:0", "cpu@a100", "a100"),
        ("cpu@sm_86:2", "cpu@sm_86:2", "sm_86"),
        ("cpu@t4:all", "cpu@t4:all", "t4"),
    ],
)
def test_profiles(text: str, label: str, profile: str) -> None:
    [selector] = parse_devices(text)
    assert (str(selector), selector.driver, selector.profile) == (label, "cpu", profile)


@pytest.mark.parametrize(
    ("text", "similar"),
    [
        ("cpu@rtx5009", "did you mean rtx5090"),
        ("cpu@h300", "did you mean h200"),
        ("cpu@", "GPU ''"),
    ],
)
def test_an_unknown_profile_is_refused_with_those_that_there_are(text: str, similar: str) -> None:
    with pytest.raises(RequestError, match="unknown GPU") as caught:
        parse_devices(text)
    assert similar in str(caught.value)
    assert "gb10, sm_75" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["0", "cpu", "cpu:3", "cpu@l4:1", "GPU-12ab"])
def test_a_selector_prints_as_it_is_written(text: str) -> None:
    [selector] = parse_devices(text)
    assert str(selector) == text
    same = Selector(selector.driver, selector.by, selector.value, selector.profile)
    assert parse_devices(str(selector)) == (same,)
