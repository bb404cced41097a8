"""PNG images as the contents of buffers and textures.

The images are encoded here, each filter by its formula in the specification, pixel by pixel.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.arguments.array_files import load_npy, npy_header
from cudarun.arguments.binding import bind
from cudarun.arguments.grammar import parse_argument
from cudarun.arguments.initializers import fill, seeded
from cudarun.arguments.png import png_header, read_png
from cudarun.base.errors import RequestError
from cudarun.session.launch.pictures import write_png

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
          (0, 1, 1, 2)]  # fmt: skip


def paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    return min((left, above, corner), key=lambda each: abs(estimate - each))


PREDICTORS = (
    lambda left, above, corner: 0,
    lambda left, above, corner: left,
    lambda left, above, corner: above,
    lambda left, above, corner: (left + above) // 2,
    paeth,
)


def filtered(samples: np.ndarray, depth: int, filters: list[int]) -> bytes:
    """The rows of an image, or of a pass, each with the next of the filters."""
    height, _, channels = samples.shape
    bits = (samples[..., np.newaxis] >> np.arange(depth - 1, -1, -1)) & 1
    rows = np.packbits(bits.reshape(height, -1).astype(np.uint8), axis=1)
    step = max(depth * channels // 8, 1)
    out = bytearray()
    above = [0] * rows.shape[1]
    for y, row in enumerate(rows.tolist()):
        kind = filters[y % len(filters)]
        out.append(kind)
        for x, byte in enumerate(row):
            left, corner = (row[x - step], above[x - step]) if x >= step else (0, 0)
            out.append((byte - PREDICTORS[kind](left, above[x], corner)) & 0xFF)
        above = row
    return bytes(out)


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(
        ">I", zlib.crc32(kind + content)
    )  # fmt: skip


def encoded(
    samples: np.ndarray,
    depth: int,
    color: int,
    filters: list[int],
    *,
    interlaced: bool = False,
    extra: bytes = b"",
    missing: int = 0,
) -> bytes:
    height, width, _ = samples.shape
    parts = [samples]
    if interlaced:
        parts = [samples[y::down, x::across] for x, y, across, down in PASSES]
    rows = b"".join(filtered(part, depth, filters) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlaced)
    data = zlib.compress(rows[: len(rows) - missing])
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"a\0b") + extra
        + chunk(b"IDAT", data[:7]) + chunk(b"IDAT", data[7:]) + chunk(b"IEND", b"")
    )  # fmt: skip


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(
    ("color", "depth"),
    [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (4, 8), (6, 8)],
)
def test_pixels(tmp_path: Path, color: int, depth: int, interlaced: bool) -> None:
    rng = np.random.default_rng(color + depth)
    for (height, width), filters in (
        ((1, 1), [4]), ((11, 9), [4, 3, 2, 1, 0]), ((5, 13), [1, 2, 0]), ((9, 1), [3, 4]),
    ):  # fmt: skip
        samples = rng.integers(0, 1 << depth, (height, width, CHANNELS[color]))
        path = tmp_path / "x"
        path.write_bytes(encoded(samples, depth, color, filters, interlaced=interlaced))
        scale = 255 // ((1 << depth) - 1) if depth < 8 else 1
        expected = (samples * scale).squeeze(2) if CHANNELS[color] == 1 else samples
        found = read_png(path)
        assert found.dtype == (np.uint16 if depth == 16 else np.uint8)
        assert np.array_equal(found, expected)
        assert png_header(path).shape == found.shape


def test_palettes_and_transparent_colors(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    index = np.arange(8).reshape(2, 4, 1) % 4
    colors = np.arange(100, 112, dtype=np.uint8).reshape(4, 3)
    palette = chunk(b"PLTE", colors.tobytes())
    path.write_bytes(encoded(index, 2, 3, [0], extra=palette))
    assert np.array_equal(read_png(path), colors[index[..., 0]])
    path.write_bytes(encoded(index, 2, 3, [0], extra=palette + chunk(b"tRNS", b"\x07")))
    assert read_png(path)[0].tolist() == [
        [*color, alpha] for color, alpha in zip(colors.tolist(), [7, 255, 255, 255], strict=True)
    ]
    path.write_bytes(encoded(index, 4, 0, [0], extra=chunk(b"tRNS", struct.pack(">H", 2))))
    assert read_png(path)[0].tolist() == [[0, 255], [17, 255], [34, 0], [51, 255]]
    path.write_bytes(encoded(index * 1000, 16, 0, [0], extra=chunk(b"tRNS", b"\x03\xe8")))
    assert read_png(path)[0].tolist() == [[0, 65535], [1000, 0], [2000, 65535], [3000, 65535]]
    for transparent, alphas in ((0, [0, 255]), (1, [255, 0])):
        key = chunk(b"tRNS", struct.pack(">H", transparent))
        path.write_bytes(encoded(np.arange(2).reshape(1, 2, 1), 1, 0, [0], extra=key))
        assert read_png(path)[0].tolist() == [[0, alphas[0]], [255, alphas[1]]]


GOOD = encoded(np.arange(24).reshape(2, 4, 3), 8, 2, [4])


def changed(position: int, new: bytes, kind: bytes = b"IHDR") -> bytes:
    """The image with other contents of a chunk, whose checksum matches."""
    at = GOOD.index(kind)
    (size,) = struct.unpack_from(">I", GOOD, at - 4)
    content = bytearray(GOOD[at + 4 : at + 4 + size])
    content[position : position + len(new)] = new
    return GOOD[: at - 4] + chunk(kind, bytes(content)) + GOOD[at + 8 + size :]


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:20],
        GOOD[:-40],
        GOOD[:70] + b"?" + GOOD[71:],
        changed(0, b"\0\0\0\0"),
        changed(0, b"\0\0\0\5"),
        GOOD[: GOOD.index(b"IDAT") - 4] + chunk(b"IEND", b""),
        changed(8, b"\7"),
        changed(0, b"\0\0", b"IDAT"),
    ],
)
def test_damaged_images(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(data)
    with pytest.raises(RequestError) as error:
        read_png(path)
    assert f"cannot read {path}: the PNG image is damaged: " in str(error.value)


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("color", "depth"), [(0, 1), (0, 8), (0, 16), (2, 8), (3, 4), (6, 8)])
@pytest.mark.parametrize("missing", [1, 4])
def test_missing_rows_are_refused(
    tmp_path: Path, color: int, depth: int, interlaced: bool, missing: int
) -> None:
    path = tmp_path / "x.png"
    samples = np.ones((5, 3, CHANNELS[color]), int)
    palette = chunk(b"PLTE", bytes(6)) if color == 3 else b""
    for count in (0, missing):
        path.write_bytes(
            encoded(samples, depth, color, [0], interlaced=interlaced, extra=palette, missing=count)
        )
        if not count:
            assert read_png(path).any() == (color != 3)
            continue
        with pytest.raises(RequestError, match="damaged: its rows are truncated"):
            read_png(path)


PALETTE = chunk(b"PLTE", bytes(9))


@pytest.mark.parametrize("extra", [b"", PALETTE, PALETTE + chunk(b"tRNS", b"\7")])
def test_indices_beyond_the_palette_are_refused(tmp_path: Path, extra: bytes) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(encoded(np.array([[[2], [3]]]), 2, 3, [0], extra=extra))
    with pytest.raises(RequestError, match="damaged: its palette has no color 3"):
        read_png(path)


def test_images_of_too_many_pixels(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(changed(0, b"\x7f\xff\xff\xff\x7f\xff\xff\xff"))
    with pytest.raises(RequestError, match=r"cannot read .*x\.png: Image size .* exceeds limit"):
        png_header(path)


def contents(text: str, folder: Path) -> tuple[str, Any]:
    binding = bind([parse_argument(text)], None, kernel="k", directory=folder)
    [spec] = binding.buffers
    assert spec.initial is not None
    return str(spec), fill(spec.initial, spec.type, spec.shape, seeded(0, "x"))


@pytest.mark.parametrize("color", [2, 4, 6])
def test_colors_of_16_bits_are_refused(tmp_path: Path, color: int) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(encoded(np.zeros((2, 2, CHANNELS[color]), int), 16, color, [0]))
    with pytest.raises(RequestError, match="colors or alpha of 16 bits"):
        png_header(path)


@pytest.mark.parametrize(
    ("dtype", "channels"),
    [(np.uint8, ()), (np.uint8, (2,)), (np.uint8, (3,)), (np.uint8, (4,)), (np.uint16, ())],
)
def test_written_images_are_read(tmp_path: Path, dtype: type, channels: tuple[int, ...]) -> None:
    image = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (5, 7, *channels), dtype)
    with (tmp_path / "x.png").open("wb") as file:
        write_png(file, image)
    kind, found = contents("x=@x.png", tmp_path)
    assert kind == f"u{8 * image.itemsize}{list(image.shape)}".replace(" ", "")
    assert np.array_equal(found, image)
    assert np.array_equal(load_npy(tmp_path / "x.png"), image)
    assert npy_header(tmp_path / "x.png")[1] == image.shape
    kind, found = contents("x=texture(@x.png)", tmp_path)
    vector = {(): f"u{8 * image.itemsize}", (2,): "2"}.get(channels, "4")
    assert kind.endswith(f"{vector}[5,7]")
    assert np.array_equal(found[..., : image.shape[-1]] if channels else found, image)
    if channels == (3,):
        assert (found[..., 3] == np.iinfo(dtype).max).all()


def test_elements_of_images(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(GOOD)
    pixels = np.arange(24).reshape(2, 4, 3)
    assert np.array_equal(contents("x=f32[2,4,3]:cast(@x.png)", tmp_path)[1], pixels)
    assert np.array_equal(contents("x=uchar3[2,4]:@x.png", tmp_path)[1], pixels)
    assert contents("x=uchar4[2,4]:@x.png", tmp_path)[1][1, 3].tolist() == [21, 22, 23, 255]
    assert contents(f"x=u8[{len(GOOD)}]:asis(@x.png)", tmp_path)[1].tobytes() == GOOD
    with pytest.raises(RequestError, match=r"has shape \(2, 4, 3\); the buffer is u8\[2,4\]"):
        contents("x=u8[2,4]:@x.png", tmp_path)
    with pytest.raises(RequestError, match="contains uint8") as error:
        contents("x=f32[2,4,3]:@x.png", tmp_path)
    assert error.value.hint == "convert it: 'x=f32[2,4,3]:cast(@x.png)'"
