"""The archive of a fleet."""

from __future__ import annotations

import io
import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest

from cudarun.base.errors import RequestError
from cudarun.session.fleet.archive import pack, unpack
from cudarun.session.fleet.request import NodeRequest

REQUEST = NodeRequest("1", ("a",), 600.0, seed=7, timeout=60.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("specs/cases.toml", "images/k.ptx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.chdir(tmp_path / "specs")
    return tmp_path


def test_what_is_packed_is_unpacked(folder: Path) -> None:
    data = pack("cases.toml", ["../images/k.ptx", "../images/none.json"], REQUEST)
    target = folder / "node"
    target.mkdir()
    request = unpack(data, target)
    assert request == NodeRequest(**asdict(REQUEST) | {"spec": "specs/cases.toml", "names": ("a",)})
    files = sorted(os.path.relpath(each, target) for each in target.rglob("*") if each.is_file())
    assert files == ["images/k.ptx", "specs/cases.toml"]
    assert (target / "images/k.ptx").read_text() == "images/k.ptx"


def test_equal_files_make_equal_bytes(folder: Path) -> None:
    one = pack("cases.toml", ["../images/k.ptx"], REQUEST)
    os.utime("cases.toml", (1, 1))
    os.chmod("cases.toml", 0o600)
    assert pack("./cases.toml", ["../images/../images/k.ptx"], REQUEST) == one


def test_absolute_paths_are_refused(folder: Path) -> None:
    with pytest.raises(RequestError, match="a fleet takes files by relative paths"):
        pack("cases.toml", [str(folder / "images/k.ptx")], REQUEST)


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"fleet.json": b"{}"},
        {"fleet.json": b"nothing"},
        {"fleet.json": b"[" * 100_000},
        {"fleet.json": b" " * 2_000_000},
        {"fleet.json": None, "files/../out": b"x"},
        {"fleet.json": None, "files//etc/out": b"x"},
        {"fleet.json": None, "other": b"x"},
    ],
)
def test_hostile_archives(folder: Path, members: dict[str, bytes | None]) -> None:
    good = zipfile.ZipFile(io.BytesIO(pack("cases.toml", [], REQUEST))).read("fleet.json")
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, contents in members.items():
            archive.writestr(name, good if contents is None else contents)
    target = folder / "node"
    target.mkdir()
    with pytest.raises(RequestError, match="stdin is not an archive of cudarun fleet"):
        unpack(data.getvalue(), target)
    assert [each.name for each in folder.iterdir() if each.name == "out"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", "soon"),
        ("runs", 1e9),
        ("runs", -1),
        ("names", "a"),
        ("seed", 10**400),
        ("allow_python", True),
        ("spec", "../cases.toml"),
    ],
)
def test_a_request_of_other_types(folder: Path, field: str, value: object) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(
            "fleet.json", json.dumps(asdict(REQUEST) | {"spec": "cases.toml", field: value})
        )
    with pytest.raises(RequestError, match="stdin is not an archive of cudarun fleet"):
        unpack(data.getvalue(), folder)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(folder: Path, method: int) -> None:
    data = pack("cases.toml", [], REQUEST)
    at = data.index(b"PK\1\2") + 10
    damaged = data[:at] + method.to_bytes(2, "little") + data[at + 2 :]
    with pytest.raises(RequestError, match=r"not an archive of .* neither stored nor deflated"):
        unpack(damaged, folder)


def test_no_archive(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="stdin is not an archive"):
        unpack(b"hello", tmp_path)
