"""Detection of the kind of an image from its contents, never from the file's name."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum

from cudarun.base.errors import ImageRefused
from cudarun.images.contents import Buffer

EM_CUDA = 190  # the machine number of NVIDIA's GPUs in an ELF header

ELF_MAGIC = b"\x7fELF"
FATBIN_MAGIC = b"\x50\xed\x55\xba"  # ``0xBA55ED50``, little-endian: a fatbin container
FATBIN_WRAPPER_MAGIC = b"\xb1\x43\x62\x46"
"""``0x466243b1``: the ``__fatBinC_Wrapper_t`` through which host code finds a container."""
ARCHIVE_MAGIC = b"!<arch>\n"
LTO_IR_MAGIC = b"\xed\x43\x4e\x7f"
SIGNATURE_BYTES = 20
"""The first bytes of a file, which contain every magic number and the machine of an ELF file."""


class ImageKind(Enum):
    """The kinds of images; the value is the name in messages."""

    PTX = "PTX"
    CUBIN = "cubin"
    FATBIN = "fatbin"
    HOST_OBJECT = "host object"  # or executable, or shared library: ELF for a CPU
    ARCHIVE = "archive"
    LTO_IR = "LTO-IR"
    CUDA_SOURCE = "CUDA source"
    EMPTY = "empty"
    UNKNOWN = "unknown"


CONTAINERS = (ImageKind.FATBIN, ImageKind.HOST_OBJECT, ImageKind.ARCHIVE)  # what holds other images


_MAGIC = {
    FATBIN_MAGIC: ImageKind.FATBIN,
    FATBIN_WRAPPER_MAGIC: ImageKind.FATBIN,
    ARCHIVE_MAGIC: ImageKind.ARCHIVE,
    LTO_IR_MAGIC: ImageKind.LTO_IR,
}

# The first word of a PTX text. It has to be .version; with the others a text is invalid PTX, for
# which the parser has an error message, rather than an unknown file.
_PTX = re.compile(
    rb"(?:\xef\xbb\xbf)?+"
    rb"(?: \s+ | //[^\n]* | /\*[\s\S]*?\*/ )*+"
    rb"\. (?: version | target | address_size | visible | entry | func )\b",
    re.VERBOSE,
)
_CUDA_SOURCE = re.compile(r"\b__(?:global|device|constant|managed)__\b")


def identify(data: Buffer) -> ImageKind:
    """Return the kind of image of ``data``.

    A magic number decides, then the first words of a PTX text. CUDA source has no signature;
    it is assumed for text that contains a word such as ``__global__``.
    """
    if not len(data):
        return ImageKind.EMPTY
    known = identify_by_signature(bytes(data[:SIGNATURE_BYTES]))
    if known is not None:
        return known
    if _PTX.match(data):
        return ImageKind.PTX
    with suppress(UnicodeDecodeError):
        text = bytes(data).decode()
        if "\0" not in text and _CUDA_SOURCE.search(text):
            return ImageKind.CUDA_SOURCE
    return ImageKind.UNKNOWN


def identify_by_signature(start: bytes) -> ImageKind | None:
    """Return the kind of a file by the magic number in its first bytes; ``None`` of a text."""
    if start.startswith(ELF_MAGIC):
        machine = int.from_bytes(start[18:20], "little")
        return ImageKind.CUBIN if machine == EM_CUDA else ImageKind.HOST_OBJECT
    return next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)


# --- damage --------------------------------------------------------------------------------------


class Damaged(Exception):
    """The file is damaged; the message is the reason."""


@contextmanager
def refused_if_damaged(kind: ImageKind, origin: str, truncated: str) -> Iterator[None]:
    """Refuse a file that is damaged: ``broken.cubin: not a cubin: it has no sections``.

    Args:
        origin: Its name in messages.
        truncated: The reason if a structure ends past the end of the data.

    Raises:
        ImageRefused: It is damaged.
    """
    article = "an" if kind is ImageKind.ARCHIVE else "a"
    try:
        yield
    except (Damaged, struct.error) as error:
        cause = str(error) if isinstance(error, Damaged) else truncated
        what = f"not {article} {kind.value}"
        raise ImageRefused(what, cause=cause, origin=origin) from None
