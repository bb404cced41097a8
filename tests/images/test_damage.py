"""Real files that random damage was done to are read, or refused as a user's error. Never worse."""

import contextlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.base.errors import CudarunError
from cudarun.images.reader import read_image
from tests.images.golden_files import archive, golden

FILES = {
    name: golden(name)
    for name in (
        "facts.cubin",
        "facts_cuda12.cubin",
        "facts.ptx",
        "tiny.fatbin",
        "tiny_zstd.fatbin",
        "tiny_lz4.fatbin",
        "tiny.o",
        "tiny.ltoir",
    )
}
FILES["lib.a"] = archive((b"//", b"long_name.o/\n"), (b"/0", FILES["tiny.o"]))


def weak_spots(data):
    """Offsets where a changed byte matters more than most: headers and the section table."""
    spots = st.integers(0, 127)
    if data.startswith(b"\x7fELF"):
        (table,) = struct.unpack_from("<Q", data, 0x28)
        spots |= st.integers(table, len(data) - 1)
    return spots | st.integers(0, len(data) - 1)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files(name, data):
    image = bytearray(FILES[name])
    values = st.integers(0, 255) | st.sampled_from([0, 1, 0x7F, 0x80, 0xFF])
    for _ in range(data.draw(st.integers(1, 4), label="changes")):
        image[data.draw(weak_spots(FILES[name]), label="at")] = data.draw(values, label="byte")
    length = data.draw(st.just(len(image)) | st.integers(0, len(image)), label="length")
    with contextlib.suppress(CudarunError):  # anything else that is raised fails the test
        read_image(bytes(image[:length]), name)


@settings(max_examples=100)
@given(st.sampled_from([image[:4] for image in FILES.values()]), st.binary(max_size=200))
def test_noise_behind_a_magic_number(magic, noise):
    with contextlib.suppress(CudarunError):
        read_image(magic + noise, "noise")


def test_a_symbol_table_whose_strings_are_elsewhere():
    """The strings are a section of another type."""
    image = bytearray(FILES["facts.cubin"])
    image[8332] = 0
    with contextlib.suppress(CudarunError):
        read_image(bytes(image[:10328]), "facts.cubin")
