"""Recordings as files: round trips, damaged ones and hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.base.errors import RequestError
from cudarun.session.recording.archive import RecordingWriter, read_recording
from cudarun.session.recording.manifest import (
    PIECE_BYTES,
    Manifest,
    MemoryPiece,
    RecordedArray,
    RecordedObject,
    RecordedOrigin,
    RecordedRange,
    RecordedTensorMap,
    read_manifest,
    write_manifest,
)

LIMIT = 1 << 20
BASE = 0x7F0000000000
PTX = b".version 8.0\n.target sm_80\n.address_size 64\n"
IMAGE = b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\x00"  # the begin of a cubin
SOURCE = b'#include "/etc/hostname"\n__global__ void k() {}\n'


def _array() -> RecordedRange:
    return RecordedRange("a0", 0, 512, array=RecordedArray(16, 8, 0, 0x20, 1, 2))


def _object() -> RecordedObject:
    return RecordedObject(3, False, "a0", 0, 0, 0, 0, 0, 0, bytes(range(104)), bytes(112))


def _written(path: Path) -> Manifest:
    """A recording with memory that repeats, that is zero, and that changes."""
    chance = np.random.default_rng(1)
    noise = chance.bytes(PIECE_BYTES)
    before = noise + bytes(PIECE_BYTES) + noise + b"end"
    with open(path, "wb") as file:
        writer = RecordingWriter(file)
        memory = RecordedRange(
            "m0",
            BASE,
            len(before),
            tuple(writer.pieces(before, zeros=False)),
            tuple(writer.pieces(bytes(16), offset=PIECE_BYTES - 8)),
        )
        variable = RecordedRange("v0", BASE + 7, 4, (), (), "factor")
        manifest = Manifest(
            "scale",
            (1, 2, 3),
            (32, 1, 1),
            shared_bytes=48,
            cluster=(1, 2, 1),
            cooperative=True,
            programmatic=True,
            parameters=b"\x00\xff" * 64,
            layout=((0, 128),),
            ranges=(memory, variable, _array()),
            objects=(
                _object(),
                replace(_object(), handle=4, surface=True, description=b"", view=b""),
            ),
            tensor_maps=(
                RecordedTensorMap(0, BASE, 6, (64, 8), (128,), (8, 8), (1, 1), 0, 1, 2, 0),
                RecordedTensorMap(
                    0,
                    BASE,
                    6,
                    (64, 8, 8),
                    (128, 1024),
                    (),
                    (1, 1, 1),
                    0,
                    1,
                    2,
                    0,
                    (-1,),
                    (2,),
                    8,
                    4,
                ),
            ),
            origin=RecordedOrigin("GPU", (9, 0), 13000, "0.2", 3, ('a "quoted"\tname', "é\x7f")),
            status=700,
        )
        writer.finish(manifest, IMAGE, PTX)
    return manifest


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "x.cudarun"
    manifest = _written(path)
    recording = read_recording(str(path), LIMIT)
    assert recording.manifest == manifest
    assert (recording.image, recording.ptx) == (IMAGE, PTX)
    assert path.stat().st_size < 1.1 * PIECE_BYTES  # each content once
    memory, variable, _ = manifest.ranges
    with recording.contents() as contents:
        before, after = contents.read(memory), contents.read(memory, after=True)
        assert contents.read(variable).tolist() == [0] * 4
    assert before[-3:].tobytes() == b"end"
    assert not before[PIECE_BYTES : 2 * PIECE_BYTES].any()
    assert np.array_equal(before[:PIECE_BYTES], before[2 * PIECE_BYTES : 3 * PIECE_BYTES])
    changed = np.flatnonzero(before != after)
    assert changed.size
    assert (changed.min() >= PIECE_BYTES - 8, changed.max() < PIECE_BYTES) == (True, True)


def test_the_same_contents_make_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        _written(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.cudarun"
    _written(path)
    data = path.read_bytes()
    for length in [*range(0, 200, 7), *range(len(data) - 900, len(data), 41)]:
        path.write_bytes(data[:length])
        with pytest.raises(RequestError):
            read_recording(str(path), LIMIT)


def test_damaged_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.cudarun"
    manifest = _written(path)
    data = bytearray(path.read_bytes())
    for at in (300, len(data) // 2):
        data[at] ^= 0xFF
    path.write_bytes(data)
    recording = read_recording(str(path), LIMIT)
    with recording.contents() as contents, pytest.raises(RequestError, match="is damaged"):
        contents.read(manifest.ranges[0])


def _zip(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


GOOD = write_manifest(Manifest("k", (1, 1, 1), (1, 1, 1))).encode()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"recording.toml": GOOD}, "not a recording"),
        ({"x": b""}, "not a recording"),
        ({"recording.toml": GOOD, "image": b"", "../../etc/passwd": b""}, "unknown member"),
        ({"recording.toml": GOOD, "image": b"", "memory/../x": b""}, "unknown member"),
        ({"recording.toml": GOOD, "image": bytes(LIMIT + 1)}, "larger than"),
        ({"recording.toml": b"\xff", "image": b""}, "not TOML"),
        ({"recording.toml": GOOD, "image": SOURCE}, "its code is of the kind 'CUDA source'"),
        ({"recording.toml": GOOD, "image": IMAGE, "ptx": SOURCE}, "the kind 'CUDA source'"),
        ({"recording.toml": GOOD, "image": PTX, "ptx": IMAGE}, "the kind 'cubin'"),
        ({"recording.toml": b"a=" + b"[" * 5000, "image": b""}, "is damaged"),
        ({"recording.toml": b"[a" + b".a" * 20000 + b"]", "image": b""}, "not TOML"),
        ({"recording.toml": b"a = [" + b"1," * 5_000_001 + b"1]", "image": b""}, "5000000 values"),
        ({"recording.toml": GOOD + b"[range]", "image": b""}, "key twice"),
        ({"recording.toml": GOOD + b"[origin]", "image": b""}, "key twice"),
    ],
)
def test_hostile_zips_are_refused(tmp_path: Path, members: dict[str, bytes], message: str) -> None:
    path = tmp_path / "x.cudarun"
    path.write_bytes(_zip(members))
    with pytest.raises(RequestError, match=message):
        read_recording(str(path), LIMIT)
    assert [*tmp_path.iterdir()] == [path]


def test_a_bomb_is_not_inflated(tmp_path: Path) -> None:
    """A member is read up to its limit, whatever its header says."""
    path = tmp_path / "x.cudarun"
    data = bytearray(_zip({"recording.toml": GOOD, "image": bytes(50 << 20)}))
    for at in range(len(data) - 4):  # the size in the headers
        if data[at : at + 4] == (50 << 20).to_bytes(4, "little"):
            data[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(RequestError, match="damaged"):
        read_recording(str(path), LIMIT)


def _range(**changes: Any) -> RecordedRange:
    return replace(RecordedRange("m0", BASE, 8), **changes)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("format = 1", "format = 2"),
        lambda text: text.replace("format = 1", "format = true"),
        lambda text: text.replace('kernel = "k"', "kernel = 7"),
        lambda text: text.replace("grid = [1, 1, 1]", "grid = [1, 1]"),
        lambda text: text.replace("grid = [1, 1, 1]", "grid = [0, 1, 1]"),
        lambda text: text.replace('parameters = ""', 'parameters = "0g"'),
        lambda text: text.replace('parameters = ""', f'parameters = "{"00" * 65537}"'),
        lambda text: "run = 'rm -rf /'\n" + text,
        lambda text: text.replace("[origin]", "[origin]\npath = '/etc'"),
        lambda text: text.replace("size = 8", "size = 0"),
        lambda text: text.replace("size = 8", f"size = {1 << 50}"),
        lambda text: text.replace(f"address = {BASE}", "address = -1"),
        lambda text: text.replace(f"address = {BASE}", f"address = {(1 << 64) - 1}"),
        lambda text: text.replace('name = "m0"', 'name = "m0; import os"'),
        lambda text: text.replace("before = []", "before = [[0, 9, '" + "a" * 32 + "']]"),
        lambda text: text.replace("before = []", "before = [[4, 4, '../../../../etc/passwd']]"),
        lambda text: text.replace("before = []", "before = [[0, 4, '" + "A" * 32 + "']]"),
        lambda text: text.replace('array = "a0"', 'array = "m0"'),
        lambda text: text.replace("array = [16, 8", "array = [16, -8"),
        lambda text: text.replace("handle = 3", "handle = 0"),
        *(
            lambda text, name=name: text.replace('symbol = "factor"', f"symbol = {name}")
            for name in ('""', '"a/b"', '"../x"', '"a=b"', '"\\U0001F600"', '"a\\nerror: b"', "5")
        ),
        lambda text: text.replace('kernel = "k"', 'kernel = "k\\u001b[2J"'),
        lambda text: text.replace('device = ""', 'device = "H100\\npassed"'),
        lambda text: text.replace('name = "m0"', f'name = "{"m" * 65}"'),
        lambda text: text.replace("surface = false", "surface = true"),
        lambda text: text.replace("000102", "0001"),
        lambda text: text + text[text.index("[[range]]") :],
        lambda text: text + text[text.index("[[range]]") :].replace("m0", "m1"),
    ],
)
def test_damaged_descriptions_are_refused(damage: Callable[[str], str]) -> None:
    variable = RecordedRange("v0", BASE, 4, symbol="factor")
    ranges, objects = (_range(), variable, _array()), (_object(),)
    manifest = Manifest("k", (1, 1, 1), (1, 1, 1), ranges=ranges, objects=objects)
    text = write_manifest(manifest)
    assert read_manifest(text.encode(), "x") == manifest
    damaged = damage(text)
    assert damaged != text
    with pytest.raises(RequestError, match="x: the recording"):
        read_manifest(damaged.encode(), "x")


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": "../k"},
        {"kernel": "k" * 4097},
        {"ranges": (_range(name="m 0"),)},
        {"ranges": (_range(symbol="a=b"),)},
        {"ranges": (_range(type="u8\n"),)},
        {"origin": RecordedOrigin("H100\npassed")},
        {"parameters": bytes(1 << 17)},
        {"ranges": (_range(after=(MemoryPiece(4, 5, "a" * 32),)),)},
    ],
)
def test_what_cannot_be_read_is_not_written(changes: dict[str, Any]) -> None:
    manifest = Manifest("k", (1, 1, 1), (1, 1, 1))
    assert write_manifest(replace(manifest, kernel="k" * 4096))
    with pytest.raises(RequestError, match="cannot be recorded"):
        write_manifest(replace(manifest, **changes))
