"""What the driver is given to load: PTX, fat binaries, cubins, none of them."""

import ctypes
import struct
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator.host.images import image_bytes, image_file, ptx_text
from cudarun.emulator.host.refusal import Refusal

GOLDEN = Path(__file__).parents[1] / "images" / "golden"
PTX = b".version 8.0\n.target sm_80\n.address_size 64\n"


def fatbin(*entries):
    """A fat binary of ``(kind, capability, payload, bytes once decompressed)`` entries."""
    body = b""
    for kind, capability, payload, size in entries:
        header = struct.pack(
            "<HHIQIIHHI", kind, 0x101, 64, len(payload), size and len(payload), 64, 0, 9, capability
        )
        flags = struct.pack("<8xQ8xQ", 0x8000 if size else 0, size)
        body += header + flags + payload
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(body)) + body


def without_lengths(image):
    """The same with entries of no length, which would be read again and again."""
    return image[:20] + struct.pack("<IQ", 0, 0) + image[32:]


def zstd_fatbin():
    return (GOLDEN / "tiny_zstd.fatbin").read_bytes()


def ptx_for(capability):
    return PTX.replace(b"80", str(capability).encode())


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_an_image_as_an_object(wrap):
    assert ptx_text(image_bytes(wrap(PTX + b"\0garbage"))) == PTX.decode()


def test_an_image_at_an_address():
    buffer = ctypes.create_string_buffer(PTX)
    assert image_bytes(ctypes.addressof(buffer)) == PTX
    array = np.frombuffer(PTX + b"\0", np.uint8)
    assert image_bytes(array) == PTX
    whole = fatbin((1, 80, PTX, 0))
    buffer = ctypes.create_string_buffer(whole, len(whole))
    assert image_bytes(ctypes.addressof(buffer)) == whole


def test_no_address():
    with pytest.raises(Refusal) as caught:
        image_bytes(0)
    assert caught.value.result.name == "CUDA_ERROR_INVALID_VALUE"


def test_a_file(tmp_path):
    (tmp_path / "a.ptx").write_bytes(PTX)
    assert image_file(str(tmp_path / "a.ptx")) == PTX
    with pytest.raises(Refusal, match="No such file") as caught:
        image_file(str(tmp_path / "b.ptx"))
    assert caught.value.result.name == "CUDA_ERROR_FILE_NOT_FOUND"


def test_the_newest_ptx_that_fits_is_taken():
    image = fatbin(
        (2, 90, b"\x7fELF cubin", 0),
        (1, 70, ptx_for(70), 0),
        (1, 90, ptx_for(90) + b"\0\0", 0),
        (1, 120, ptx_for(120), 0),
    )
    assert ptx_text(image) == ptx_for(90).decode()


@pytest.mark.parametrize(
    ("image", "result", "words"),
    [
        (b"\x7fELF\2\1\1", "NO_BINARY_FOR_GPU", "contains SASS"),
        (fatbin((2, 90, b"\x7fELF", 0)), "NO_BINARY_FOR_GPU", "no PTX"),
        (fatbin((1, 120, ptx_for(120), 0)), "NO_BINARY_FOR_GPU", "9.0 or older"),
        (fatbin((1, 80, b"\x28\xb5\x2f\xfd", 4)), "NO_BINARY_FOR_GPU", "cannot be decompressed"),
        (fatbin()[:10], "NO_BINARY_FOR_GPU", "truncated in a header"),
        (
            without_lengths(fatbin((1, 80, PTX, 0))),
            "NO_BINARY_FOR_GPU",
            "an entry extends past",
        ),
        (b"hello", "INVALID_IMAGE", "is not recognized"),
        (b"", "INVALID_IMAGE", "is not recognized"),
    ],
)
def test_what_holds_no_code_for_this_device(image, result, words):
    with pytest.raises(Refusal, match=words) as caught:
        ptx_text(image)
    assert caught.value.result.name == f"CUDA_ERROR_{result}"


@pytest.mark.parametrize("method", ["lz4", "zstd"])
def test_compressed_ptx_of_nvcc(method):
    """The files of nvcc also contain a cubin for sm_80."""
    text = ptx_text((GOLDEN / f"tiny_{method}.fatbin").read_bytes())
    assert ".target sm_80" in text
    assert ".entry tiny(" in text


def test_damaged_compressed_ptx():
    image = bytearray(zstd_fatbin())
    image[-40:] = bytes(40)
    with pytest.raises(Refusal, match="cannot be decompressed") as caught:
        ptx_text(bytes(image))
    assert caught.value.result.name == "CUDA_ERROR_NO_BINARY_FOR_GPU"
