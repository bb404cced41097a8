"""Images passed to the driver, and the PTX text in them.

PTX text is this device's machine code. A fat binary is searched for it; a cubin has none.
"""

from __future__ import annotations

import ctypes
import struct

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.devices import CAPABILITY
from cudarun.emulator.host.refusal import Refusal

_ELF = b"\x7fELF"
_FATBIN = b"\x50\xed\x55\xba"
_FATBIN_HEADER = struct.Struct("<4sHHQ")  # magic, version, bytes of header, bytes of entries
# kind, version, bytes of header, bytes of payload, compressed bytes or 0, …, compute capability
_FATBIN_ENTRY = struct.Struct("<HHIQI8xI")
_KIND_PTX = 1


class NotLoadable(Refusal):
    """The image is invalid or has no code for this device; ``words`` also go to the JIT log."""


def image_bytes(code: HostPointer) -> bytes:
    """Return the bytes of an image: a buffer, or the host address of one that states its length.

    Raises:
        Refusal: It is null.
    """
    if isinstance(code, bytes | bytearray | memoryview):
        return bytes(code)
    address = address_of(code)
    if address == 0:
        raise Refusal("INVALID_VALUE", "the image is a null pointer")
    magic = ctypes.string_at(address, 4)
    if magic == _FATBIN:
        header = ctypes.string_at(address, _FATBIN_HEADER.size)
        _, _, header_bytes, entry_bytes = _FATBIN_HEADER.unpack(header)
        return ctypes.string_at(address, header_bytes + entry_bytes)
    return magic if magic == _ELF else ctypes.string_at(address)


def image_file(name: str) -> bytes:
    """Return the bytes of an image file.

    Raises:
        Refusal: The file cannot be read.
    """
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise Refusal("FILE_NOT_FOUND", f"{name}: {error.strerror}") from None


def ptx_text(image: bytes) -> str:
    """Return the PTX in an image.

    Raises:
        NotLoadable: It is a cubin, or a fat binary without PTX that can be used here, or no image.
    """
    if image.startswith(_ELF):
        raise NotLoadable(
            "NO_BINARY_FOR_GPU",
            "a cubin contains SASS; the emulated device runs PTX only",
        )
    if image.startswith(_FATBIN):
        image = _ptx_of_fatbin(image)
    text = image.split(b"\0", 1)[0]
    if b".version" not in text:
        words = "Binary format for key='0', ident='' is not recognized"
        raise NotLoadable("INVALID_IMAGE", f"error   : {words}")
    return text.decode("latin-1")  # the parser refuses non-ASCII characters


def _ptx_of_fatbin(image: bytes) -> bytes:
    """Return the PTX for the newest architecture that is not newer than this device."""
    if len(image) < _FATBIN_HEADER.size:
        raise NotLoadable("NO_BINARY_FOR_GPU", "the fatbin is truncated in its header")
    _, _, position, entry_bytes = _FATBIN_HEADER.unpack_from(image)
    end = min(position + entry_bytes, len(image))
    newest = 10 * CAPABILITY[0] + CAPABILITY[1]
    best: tuple[int, bytes] | None = None
    compressed = False
    while position + _FATBIN_ENTRY.size <= end:
        kind, _, header, size, packed, capability = _FATBIN_ENTRY.unpack_from(image, position)
        if header < _FATBIN_ENTRY.size:
            raise NotLoadable("NO_BINARY_FOR_GPU", "an entry of the fatbin is damaged")
        payload = image[position + header : position + header + size]
        position += header + size
        if kind != _KIND_PTX or capability > newest:
            continue
        if packed:
            compressed = True
        elif best is None or capability > best[0]:
            best = (capability, payload)
    if best is not None:
        return best[1]
    raise NotLoadable(
        "NO_BINARY_FOR_GPU",
        "the PTX in the fatbin is compressed; the emulated device does not decompress it"
        if compressed
        else f"the fatbin contains no PTX for compute capability {newest / 10} or older",
    )
