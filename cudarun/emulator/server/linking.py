"""The linker library of programs (nvJitLink): its inputs become one PTX text."""

from __future__ import annotations

import struct
from pathlib import Path

from cudarun.emulator.host import addresses
from cudarun.emulator.host.images import NotLoadable, ptx_text
from cudarun.emulator.host.linker import Linker, LinkInput
from cudarun.emulator.server.connections import Outputs
from cudarun.emulator.server.marshalling import Slots
from cudarun.ptx.errors import PtxError

_INPUT = struct.Struct("=4Q")  # `struct input` of nvjitlink.c
_ARCHIVE, _DEVICE_RUNTIME = b"!<arch>\n", b"cuda_device_runtime.o"  # libcudadevrt.a, its member
_PTX_COMPILE, _FINALIZE = 4, 9  # nvJitLinkResult


def link(slots: Slots) -> tuple[int, Outputs]:
    """Link the inputs of a ``struct link``; write its image, or its error log."""
    at, inputs, count, most_registers = slots
    linker, result, library = Linker(), 0, ""
    try:
        for number in range(count):
            _, size, data, name = _INPUT.unpack(
                addresses.host.read(inputs + _INPUT.size * number, _INPUT.size)
            )
            label = addresses.host.text(name).decode(errors="replace") or f"input {number + 1}"
            image = addresses.host.read(data, size)
            if image.startswith(_ARCHIVE) and _DEVICE_RUNTIME in image:
                library = Path(__file__).with_name("device_library.ptx").read_text()
            else:
                linker.add(LinkInput(label, ptx_text(image)))
        if library:  # last: the first input has the target
            linker.add(LinkInput("libcudadevrt", library))
        undefined = linker.undefined()
        text = "" if undefined else linker.complete(most_registers)
        log = "\n".join(undefined)
    except PtxError as error:
        result, text, log = _PTX_COMPILE, "", error.log or str(error)
    except NotLoadable as refusal:
        text, log = "", refusal.words
    # The result of a failed call has no outputs but its log.
    at, result = (at, 0) if text else (at + 16, result or _FINALIZE)
    data = (text or log).encode("latin-1", "replace") + b"\0"
    return result, [(at, struct.pack("=2Q", addresses.host.place(data), len(data)))]
