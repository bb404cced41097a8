"""Hostile recordings: damaged descriptions, values at and beyond limits, damaged members."""

from __future__ import annotations

import io
import json
import os
import random
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from zlib import crc32

from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError
from cudarun.commands.recorded_request import recorded_launch
from cudarun.session.launch.recorded.memory import recorded_buffers
from cudarun.session.record.edit import EditableRecording
from cudarun.session.recording.archive import MANIFEST, MEMORY, Recording, RecordingWriter
from cudarun.session.recording.manifest import (
    Manifest,
    RecordedArray,
    RecordedObject,
    RecordedOrigin,
    RecordedRange,
    RecordedTensorMap,
)
from tests.support.processes import ROOT
from tools.fuzz import text
from tools.fuzz.fuzzer import METHODS, Fuzzer, Unexpected, command, file

_PART = 1 << 16  # bytes that are read at each end of a range
_BASE = 0x7F0000000000
_PTX = (ROOT / "samples/saxpy.ptx").read_bytes()
_LINE = re.compile(r"(\w+) = (.*)")
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 4, 255, 2**31, 2**41, 2**63, 2**64, 1.5, float("nan"), 10**30, [], {}),
    *([1], [0, 0, 0], [-1, 1, 1], [2**31, 1, 1], [[0, 1, "x"]], [[0, 4, "a" * 32]], [[1]], "", "x"),
    *("0" * 10, "ff" * 70000, "../../x", "a\nerror: b", "m0", "m1", "a0", "k" * 5000, [[]] * 1000),
    *text.STRANGE,
)
_LINES = ("[range]", "[[range]]", "[origin]", "[[origin]]", "[a.b]", "a.b = 1", "=", "[", "# x", "")
_NAMES = ("image", "ptx", MANIFEST, MEMORY + "a" * 32, MEMORY + "../x", "../x", "/etc/x", "é", "x/")


class Recordings(Fuzzer[bytes]):
    """Files of recordings; every 50th that can be read is replayed."""

    name = "recordings"
    allowed = frozenset({0, 2, 4})  # a file of another kind is an unreadable image

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        data = io.BytesIO()
        with RecordingWriter(data) as writer:
            noise = random.Random(1).randbytes(4096)
            memory = RecordedRange(
                "m0", _BASE, 4096, tuple(writer.pieces(noise)), tuple(writer.pieces(bytes(64), 8))
            )
            other = RecordedRange("m1", _BASE + (1 << 30), 4096, type="f32")
            array = RecordedRange("a0", 0, 512, array=RecordedArray(16, 8, 0, 0x20, 1, 2))
            tensor = RecordedTensorMap(0, _BASE, 6, (64, 8), (128,), (8, 8), (1, 1), 0, 1, 2, 0)
            shown = RecordedObject(3, False, "a0", 0, 0, 0, 0, 0, 0, bytes(104), bytes(112))
            manifest = Manifest(
                "saxpy",
                (1, 1, 1),
                (32, 1, 1),
                parameters=bytes(128),
                layout=((0, 128),),
                ranges=(memory, other, array),
                tensor_maps=(tensor,),
                objects=(shown,),
                origin=RecordedOrigin("GPU", (9, 0), 13000, "0.2", 3, ("main",)),
            )
            writer.finish(manifest, _PTX, _PTX)
        with zipfile.ZipFile(data) as archive:
            self._members = {name: archive.read(name) for name in archive.namelist()}

    def case(self, chance: random.Random) -> bytes:
        """Return a recording with a damaged description, other members, or damaged bytes."""
        members = dict(self._members)
        description = members[MANIFEST].decode()
        if chance.randrange(6) == 0:
            words = (*_LINES, *map(json.dumps, _VALUES))
            description = text.damaged(description, chance, words)
        else:
            description = _odd_values(description, chance)
        members[MANIFEST] = description.encode(errors="surrogatepass")
        for _ in range(chance.choice((0,) * 12 + (1, 2))):
            members[chance.choice(_NAMES)] = chance.choice([*members.values(), b"", b"x" * 100])
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content, chance.choice(METHODS))
        damaged = bytearray(data.getvalue())
        for _ in range(chance.choice((0,) * 8 + (1, 3))):
            damaged[chance.randrange(2, len(damaged))] = chance.randrange(256)
        return bytes(damaged)

    def exit_code(self, case: bytes) -> int:
        """Read it as a launch and as a spec, with the ends of all ranges; maybe replay it."""
        with file(self.folder, "x.cudarun", case) as path:
            step = recorded_launch(str(path)).last
            recording = step.image.recording
            assert recording is not None, "it is a recording"
            specs: list[BufferSpec] = [*recorded_buffers(step)]
            with recording.contents() as contents:
                for each in recording.manifest.ranges:
                    for start in (0, max(each.size - _PART, 0)):
                        contents.read(each, start, min(start + _PART, each.size), after=True)
            small = sum(each.size for each in recording.manifest.ranges) < 1 << 24
            if specs and small and crc32(case) % 50 == 0:
                code = command(["launch", str(path), "-d", "cpu", "--timeout", "20"])
                if code not in (0, 1, 2, 5):
                    raise Unexpected(f"exit code {code} of the replay")
            if small:
                self._edit(recording)
        return 0

    def _edit(self, recording: Recording) -> None:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            try:
                EditableRecording(recording, f"{folder}/x.toml").write()
            except CudarunError:
                if left := os.listdir(folder):
                    raise Unexpected(f"left after an error: {left}") from None
                raise


def _odd_values(description: str, chance: random.Random) -> str:
    """Return a description with other values of some keys, and lines that are moved or new."""
    if chance.randrange(2):
        description = re.sub(r"\[\[object\]\](\n.+)+", "", description)
    lines = description.split("\n")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        found = _LINE.fullmatch(lines[at])
        if found is None or chance.randrange(20) == 0:
            lines.insert(chance.randrange(len(lines)), chance.choice((*_LINES, lines[at])))
        else:
            value = json.loads(found[2])
            new = _changed(value, chance) if chance.randrange(5) else chance.choice(_VALUES)
            lines[at] = f"{found[1]} = {json.dumps(new)}"
    return "\n".join(lines)


def _changed(value: Any, chance: random.Random) -> Any:
    """Return a value of the same type that is near."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = (0, 1, 2, 3, 8, 64, 4096, 2**20, value + 1, value - 1, 2 * value, value // 2, -value)
        return chance.choice(near)
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        match chance.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and value:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice((*"0123456789abcdef_", value[at:])) + value[at + 1 :]
    return value
