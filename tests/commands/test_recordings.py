"""Recordings of launches: replays of earlier ones, smaller ones, and specs of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from cudarun.commands.launch import command
from cudarun.session.recording import archive
from cudarun.session.recording.archive import read_recording
from tests.commands.conftest import Recorder, Run

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "recordings"


@pytest.mark.parametrize("task", ["scale", "gather"])
def test_a_recording_shrinks_to_what_the_launch_accesses(recorder: Recorder, task: str) -> None:
    recorder("-o", "x.cudarun", task=task)
    ran = recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun", "--json")
    [file] = ran.document["files"]
    assert file["memory_bytes"] == (4 * 128 + 24 if task == "gather" else 8000)
    name = "m1" if task == "gather" else "m0"
    replayed = recorder.replay("small.cudarun", "--print", f"{name}[:2]", "--rtol", "1e-6")
    assert replayed.code == 0, replayed.err
    shown = "[3. 6.]" if task == "gather" else "[2.5 4.5]"
    assert f"{name}[:2] = {shown}" in replayed.out
    assert f"PASS {name} == recorded  (rtol 1e-06" in replayed.out


def test_a_recording_becomes_a_spec(recorder: Recorder, tmp_path: Path) -> None:
    recorder("-o", "x.cudarun", task="config")
    recorder.of("--shrink", "x.cudarun", "-o", "small.cudarun")
    assert recorder.of("--edit", "small.cudarun", "-o", "edited.toml").code == 0
    text = (tmp_path / "edited.toml").read_text()
    assert 'args = ["{&m1, &m0}", "u32:1000"]' in text
    assert "\npdl = true\n" in text
    ran = recorder._run("launch", "--spec", "edited.toml", "-d", "cpu")
    assert (ran.code, "1 passed" in ran.out) == (0, True), ran.err
    np.save(tmp_path / "edited-factor.npy", np.array([3, 0.5], np.float32).view(np.uint8))
    assert recorder._run("launch", "--spec", "edited.toml", "-d", "cpu").code == 1
    again = recorder.of("--edit", "small.cudarun", "-o", "edited.toml")
    assert (again.code, "exists" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("gather", 0, "PASS m1 == recorded"),
        ("overrun", 5, "that is element 1048579 of buffer m0, f32[1000]"),
        ("scatter", 5, "scatter.py:12"),
        ("runtime", 0, "PASS m1 == recorded\nPASS counter == recorded"),
        ("cooperative", 0, "PASS m0 == recorded"),
        ("cluster", 0, "PASS m0 == recorded"),
    ],
)
def test_recordings_of_earlier_versions_are_replayed(
    run: Run, name: str, code: int, message: str
) -> None:
    ran = run("launch", str(RECORDINGS / f"{name}.cudarun"), "-d", "cpu")
    assert (ran.code, message in ran.out + ran.err) == (code, True), ran.err


def test_a_table_of_pointers_is_no_spec(run: Run, tmp_path: Path) -> None:
    ran = run("record", "--edit", str(RECORDINGS / "gather.cudarun"), "-o", "x.toml")
    assert (ran.code, "m0 contains addresses" in ran.err) == (2, True)
    assert not [*tmp_path.glob("x*")]


def test_a_pointer_in_a_range_that_begins_between_two_words_is_found(
    run: Run, tmp_path: Path
) -> None:
    with zipfile.ZipFile(RECORDINGS / "gather.cudarun") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    [table, *_] = read_recording(str(RECORDINGS / "gather.cudarun"), 1 << 24).manifest.memory
    text = members["recording.toml"]
    for old, new in [
        (b"%d\nsize = 24" % table.address, b"%d\nsize = 28" % (table.address - 4)),
        (b'type = "u64"\nbefore = [[0, 24', b'type = "u32"\nbefore = [[4, 24'),
    ]:
        assert old in text
        text = text.replace(old, new)
    with zipfile.ZipFile(tmp_path / "y.cudarun", "w") as changed:
        for name, data in (members | {"recording.toml": text}).items():
            changed.writestr(name, data)
    ran = run("record", "--edit", "y.cudarun", "-o", "x.toml")
    assert (ran.code, "m0 contains addresses" in ran.err) == (2, True), ran.err


def test_the_name_of_an_edited_recording_can_have_dollars(run: Run) -> None:
    ran = run("record", "--edit", str(RECORDINGS / "cluster.cudarun"), "-o", "${a}.toml")
    assert ran.code == 0, ran.err
    ran = run("launch", "--spec", "${a}.toml", "-d", "cpu")
    assert (ran.code, "passed  ${a} on cpu" in ran.out) == (0, True), ran.err


def test_what_cannot_be_shrunk_is_refused(recorder: Recorder, tmp_path: Path) -> None:
    recorder("-o", "x.cudarun", task="scale")
    with (
        zipfile.ZipFile(tmp_path / "x.cudarun") as old,
        zipfile.ZipFile(tmp_path / "code.cudarun", "w") as new,
    ):
        for name in old.namelist():
            if name != "ptx":
                new.writestr(name, old.read(name))
    for words, message in [
        (("code.cudarun", "-o", "y.cudarun", "-d", "cpu"), "has no PTX"),
        (("x.cudarun", "-o", "y.cudarun", "-d", "0,cpu"), "--shrink uses one device"),
        (("x.cudarun",), "requires -o FILE"),
        (("x.cudarun", "-o", "x.cudarun"), "also an input"),
        (("samples/saxpy.ptx", "-o", "y.cudarun"), "not a recording"),
    ]:
        ran = recorder.of("--shrink", *words)
        assert (ran.code, message in ran.err) == (2, True), ran.err


def test_a_spec_of_a_recording_without_a_piece_leaves_no_file(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORDINGS / "runtime.cudarun") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    for missing in [name for name in members if name.startswith("memory/")]:
        with zipfile.ZipFile(tmp_path / "x.cudarun", "w") as damaged:
            for name, data in members.items():
                if name != missing:
                    damaged.writestr(name, data)
        ran = run("record", "--edit", "x.cudarun", "-o", "x.toml")
        assert (ran.code, "does not contain" in ran.err) == (2, True), ran.err
        assert [each.name for each in tmp_path.glob("x*")] == ["x.cudarun"]


def test_only_a_fault_of_a_failed_launch_ends_the_replay_of_shrink(
    run: Run, tmp_path: Path
) -> None:
    with zipfile.ZipFile(RECORDINGS / "runtime.cudarun") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    old = members["recording.toml"]
    refused = old.replace(b"shared_bytes = 1024", b"shared_bytes = 2147483647")
    assert refused != old
    for new in (refused, refused.replace(b"status = 0", b"status = 700")):
        with zipfile.ZipFile(tmp_path / "x.cudarun", "w") as changed:
            for name, data in (members | {"recording.toml": new}).items():
                changed.writestr(name, data)
        ran = run("record", "--shrink", "x.cudarun", "-o", "y.cudarun")
        assert (ran.code, "dynamic" in ran.err) == (5, True), ran.err
        assert not (tmp_path / "y.cudarun").exists()


def test_memory_at_an_address_of_the_emulated_device_is_refused(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(RECORDINGS / "runtime.cudarun") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    [first, *_] = read_recording(str(RECORDINGS / "runtime.cudarun"), 1 << 24).manifest.memory
    # The last one is of cudaMallocAsync on an H200. The kernel has the recorded pointers.
    for address, code in ((1 << 41, 2), (0x30_0000_0000, 2), (0x3_0200_0000, 5)):
        text = members["recording.toml"].replace(b"%d" % first.address, b"%d" % address)
        with zipfile.ZipFile(tmp_path / "x.cudarun", "w") as changed:
            for name, data in (members | {"recording.toml": text}).items():
                changed.writestr(name, data)
        ran = run("launch", "x.cudarun", "-d", "cpu")
        assert ran.code == code, ran.err
        assert (f"{address:#x} are addresses of the emulated device" in ran.err) == (code == 2)


def test_a_recording_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: str, most: int) -> archive.Recording:
        read.append(path)
        return read_recording(path, most)

    monkeypatch.setattr(archive, "read_recording", noted)
    path = str(RECORDINGS / "gather.cudarun")
    assert command.main([path, "-d", "cpu", "--dry-run"], standalone_mode=False) == 0
    assert read == [path]
