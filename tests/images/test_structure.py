"""Every way into a driver or a linker passes one check, with a limit for the whole file."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pytest

from cudarun.base.errors import ImageRefused
from cudarun.images import fatbin
from cudarun.images.cubin import read_cubin
from cudarun.images.fatbin import Compression, NotDecompressible, decompress
from cudarun.images.kinds import ImageKind
from cudarun.images.reader import check_structure, image_entries, read_image
from tests.images.golden_files import archive, golden
from tests.support.work import growth

NAMES = ("facts.cubin", "facts_cuda12.cubin", "tiny.fatbin", "tiny_lz4.fatbin", "tiny.o")


def damaged(data: bytes, seed: int) -> bytes:
    """Change some bytes of a file, half of them in its headers, or cut it off."""
    chosen = random.Random(seed)
    image = bytearray(data)
    (table,) = struct.unpack_from("<Q", data, 0x28) if data[:4] == b"\x7fELF" else (0,)
    for _ in range(chosen.randint(1, 4)):
        first = table if chosen.random() < 0.5 and table < len(data) else 0
        image[chosen.randrange(first, len(image))] = chosen.choice([0, 1, 0x7F, 0x80, 0xFF])
    return bytes(image[: chosen.choice([len(image), chosen.randrange(len(image))])])


@pytest.mark.parametrize("name", NAMES)
def test_what_the_offline_reader_refuses_is_refused(name: str) -> None:
    original = golden(name)
    check_structure(original, name)
    refused = 0
    for seed in range(200):
        data = damaged(original, seed)
        try:
            facts = read_image(data, name)
            unread = [p for p in facts.parts if p.kind is ImageKind.CUBIN and p.unread]
        except ImageRefused as error:
            is_known = error.cause is not None  # not of PTX, which a compiler explains
            unread = [error] if is_known else []
        if unread:
            refused += 1
            with pytest.raises(ImageRefused):
                check_structure(data, name)
    assert refused > 20


# --- compressed code -----------------------------------------------------------------------------


def container(*entries: tuple[int, bytes, int]) -> bytes:
    """Return a fatbin of entries compressed with Zstandard: kind, stored bytes, declared size."""
    body = b"".join(
        struct.pack("<H2xIQI8xI8xQ8xQ", kind, 64, len(data), len(data), 90, 0x8000, size) + data
        for kind, data, size in entries
    )
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(body)) + body


@pytest.mark.parametrize("wrap", [bytes, lambda data: archive((b"a.o/", data), (b"b.o/", data))])
def test_the_limit_is_of_the_whole_file(wrap: Callable[[bytes], bytes]) -> None:
    half = 200 << 20
    bomb = wrap(container((1, b"x" * 40, half), (1, b"x" * 40, half), (1, b"x" * 40, half)))
    with pytest.raises(ImageRefused, match="bytes when decompressed; the limit is") as caught:
        image_entries(bomb, "bomb", 512 << 20)
    assert "--max-image" in (caught.value.hint or "")
    assert image_entries(bomb, "bomb", 2 << 30)


def test_entries_are_decompressed_one_at_a_time_when_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decompressed: list[int] = []

    def counted(compression: Compression, stored: bytes, size: int) -> bytes:
        decompressed.append(size)
        return decompress(compression, stored, size)

    monkeypatch.setattr(fatbin, "decompress", counted)
    entries = image_entries(golden("tiny_lz4.fatbin"), "tiny", 512 << 20)
    assert not decompressed
    next(entry for entry in entries if entry.compression).content("tiny")
    assert len(decompressed) == 1


def test_a_frame_larger_than_its_entry_is_not_decompressed() -> None:
    """The size in the frame's header is 1 GiB, that of the entry 64 bytes."""
    frame = b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", 1 << 30)
    frame += b"".join(struct.pack("<I", 1 << 1 | (1 << 17) << 3)[:3] + b"x" for _ in range(10))
    with pytest.raises(NotDecompressible):
        decompress("zstd", frame, 64)


# --- ELF -----------------------------------------------------------------------------------------


def elf(sections: int, tables: int, name: bytes, machine: int = 190, size: int = 1) -> bytes:
    """Return a cubin of sections with one name, some of them symbol tables over the same bytes."""
    strings = b"\0" + name + b"\0"
    symbols = struct.pack("<IBBHQQ", 1, 0, 0, 0, 0, 0) * 50
    table = 64 + len(strings) + len(symbols)
    header = struct.pack(
        "<4sBBBB8xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 51, 2, machine, 1, 0, 0, table, 0x5A055A, 64, 0, 0, 64, sections, 1),
    )
    rows = [(0,) * 10, (1, 3, 0, 0, 64, len(strings), 0, 0, 1, 0)]
    place = 64 + len(strings)
    rows += [(1, 2, 0, 0, place, len(symbols), 1, 0, 8, 24)] * tables
    rows += [(1, 1, 0, 0, 64, size, 0, 0, 1, 0)] * (sections - len(rows))
    return header + strings + symbols + b"".join(struct.pack("<IIQQQQIIQQ", *row) for row in rows)


def test_sections_are_read_in_linear_time() -> None:
    assert growth(lambda n: read_cubin(elf(n, 1, b".text"), "x.cubin"), 500) < 3
    assert growth(lambda n: check_structure(elf(n, 1, b".text"), "x.cubin"), 500) < 3


def test_symbol_tables_over_the_same_bytes_are_refused() -> None:
    with pytest.raises(ImageRefused, match="symbol tables overlap"):
        check_structure(elf(1000, 998, b".text"), "x.cubin")


def test_a_long_name_of_many_sections_is_refused() -> None:
    with pytest.raises(ImageRefused, match="names overlap"):
        check_structure(elf(1000, 1, b"a" * 1_000_000), "x.cubin")


def test_fatbins_over_the_same_bytes_are_refused() -> None:
    """Each would be read: a host object of a megabyte can have thousands."""
    host_object = elf(1000, 1, b".nv_fatbin", machine=62, size=1000)
    with pytest.raises(ImageRefused, match="not a host object: its sections overlap"):
        image_entries(host_object, "x.o")


def test_records_over_the_same_bytes_are_refused() -> None:
    with pytest.raises(ImageRefused, match="not a cubin: its sections overlap"):
        check_structure(elf(1000, 1, b".nv.info.k", size=1000), "x.cubin")
