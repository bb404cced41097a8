"""Images passed to the driver, and the PTX text in them.

PTX text is this device's machine code. A fat binary is searched for it, and decompressed where it
has to be; a cubin has none.
"""

from __future__ import annotations

from cudarun.base.errors import ImageRefused
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.devices import current_profile
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.images.kinds import ELF_MAGIC, FATBIN_MAGIC


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
    refuse_if(address == 0, "the image is a null pointer")
    magic = addresses.host.read(address, 4)
    if magic == FATBIN_MAGIC:
        from cudarun.images.fatbin import CONTAINER_BYTES, container_size

        header = addresses.host.read(address, CONTAINER_BYTES)
        return addresses.host.read(address, container_size(header))
    return magic if magic == ELF_MAGIC else addresses.host.text(address)


def image_file(name: str) -> bytes:
    """Return the bytes of an image file; `Refusal` if the file cannot be read."""
    try:
        with open(addresses.host.path(name), "rb") as file:
            return file.read()
    except OSError as error:
        raise Refusal("FILE_NOT_FOUND", f"{name}: {error.strerror}") from None


def ptx_text(image: bytes) -> str:
    """Return the PTX in an image.

    Raises:
        NotLoadable: It is a cubin, or a fat binary without PTX that can be used here, or no image.
    """
    if image.startswith(ELF_MAGIC):
        raise NotLoadable(
            "NO_BINARY_FOR_GPU", "a cubin contains SASS; the emulated device runs PTX only"
        )
    if image.startswith(FATBIN_MAGIC):
        image = _ptx_of_fatbin(image)
    text = image.split(b"\0", 1)[0]
    if b".version" not in text:
        words = "Binary format for key='0', ident='' is not recognized"
        raise NotLoadable("INVALID_IMAGE", f"error   : {words}")
    return text.decode("latin-1")  # the parser refuses non-ASCII characters


def _ptx_of_fatbin(image: bytes) -> bytes:
    """Return the PTX for the newest architecture that is not newer than this device."""
    from cudarun.images.fatbin import best_entry, read_entries  # most images are PTX

    architecture = current_profile().architecture
    try:
        best = best_entry(architecture, read_entries(image, ""), machine_code=False)
        if best is not None:
            return best.content("")
    except ImageRefused as error:
        words = f"{error.message}: {error.hint}" if error.hint else error.message
        raise NotLoadable("NO_BINARY_FOR_GPU", words) from None
    raise NotLoadable(
        "NO_BINARY_FOR_GPU",
        f"the fatbin contains no PTX for compute capability {architecture / 10} or older",
    )
