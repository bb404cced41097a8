"""The caches of compilers' results: where it lies, what it keeps, and what it does not trust."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cudarun.base.cache import ResultCache, cache_folder

PARTS = {"log": b"a warning", "ptx": b".version 9.0\n", "code": bytes(range(256))}


def test_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_CACHE_DISABLE", raising=False)
    monkeypatch.delenv("CUDARUN_CACHE", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder("nvcc") == Path("/caches/cudarun/nvcc")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder("nvcc") == Path("/home/someone/.cache/cudarun/nvcc")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder("nvcc") == Path("/home/someone/.cache/cudarun/nvcc")
    monkeypatch.setenv("HOME", "")
    assert cache_folder("nvcc") is None
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setenv("CUDA_CACHE_DISABLE", "0")
    assert cache_folder("nvcc") is not None
    monkeypatch.setenv("CUDA_CACHE_DISABLE", "1")
    assert cache_folder("nvcc") is None
    monkeypatch.delenv("CUDA_CACHE_DISABLE")
    monkeypatch.setenv("CUDARUN_CACHE", "off")
    assert cache_folder("nvcc") is None


def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "a/b"
    ResultCache(folder).store("key", PARTS)
    assert ResultCache(folder).load("key") == PARTS
    assert ResultCache(folder).load("other") is None
    assert [entry.name for entry in folder.iterdir()] == ["key"]
    assert folder.stat().st_mode & 0o077 == 0


def test_a_cache_that_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = ResultCache(None)
    cache.store("key", PARTS)
    assert cache.load("key") is None
    assert [*tmp_path.iterdir()] == []


def test_a_damaged_entry_is_none(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.store("key", PARTS)
    whole = (tmp_path / "key").read_bytes()
    for cut in range(0, len(whole), 7):
        (tmp_path / "key").write_bytes(whole[:cut])
        assert cache.load("key") is None
    at = whole.index(b"log") + len(b"log")
    (tmp_path / "key").write_bytes(whole[:at] + bytes(4) + whole[at + 4 :])
    assert cache.load("key") is None
    cache.store("key", PARTS)
    assert cache.load("key") == PARTS


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = ResultCache(tmp_path / "file/folder")
    cache.store("key", PARTS)
    assert cache.load("key") is None


def test_the_entries_unused_for_the_longest_time_are_deleted(tmp_path: Path) -> None:
    part = {"code": os.urandom(20_000)}  # does not compress
    cache = ResultCache(tmp_path, limit=100_000)
    for index in range(4):
        cache.store(f"key{index}", part)
        os.utime(tmp_path / f"key{index}", (index, index))
    assert cache.load("key0") == part  # is the last one used now
    cache.store("key4", part)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["key0", "key2", "key3", "key4"]


def test_a_result_that_would_fill_the_cache_is_not_stored(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path, limit=40_000)
    cache.store("key", {"code": os.urandom(20_000)})
    assert cache.load("key") is None


def test_no_damaged_byte_is_read(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.store("key", {"object": b"machine code", "notes": b"none"})
    whole = (tmp_path / "key").read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        (tmp_path / "key").write_bytes(damaged)
        assert cache.load("key") is None


def test_an_entry_of_another_key(tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    cache.store("key", PARTS)
    (tmp_path / "key").rename(tmp_path / "other")
    assert cache.load("other") is None


@pytest.fixture
def stored(tmp_path: Path) -> tuple[ResultCache, Path, Path]:
    """A cache, its folder, and a whole entry in it whose key is ``key``."""
    folder = tmp_path / "cache"
    cache = ResultCache(folder)
    cache.store("key", PARTS)
    return cache, folder, folder / "key"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write(stored: tuple[ResultCache, Path, Path], mode: int) -> None:
    cache, _, entry = stored
    entry.chmod(mode)
    assert cache.load("key") is None
    cache.store("key", PARTS)  # replaces it
    assert cache.load("key") == PARTS


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write(stored: tuple[ResultCache, Path, Path], mode: int) -> None:
    cache, folder, _ = stored
    folder.chmod(mode)
    assert cache.load("key") is None
    cache.store("second", PARTS)
    assert [each.name for each in folder.iterdir()] == ["key"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
@pytest.mark.parametrize("given", ["folder", "entry"])
def test_files_of_another_user(stored: tuple[ResultCache, Path, Path], given: str) -> None:
    cache, folder, entry = stored
    os.chown(folder if given == "folder" else entry, 65534, -1)
    assert cache.load("key") is None


def test_a_link_is_not_followed(stored: tuple[ResultCache, Path, Path], tmp_path: Path) -> None:
    cache, folder, entry = stored
    (tmp_path / "link").symlink_to(folder)
    assert ResultCache(tmp_path / "link").load("key") is None
    victim = tmp_path / "victim"
    entry.rename(victim)
    entry.symlink_to(victim)
    before = victim.read_bytes()
    assert cache.load("key") is None
    cache.store("key", {"code": b"other"})  # replaces the link, not its target
    assert victim.read_bytes() == before
    assert cache.load("key") == {"code": b"other"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give links to others")
def test_a_link_of_another_user_to_the_containing_folder(tmp_path: Path) -> None:
    """It could lead to files of this user, the oldest of which are deleted."""
    mine = tmp_path / "mine" / "record"
    mine.mkdir(parents=True, mode=0o700)
    (mine / "letter").write_bytes(bytes(100))
    link = tmp_path / "cudarun"
    link.symlink_to("mine")
    os.lchown(link, 65534, -1)
    ResultCache(link / "record", limit=50).store("key", {"a": b""})
    assert [each.name for each in mine.iterdir()] == ["letter"]
    ResultCache(link / "nvrtc").store("key", {"a": b""})
    assert [each.name for each in mine.parent.iterdir()] == ["record"]
    os.lchown(link, os.geteuid(), -1)
    ResultCache(link / "nvrtc").store("key", PARTS)
    assert ResultCache(mine.parent / "nvrtc").load("key") == PARTS


def test_a_pipe_is_not_awaited(stored: tuple[ResultCache, Path, Path]) -> None:
    cache, _, entry = stored
    entry.unlink()
    os.mkfifo(entry)
    assert cache.load("key") is None


def test_an_entry_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ResultCache(tmp_path / "cache").store("key", PARTS)
    finally:
        os.umask(before)
    assert ResultCache(tmp_path / "cache").load("key") == PARTS
