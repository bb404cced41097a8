"""Files that are mapped, and code that is decompressed as a stream."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudarun.base.errors import ImageRefused
from cudarun.images import fatbin
from cudarun.images.contents import MappedFile, StreamedCode
from cudarun.images.cubin import check_cubin, kernel_names, read_cubin
from cudarun.images.fatbin import NotDecompressible, decompressed_chunks, read_entries
from cudarun.images.ptx_search import kernel_names as names_in_ptx
from cudarun.images.reader import check_sizes, file_parts, read_image
from tests.images.golden_files import archive, golden

CUBINS = ("facts.cubin", "facts_cuda12.cubin", "wants.cubin")


def streamed(data: bytes, step: int) -> StreamedCode:
    def chunks() -> Iterator[bytes]:
        for at in range(0, len(data), step):
            yield data[at : at + step]

    return StreamedCode(chunks, len(data))


# --- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CUBINS)
@pytest.mark.parametrize("step", [1, 7, 64, 1000, 1 << 20])
def test_a_streamed_cubin_has_the_same_facts(name: str, step: int) -> None:
    data = golden(name)
    whole = read_cubin(data, name)
    assert read_cubin(streamed(data, step), name) == whole
    check_cubin(streamed(data, step), name)
    assert kernel_names(streamed(data, step), name) == tuple(k.name for k in whole.kernels)


def test_sections_of_a_stream_that_overlap_are_refused() -> None:
    data = bytearray(golden("facts.cubin"))
    (table,) = struct.unpack_from("<Q", data, 0x28)
    (count,) = struct.unpack_from("<H", data, 0x3C)
    for row in range(table + 4 * 64, table + count * 64, 64):
        struct.pack_into("<I", data, row + 4, 7)  # a note
        struct.pack_into("<QQ", data, row + 24, 0, len(data))
    with pytest.raises(ImageRefused, match="its sections overlap"):
        read_cubin(streamed(bytes(data), 100), "x.cubin")


def test_chunks_are_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(e for e in read_entries(golden("tiny_zstd.fatbin"), "x") if e.compression)
    assert entry.compression == "zstd"
    content = entry.content("x")
    monkeypatch.setattr(fatbin, "_CHUNK", 100)
    chunks = list(decompressed_chunks("zstd", entry.stored, entry.size))
    assert len(chunks) > 1
    assert b"".join(chunks) == content


@pytest.mark.parametrize("damage", ["size", "truncated", "noise"])
def test_a_damaged_stream_is_refused(damage: str) -> None:
    entry = next(e for e in read_entries(golden("tiny_zstd.fatbin"), "x") if e.compression)
    stored = bytes(entry.stored)
    if damage == "truncated":
        stored = stored[:-20]
    if damage == "noise":
        stored = stored[:20] + b"\xff" * 20 + stored[40:]
    with pytest.raises(NotDecompressible):
        list(decompressed_chunks("zstd", stored, entry.size + (damage == "size")))


def test_large_entries_are_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_image(golden("tiny_zstd.fatbin"), "x")
    monkeypatch.setattr(fatbin, "_STREAMED_FROM", 0)
    entry = next(e for e in read_entries(golden("tiny_zstd.fatbin"), "x") if e.compression)
    assert not entry.contents("x").is_whole
    assert read_image(golden("tiny_zstd.fatbin"), "x") == whole


# --- maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiny.o", "tiny.fatbin", "tiny_zstd.fatbin", "lib.a"])
def test_a_mapped_file_has_the_same_facts(tmp_path: Path, name: str) -> None:
    data = archive((b"a.o/", golden("tiny.o"))) if name == "lib.a" else golden(name)
    (tmp_path / name).write_bytes(data)
    with (tmp_path / name).open("rb") as file:
        mapped = MappedFile.of(file)
    (tmp_path / name).unlink()
    assert read_image(mapped, name) == read_image(data, name)
    mapped.forget()
    again = pickle.loads(pickle.dumps(mapped))
    assert again[:] == data
    assert pickle.loads(pickle.dumps(mapped)) is again


def test_a_file_that_becomes_shorter(tmp_path: Path) -> None:
    path = tmp_path / "x.o"
    path.write_bytes(golden("tiny.o"))
    with path.open("rb") as file:
        mapped = MappedFile.of(file)
    mapped.check_size("x.o")
    with path.open("r+b") as file:
        file.truncate(10)
    with pytest.raises(ImageRefused, match="the file became shorter while it was read"):
        mapped.check_size("x.o")


def test_the_limit_grows_with_the_file() -> None:
    """Libraries decompress to 3 to 11 times their size, parts of them to 24 times."""
    data = golden("tiny.fatbin")
    entries = file_parts(data, "x")
    largest, total = max(e.size for e in entries), sum(e.size for e in entries)
    check_sizes(entries, len(data), "x", largest)
    with pytest.raises(ImageRefused, match=f"its code has {total} bytes"):
        check_sizes(entries, total // 32 - 1, "x", largest)
    with pytest.raises(ImageRefused, match=f"a part of it has {largest} bytes"):
        check_sizes(entries, len(data), "x", largest - 1)


# --- details of formats --------------------------------------------------------------------------


def test_nv_debug_shared_has_no_content() -> None:
    """As in libnccl: a section of type 0x7000000a whose extent is past the end of the file."""
    data = bytearray(golden("facts.cubin"))
    (table,) = struct.unpack_from("<Q", data, 0x28)
    (count,) = struct.unpack_from("<H", data, 0x3C)
    rows = [table + 64 * index for index in range(count)]
    shared = (at for at in rows if struct.unpack_from("<I", data, at + 4) == (8,))
    row = next(at for at in shared if any(data[at + 32 : at + 40]))
    expected = read_cubin(bytes(data), "x")
    struct.pack_into("<I", data, row + 4, 0x7000_000A)
    struct.pack_into("<Q", data, row + 24, len(data))
    assert read_cubin(bytes(data), "x") == expected
    check_cubin(bytes(data), "x")
    struct.pack_into("<I", data, row + 4, 1)
    with pytest.raises(ImageRefused, match="extends past the end of the file"):
        check_cubin(bytes(data), "x")


def test_kernels_of_ptx_without_parsing() -> None:
    text = b"""
    .version 8.0 // .entry no
    .target sm_75
    /* .entry neither(.param .u64 x) { ret; } */
    // .visible .entry nor() {
    .entry declared(.param .u32 x);
    .visible .entry declared(.param .u32 x)
    { ret; }
    .weak .entry\n_Z3addIfEvPT_(\n.param .b8 p[24]\n)\n.maxntid 32\n{ ret; }
    .entry $dollar { ret; }
    .entry cut(.param .u32 x)\0.entry after { }"""
    assert names_in_ptx(text) == ("declared", "_Z3addIfEvPT_", "$dollar")
    facts = read_image(golden("facts.ptx"), "x")
    assert names_in_ptx(golden("facts.ptx")) == tuple(kernel.name for kernel in facts.kernels)
